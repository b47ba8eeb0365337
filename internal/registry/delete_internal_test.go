package registry

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/store/clock"
	"github.com/kubecoord/kubecoord/store/meta"
)

// A deletion has one result, in one step and in several.
func TestRemoveAtOnceIsDelete(t *testing.T) {
	kind := checkedKind(t, func(string) {})
	st := New(Options{Seed: 1, Clock: clock.Func(func() time.Time { return time.Unix(1_767_323_045, 0) })})
	defer st.Close()
	for name, finalizers := range map[string][]string{
		"plain": nil, "kept": {"example.com/keep"}, "orphan": {meta.FinalizerOrphanDependents}, "foreground": {meta.FinalizerDeleteDependents, "example.com/keep"},
	} {
		_, err := st.Resource(kind).Create(t.Context(), &widget{ObjectMeta: meta.ObjectMeta{Namespace: "ns", Name: name, Finalizers: finalizers}}, Request{Namespace: "ns"})
		require.NoError(t, err)
	}
	current := st.Resource(kind).Peek("ns", "plain")
	options := []DeleteOptions{
		{},
		{DryRun: []string{DryRunAll}},
		{IgnoreStoreReadErrorWithClusterBreakingPotential: new(true)},
		{OrphanDependents: new(true)},
		{OrphanDependents: new(false)},
		{Preconditions: &Preconditions{UID: new(current.UID()), ResourceVersion: new(current.ResourceVersion())}},
		{Preconditions: &Preconditions{UID: new(meta.UID("other"))}},
		{Preconditions: &Preconditions{ResourceVersion: new("1")}},
	}
	for _, p := range []meta.DeletionPropagation{meta.DeletePropagationBackground, meta.DeletePropagationForeground, meta.DeletePropagationOrphan} {
		options = append(options, DeleteOptions{PropagationPolicy: &p})
	}
	type remover func(*Resource, Request, DeleteOptions) (Deletion, error)
	outcome := func(name string, opts DeleteOptions, remove remover) (lines []string) {
		f, err := st.Fork()
		require.NoError(t, err)
		defer f.Close()
		f.Record(10)
		add := func(what any, it *Item) {
			data := []byte{}
			if it != nil {
				data, err = it.Encoded(0, JSON)
				require.NoError(t, err)
			}
			lines = append(lines, fmt.Sprintf("%v %s", what, data))
		}
		d, err := remove(f.Resource(kind), Request{Namespace: "ns", Name: name, Origin: 7}, opts)
		add(fmt.Sprint(err, d.Removed, d.Version), d.Item)
		after := f.Recorded()
		for _, c := range after.Changes {
			add(fmt.Sprint(c.Type, c.Version, c.Origin), c.New)
		}
		for _, n := range after.Now {
			add("now", n.Item)
		}
		return lines
	}
	atOnce := 0
	for _, name := range []string{"plain", "kept", "orphan", "foreground", "missing"} {
		for i, opts := range options {
			want := outcome(name, opts, func(r *Resource, req Request, opts DeleteOptions) (Deletion, error) {
				return r.deleteInSteps(t.Context(), req, opts)
			})
			got := outcome(name, opts, func(r *Resource, req Request, opts DeleteOptions) (Deletion, error) {
				if d := r.removeAtOnce(t.Context(), &req, opts); d.Removed {
					atOnce++
					return d, nil
				}
				return r.deleteInSteps(t.Context(), req, opts)
			})
			assert.Equal(t, want, got, "%s, options %d", name, i)
		}
	}
	assert.Equal(t, 6, atOnce)
}
