package registry_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/candidate"
	"github.com/kubecoord/kubecoord/internal/kinds"
	"github.com/kubecoord/kubecoord/internal/registry"
	"github.com/kubecoord/kubecoord/lease"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/clock"
	"github.com/kubecoord/kubecoord/store/meta"
)

func TestHistoryReturnsTheChangesOfOneResource(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	st := registry.New(registry.Options{History: 4, HistoryAge: 1 << 62, Clock: clock.Func(func() time.Time { now = now.Add(time.Second); return now })})
	defer st.Close()
	leases := leasesIn(st)
	r := leaseResource(st)

	told := func() (out []string, complete bool) {
		changes, complete := r.History()
		var last time.Time
		for _, c := range changes {
			assert.True(t, c.At.After(last), "each has its time")
			last = c.At
			out = append(out, fmt.Sprint(c.Type(), " ", c.Newest().Name(), " ", c.Version))
		}
		return out, complete
	}
	got, complete := told()
	assert.Empty(t, got)
	assert.True(t, complete)

	l, err := leases.Create(t.Context(), &lease.Lease{ObjectMeta: meta.ObjectMeta{Namespace: "ns", Name: "a"}}, store.CreateOptions{})
	require.NoError(t, err)
	_, err = in(st, candidate.Kind()).Create(t.Context(), &candidate.LeaseCandidate{
		ObjectMeta: meta.ObjectMeta{Namespace: "ns", Name: "c"},
		Spec:       candidate.LeaseCandidateSpec{LeaseName: "a", BinaryVersion: "1.0.0", Strategy: "example.com/x"},
	}, store.CreateOptions{})
	require.NoError(t, err)
	l.Spec.HolderIdentity = new("x")
	_, err = leases.Update(t.Context(), l, store.UpdateOptions{})
	require.NoError(t, err)
	_, err = leases.Delete(t.Context(), "ns", "a", kinds.DeleteOptions{})
	require.NoError(t, err)
	got, complete = told()
	assert.Equal(t, []string{"ADDED a 1001", "MODIFIED a 1003", "DELETED a 1004"}, got)
	assert.True(t, complete)

	_, err = leases.Create(t.Context(), &lease.Lease{ObjectMeta: meta.ObjectMeta{Namespace: "ns", Name: "b"}}, store.CreateOptions{})
	require.NoError(t, err)
	got, complete = told()
	assert.Equal(t, []string{"MODIFIED a 1003", "DELETED a 1004", "ADDED b 1005"}, got)
	assert.False(t, complete, "the first one is gone")
}
