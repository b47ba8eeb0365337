package store_test

import (
	"context"
	"iter"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/lease"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/watch"
)

type events = iter.Seq2[watch.Event[lease.Lease], error]

// listener reads a sequence of events in a goroutine of its own. It is for synctest
// bubbles.
type listener struct {
	told chan string // one event at a time; until it is taken, no other is read
	done chan struct{}
	err  error // the last element; set before done is closed
}

func listen(t *testing.T, seq events) *listener {
	r := &listener{told: make(chan string), done: make(chan struct{})}
	go func() {
		defer close(r.done)
		for ev, err := range seq {
			if r.err = err; err != nil {
				assert.Zero(t, ev)
				continue
			}
			select {
			case r.told <- textOf(ev):
			case <-t.Context().Done():
				return
			}
		}
	}()
	return r
}

// textOf is such as "ADDED ns/name@1001".
func textOf(ev watch.Event[lease.Lease]) string {
	text := string(ev.Type)
	if ev.Type != watch.Bookmark {
		text += " " + ev.Object.Namespace + "/" + ev.Object.Name
	}
	text += "@" + ev.Object.ResourceVersion
	if ev.InitialEventsEnd {
		text += " end"
	}
	return text
}

// take returns all that comes until all is quiet.
func (r *listener) take() (out []string) {
	for {
		synctest.Wait()
		select {
		case text := <-r.told:
			out = append(out, text)
		default:
			return out
		}
	}
}

// ended reports whether the sequence has ended, once all is quiet.
func (r *listener) ended() bool {
	synctest.Wait()
	select {
	case <-r.done:
		return true
	default:
		return false
	}
}

func TestWatchBeginsWithTheStateOrAfterAVersion(t *testing.T) {
	for name, row := range map[string]struct {
		opts store.WatchOptions
		want []string
	}{
		"the state":                      {store.WatchOptions{}, []string{"ADDED ns/a@1002", "ADDED ns/b@1003", "DELETED ns/a@1004"}},
		"a version":                      {store.WatchOptions{ResourceVersion: "1001"}, []string{"MODIFIED ns/a@1002", "ADDED ns/b@1003", "DELETED ns/a@1004"}},
		"a name":                         {store.WatchOptions{Namespace: "ns", Name: "b"}, []string{"ADDED ns/b@1003"}},
		"another namespace":              {store.WatchOptions{Namespace: "other"}, nil},
		"a label":                        {store.WatchOptions{LabelSelector: "k=v"}, []string{"ADDED ns/b@1003"}},
		"a field":                        {store.WatchOptions{FieldSelector: "metadata.name=a"}, []string{"ADDED ns/a@1002", "DELETED ns/a@1004"}},
		"the state, with a bookmark":     {store.WatchOptions{AllowWatchBookmarks: true, Name: "b"}, []string{"ADDED ns/b@1003", "BOOKMARK@1003 end"}},
		"a version has no such bookmark": {store.WatchOptions{AllowWatchBookmarks: true, ResourceVersion: "1003"}, []string{"DELETED ns/a@1004"}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				leases := lease.In(newStore(t))
				createAll(t, leases, "ns/a")
				mustModify(t, leases, "ns/a", holder("x"))
				mustCreate(t, leases, newLease("ns/b", label("k", "v")))
				r := listen(t, leases.Watch(t.Context(), row.opts))
				synctest.Wait()
				mustDelete(t, leases, "ns/a")
				assert.Equal(t, row.want, r.take())
				assert.False(t, r.ended())
			})
		})
	}
}

func TestWatchEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := newStore(t)
		ctx, cancel := context.WithCancel(t.Context())
		seq := lease.In(st).Watch(ctx, store.WatchOptions{})
		assert.Zero(t, st.Watchers(), "it starts when it is ranged over")
		r := listen(t, seq)
		synctest.Wait()
		assert.Equal(t, 1, st.Watchers())
		cancel()
		assert.True(t, r.ended())
		assert.Equal(t, context.Canceled, r.err, "the error is the last element")
		assert.Zero(t, st.Watchers())
	})
}

func TestErrorThatEndsAWatchIsTheLastElement(t *testing.T) {
	nothing := func(testing.TB, *store.Store) {}
	for name, row := range map[string]struct {
		opts store.WatchOptions
		end  func(testing.TB, *store.Store)
		want error
	}{
		"options":        {store.WatchOptions{LabelSelector: ","}, nothing, store.ErrBadRequest},
		"an old version": {store.WatchOptions{ResourceVersion: "999"}, nothing, store.ErrExpired},
		"a closed store": {store.WatchOptions{}, func(_ testing.TB, st *store.Store) { st.Close() }, store.ErrClosed},
		"history that is gone": {store.WatchOptions{}, func(t testing.TB, st *store.Store) {
			createAll(t, lease.In(st), "ns/a")
			synctest.Wait() // the listener has the event, and does not go on yet
			createAll(t, lease.In(st), "ns/b")
			st.ExpireHistory()
		}, store.ErrExpired},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				st := newStore(t)
				r := listen(t, lease.In(st).Watch(t.Context(), row.opts))
				synctest.Wait()
				row.end(t, st)
				r.take()
				assert.True(t, r.ended())
				require.ErrorIs(t, r.err, row.want)
				assert.Zero(t, st.Watchers())
			})
		})
	}
}

// Shared watches see the object that is stored; others see a copy of their own.
func TestSharedWatchesGetTheSameObject(t *testing.T) {
	st, leases := exampleLeases("a")
	defer st.Close()
	first := func(shared bool) *lease.Lease {
		for ev, err := range leases.Watch(t.Context(), store.WatchOptions{Shared: shared}) {
			require.NoError(t, err)
			return ev.Object
		}
		return nil
	}
	assert.Same(t, first(true), first(true))
	assert.NotSame(t, first(true), first(false))
	assert.NotSame(t, first(false), first(false))
	assert.Equal(t, first(true), first(false))
	for ev, err := range leases.Follow(t.Context(), store.WatchOptions{Shared: true}) {
		require.NoError(t, err)
		assert.Same(t, first(true), ev.Object)
		break
	}
}
