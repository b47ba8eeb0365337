package apitest_test

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/httpapi/apitest"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/clock"
	"github.com/kubecoord/kubecoord/store/fixture"
)

// start is the first time of the manual clocks.
var start = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// byHand returns an API with a manual clock.
func byHand(t testing.TB, seed uint64) *apitest.API {
	return apitest.New(t, apitest.Options{Store: store.Options{Clock: clock.NewManual(start), Seed: seed}})
}

// story sends some requests. It returns their answers with all headers, and the state at the end.
func story(t testing.TB, api *apitest.API, client *http.Client, base string) string {
	var out bytes.Buffer
	for _, step := range []struct{ method, target, contentType, body string }{
		{"POST", leases, "application/json", `{"metadata":{"name":"a"},"spec":{"holderIdentity":"x"}}`},
		{"POST", leases, "application/json", `{"metadata":{"generateName":"worker-","finalizers":["a/f"]}}`},
		{"POST", leases, "application/json", `{"metadata":{"name":"a"}}`},
		{"GET", leases + "?limit=1", "", ""},
		{"PATCH", leasesA, "application/merge-patch+json", `{"metadata":{"labels":{"k":"v"}}}`},
		{"DELETE", leasesA, "", ""},
		{"POST", leases, "application/json", `{"metadata":{"name":"a"}}`},
		{"GET", leasesA, "", ""},
		{"GET", leasesA, "", ""},
		{"GET", leases + "?watch=true&resourceVersion=1001&timeoutSeconds=-1", "", ""},
		{"DELETE", leases, "", ""},
		{"GET", "/version", "", ""},
	} {
		req, err := http.NewRequestWithContext(t.Context(), step.method, base+step.target, strings.NewReader(step.body))
		require.NoError(t, err)
		if step.contentType != "" {
			req.Header.Set("Content-Type", step.contentType)
		}
		resp, err := client.Do(req)
		require.NoError(t, err)
		body, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		require.NoError(t, err)
		fmt.Fprintf(&out, "%s %s\n%s\n", step.method, step.target, resp.Status)
		for _, name := range slices.Sorted(maps.Keys(resp.Header)) {
			fmt.Fprintf(&out, "%s: %s\n", name, strings.Join(resp.Header[name], ", "))
		}
		fmt.Fprintf(&out, "\n%s\n", cmp.Or(strings.TrimSpace(string(body)), "(nothing)"))
		api.FastForward(1500 * time.Millisecond)
	}
	out.WriteString("the state\n\n")
	out.WriteString(api.Dump(fixture.DumpOptions{}))
	return out.String()
}

func storyOf(t testing.TB, seed uint64) string {
	api := byHand(t, seed)
	return story(t, api, &http.Client{Transport: api.Transport()}, api.Host())
}

// The file does not depend on the machine or the date. Set UPDATE_GOLDEN to rewrite it.
func TestAnswersAndStateEqualTheGoldenFile(t *testing.T) {
	const file = "testdata/seed.golden"
	got := strings.ReplaceAll(storyOf(t, 42), runtime.Version(), "GOVERSION")
	if os.Getenv("UPDATE_GOLDEN") != "" {
		require.NoError(t, os.WriteFile(file, []byte(got), 0o644))
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.Equal(t, string(want), got)
}

// A socket adds its own headers, except the date.
func TestAnswersOverASocketAreTheSameEachTime(t *testing.T) {
	run := func() string {
		api := byHand(t, 42)
		transport := &http.Transport{}
		t.Cleanup(transport.CloseIdleConnections)
		return story(t, api, &http.Client{Transport: transport}, api.URL())
	}
	first := run()
	assert.Equal(t, first, run())
	assert.Contains(t, first, "Date: Fri, 02 Jan 2026 03:04:05 GMT")
}
