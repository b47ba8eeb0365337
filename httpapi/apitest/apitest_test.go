package apitest_test

import (
	"encoding/json"
	"net/http"
	"os"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/httpapi/apitest"
	"github.com/kubecoord/kubecoord/internal/registry"
	"github.com/kubecoord/kubecoord/store"
)

func TestOptionsReachTheStoreAndTheAPI(t *testing.T) {
	var through int
	api := apitest.New(t, apitest.Options{
		Store: store.Options{FirstResourceVersion: 5000},
		API: httpapi.Options{
			Authenticate: httpapi.BearerTokens(map[string]httpapi.User{"s3cret": {Name: "alice"}}),
			Middleware: func(next http.Handler) http.Handler {
				return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					through++
					next.ServeHTTP(w, r)
				})
			},
		},
	})
	assert.EqualValues(t, 5000, (*registry.Store)(api.Store()).ResourceVersion())
	d := doorTo(api)
	assert.Equal(t, http.StatusUnauthorized, d.do(t, "GET", leases, "").code)
	assert.Equal(t, http.StatusOK, d.do(t, "GET", leases, "", "Authorization", "Bearer s3cret").code)
	assert.Equal(t, 2, through)
	api.Fault(apitest.Answer(503))
	assert.Equal(t, http.StatusServiceUnavailable, d.do(t, "GET", leases, "").code)
	assert.Equal(t, 2, through, "the faults come first")
}

func TestNewAcceptsAtMostOneOptions(t *testing.T) {
	assert.Equal(t, "apitest.New: got 2 Options, want one at most",
		failure(t, func(t testing.TB) { apitest.New(t, apitest.Options{}, apitest.Options{}) }))
}

func TestKubeconfigConnectsToTheServer(t *testing.T) {
	for name, tls := range map[string]bool{"plain": false, "TLS": true} {
		t.Run(name, func(t *testing.T) {
			api := apitest.New(t, apitest.Options{TLS: tls})
			data, err := os.ReadFile(api.Kubeconfig())
			require.NoError(t, err)
			var config struct {
				Current  string `json:"current-context"`
				Users    []struct{ User struct{ Token string } }
				Clusters []struct {
					Cluster struct {
						Server string
						CA     []byte `json:"certificate-authority-data"`
					}
				}
			}
			require.NoError(t, json.Unmarshal(data, &config))
			require.Len(t, config.Clusters, 1)
			assert.Equal(t, "kubecoord", config.Current)
			require.Len(t, config.Users, 1)
			assert.Equal(t, "apitest", config.Users[0].User.Token)
			assert.Equal(t, api.URL(), config.Clusters[0].Cluster.Server)
			assert.Equal(t, api.CA(), config.Clusters[0].Cluster.CA)
			assert.Equal(t, tls, api.CA() != nil)
			assert.NotEqual(t, api.Kubeconfig(), api.Kubeconfig())
		})
	}
}

// The end of a test leaves no goroutine, port or file, even with requests in progress.
func TestNothingRemainsAfterATest(t *testing.T) {
	var files []string
	var apis []*apitest.API
	before := sockets()
	t.Run("a test", func(t *testing.T) {
		plain, secure := apitest.New(t), apitest.New(t, apitest.Options{TLS: true})
		apis = []*apitest.API{plain, secure}
		for _, api := range apis {
			files = append(files, api.Kubeconfig())
			api.Fault(apitest.Hang(), apitest.Match{Verb: "list"})
			api.Fault(apitest.Delay(time.Hour), apitest.Match{Verb: "get"})
			api.Fault(apitest.Partition(), apitest.Match{Verb: "delete"})
		}
		for _, d := range []*door{
			{API: plain, client: &http.Client{Transport: plain.Transport()}, base: plain.Host()},
			{API: plain, client: &http.Client{Transport: &http.Transport{}}, base: plain.URL()},
			{API: secure, client: tlsClient(t, secure), base: secure.URL()},
		} {
			d.watch(t, leases+"?watch=true")
			for _, r := range []struct{ method, target string }{{"GET", leases}, {"GET", leasesA}, {"DELETE", leasesA}} {
				req, err := http.NewRequest(r.method, d.base+r.target, nil)
				require.NoError(t, err)
				go func() {
					if resp, err := d.client.Do(req); err == nil {
						resp.Body.Close()
					}
				}()
			}
		}
		for len(plain.Requests()) < 8 || len(secure.Requests()) < 4 {
			runtime.Gosched()
		}
	})
	for _, file := range files {
		_, err := os.Stat(file)
		assert.ErrorIs(t, err, os.ErrNotExist)
	}
	for _, api := range apis {
		for _, r := range api.Requests() {
			assert.True(t, r.Done, "%s", r)
		}
	}
	// Clients see a moment later that their connections are closed.
	deadline := time.Now().Add(time.Minute)
	for {
		left, open := leftovers(), sockets()
		if left == "" && open == before {
			break
		}
		if time.Now().After(deadline) {
			require.Fail(t, "something is left", "sockets: got %d, want %d; goroutines: %s", open, before, left)
		}
		runtime.Gosched()
	}
}

// leftovers returns the stacks of goroutines that serve or ask.
func leftovers() string {
	buf := make([]byte, 1<<20)
	var left []string
	for _, stack := range strings.Split(string(buf[:runtime.Stack(buf, true)]), "\n\n") {
		if strings.Contains(stack, "net/http.") || strings.Contains(stack, "kubecoord/httpapi.") {
			left = append(left, stack)
		}
	}
	return strings.Join(left, "\n\n")
}

// sockets returns how many sockets this process has open, 0 if the system does not say.
func sockets() (n int) {
	open, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return 0
	}
	for _, fd := range open {
		if to, _ := os.Readlink("/proc/self/fd/" + fd.Name()); strings.HasPrefix(to, "socket:") {
			n++
		}
	}
	return n
}

func TestSocketsAreNotOpenedAfterTheEnd(t *testing.T) {
	var api *apitest.API
	message := failure(t, func(t testing.TB) {
		f := &ending{TB: t}
		api = apitest.New(f)
		f.end()
		api.URL()
	})
	assert.Contains(t, message, "has ended: want URL, CA and Kubeconfig before its end")
}

// ending is a test that ends when end is called.
type ending struct {
	testing.TB
	cleanups []func()
}

// Cleanup registers f for end.
func (e *ending) Cleanup(f func()) { e.cleanups = append(e.cleanups, f) }

func (e *ending) end() {
	for _, f := range e.cleanups {
		f()
	}
}

func TestTimeIsVirtualInABubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		api := apitest.New(t)
		d := doorTo(api)
		api.Fault(apitest.Delay(24*time.Hour), apitest.Match{Verb: "get"})
		start := time.Now()
		assert.Equal(t, http.StatusNotFound, d.do(t, "GET", leasesA, "").code)
		assert.Equal(t, 24*time.Hour, time.Since(start))
		assert.Equal(t, start, api.Requests()[0].Time)
	})
}
