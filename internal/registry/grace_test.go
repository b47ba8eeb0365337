package registry_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/internal/kinds"
	"github.com/kubecoord/kubecoord/internal/registry"
	"github.com/kubecoord/kubecoord/store/kind"
	"github.com/kubecoord/kubecoord/store/meta"
	"github.com/kubecoord/kubecoord/watch"
)

// gracefulValves are valves that a deletion leaves some seconds, five if it asks for none. A valve that is not open has none.
func gracefulValves(t *testing.T, change func(*kind.Descriptor[meta.Object])) *registry.Resource {
	t.Helper()
	d := kind.Descriptor[meta.Object]{
		Resource: kind.Resource{Group: "example.com", Kind: "Valve"},
		New:      func() kinds.Object { return &valve{} },
		Versions: []kind.Version[meta.Object]{{Name: "v1"}},
		Strategy: kind.Strategy[meta.Object]{Delete: kind.DeleteStrategy[meta.Object]{Grace: func(obj kinds.Object, requested *int64) int64 {
			switch {
			case !obj.(*valve).Spec.Open:
				return 0
			case requested != nil:
				return *requested
			}
			return 5
		}}},
	}
	if change != nil {
		change(&d)
	}
	k, err := kinds.NewKind(d)
	require.NoError(t, err)
	return newStore(t).Resource(k)
}

func (v valveSpec) in(t *testing.T, r *registry.Resource) registry.Request {
	t.Helper()
	at := registry.Request{Namespace: "ns", Name: "a"}
	_, err := r.Create(t.Context(), &valve{ObjectMeta: objectMeta("ns/a"), Spec: v}, &at)
	require.NoError(t, err)
	return at
}

func TestADeletionWithGraceMarksAndLaterOnesOnlyShortenIt(t *testing.T) {
	r := gracefulValves(t, nil)
	at := valveSpec{Open: true}.in(t, r)
	var first int64
	for _, row := range []struct {
		asked *int64
		left  int64
	}{{nil, 5}, {new(int64(9)), 5}, {new(int64(2)), 2}, {nil, 2}} {
		d, err := r.Delete(t.Context(), new(at), &kinds.DeleteOptions{GracePeriodSeconds: row.asked})
		require.NoError(t, err)
		require.False(t, d.Removed)
		m := d.Copy().GetObjectMeta()
		if first == 0 {
			first = m.DeletionTimestamp.Unix() - 5
		}
		assert.Equal(t, row.left, *m.DeletionGracePeriodSeconds)
		assert.Equal(t, first+row.left, m.DeletionTimestamp.Unix(), "it counts from the first deletion")
		assert.EqualValues(t, 2, m.Generation, "which counts a generation")
	}
	d, err := r.Delete(t.Context(), new(at), &kinds.DeleteOptions{GracePeriodSeconds: new(int64(0))})
	require.NoError(t, err)
	assert.True(t, d.Removed)
}

func TestADeletionWithoutGraceLeftIsSeenAsAMarkAndARemoval(t *testing.T) {
	r := gracefulValves(t, nil)
	d, err := r.Delete(t.Context(), new(valveSpec{}.in(t, r)), &kinds.DeleteOptions{})
	require.NoError(t, err)
	assert.True(t, d.Removed)
	assert.NotNil(t, d.Item.Copy().GetObjectMeta().DeletionTimestamp)
	assert.EqualValues(t, 1003, d.Version, "created at 1001, marked at 1002")
}

// A reader that is woken by the mark still finds the object.
func TestWatchesSeeTheMarkBeforeTheRemoval(t *testing.T) {
	for scope, opts := range map[string]registry.ListOptions{
		"collection": {ResourceVersion: "1001"}, "namespace": {Namespace: "ns", ResourceVersion: "1001"}, "object": {Namespace: "ns", Name: "a", ResourceVersion: "1001"},
	} {
		t.Run(scope, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := gracefulValves(t, nil)
				at := valveSpec{}.in(t, r)
				w, err := r.Watch(t.Context(), opts)
				require.NoError(t, err)
				defer w.Close()
				go func() {
					_, err := r.Delete(t.Context(), new(at), &kinds.DeleteOptions{})
					assert.NoError(t, err)
				}()
				events, err := w.Next(t.Context())
				require.NoError(t, err)
				require.Len(t, events, 1)
				assert.Equal(t, watch.Modified, events[0].Type)
				it, err := r.Get(t.Context(), "ns", "a", "")
				require.NoError(t, err)
				assert.NotNil(t, it.Copy().GetObjectMeta().DeletionTimestamp)
				events, err = w.Next(t.Context())
				require.NoError(t, err)
				require.Len(t, events, 1)
				assert.Equal(t, watch.Deleted, events[0].Type)
			})
		})
	}
}

func TestADeletionWaitsForNobodyWhereNobodyWatches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := gracefulValves(t, nil)
		at := valveSpec{}.in(t, r)
		other, err := r.Watch(t.Context(), registry.ListOptions{Namespace: "other"})
		require.NoError(t, err)
		defer other.Close()
		start := time.Now()
		d, err := r.Delete(t.Context(), new(at), &kinds.DeleteOptions{})
		require.NoError(t, err)
		assert.True(t, d.Removed)
		assert.Zero(t, time.Since(start))
	})
}

// The mark alone would be an object that nobody removes.
func TestTheEndOfTheRequestDoesNotSeparateTheMarkFromTheRemoval(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := gracefulValves(t, nil)
		at := valveSpec{}.in(t, r)
		w, err := r.Watch(t.Context(), registry.ListOptions{ResourceVersion: "1001"})
		require.NoError(t, err)
		defer w.Close()
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() {
			_, err := r.Delete(ctx, new(at), &kinds.DeleteOptions{})
			done <- err
		}()
		_, err = w.Next(t.Context())
		require.NoError(t, err)
		start := time.Now()
		cancel()
		require.NoError(t, <-done)
		assert.Zero(t, time.Since(start))
		_, err = r.Get(t.Context(), "ns", "a", "")
		require.ErrorIs(t, err, meta.ReasonNotFound)
	})
}

func TestADryRunOfADeletionWithGraceRemovesNothing(t *testing.T) {
	r := gracefulValves(t, nil)
	at := valveSpec{}.in(t, r)
	d, err := r.Delete(t.Context(), new(at), &kinds.DeleteOptions{DryRun: []string{"All"}})
	require.NoError(t, err)
	assert.NotNil(t, d.Item.Copy().GetObjectMeta().DeletionTimestamp)
	_, err = r.Delete(t.Context(), new(at), &kinds.DeleteOptions{})
	require.NoError(t, err, "it is still there")
}

func TestAKindMayOrphanByDefault(t *testing.T) {
	for name, row := range map[string]struct {
		policy *meta.DeletionPropagation
		want   []string
	}{
		"no policy":      {nil, []string{meta.FinalizerOrphanDependents}},
		"the background": {new(meta.DeletePropagationBackground), nil},
		"the foreground": {new(meta.DeletePropagationForeground), []string{meta.FinalizerDeleteDependents}},
	} {
		t.Run(name, func(t *testing.T) {
			r := gracefulValves(t, func(d *kind.Descriptor[meta.Object]) {
				d.Strategy.Delete.Grace, d.Native = nil, &kind.Native[meta.Object]{CustomResource: true, OrphansDependents: true}
			})
			d, err := r.Delete(t.Context(), new(valveSpec{}.in(t, r)), &kinds.DeleteOptions{PropagationPolicy: row.policy})
			require.NoError(t, err)
			assert.Equal(t, row.want, d.Item.Copy().GetObjectMeta().Finalizers)
			assert.Equal(t, row.want == nil, d.Removed)
		})
	}
}
