package consistency

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/internal/registry"
	"github.com/kubecoord/kubecoord/lease"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/meta"
)

// lived returns the record of a Lease that was created at 1001, changed twice, deleted and created again at 1005.
func lived(t *testing.T) (registry.Recorded, *registry.Resource) {
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
	return (*registry.Store)(st).Recorded(), (*registry.Store)(st).Resource(lease.Kind().Registered(

	// No store makes the histories of the next test, but Report must find them.
	))
}

func TestReportFindsImpossibleHistories(t *testing.T) {
	without := func(i int) func(*registry.Recorded) {
		return func(rec *registry.Recorded) { rec.Changes = slices.Delete(rec.Changes, i, i+1) }
	}
	for name, tt := range map[string]struct {
		corrupt func(*registry.Recorded)
		want    []string
	}{
		"whole":                            {func(*registry.Recorded) {}, nil},
		"a change is lost":                 {without(1), []string{"leases default/a at 1003 replaced version 1002, but it was at version 1001: that change is lost"}},
		"an addition is lost":              {without(4), []string{"leases default/a is at version 1005, but its last change made version 0 (0: it does not exist)"}},
		"a deletion is lost":               {without(3), []string{"leases default/a was added at 1005, but it existed since 1003"}},
		"the object is missing at the end": {func(rec *registry.Recorded) { rec.Now = nil }, []string{"leases default/a is at version 0, but its last change made version 1005 (0: it does not exist)"}},
		"the uid changes":                  {func(rec *registry.Recorded) { rec.Changes[2].New = rec.Changes[4].New }, []string{"leases default/a changed its uid at 1003", "leases default/a at 1004 replaced version 1003, but it was at version 1005: that change is lost"}},
		"a deleted object changes":         {func(rec *registry.Recorded) { rec.Changes[1].Type = rec.Changes[3].Type }, []string{"leases default/a was changed at 1003, but it did not exist"}},
	} {
		t.Run(name, func(t *testing.T) {
			rec, r := lived(t)
			tt.corrupt(&rec)
			v := verifier{history: newHistory(rec, []*registry.Resource{r}, nil)}
			var got []string
			for _, f := range v.report().Findings {
				assert.Equal(t, LostWrite, f.Kind)
				got = append(got, f.Text)
			}
			assert.Equal(t, tt.want, got)
		})
	}
}

func TestExcerptShowsTheEndOfALongHistory(t *testing.T) {
	rec, r := lived(t)
	rec.Changes = slices.Repeat(rec.Changes, 3)
	h := newHistory(rec, []*registry.Resource{r}, nil)
	lines := h.excerpt(objectKey{r, "default", "a"}, 2000)
	require.Len(t, lines, excerptLines+1)
	assert.Equal(t, "…", lines[0])
	assert.Contains(t, lines[excerptLines], "1005 ADDED leases default/a through the Store")
}
