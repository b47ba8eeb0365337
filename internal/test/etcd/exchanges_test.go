package etcd_test

import (
	"bytes"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/internal/test/etcd/cluster"
	"github.com/kubecoord/kubecoord/internal/test/etcd/kinetest"
	"github.com/kubecoord/kubecoord/internal/test/wiretest"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/clock"
	"github.com/kubecoord/kubecoord/store/etcd"
	"github.com/kubecoord/kubecoord/store/etcd/member"
)

// The recorded answers come from a real API server: httpapi/testdata/wire/README.md. Answers that differ in memory are in
// httpapi/testdata/open.txt, and differ here too.

// standing returns a clock that stands still. Managed fields are ordered by the second of their change, and the recorded server made
// the changes of a scenario within one. Replicas of one test share a clock.
func standing() clock.Clock {
	now := time.Now()
	return clock.Func(func() time.Time { return now })
}

func dial(t testing.TB, url string) *clientv3.Client {
	t.Helper()
	c, err := etcd.Dial(clientv3.Config{Endpoints: []string{url}})
	require.NoError(t, err)
	t.Cleanup(func() { c.Close() })
	return c
}

// replica returns a server of the API as a transport.
func replica(t testing.TB, client *clientv3.Client, cl clock.Clock) http.RoundTripper {
	t.Helper()
	st, err := etcd.OpenClient(t.Context(), client, "", etcd.Options{Store: store.Options{Clock: cl}, CompactionInterval: -1})
	require.NoError(t, err)
	api := httpapi.New(st, httpapi.Options{})
	t.Cleanup(func() {
		api.Close()
		st.Close()
	})
	return api.Transport()
}

// replay runs all recorded scenarios, one after the other, because the order of versions is compared.
func replay(t *testing.T, transport http.RoundTripper) {
	same, different := 0, 0
	goldens, err := wiretest.LoadGolden("../../../httpapi/testdata/wire")
	require.NoError(t, err)
	require.NotEmpty(t, goldens)
	open, err := os.ReadFile("../../../httpapi/testdata/open.txt")
	require.NoError(t, err)
	for _, g := range goldens {
		name := g.Scenario.Name
		if bytes.Contains(open, []byte("\n"+name+" ")) {
			continue
		}
		res := (&wiretest.Runner{Transport: transport, BaseURL: "http://test"}).Check(t.Context(), g)
		assert.Zero(t, res.Different, "%s\n%s", name, fmt.Sprint(res.Differences))
		same, different = same+res.Exchanges-res.Different, different+res.Different
	}
	t.Logf("%d exchanges are as recorded, %d differ", same, different)
}

// startMember starts a member for one test, at whose beginning old versions are compacted, as in the server that was recorded. Other
// tests must not write to it, because the order of versions is compared.
func startMember(t *testing.T, url string) *member.Member {
	t.Helper()
	m, err := member.Start(t.Context(), t.TempDir(), member.Options{ClientURL: url})
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, m.Close()) })
	compactOld(t, m.Client())
	return m
}

// compactOld compacts the first versions.
func compactOld(t *testing.T, client *clientv3.Client) {
	t.Helper()
	var last int64
	for range 100 {
		r, err := client.Put(t.Context(), "/elsewhere", "x")
		require.NoError(t, err)
		last = r.Header.Revision
	}
	_, err := client.Compact(t.Context(), last)
	require.NoError(t, err)
}

func TestRecordedAnswersOnEtcd(t *testing.T) {
	t.Parallel()
	url := "http://" + cluster.FreeAddress(t)
	startMember(t, url)
	replay(t, replica(t, dial(t, url), standing()))
}

// turns sends requests to several transports in turn.
type turns struct {
	to []http.RoundTripper
	n  atomic.Uint64
}

func (tr *turns) RoundTrip(r *http.Request) (*http.Response, error) {
	return tr.to[tr.n.Add(1)%uint64(len(tr.to))].RoundTrip(r)
}

func TestRecordedAnswersOnTwoReplicasInTurn(t *testing.T) {
	t.Parallel()
	url := "http://" + cluster.FreeAddress(t)
	startMember(t, url)
	cl := standing()
	replay(t, &turns{to: []http.RoundTripper{replica(t, dial(t, url), cl), replica(t, dial(t, url), cl)}})
}

func TestRecordedAnswersOnADataDirectory(t *testing.T) {
	t.Parallel()
	replay(t, replica(t, startMember(t, "").Client(), standing()))
}

func TestRecordedAnswersOnKine(t *testing.T) {
	binary, url := kinetest.Binary(t), "http://"+cluster.FreeAddress(t)
	address := strings.TrimPrefix(url, "http://")
	kine := exec.Command(binary, kinetest.Args(t.TempDir(), address)...)
	require.NoError(t, kine.Start())
	t.Cleanup(func() {
		_ = kine.Process.Kill()
		_ = kine.Wait()
	})
	kinetest.Await(t, address)
	client := dial(t, url)
	compactOld(t, client)
	replay(t, replica(t, client, standing()))
}
