package registry_test

import (
	"context"
	"math"
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

// newReplica returns a replica and the context to read it by.
func newReplica(t testing.TB, st *registry.Store, opts registry.ReplicaOptions) (*registry.Replica, context.Context) {
	t.Helper()
	p, err := st.NewReplica(opts)
	require.NoError(t, err)
	return p, p.Context(t.Context())
}

// stateUnder returns such as "1002: ns/a=x ns/b" for what a list with options finds under a context, or the error.
func stateUnder(ctx context.Context, st *registry.Store, opts registry.ListOptions) string {
	items, m, err := leasesIn(st).List(ctx, opts)
	if err != nil {
		return err.Error()
	}
	out := m.ResourceVersion + ":"
	for _, l := range items {
		out += " " + l.Namespace + "/" + l.Name
		if l.Spec.HolderIdentity != nil {
			out += "=" + *l.Spec.HolderIdentity
		}
	}
	return out
}

// anyState are options that take whatever is at hand.
var anyState = registry.ListOptions{ResourceVersion: "0"}

// tooLarge returns the answer to a read of a version that did not come in time.
func tooLarge(version, current string) string {
	return "Timeout: Too large resource version: " + version + ", current: " + current
}

// The store holds ns/a=y@1004, ns/b@1003 and ns/c@1005; its replica stands at 1003, where ns/a=x@1002. So n is 1005.
func lagging(t testing.TB) (*registry.Store, *registry.Replica, context.Context) {
	st := newStore(t)
	leases := leasesIn(st)
	createAll(t, leases, "ns/a")
	mustModify(t, leases, "ns/a", holder("x"))
	createAll(t, leases, "ns/b")
	p, ctx := newReplica(t, st, registry.ReplicaOptions{})
	mustModify(t, leases, "ns/a", holder("y"))
	createAll(t, leases, "ns/c")
	return st, p, ctx
}

func TestListOfAReplicaThatLags(t *testing.T) {
	type options = registry.ListOptions
	const then, now = "1003: ns/a=x ns/b", "1005: ns/a=y ns/b ns/c"
	for name, row := range map[string]struct {
		opts  options
		want  string
		waits bool
	}{
		"any state is the one it has":         {options{ResourceVersion: "0"}, then, false},
		"any state, whatever the limit":       {options{ResourceVersion: "0", Limit: 1}, then, false},
		"any state, NotOlderThan":             {options{ResourceVersion: "0", ResourceVersionMatch: "NotOlderThan"}, then, false},
		"of an object":                        {options{ResourceVersion: "0", Namespace: "ns", FieldSelector: "metadata.name=a"}, "1003: ns/a=x", false},
		"not older than what it has":          {options{ResourceVersion: "1002"}, then, false},
		"not older than what it has, a page":  {options{ResourceVersion: "1002", ResourceVersionMatch: "NotOlderThan", Limit: 1}, "1003: ns/a=x", false},
		"exactly what it has":                 {options{ResourceVersion: "1003", ResourceVersionMatch: "Exact"}, then, false},
		"exactly what it had":                 {options{ResourceVersion: "1002", ResourceVersionMatch: "Exact"}, "1002: ns/a=x", false},
		"not older than what it lacks":        {options{ResourceVersion: "1004"}, tooLarge("1004", "1003"), true},
		"exactly what it lacks":               {options{ResourceVersion: "1004", ResourceVersionMatch: "Exact"}, tooLarge("1004", "1003"), true},
		"a page of what it lacks":             {options{ResourceVersion: "1005", Limit: 1}, tooLarge("1005", "1003"), true},
		"exactly what it lacks, of an object": {options{ResourceVersion: "1004", ResourceVersionMatch: "Exact", Namespace: "ns", FieldSelector: "metadata.name=a"}, "1004: ns/a=y", false},
		"a page, of an object":                {options{ResourceVersion: "1002", Limit: 1, Namespace: "ns", FieldSelector: "metadata.name=a"}, "1005: ns/a=y", false},
		"consistently":                        {options{}, now, true},
		"consistently, of an object":          {options{Namespace: "ns", FieldSelector: "metadata.name=a"}, "1005: ns/a=y", true},
		"of a time long gone":                 {options{ResourceVersion: "999", ResourceVersionMatch: "Exact"}, tooOldList, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				st, _, ctx := lagging(t)
				start := time.Now()
				assert.Equal(t, row.want, stateUnder(ctx, st, row.opts))
				assert.Equal(t, row.waits, time.Since(start) == 3*time.Second)
			})
		})
	}
}

func TestTooLargeAnswerOfAReplicaIsThatOfTheStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st, _, ctx := lagging(t)
		_, _, err := leasesIn(st).List(ctx, registry.ListOptions{ResourceVersion: "1004"})
		_, _, own := leasesIn(st).List(t.Context(), registry.ListOptions{ResourceVersion: "1006"})
		got, want := statusOf(t, err), statusOf(t, own)
		got.Message, want.Message = "", ""
		assert.Equal(t, want, got)
	})
}

func TestPagesOfAReplica(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st, p, ctx := lagging(t)
		_, m, err := leasesIn(st).List(ctx, registry.ListOptions{ResourceVersion: "1001", ResourceVersionMatch: "NotOlderThan", Limit: 1})
		require.NoError(t, err)
		assert.Equal(t, "1003: ns/b", stateUnder(ctx, st, registry.ListOptions{Continue: m.Continue}))

		_, m, err = leasesIn(st).List(ctx, registry.ListOptions{Limit: 1})
		require.NoError(t, err)
		next := registry.ListOptions{Continue: m.Continue, Limit: 1}
		assert.Equal(t, tooLarge("1005", "1003"), stateUnder(ctx, st, next), "the first page was of the store itself")
		p.CatchUp()
		assert.Equal(t, "1005: ns/b", stateUnder(ctx, st, next))
	})
}

func TestGetOfAReplicaThatLags(t *testing.T) {
	for name, row := range map[string]struct {
		name, version, want string
	}{
		"any state":                     {"a", "0", "x"},
		"not older than what it has":    {"a", "1003", "x"},
		"not older than what it lacks":  {"a", "1004", tooLarge("1004", "1003")},
		"of the store itself":           {"a", "", "y"},
		"what it does not know":         {"c", "0", `leases.coordination.k8s.io "c" not found`},
		"what it does not know, itself": {"c", "", "-"},
		"no number":                     {"a", "x", `resourceVersion: Invalid value: "x": strconv.ParseUint: parsing "x": invalid syntax`},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				st, _, ctx := lagging(t)
				it, err := leaseResource(st).Get(ctx, "ns", row.name, row.version)
				got := "-"
				if err != nil {
					got = err.Error()
				} else if h := it.Wire().(*lease.Lease).Spec.HolderIdentity; h != nil {
					got = *h
				}
				assert.Equal(t, row.want, got)
			})
		})
	}
}

func TestReadsOfAReplicaWaitUntilItHasCaughtUp(t *testing.T) {
	for name, read := range map[string]func(ctx context.Context, st *registry.Store) error{
		"a get": func(ctx context.Context, st *registry.Store) error {
			_, err := leaseResource(st).Get(ctx, "ns", "a", "1005")
			return err
		},
		"a list": func(ctx context.Context, st *registry.Store) error {
			_, _, err := leasesIn(st).List(ctx, registry.ListOptions{ResourceVersion: "1005"})
			return err
		},
		"a consistent list": func(ctx context.Context, st *registry.Store) error {
			_, _, err := leasesIn(st).List(ctx, registry.ListOptions{})
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				st, p, ctx := lagging(t)
				start := time.Now()
				time.AfterFunc(time.Second, p.CatchUp)
				require.NoError(t, read(ctx, st))
				assert.Equal(t, time.Second, time.Since(start))

				st, _, ctx = lagging(t)
				time.AfterFunc(time.Second, st.Close)
				require.ErrorIs(t, read(ctx, st), registry.ErrClosed)

				st, _, ctx = lagging(t)
				ctx, cancel := context.WithTimeout(ctx, time.Second)
				defer cancel()
				require.ErrorIs(t, read(ctx, st), context.DeadlineExceeded)
			})
		})
	}
}

func TestReplicaOfEveryReadIsNeverTrue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := newStore(t)
		mustCreate(t, leasesIn(st), newLease("ns/a", holder("x")))
		_, ctx := newReplica(t, st, registry.ReplicaOptions{EveryRead: true})
		mustModify(t, leasesIn(st), "ns/a", holder("y"))
		start := time.Now()
		assert.Equal(t, "1001: ns/a=x", stateUnder(ctx, st, registry.ListOptions{}))
		it, err := leaseResource(st).Get(ctx, "ns", "a", "")
		require.NoError(t, err)
		assert.Equal(t, "1001", it.ResourceVersion())
		rec := recordUnder(ctx, t, st, registry.ListOptions{AllowWatchBookmarks: true})
		assert.Equal(t, []string{"ADDED ns/a@1001", "BOOKMARK @1001 end"}, rec.take())
		assert.Zero(t, time.Since(start))
	})
}

func TestReplicaIsThatOfItsStoreAlone(t *testing.T) {
	_, _, ctx := lagging(t)
	other := newStore(t)
	createAll(t, leasesIn(other), "ns/z")
	assert.Equal(t, "1001: ns/z", stateUnder(ctx, other, anyState))
}

func TestStoppedReplicaKeepsItsStateWhenHistoryExpires(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st, p, ctx := lagging(t)
		rec := recordUnder(ctx, t, st, registry.ListOptions{ResourceVersion: "0"})
		st.ExpireHistory()
		assert.Equal(t, "1003: ns/a=x ns/b", stateUnder(ctx, st, anyState))
		assert.Equal(t, "1003: ns/a=x ns/b", stateUnder(ctx, st, registry.ListOptions{ResourceVersion: "1003", Limit: 9}))
		assert.Equal(t, tooOldList, stateUnder(ctx, st, registry.ListOptions{ResourceVersion: "1002", Limit: 9}))
		late := recordUnder(ctx, t, st, registry.ListOptions{ResourceVersion: "0"})
		items, _, err := in(st, endpoints.Kind()).List(ctx, anyState)
		require.NoError(t, err)
		assert.Empty(t, items, "a kind that came later")
		for _, r := range []*recorder{rec, late} {
			assert.Equal(t, []string{"ADDED ns/a@1002", "ADDED ns/b@1003"}, r.take())
			require.NoError(t, r.ended())
		}
		p.CatchUp()
		for _, r := range []*recorder{rec, late} {
			assertStatus(t, r.ended(), 410, store.ErrExpired, "too old resource version: 1003 (1005)")
		}
		assert.Equal(t, "1005: ns/a=y ns/b ns/c", stateUnder(ctx, st, anyState))
	})
}

func TestReplicaStandsAtEveryVersion(t *testing.T) {
	st := newStoreWith(t, registry.Options{})
	history := randomHistory(t, st, 300)
	for version, want := range history {
		_, ctx := newReplica(t, st, registry.ReplicaOptions{Version: version})
		items, m, err := leasesIn(st).List(ctx, anyState)
		require.NoError(t, err)
		assert.Equal(t, rv(version), m.ResourceVersion)
		require.Len(t, items, len(want))
		for _, l := range items {
			assert.Equal(t, want[l.Namespace+"/"+l.Name], l)
		}
	}
}

func TestReplicaFollowsSoManyChangesBehind(t *testing.T) {
	st := newStore(t)
	leases := leasesIn(st)
	r := leaseResource(st)
	createAll(t, leases, "ns/a")
	p, ctx := newReplica(t, st, registry.ReplicaOptions{Changes: 2})
	assert.Equal(t, "1000:", stateUnder(ctx, st, anyState), "there are no more")
	createAll(t, leases, "ns/b", "ns/c")
	assert.Equal(t, "1001: ns/a", stateUnder(ctx, st, anyState))
	_, err := in(st, endpoints.Kind()).Create(t.Context(), newEndpoints("ns/e"), store.CreateOptions{})
	require.NoError(t, err)
	assert.Equal(t, "1001: ns/a", stateUnder(ctx, st, anyState), "other kinds do not count")
	assert.Equal(t, uint64(1001), p.Version(r))
	mustDelete(t, leases, "ns/a")
	assert.Equal(t, "1002: ns/a ns/b", stateUnder(ctx, st, anyState))
	st.ExpireHistory()
	assert.Equal(t, "1005: ns/b ns/c", stateUnder(ctx, st, anyState), "history reaches back no further")
	p.CatchUp()
	assert.Equal(t, st.ResourceVersion(), p.Version(r))
}

func TestReplicaLearnsOfChangesLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := newStoreWith(t, registry.Options{Clock: clock.Real{}, HistoryAge: time.Hour})
		leases := leasesIn(st)
		createAll(t, leases, "ns/a")
		time.Sleep(time.Second)
		createAll(t, leases, "ns/b")
		time.Sleep(time.Second)
		_, ctx := newReplica(t, st, registry.ReplicaOptions{Age: 2 * time.Second})
		assert.Equal(t, "1001: ns/a", stateUnder(ctx, st, anyState))
		start := time.Now()
		assert.Equal(t, "1002: ns/a ns/b", stateUnder(ctx, st, registry.ListOptions{}))
		assert.Equal(t, time.Second, time.Since(start), "it is waited for")
	})
}

// A store that was prepared outside of a bubble has changes that are decades ahead of the clock of its forks inside.
func TestReplicaKnowsTheChangesBeforeItsClock(t *testing.T) {
	prepared := newStoreWith(t, registry.Options{Clock: clock.Real{}, HistoryAge: math.MaxInt64})
	createAll(t, leasesIn(prepared), "ns/a")
	synctest.Test(t, func(t *testing.T) {
		st, err := prepared.Fork()
		require.NoError(t, err)
		defer st.Close()
		_, ctx := newReplica(t, st, registry.ReplicaOptions{Age: 2 * time.Second})
		assert.Equal(t, "1001: ns/a", stateUnder(ctx, st, anyState))
		createAll(t, leasesIn(st), "ns/b")
		assert.Equal(t, "1001: ns/a", stateUnder(ctx, st, anyState))
		time.Sleep(2 * time.Second)
		assert.Equal(t, "1002: ns/a ns/b", stateUnder(ctx, st, anyState))
	})
}

func TestReplicaIsNotBehindTheHistory(t *testing.T) {
	st := newStoreWith(t, registry.Options{HistoryAge: time.Hour})
	createAll(t, leasesIn(st), "ns/a", "ns/b")
	p, ctx := newReplica(t, st, registry.ReplicaOptions{Age: time.Minute})
	assert.Equal(t, "1000:", stateUnder(ctx, st, anyState))
	st.ExpireHistory()
	assert.EqualValues(t, 1002, p.Version(leaseResource(st)))
	assert.Equal(t, "1002: ns/a ns/b", stateUnder(ctx, st, anyState))
}

func TestReplicaRefusesOptionsThatTheStoreCannotServe(t *testing.T) {
	st := newStoreWith(t, registry.Options{})
	createAll(t, leasesIn(st), "ns/a", "ns/b", "ns/c")
	st.ExpireHistory()
	for want, opts := range map[string]registry.ReplicaOptions{
		"Version: got 1002, want 1003 or more: history does not reach back further":                                      {Version: 1002},
		"Age: got 1s, want 0, or a store with Options.HistoryAge or an Observer: only these record the times of changes": {Age: time.Second},
	} {
		_, err := st.NewReplica(opts)
		assert.EqualError(t, err, want)
	}
}
