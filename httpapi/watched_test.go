package httpapi_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/store"
)

func TestMetricsCountWatchesByResourceAndScope(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := store.New(store.Options{})
		defer st.Close()
		api := httpapi.New(st, httpapi.Options{})
		defer api.Close()
		client := &http.Client{Transport: api.Transport()}
		// counts returns the open watches by version, resource and scope, and the events by version and resource.
		counts := func() map[string]float64 {
			synctest.Wait()
			of := map[string]float64{}
			for name, value := range scrape(t, api) {
				if !strings.HasPrefix(name, "apiserver_longrunning_requests") && !strings.HasPrefix(name, "apiserver_watch_events_total") {
					continue
				}
				words := regexp.MustCompile(`(?:version|resource|scope)="([^"]+)"`).FindAllStringSubmatch(name, -1)
				key := ""
				for _, word := range words {
					key += word[1] + " "
				}
				of[strings.TrimSpace(key)] = value
			}
			return of
		}
		assert.Empty(t, counts())
		ctx, cancel := context.WithCancel(t.Context())
		const group = "http://coordination/apis/coordination.k8s.io"
		for _, path := range []string{
			group + "/v1/leases?watch=true", group + "/v1/leases?watch=true", group + "/v1/namespaces/ns/leases?watch=true",
			group + "/v1/watch/namespaces/ns/leases/a", group + "/v1beta1/leasecandidates?watch=1",
		} {
			req, err := http.NewRequestWithContext(ctx, "GET", path, nil)
			require.NoError(t, err)
			resp, err := client.Do(req)
			require.NoError(t, err)
			defer resp.Body.Close()
		}
		for _, name := range []string{"a", "b"} {
			resp, err := client.Post(group+"/v1/namespaces/ns/leases", "application/json", strings.NewReader(`{"metadata":{"name":"`+name+`"}}`))
			require.NoError(t, err)
			resp.Body.Close()
		}
		want := map[string]float64{
			"v1beta1 leasecandidates cluster": 1, "v1 leases cluster": 2, "v1 leases namespace": 1, "v1 leases resource": 1,
			"v1beta1 leasecandidates": 0, "v1 leases": 4 + 2 + 1,
		}
		assert.Equal(t, want, counts())
		cancel()
		for name := range want {
			if strings.Count(name, " ") == 2 {
				want[name] = 0
			}
		}
		assert.Equal(t, want, counts())
	})
}

// scrape returns the metrics of an API.
func scrape(t *testing.T, api *httpapi.API) map[string]float64 {
	w := httptest.NewRecorder()
	httpapi.Metrics(api).ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	return parseMetrics(t, w.Body.String())
}

func TestMetricsCountRequestsInFlight(t *testing.T) {
	var api *httpapi.API
	var seen []string
	inFlight := func() string {
		all := scrape(t, api)
		return fmt.Sprint(all[`apiserver_current_inflight_requests{request_kind="readOnly"}`], " reads, ", all[`apiserver_current_inflight_requests{request_kind="mutating"}`], " writes")
	}
	api = guardedAPI(t, httpapi.Options{Reads: 10, Writes: 10, Authorize: func(httpapi.Attributes) (bool, string) {
		seen = append(seen, inFlight())
		return true, ""
	}})
	api.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", leases, nil))
	api.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("POST", leases, strings.NewReader(`{}`)))
	assert.Equal(t, []string{"1 reads, 0 writes", "0 reads, 1 writes"}, seen)
	assert.Equal(t, "0 reads, 0 writes", inFlight())
}
