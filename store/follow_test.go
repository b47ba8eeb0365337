package store_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/lease"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/watch"
)

// expireUnder makes the listener of a store lose history. It creates and deletes "zz/plug";
// the listener reads the creation and reads no more until the test takes it.
func expireUnder(t *testing.T, st *store.Store, between func()) {
	t.Helper()
	leases := lease.In(st)
	createAll(t, leases, "zz/plug")
	synctest.Wait()
	mustDelete(t, leases, "zz/plug")
	between()
	st.ExpireHistory()
}

func TestFollowSendsTheDifferenceWhenHistoryIsGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := newStore(t)
		leases := lease.In(st)
		createAll(t, leases, "ns/changed", "ns/same", "ns/gone", "b/gone", "ns/again") // 1001 to 1005
		r := listen(t, leases.Follow(t.Context(), store.WatchOptions{}))
		require.Len(t, r.take(), 5)
		expireUnder(t, st, func() { // from 1008 on
			mustModify(t, leases, "ns/changed", holder("x"))
			mustModify(t, leases, "ns/changed", holder("y"))
			mustDelete(t, leases, "ns/gone")
			mustDelete(t, leases, "b/gone")
			mustDelete(t, leases, "ns/again")
			createAll(t, leases, "ns/again", "a/new", "a/unseen")
			mustDelete(t, leases, "a/unseen")
		})
		assert.Equal(t, []string{
			"ADDED zz/plug@1006",
			"ADDED a/new@1014",
			"DELETED ns/again@1005", "ADDED ns/again@1013", // another object of the same name
			"MODIFIED ns/changed@1009",
			"DELETED b/gone@1004", "DELETED ns/gone@1003", "DELETED zz/plug@1006", // in the last state that was sent
		}, r.take())

		mustModify(t, leases, "ns/same", holder("x"))
		assert.Equal(t, []string{"MODIFIED ns/same@1017"}, r.take(), "then it goes on")
		expireUnder(t, st, func() {})
		assert.Equal(t, []string{"ADDED zz/plug@1018", "DELETED zz/plug@1018"}, r.take())
		assert.False(t, r.ended())
		assert.Equal(t, 1, st.Watchers())
	})
}

func TestFollowIsLeftInTheMiddleOfADifference(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := newStore(t)
		leases := lease.In(st)
		createAll(t, leases, "ns/a", "ns/b")
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		var told []string
		for ev, err := range leases.Follow(ctx, store.WatchOptions{}) {
			require.NoError(t, err)
			if told = append(told, textOf(ev)); ev.Type == watch.Deleted {
				break
			}
			if len(told) == 1 {
				mustDelete(t, leases, "ns/a")
				mustDelete(t, leases, "ns/b")
				st.ExpireHistory()
			}
		}
		assert.Equal(t, []string{"ADDED ns/a@1001", "ADDED ns/b@1002", "DELETED ns/a@1001"}, told)
		assert.Zero(t, st.Watchers())
	})
}

func TestErrorThatEndsFollowIsTheLastElement(t *testing.T) {
	for name, row := range map[string]struct {
		opts store.WatchOptions
		end  func(st *store.Store, cancel context.CancelFunc)
		want string
	}{
		"an ended context": {store.WatchOptions{}, func(_ *store.Store, cancel context.CancelFunc) { cancel() }, "context canceled"},
		"a closed store":   {store.WatchOptions{}, func(st *store.Store, _ context.CancelFunc) { st.Close() }, "store: closed"},
		"a selector":       {store.WatchOptions{LabelSelector: ","}, nil, "found ',', expected: !, identifier, or 'end of string'"},
		"a version":        {store.WatchOptions{ResourceVersion: "1001"}, nil, `resourceVersion: got "1001", want none: Follow begins with the current state`},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				st := newStore(t)
				createAll(t, lease.In(st), "ns/a")
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				r := listen(t, lease.In(st).Follow(ctx, row.opts))
				told := r.take()
				if row.end != nil {
					assert.Equal(t, []string{"ADDED ns/a@1001"}, told)
					assert.False(t, r.ended())
					row.end(st, cancel)
					synctest.Wait()
				}
				assert.True(t, r.ended())
				require.EqualError(t, r.err, row.want)
				assert.Zero(t, st.Watchers())
			})
		})
	}
}

func TestFollowEndsAtItsTimeoutHoweverOftenItListsAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := newStore(t)
		r := listen(t, lease.In(st).Follow(t.Context(), store.WatchOptions{Timeout: time.Minute}))
		for range 3 {
			time.Sleep(15 * time.Second)
			expireUnder(t, st, func() {})
			require.Len(t, r.take(), 2)
		}
		time.Sleep(15*time.Second - 1)
		assert.False(t, r.ended())
		time.Sleep(time.Nanosecond)
		assert.True(t, r.ended())
		require.NoError(t, r.err)
	})
}

// Whoever applies what Follow sends has the state of the store in the end, however often
// it lists again.
func TestFollowMissesNothingWhileHistoryIsShort(t *testing.T) {
	const writers, each = 4, 400
	synctest.Test(t, func(t *testing.T) {
		st := newStoreWith(t, store.Options{History: 4})
		leases := lease.In(st)
		state := map[string]*lease.Lease{}
		go func() {
			for ev, err := range leases.Follow(t.Context(), store.WatchOptions{}) {
				if err != nil {
					assert.ErrorIs(t, err, store.ErrClosed)
					return
				}
				have := state[ev.Object.Name]
				assert.Equal(t, ev.Type == watch.Added, have == nil, "%s", textOf(ev))
				if have != nil {
					assert.Equal(t, have.UID, ev.Object.UID)
				}
				state[ev.Object.Name] = ev.Object
				if ev.Type == watch.Deleted {
					delete(state, ev.Object.Name)
				}
			}
		}()
		var writing sync.WaitGroup
		for w := range writers {
			writing.Go(func() {
				for i := range each {
					l := newLease(fmt.Sprintf("ns/%d-%d", w, i%3))
					_, err := leases.Create(t.Context(), l, store.CreateOptions{})
					assert.NoError(t, err)
					if i >= each-3 {
						continue
					}
					_, err = leases.Delete(t.Context(), "ns", l.Name, store.DeleteOptions{})
					assert.NoError(t, err)
				}
			})
		}
		writing.Wait()
		synctest.Wait()
		want := map[string]*lease.Lease{}
		for _, l := range mustList(t, leases, store.ListOptions{}).Items {
			want[l.Name] = l
		}
		assert.Len(t, want, 3*writers)
		assert.Equal(t, want, state)
		st.Close()
		synctest.Wait()
		assert.Zero(t, st.Watchers())
	})
}
