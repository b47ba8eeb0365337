package registry_test

import (
	"io"
	"math"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/endpoints"
	"github.com/kubecoord/kubecoord/internal/registry"
	"github.com/kubecoord/kubecoord/lease"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/clock"
)

func TestBookmarkComesEachMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := newStore(t)
		all := in(st, endpoints.Kind())
		rec := record(t, st, registry.ListOptions{ResourceVersion: "1000", AllowWatchBookmarks: true})
		quiet := record(t, st, registry.ListOptions{ResourceVersion: "1000"})
		time.Sleep(time.Minute - 1)
		_, err := all.Create(t.Context(), newEndpoints("ns/a"), store.CreateOptions{})
		require.NoError(t, err)
		assert.Empty(t, rec.take())
		time.Sleep(time.Nanosecond)
		assert.Equal(t, []string{"BOOKMARK @1001"}, rec.take())
		time.Sleep(time.Minute)
		assert.Equal(t, []string{"BOOKMARK @1001"}, rec.take(), "the version may repeat")

		time.Sleep(30 * time.Second)
		createAll(t, leasesIn(st), "ns/a")
		_, err = all.Create(t.Context(), newEndpoints("ns/b"), store.CreateOptions{})
		require.NoError(t, err)
		assert.Equal(t, []string{"ADDED ns/a@1002"}, rec.take())
		time.Sleep(30 * time.Second)
		assert.Equal(t, []string{"BOOKMARK @1003"}, rec.take(), "it tells the version of the whole store")
		assert.Equal(t, []string{"ADDED ns/a@1002"}, quiet.take(), "who does not ask for bookmarks gets none")
	})
}

// hasty is a clock whose timers fire too early.
type hasty struct{ clock.Real }

func (hasty) AfterFunc(d time.Duration, f func()) clock.Timer {
	return clock.Real{}.AfterFunc(max(d-time.Millisecond, 0), f)
}

func TestBookmarkComesAlthoughTheTimerFiresEarly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := newStoreWith(t, registry.Options{Clock: hasty{}})
		rec := record(t, st, registry.ListOptions{ResourceVersion: "1000", AllowWatchBookmarks: true})
		createAll(t, leasesIn(st), "ns/a")
		assert.Equal(t, []string{"ADDED ns/a@1001"}, rec.take())
		time.Sleep(time.Minute)
		assert.Equal(t, []string{"BOOKMARK @1001"}, rec.take())
	})
}

// A real server sends no bookmark with the version that the watch starts after.
func TestWatchThatMissedNothingGetsNoBookmark(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := newStore(t)
		createAll(t, leasesIn(st), "ns/a")
		since := record(t, st, registry.ListOptions{ResourceVersion: "1001", AllowWatchBookmarks: true, Timeout: 90 * time.Second})
		initial := record(t, st, registry.ListOptions{AllowWatchBookmarks: true, Timeout: 90 * time.Second})
		ahead := record(t, st, registry.ListOptions{ResourceVersion: "2000", AllowWatchBookmarks: true, Timeout: 90 * time.Second})
		time.Sleep(time.Hour)
		assert.Empty(t, since.take())
		assert.Equal(t, []string{"ADDED ns/a@1001", "BOOKMARK @1001 end"}, initial.take(), "only the end of the initial events")
		assert.Empty(t, ahead.take())
	})
}

func TestBookmarkOfASelectedWatchHasTheVersionOfTheStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := newStore(t)
		opts := fromNow()
		opts.AllowWatchBookmarks, opts.LabelSelector, opts.Namespace, opts.Name = true, "k=v", "ns", "a"
		rec := record(t, st, opts)
		createAll(t, leasesIn(st), "ns/a", "ns/b", "other/a")
		time.Sleep(time.Minute)
		assert.Equal(t, []string{"BOOKMARK @1003"}, rec.take())
	})
}

func TestBookmarkComesBeforeTheTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := newStore(t)
		rec := record(t, st, registry.ListOptions{ResourceVersion: "1000", AllowWatchBookmarks: true, Timeout: 30 * time.Second})
		createAll(t, leasesIn(st), "ns/a")
		time.Sleep(28*time.Second - 1)
		assert.Equal(t, []string{"ADDED ns/a@1001"}, rec.take())
		time.Sleep(time.Nanosecond)
		assert.Equal(t, []string{"BOOKMARK @1001"}, rec.take(), "two seconds before the end")
		time.Sleep(2*time.Second - 1)
		assert.Empty(t, rec.take())
		require.NoError(t, rec.ended())
		time.Sleep(time.Nanosecond)
		assert.Empty(t, rec.take())
		assert.Equal(t, io.EOF, rec.ended())
		assert.Zero(t, st.Watchers())
	})
}

func TestWatchEndsAtItsTimeout(t *testing.T) {
	for name, row := range map[string]struct {
		timeout time.Duration
		marks   int // bookmarks, if they are asked for
	}{
		"two seconds":  {2 * time.Second, 0},
		"three":        {3 * time.Second, 1},
		"ten seconds":  {10 * time.Second, 1},
		"half an hour": {30 * time.Minute, 30},
	} {
		for _, bookmarks := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					began := time.Now()
					st := newStore(t)
					w, err := leaseResource(st).Watch(t.Context(), registry.ListOptions{
						Namespace: "ns", ResourceVersion: "1000", Timeout: row.timeout, AllowWatchBookmarks: bookmarks,
					})
					require.NoError(t, err)
					defer w.Close()
					createAll(t, leasesIn(st), "other/a")
					marks := 0
					for err == nil {
						var events []registry.ItemEvent
						events, err = w.Next(t.Context())
						marks += len(events)
					}
					assert.Equal(t, io.EOF, err)
					assert.Equal(t, row.timeout, time.Since(began))
					if bookmarks {
						assert.Equal(t, row.marks, marks, "one a minute, and one before the end")
					}
					_, err = w.Next(t.Context())
					assert.Equal(t, io.EOF, err, "an end stays one")
				})
			})
		}
	}
}

func TestWatchWithoutATimeoutGoesOn(t *testing.T) {
	for _, bookmarks := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			st := newStore(t)
			rec := record(t, st, registry.ListOptions{Namespace: "ns", ResourceVersion: "1000", AllowWatchBookmarks: bookmarks})
			createAll(t, leasesIn(st), "other/a")
			time.Sleep(7 * 24 * time.Hour)
			marks := rec.take()
			require.NoError(t, rec.ended())
			if bookmarks {
				assert.Len(t, marks, 7*24*60)
			} else {
				assert.Empty(t, marks)
			}
			createAll(t, leasesIn(st), "ns/a")
			assert.Equal(t, []string{"ADDED ns/a@1002"}, rec.take())
		})
	}
}

func TestAbsurdTimeoutDoesNotWrapAround(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := newStore(t)
		rec := record(t, st, registry.ListOptions{ResourceVersion: "1000", Timeout: math.MaxInt64})
		time.Sleep(24 * time.Hour)
		require.NoError(t, rec.ended())
		createAll(t, leasesIn(st), "ns/a")
		assert.Equal(t, []string{"ADDED ns/a@1001"}, rec.take())
		past := record(t, st, registry.ListOptions{ResourceVersion: "1001", Timeout: math.MinInt64})
		assert.Equal(t, io.EOF, past.ended())
	})
}

func TestNegativeTimeoutEndsAtOnceWithoutAnEvent(t *testing.T) {
	for name, opts := range map[string]registry.ListOptions{
		"with the state":   {AllowWatchBookmarks: true},
		"with history":     {ResourceVersion: "1000"},
		"at the version":   {ResourceVersion: "1002"},
		"with a bookmark":  {ResourceVersion: "1002", AllowWatchBookmarks: true},
		"without anything": {Namespace: "none"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				st := newStore(t)
				createAll(t, leasesIn(st), "ns/a", "ns/b")
				opts.Timeout = -1
				rec := record(t, st, opts)
				assert.Empty(t, rec.take())
				assert.Equal(t, io.EOF, rec.ended())
			})
		})
	}
}

// Here the reader takes a second for each event, and each event is followed by
// another: the watch never runs dry.
func TestBusyWatchEndsAtItsTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		leases := leasesIn(newStore(t))
		createAll(t, leases, "ns/a")
		began := time.Now()
		events := 0
		for _, err := range leases.Watch(t.Context(), store.WatchOptions{Timeout: 10 * time.Second}) {
			require.NoError(t, err)
			if events++; events == 100 {
				break
			}
			time.Sleep(time.Second)
			mustModify(t, leases, "ns/a", func(l *lease.Lease) { l.Spec.LeaseTransitions = new(int32(events)) })
		}
		assert.Equal(t, 10*time.Second, time.Since(began).Truncate(2*time.Second))
	})
}

func TestBusyWatchIsGivenItsBookmarks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := newStore(t)
		leases := leasesIn(st)
		createAll(t, leases, "ns/a")
		w, err := leaseResource(st).Watch(t.Context(), registry.ListOptions{AllowWatchBookmarks: true})
		require.NoError(t, err)
		defer w.Close()
		marks, began := 0, time.Now()
		for i := int32(0); time.Since(began) < 5*time.Minute; i++ {
			events, err := w.Next(t.Context())
			require.NoError(t, err)
			for _, ev := range events {
				if ev.Type == "BOOKMARK" && !ev.InitialEnd {
					marks++
				}
			}
			time.Sleep(time.Second)
			mustModify(t, leases, "ns/a", func(l *lease.Lease) { l.Spec.LeaseTransitions = &i })
		}
		assert.InDelta(t, 4, marks, 1)
	})
}

func TestBookmarkAmidABacklogHasTheVersionOfTheLastSentEvent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := newStore(t)
		leases := leasesIn(st)
		w := openLeases(t, st, registry.ListOptions{ResourceVersion: "1000", AllowWatchBookmarks: true})
		createAll(t, leases, manyPaths("ns", 600)...)
		time.Sleep(time.Minute)
		var events []string
		for len(events) < 601 {
			batch, err := w.Next(t.Context())
			require.NoError(t, err)
			for _, ev := range batch {
				events = append(events, eventText(ev))
			}
		}
		mark := slices.IndexFunc(events, func(s string) bool { return strings.HasPrefix(s, "BOOKMARK") })
		require.Positive(t, mark)
		assert.Equal(t, "BOOKMARK @"+rv(1000+uint64(mark)), events[mark], "after %s", events[mark-1])
	})
}
