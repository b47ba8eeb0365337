package registry_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/endpoints"
	"github.com/kubecoord/kubecoord/internal/registry"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/clock"
)

// The replica is the replica of lagging: it stands at 1003, the store is at 1005.
func TestWatchOfAReplicaThatLags(t *testing.T) {
	type options = registry.ListOptions
	notOlder := registry.MatchNotOlderThan
	state := []string{"ADDED ns/a@1002", "ADDED ns/b@1003"}
	rest := []string{"MODIFIED ns/a@1004", "ADDED ns/c@1005"}
	for name, row := range map[string]struct {
		opts  options
		first []string
		then  []string // when it has caught up, 10 s later
		end   string   // or how it ends at once, or after 3 s
	}{
		"from any state":                  {options{ResourceVersion: "0"}, state, rest, ""},
		"from any state, with a bookmark": {options{ResourceVersion: "0", AllowWatchBookmarks: true}, append(state[:2:2], "BOOKMARK @1003 end"), rest, ""},
		"from a state it has": {options{ResourceVersion: "1002", SendInitialEvents: new(true), ResourceVersionMatch: notOlder, AllowWatchBookmarks: true},
			append(state[:2:2], "BOOKMARK @1003 end"), rest, ""},
		"from a state it lacks": {options{ResourceVersion: "1004", SendInitialEvents: new(true), ResourceVersionMatch: notOlder}, nil, nil, tooLarge("1004", "1003")},
		"from the true state":   {options{}, nil, nil, tooLarge("1005", "1003")},
		"by the old rules":      {options{OtherRules: true}, state, rest, ""},
		"after what it had":     {options{ResourceVersion: "1001"}, []string{"MODIFIED ns/a@1002", "ADDED ns/b@1003"}, rest, ""},
		"after what it has":     {options{ResourceVersion: "1003"}, nil, rest, ""},
		"after what it lacks":   {options{ResourceVersion: "1004"}, nil, rest[1:], ""},
		"after what will be":    {options{ResourceVersion: "1006"}, nil, nil, ""},
		"from any version on":   {options{ResourceVersion: "0", SendInitialEvents: new(false), ResourceVersionMatch: notOlder}, nil, rest, ""},
		"from the true version": {options{SendInitialEvents: new(false), ResourceVersionMatch: notOlder}, nil, nil, ""},
		"of an object":          {options{ResourceVersion: "0", Namespace: "ns", Name: "a"}, state[:1], rest[:1], ""},
		"after a time long ago": {options{ResourceVersion: "999"}, nil, nil, "too old resource version: 999 (1000)"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				st, p, ctx := lagging(t)
				start := time.Now()
				rec := recordUnder(ctx, t, st, row.opts)
				assert.Equal(t, row.first, rec.take())
				if row.end != "" {
					require.EqualError(t, rec.ended(), row.end)
					assert.Equal(t, row.end[:3] == "Tim", time.Since(start) == 3*time.Second)
					return
				}
				time.Sleep(10 * time.Second)
				assert.Empty(t, rec.take())
				p.CatchUp()
				assert.Equal(t, row.then, rec.take())
				mustDelete(t, leasesIn(st), "ns/a")
				want := []string{"DELETED ns/a@1006"}
				if row.opts.ResourceVersion == "1006" {
					want = nil
				}
				assert.Equal(t, want, rec.take(), "from then on it does not lag")
			})
		})
	}
}

func TestBookmarksOfAReplicaAreNotAheadOfIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st, p, ctx := lagging(t)
		had := recordUnder(ctx, t, st, registry.ListOptions{ResourceVersion: "1002", AllowWatchBookmarks: true})
		lacks := recordUnder(ctx, t, st, registry.ListOptions{ResourceVersion: "1004", AllowWatchBookmarks: true})
		createAll(t, leasesIn(st), "ns/d")
		time.Sleep(time.Minute)
		assert.Equal(t, []string{"ADDED ns/b@1003", "BOOKMARK @1003"}, had.take())
		assert.Empty(t, lacks.take(), "nor do they go back behind what a watch started at")
		p.CatchUp()
		assert.Equal(t, []string{"MODIFIED ns/a@1004", "ADDED ns/c@1005", "ADDED ns/d@1006"}, had.take())
		assert.Equal(t, []string{"ADDED ns/c@1005", "ADDED ns/d@1006"}, lacks.take())
		time.Sleep(time.Minute)
		assert.Equal(t, []string{"BOOKMARK @1006"}, had.take())
		assert.Equal(t, []string{"BOOKMARK @1006"}, lacks.take())
	})
}

func TestWatchOfAReplicaEndsAtItsTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st, _, ctx := lagging(t)
		rec := recordUnder(ctx, t, st, registry.ListOptions{ResourceVersion: "1002", AllowWatchBookmarks: true, Timeout: 5 * time.Second})
		lacks := recordUnder(ctx, t, st, registry.ListOptions{ResourceVersion: "1004", AllowWatchBookmarks: true, Timeout: 5 * time.Second})
		time.Sleep(5 * time.Second)
		assert.Equal(t, []string{"ADDED ns/b@1003", "BOOKMARK @1003"}, rec.take())
		assert.Empty(t, lacks.take())
		require.EqualError(t, rec.ended(), "EOF")
		require.EqualError(t, lacks.ended(), "EOF")
	})
}

func TestJumpOfAReplicaIsAFreshStartForItsWatches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st, p, ctx := lagging(t)
		rec := recordUnder(ctx, t, st, registry.ListOptions{ResourceVersion: "0"})
		assert.Len(t, rec.take(), 2)
		ahead := recordUnder(ctx, t, st, registry.ListOptions{ResourceVersion: "1005"})
		p.Jump()
		assert.Empty(t, rec.take(), "what it skipped nobody hears of")
		assertStatus(t, rec.ended(), 410, store.ErrExpired, "too old resource version: 1003 (1005)")
		late := recordUnder(ctx, t, st, registry.ListOptions{ResourceVersion: "1004"})
		assertStatus(t, late.ended(), 410, store.ErrExpired, "too old resource version: 1004 (1005)")
		assert.Equal(t, "1005: ns/a=y ns/b ns/c", stateUnder(ctx, st, anyState))

		now := recordUnder(ctx, t, st, registry.ListOptions{ResourceVersion: "1005"})
		createAll(t, leasesIn(st), "ns/d")
		assert.Equal(t, []string{"ADDED ns/d@1006"}, now.take())
		assert.Equal(t, []string{"ADDED ns/d@1006"}, ahead.take(), "it has missed nothing")
		p.CatchUp() // of no effect
		require.NoError(t, now.ended())
	})
}

func TestWatchFollowsAReplica(t *testing.T) {
	for name, row := range map[string]struct {
		opts registry.ReplicaOptions
		want [][]string // after each of three changes, a second apart, and two seconds later
	}{
		"a change behind": {registry.ReplicaOptions{Changes: 1}, [][]string{nil, {"ADDED ns/0@1001"}, {"ADDED ns/1@1003"}, nil}},
		"a while behind": {registry.ReplicaOptions{Age: 1500 * time.Millisecond},
			[][]string{nil, nil, {"ADDED ns/0@1001"}, {"ADDED ns/1@1003", "ADDED ns/2@1005"}}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				st := newStoreWith(t, registry.Options{Clock: clock.Real{}, HistoryAge: time.Hour})
				p, ctx := newReplica(t, st, row.opts)
				rec := recordUnder(ctx, t, st, registry.ListOptions{ResourceVersion: "1000"})
				var seen []string
				for i, want := range row.want {
					if i < 3 {
						createAll(t, leasesIn(st), "ns/"+rv(uint64(i)))
						_, err := in(st, endpoints.Kind()).Create(t.Context(), newEndpoints("ns/"+rv(uint64(i))), store.CreateOptions{})
						require.NoError(t, err)
					} else {
						time.Sleep(time.Second)
					}
					got := rec.take()
					assert.Equal(t, want, got, "step %d", i)
					seen = append(seen, got...)
					time.Sleep(time.Second)
				}
				p.CatchUp()
				assert.Equal(t, []string{"ADDED ns/0@1001", "ADDED ns/1@1003", "ADDED ns/2@1005"}, append(seen, rec.take()...), "all in the end")
			})
		})
	}
}

func TestReplicaLagsByTheClockOfItsStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := clock.NewManual(epoch)
		st := newStoreWith(t, registry.Options{Clock: c, HistoryAge: time.Hour})
		_, ctx := newReplica(t, st, registry.ReplicaOptions{Age: 2 * time.Second})
		rec := recordUnder(ctx, t, st, registry.ListOptions{ResourceVersion: "1000"})
		createAll(t, leasesIn(st), "ns/a")
		forward(c, 2*time.Second-1)
		assert.Empty(t, rec.take())
		forward(c, 1)
		assert.Equal(t, []string{"ADDED ns/a@1001"}, rec.take())

		createAll(t, leasesIn(st), "ns/b")
		done := make(chan string)
		go func() { done <- stateUnder(ctx, st, registry.ListOptions{ResourceVersion: "1002"}) }()
		forward(c, 2*time.Second)
		assert.Equal(t, "1002: ns/a ns/b", <-done)
	})
}

func TestWatchOfAReplicaEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st, _, ctx := lagging(t)
		ctx, cancel := context.WithCancel(ctx)
		rec := recordUnder(ctx, t, st, registry.ListOptions{ResourceVersion: "1003"})
		cancel()
		require.ErrorIs(t, rec.ended(), context.Canceled)
		assert.Zero(t, st.Watchers())
	})
}
