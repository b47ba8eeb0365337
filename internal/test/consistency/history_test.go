package consistency

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/internal/registry"
	"github.com/kubecoord/kubecoord/lease"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/meta"
)

// lived returns the record of a Lease that was created at 1001, changed twice, deleted and created again at 1005.
func lived(t *testing.T) registry.Recorded {
	st := store.New(store.Options{})
	(*registry.Store)(st).Record(10)
	defer st.Close()
	leases := lease.In(st)
	create := func() {
		_, err := leases.Create(t.Context(), &lease.Lease{ObjectMeta: meta.ObjectMeta{Namespace: "default", Name: "a"}}, store.CreateOptions{})
		require.NoError(t, err)
	}
	create()
	for _, holder := range []string{"x", "y"} {
		_, err := leases.Modify(t.Context(), "default", "a", func(l *lease.Lease) error {
			l.Spec.HolderIdentity = &holder
			return nil
		}, store.UpdateOptions{})
		require.NoError(t, err)
	}
	_, err := leases.Delete(t.Context(), "default", "a", store.DeleteOptions{})
	require.NoError(t, err)
	create()
	return (*registry.Store)(st).Recorded()
}

// No store makes these histories, but Report must find them.
func TestReportFindsImpossibleHistories(t *testing.T) {
	without := func(i int) func(*registry.Recorded) {
		return func(rec *registry.Recorded) { rec.Changes = slices.Delete(rec.Changes, i, i+1) }
	}
	for name, tt := range map[string]struct {
		corrupt func(*registry.Recorded)
		want    string
	}{
		"whole":                            {func(*registry.Recorded) {}, ""},
		"a change is lost":                 {without(1), "change 1 has version 1003"},
		"an addition is lost":              {without(4), "but its last change made <nil>"},
		"a deletion is lost":               {without(3), "change 1005 of leases.coordination.k8s.io default/a replaced <nil>, but the state was"},
		"the object is missing at the end": {func(rec *registry.Recorded) { rec.Now = nil }, "but its last change made"},
		"the uid changes":                  {func(rec *registry.Recorded) { rec.Changes[2].New = rec.Changes[4].New }, "has another uid than the state before"},
		"a deleted object changes":         {func(rec *registry.Recorded) { rec.Changes[1].Type = rec.Changes[3].Type }, "but the state was <nil>"},
	} {
		t.Run(name, func(t *testing.T) {
			rec := lived(t)
			tt.corrupt(&rec)
			found := strings.Join(report(rec, nil, nil).Findings, "\n")
			assert.Contains(t, found, tt.want)
			assert.Equal(t, tt.want == "", found == "", found)
		})
	}
}
