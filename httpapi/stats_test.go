package httpapi_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/store"
)

func TestStatsCountWatchesByResourceAndScope(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := store.New(store.Options{})
		defer st.Close()
		api := httpapi.New(st, httpapi.Options{})
		defer api.Close()
		client := &http.Client{Transport: api.Transport()}
		stats := func() []httpapi.WatchStats {
			synctest.Wait()
			all := api.Stats().Watches
			slices.SortFunc(all, func(a, b httpapi.WatchStats) int {
				return strings.Compare(a.Resource+a.Version+a.Scope, b.Resource+b.Version+b.Scope)
			})
			return all
		}
		assert.Empty(t, stats())
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
		const coordination = "coordination.k8s.io"
		want := []httpapi.WatchStats{
			{Group: coordination, Version: "v1beta1", Resource: "leasecandidates", Scope: "cluster", Open: 1},
			{Group: coordination, Version: "v1", Resource: "leases", Scope: "cluster", Open: 2, Events: 4},
			{Group: coordination, Version: "v1", Resource: "leases", Scope: "namespace", Open: 1, Events: 2},
			{Group: coordination, Version: "v1", Resource: "leases", Scope: "resource", Open: 1, Events: 1},
		}
		assert.Equal(t, want, stats())
		cancel()
		for i := range want {
			want[i].Open = 0
		}
		assert.Equal(t, want, stats())
	})
}

func TestStatsCountRequestsInFlight(t *testing.T) {
	var api *httpapi.API
	var seen []httpapi.Stats
	api = guardedAPI(t, httpapi.Options{Reads: 10, Writes: 10, Authorize: func(httpapi.Attributes) (bool, string) {
		seen = append(seen, api.Stats())
		return true, ""
	}})
	api.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", leases, nil))
	api.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("POST", leases, strings.NewReader(`{}`)))
	assert.Equal(t, []httpapi.Stats{{Reads: 1}, {Writes: 1}}, seen)
	assert.Zero(t, api.Stats())
}
