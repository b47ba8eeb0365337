package registry_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/internal/registry"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/clock"
)

// The store of this table went through ns/a@1001, ns/b@1002, ns/a@1003 before
// the watch, and gets ns/c@1004 after it.
func TestWatchStarts(t *testing.T) {
	state := []string{"ADDED ns/a@1003", "ADDED ns/b@1002"}
	marked := append(state[:2:2], "BOOKMARK @1003 end")
	type options = registry.ListOptions
	for name, row := range map[string]struct {
		opts options
		want []string
	}{
		"no version: the state":                   {options{}, state},
		"0: the state":                            {options{ResourceVersion: "0"}, state},
		"no version with bookmarks":               {options{AllowWatchBookmarks: true}, marked},
		"0 with bookmarks":                        {options{ResourceVersion: "0", AllowWatchBookmarks: true}, marked},
		"no version below /watch/":                {options{OtherRules: true}, state},
		"no version below /watch/ with bookmarks": {options{OtherRules: true, AllowWatchBookmarks: true}, state},
		"0 below /watch/":                         {options{OtherRules: true, ResourceVersion: "0"}, state},
		"the current version: nothing":            {options{ResourceVersion: "1003"}, nil},
		"an older version: what came since":       {options{ResourceVersion: "1001"}, []string{"ADDED ns/b@1002", "MODIFIED ns/a@1003"}},
		"the version before the first write: all": {options{ResourceVersion: "1000"}, []string{"ADDED ns/a@1001", "ADDED ns/b@1002", "MODIFIED ns/a@1003"}},
		"an older version has no first bookmark":  {options{ResourceVersion: "1002", AllowWatchBookmarks: true}, []string{"MODIFIED ns/a@1003"}},
		"leading zeros":                           {options{ResourceVersion: "01002"}, []string{"MODIFIED ns/a@1003"}},

		"the state wanted":                     {options{SendInitialEvents: new(true), ResourceVersionMatch: "NotOlderThan"}, state},
		"the state wanted with bookmarks":      {options{SendInitialEvents: new(true), ResourceVersionMatch: "NotOlderThan", AllowWatchBookmarks: true}, marked},
		"the state wanted at 0 with bookmarks": {options{SendInitialEvents: new(true), ResourceVersionMatch: "NotOlderThan", AllowWatchBookmarks: true, ResourceVersion: "0"}, marked},
		"the state not older than N":           {options{SendInitialEvents: new(true), ResourceVersionMatch: "NotOlderThan", AllowWatchBookmarks: true, ResourceVersion: "1001"}, marked},
		"the state not older than long ago":    {options{SendInitialEvents: new(true), ResourceVersionMatch: "NotOlderThan", ResourceVersion: "1"}, state},
		"no state wanted":                      {options{SendInitialEvents: new(false), ResourceVersionMatch: "NotOlderThan", AllowWatchBookmarks: true}, nil},
		"no state wanted at 0":                 {options{SendInitialEvents: new(false), ResourceVersionMatch: "NotOlderThan", ResourceVersion: "0"}, nil},
		"no state wanted at N":                 {options{SendInitialEvents: new(false), ResourceVersionMatch: "NotOlderThan", ResourceVersion: "1002"}, []string{"MODIFIED ns/a@1003"}},
		"a selected state":                     {options{FieldSelector: "metadata.name!=a", AllowWatchBookmarks: true}, []string{"ADDED ns/b@1002", "BOOKMARK @1003 end"}},
		"an empty state has its bookmark":      {options{Namespace: "ns", Name: "c", AllowWatchBookmarks: true}, []string{"BOOKMARK @1003 end"}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				st := newStore(t)
				leases := leasesIn(st)
				createAll(t, leases, "ns/a", "ns/b")
				mustModify(t, leases, "ns/a", holder("x"))
				rec := record(t, st, row.opts)
				assert.Equal(t, row.want, rec.take())
				createAll(t, leases, "ns/c")
				assert.Equal(t, []string{"ADDED ns/c@1004"}, rec.take())
				assert.NoError(t, rec.ended())
			})
		})
	}
}

func TestWatchOptionsAreChecked(t *testing.T) {
	type options = registry.ListOptions
	for name, row := range map[string]struct {
		opts options
		want string
	}{
		"sendInitialEvents without a match":  {options{SendInitialEvents: new(true)}, "resourceVersionMatch: Forbidden: sendInitialEvents requires setting resourceVersionMatch to NotOlderThan"},
		"false is no less given":             {options{SendInitialEvents: new(false)}, "resourceVersionMatch: Forbidden: sendInitialEvents requires setting resourceVersionMatch to NotOlderThan"},
		"a match without sendInitialEvents":  {options{ResourceVersionMatch: "NotOlderThan"}, "resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided"},
		"another match":                      {options{ResourceVersionMatch: "Exact", SendInitialEvents: new(true)}, `[resourceVersionMatch: Forbidden: sendInitialEvents requires setting resourceVersionMatch to NotOlderThan, resourceVersionMatch: Unsupported value: "Exact": supported values: "NotOlderThan"]`},
		"another match alone":                {options{ResourceVersionMatch: "Exact"}, `[resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided, resourceVersionMatch: Unsupported value: "Exact": supported values: "NotOlderThan"]`},
		"a token and sendInitialEvents":      {options{ResourceVersionMatch: "NotOlderThan", SendInitialEvents: new(true), Continue: "x"}, "resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden when continue is provided"},
		"a token and the state as a default": {options{Continue: "x"}, "resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden when continue is provided"},
	} {
		t.Run(name, func(t *testing.T) {
			st := newStore(t)
			_, err := leaseResource(st).Watch(t.Context(), row.opts)
			assertStatus(t, err, 422, store.ErrInvalid, invalidOpt+row.want)
			assert.Zero(t, st.Watchers())
		})
	}
}

func TestWatchFromAFutureVersionWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := newStore(t)
		leases := leasesIn(st)
		rec := record(t, st, registry.ListOptions{ResourceVersion: "1002"})
		time.Sleep(time.Minute)
		require.NoError(t, rec.ended(), "it is no error, however long it takes")
		createAll(t, leases, "ns/a", "ns/b")
		assert.Empty(t, rec.take(), "these come before the version asked for, or with it")
		createAll(t, leases, "ns/c")
		assert.Equal(t, []string{"ADDED ns/c@1003"}, rec.take())
	})
}

func TestStateOfAFutureVersionIsWaitedFor(t *testing.T) {
	opts := registry.ListOptions{ResourceVersion: "1002", SendInitialEvents: new(true), ResourceVersionMatch: registry.MatchNotOlderThan}
	t.Run("until it comes", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			st := newStore(t)
			leases := leasesIn(st)
			time.AfterFunc(time.Second, func() { createAll(t, leases, "ns/a") })
			time.AfterFunc(2*time.Second, func() { createAll(t, leases, "ns/b") })
			rec := record(t, st, opts)
			time.Sleep(2 * time.Second)
			assert.Equal(t, []string{"ADDED ns/a@1001", "ADDED ns/b@1002"}, rec.take())
		})
	})
	t.Run("for three seconds", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			st := newStore(t)
			began := time.Now()
			rec := record(t, st, opts)
			time.Sleep(3 * time.Second)
			assertStatus(t, rec.ended(), 504, store.ErrTimeout, "Timeout: Too large resource version: 1002, current: 1000")
			assert.Less(t, time.Since(began), 7*time.Second)
			assert.Zero(t, st.Watchers())
		})
	})
}

func TestWatchFromAVersionThatIsTooOldByItsAge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := newStoreWith(t, registry.Options{HistoryAge: time.Minute, Clock: clock.Real{}})
		leases := leasesIn(st)
		createAll(t, leases, "ns/a")
		time.Sleep(time.Hour)
		assertStatus(t, record(t, st, registry.ListOptions{ResourceVersion: "1000"}).ended(), 410, store.ErrExpired, "too old resource version: 1000 (1001)")
		rec := record(t, st, registry.ListOptions{ResourceVersion: "1001"})
		createAll(t, leases, "ns/b")
		assert.Equal(t, []string{"ADDED ns/b@1002"}, rec.take())
	})
}

func TestInitialStateIsOneVersionAndNothingIsMissingAfterIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := newStore(t)
		leases := leasesIn(st)
		createAll(t, leases, manyPaths("ns", 600)...) // more than one batch
		w, err := leaseResource(st).Watch(t.Context(), registry.ListOptions{AllowWatchBookmarks: true})
		require.NoError(t, err)
		defer w.Close()
		var events []string
		for len(events) < 603 {
			batch, err := w.Next(t.Context())
			require.NoError(t, err)
			require.LessOrEqual(t, len(batch), 257)
			for _, ev := range batch {
				events = append(events, eventText(ev))
			}
			if len(events) < 600 {
				// Changes of between come after the state, and do not show in it.
				if st.ResourceVersion() == 1600 {
					mustModify(t, leases, "ns/l00599", holder("x"))
					mustDelete(t, leases, "ns/l00598")
				}
			}
		}
		assert.Equal(t, "ADDED ns/l00000@1001", events[0])
		assert.Equal(t, []string{"ADDED ns/l00598@1599", "ADDED ns/l00599@1600", "BOOKMARK @1600 end", "MODIFIED ns/l00599@1601", "DELETED ns/l00598@1602"}, events[598:])
	})
}
