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
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/clock"
	"github.com/kubecoord/kubecoord/store/meta"
)

// A change of the kind reads no object, however many there are: each is read by the new kind once, when it is read.
func TestAChangeOfKindsIsASwap(t *testing.T) {
	st, old := newStore(t), valves(nil)
	createValves(t, st, old, "ns/a", "ns/b", "ns/c")
	fork, err := st.Fork()
	require.NoError(t, err)
	defer fork.Close()
	before, read := in(st, old), 0
	next := valves(func(d *store.Descriptor[valve]) {
		d.Default = func(v *valve) { read, v.Spec.Open = read+1, true }
	})
	ctx := t.Context()
	require.NoError(t, st.Register(ctx, kinds.Of(next)))
	assert.Zero(t, read)
	objects := in(st, next)
	b, err := objects.Get(ctx, "ns", "b")
	require.NoError(t, err)
	assert.True(t, b.Spec.Open, "read by the new kind")
	assert.Equal(t, "1002", b.ResourceVersion)
	assert.Equal(t, 1, read)
	assert.Equal(t, []string{"a@1001", "b@1002", "c@1003"}, listValves(t, st, next))
	assert.Equal(t, []string{"a@1001", "b@1002", "c@1003"}, listValves(t, st, next))
	assert.Equal(t, 3, read, "remembered")
	size := st.Size()
	w, err := st.Resource(kinds.Of(next)).Watch(ctx, registry.ListOptions{ResourceVersion: "1003"})
	require.NoError(t, err)
	defer w.Close()
	b.Labels = map[string]string{"k": "v"}
	_, err = objects.Update(ctx, b, store.UpdateOptions{})
	require.NoError(t, err)
	_, err = objects.Delete(ctx, "ns", "c", kinds.DeleteOptions{})
	require.NoError(t, err)
	var events []string
	for len(events) < 2 {
		more, err := w.Next(ctx)
		require.NoError(t, err)
		for _, ev := range more {
			assert.True(t, ev.Item.Stored().(*valve).Spec.Open)
			events = append(events, string(ev.Type)+" "+ev.Item.Name())
		}
	}
	assert.Equal(t, []string{"MODIFIED b", "DELETED c"}, events)
	assert.Less(t, st.Size(), size)
	_, err = objects.Delete(ctx, "ns", "a", kinds.DeleteOptions{})
	require.NoError(t, err)
	_, err = objects.Delete(ctx, "ns", "b", kinds.DeleteOptions{})
	require.NoError(t, err)
	assert.Zero(t, st.Size(), "what was counted under the old kind is given back")

	_, err = before.Get(ctx, "ns", "a")
	assert.NoError(t, err, "a request that was in flight sees the last state of its kind")
	_, err = before.Create(ctx, &valve{ObjectMeta: objectMeta("ns/late")}, store.CreateOptions{})
	assert.ErrorContains(t, err, "storage is (re)initializing")
	a, err := in(fork, old).Get(ctx, "ns", "a")
	require.NoError(t, err)
	assert.False(t, a.Spec.Open, "a fork has its own kind")
	createValves(t, fork, old, "ns/late")
}

// faucet is a valve of another Go type.
type faucet struct {
	meta.TypeMeta   `json:",inline"`
	meta.ObjectMeta `json:"metadata"`
	Spec            valveSpec   `json:"spec"`
	Status          valveStatus `json:"status"`
}

// A kind of another Go type first reads the objects of the old one, without a lock. Writes come before it has read the first one.
func TestWritesDuringAChangeOfKindsAreKept(t *testing.T) {
	st, old := newStore(t), valves(nil)
	createValves(t, st, old, "ns/a", "ns/b", "ns/c")
	objects, ctx := in(st, old), t.Context()
	begun := false
	next := store.MustKind(store.Descriptor[faucet]{
		Group: "example.com", Name: "Valve", Versions: []store.Version[faucet]{{Name: "v1"}}, Default: func(*faucet) {
			if begun {
				return
			}
			begun = true
			createValves(t, st, old, "ns/late")
			_, err := objects.Modify(ctx, "ns", "b", func(v *valve) error { v.Spec.Open = true; return nil }, store.UpdateOptions{})
			assert.NoError(t, err)
			_, err = objects.Delete(ctx, "ns", "c", kinds.DeleteOptions{})
			assert.NoError(t, err)
		},
	})
	require.NoError(t, st.Register(ctx, kinds.Of(next)))
	assert.True(t, begun)
	items, _, err := in(st, next).List(ctx, registry.ListOptions{})
	require.NoError(t, err)
	require.Len(t, items, 3)
	assert.Equal(t, []string{"1001", "1005", "1004"}, []string{items[0].ResourceVersion, items[1].ResourceVersion, items[2].ResourceVersion})
	assert.True(t, items[1].Spec.Open)
}

// The collection of the new kind has no history from before the change.
func TestAWatchOfANewKindDoesNotStartBeforeTheChange(t *testing.T) {
	st, old := newStore(t), valves(nil)
	createValves(t, st, old, "ns/a", "ns/b")
	next := valves(nil)
	require.NoError(t, st.Register(t.Context(), kinds.Of(next)))
	createValves(t, st, next, "ns/c")
	for version, want := range map[string]error{"1001": meta.ReasonExpired, "1002": nil, "1003": nil} {
		w, err := st.Resource(kinds.Of(next)).Watch(t.Context(), registry.ListOptions{ResourceVersion: version, Timeout: -1})
		require.NoError(t, err)
		_, err = w.Next(t.Context())
		w.Close()
		if want != nil {
			assert.ErrorIs(t, err, want, version)
		} else {
			assert.NotErrorIs(t, err, meta.ReasonExpired, version)
		}
	}
}

// Each way in which a kind goes ends its watches at once, also watches that wait.
func TestWatchesEndWhenTheirKindGoes(t *testing.T) {
	for name, goes := range map[string]func(ctx context.Context, st *registry.Store, k *kinds.Kind) error{
		"replaced": func(ctx context.Context, st *registry.Store, _ *kinds.Kind) error {
			return st.Register(ctx, kinds.Of(valves(nil)))
		},
		"dropped": func(ctx context.Context, st *registry.Store, k *kinds.Kind) error { return st.Drop(ctx, k) },
		"not served any more": func(_ context.Context, st *registry.Store, k *kinds.Kind) error {
			st.EndWatches(k)
			return nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				st, kind := newStore(t), valves(nil)
				st.Resource(kinds.Of(kind))
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				ended := make(chan error, 1)
				w, err := st.Resource(kinds.Of(kind)).Watch(ctx, registry.ListOptions{ResourceVersion: "1000", EndWithoutContact: true})
				require.NoError(t, err)
				go func() {
					defer w.Close()
					_, err := w.Next(ctx)
					ended <- err
				}()
				synctest.Wait()
				require.NoError(t, goes(ctx, st, kinds.Of(kind)))
				synctest.Wait()
				select {
				case err := <-ended:
					assert.ErrorContains(t, err, "EOF")
				default:
					assert.Fail(t, "the watch is still open")
				}
			})
		})
	}
}

// A write changes a field that its kind then sets back. The manager has the fields as before, with a newer time.
func TestAWriteThatOnlyRenewsTheTimesOfManagersChangesNothing(t *testing.T) {
	clk := clock.NewManual(epoch)
	st := newStoreWith(t, registry.Options{Clock: clk})
	objects := in(st, valves(func(d *store.Descriptor[valve]) {
		d.PrepareForUpdate = func(o, old *valve) { o.Labels = old.Labels }
	}))
	ctx := t.Context()
	labelled := func(path, value string) *valve {
		v := &valve{TypeMeta: meta.TypeMeta{APIVersion: "example.com/v1", Kind: "Valve"}, ObjectMeta: objectMeta(path)}
		v.Labels = map[string]string{"k": value}
		return v
	}
	updated, err := objects.Create(ctx, labelled("ns/updated", "1"), store.CreateOptions{FieldManager: "me"})
	require.NoError(t, err)
	applied, err := objects.Apply(ctx, labelled("ns/applied", "1"), store.ApplyOptions{FieldManager: "me"})
	require.NoError(t, err)
	for name, row := range map[string]struct {
		before *valve
		write  func() (*valve, error)
	}{
		"update": {updated, func() (*valve, error) {
			return objects.Update(ctx, labelled("ns/updated", "2"), store.UpdateOptions{FieldManager: "me"})
		}},
		"patch": {updated, func() (*valve, error) {
			return objects.Patch(ctx, "ns", "updated", store.MergePatch, []byte(`{"metadata":{"labels":{"k":"2"}}}`), store.PatchOptions{FieldManager: "me"})
		}},
		"apply": {applied, func() (*valve, error) {
			return objects.Apply(ctx, labelled("ns/applied", "2"), store.ApplyOptions{FieldManager: "me"})
		}},
	} {
		t.Run(name, func(t *testing.T) {
			clk.FastForward(time.Hour)
			version := st.ResourceVersion()
			after, err := row.write()
			require.NoError(t, err)
			assert.Equal(t, row.before, after)
			assert.Equal(t, version, st.ResourceVersion())
		})
	}
}
