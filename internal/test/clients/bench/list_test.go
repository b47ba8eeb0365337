package bench

import (
	"encoding/json"
	"io"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	coordinationv1 "k8s.io/api/coordination/v1"

	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/lease"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/meta"
)

const listed = 10_000

// BenchmarkList compares a list of 10,000 Leases as JSON through the handler
// with encoding/json writing the same list. The goal is a ratio of 0.25.
func BenchmarkList(b *testing.B) {
	_, api := newServer(b, listed, ownMaps)
	duel(b, 1, "handler", lister(b, api), "encoding/json", encoder(b, api))
}

// BenchmarkListAfterWrites is like BenchmarkList, but each Lease changes before
// each list, so that no cached encoding can be used. It has no goal.
func BenchmarkListAfterWrites(b *testing.B) {
	st, api := newServer(b, listed, ownMaps)
	leases, list, encode := lease.In(st), lister(b, api), encoder(b, api)
	now := midnight
	var ours, other time.Duration
	n := 0
	for ; b.Loop(); n++ {
		now = now.Add(time.Second)
		for i := range listed {
			_, err := leases.Modify(b.Context(), namespace, leaseName(i), func(l *lease.Lease) error {
				l.Spec.RenewTime = new(meta.NewMicroTime(now))
				return nil
			}, store.UpdateOptions{})
			require.NoError(b, err)
		}
		ours += timeOf(1, list)
		other += timeOf(1, encode)
	}
	reportDuel(b, n, "handler", ours, "encoding/json", other)
}

// lister returns a call that lists all Leases and discards the answer.
func lister(b *testing.B, api *httpapi.API) func() {
	req := listRequest("application/json")
	return func() {
		if w := serve(api, req); w.code != 200 || w.bytes < 500*listed {
			b.Fatalf("code %d, %d bytes", w.code, w.bytes)
		}
	}
}

// encoder returns a call that encodes the same list.
func encoder(b *testing.B, api *httpapi.API) func() {
	answer := httptest.NewRecorder()
	api.ServeHTTP(answer, listRequest("application/json"))
	var list coordinationv1.LeaseList
	require.NoError(b, json.Unmarshal(answer.Body.Bytes(), &list))
	require.Len(b, list.Items, listed)
	return func() {
		if err := json.NewEncoder(io.Discard).Encode(&list); err != nil {
			b.Fatal(err)
		}
	}
}
