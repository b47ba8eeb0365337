package registry_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/internal/registry"
	"github.com/kubecoord/kubecoord/lease"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/meta"
	"github.com/kubecoord/kubecoord/watch"
)

func TestFollowGoesOnThroughLostHistory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := registry.New(registry.Options{})
		leases := leasesIn(st)
		create := func(name string) {
			_, err := leases.Create(t.Context(), &lease.Lease{ObjectMeta: meta.ObjectMeta{Namespace: "ns", Name: name}}, store.CreateOptions{})
			require.NoError(t, err)
		}
		create("a")
		var told []string
		var last error
		turn := make(chan struct{}) // the follower waits for it before it goes on after "slow"
		done := make(chan struct{})
		go func() {
			defer close(done)
			for n, err := range leaseResource(st).Follow(t.Context(), nil) {
				last = err
				if n.Relisted {
					told = append(told, "afresh")
				}
				for _, it := range n.All {
					told = append(told, it.Name())
				}
				for _, ev := range n.Events {
					if ev.Type == watch.Bookmark {
						continue
					}
					told = append(told, string(ev.Type)+" "+ev.Item.Name())
					if ev.Item.Name() == "slow" {
						<-turn
					}
				}
			}
		}()
		synctest.Wait()
		create("b")
		time.Sleep(3 * time.Hour) // longer than a server lets a watch last
		create("c")
		synctest.Wait()
		assert.Equal(t, []string{"afresh", "a", "ADDED b", "ADDED c"}, told)

		told = nil
		create("slow")
		synctest.Wait()
		create("lost")
		st.ExpireHistory()
		turn <- struct{}{}
		synctest.Wait()
		assert.Equal(t, []string{"ADDED slow", "afresh", "a", "b", "c", "lost", "slow"}, told)

		st.Close()
		<-done
		assert.ErrorIs(t, last, registry.ErrClosed)
	})
}

func TestFollowEndsWhereNobodyListens(t *testing.T) {
	st := registry.New(registry.Options{})
	defer st.Close()
	for n, err := range leaseResource(st).Follow(t.Context(), nil) {
		require.NoError(t, err)
		assert.True(t, n.Relisted)
		break
	}
	assert.Zero(t, st.Watchers())
}

func TestFollowIsNotWokenByWhatItDoesNotWant(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := registry.New(registry.Options{History: 4})
		leases := leasesIn(st)
		create := func(names ...string) {
			for _, name := range names {
				_, err := leases.Create(t.Context(), &lease.Lease{ObjectMeta: meta.ObjectMeta{Namespace: "ns", Name: name}}, store.CreateOptions{})
				require.NoError(t, err)
			}
			synctest.Wait()
		}
		var got []string
		go func() {
			for n := range leaseResource(st).Follow(t.Context(), func(it *registry.Item) bool { return it.Name() == "wanted" }) {
				for _, ev := range n.Events {
					got = append(got, ev.Item.Name())
				}
			}
		}()
		synctest.Wait()
		create("a", "b", "c", "d", "e") // more than the history
		assert.Empty(t, got)
		create("wanted")
		assert.Equal(t, []string{"wanted"}, got)
	})
}
