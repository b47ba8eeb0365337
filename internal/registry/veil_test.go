package registry_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/internal/registry"
	"github.com/kubecoord/kubecoord/lease"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/clock"
)

// only returns a function for ReplicaOptions.Only.
func only(path string) func(namespace, name string) bool {
	return func(namespace, name string) bool { return namespace+"/"+name == path }
}

// veiled returns a Veil over an object, which hides the changes from now on.
func veiled(t testing.TB, st *registry.Store, path string) *registry.Veil {
	t.Helper()
	p, _ := newReplica(t, st, registry.ReplicaOptions{Only: only(path)})
	return p.Veil()
}

// act runs steps such as "+a" (create), "a" (change), "-a" (delete) and "a=x" (a label) on Leases in ns.
func act(t testing.TB, st *registry.Store, steps string) {
	t.Helper()
	leases := leasesIn(st)
	for step := range strings.FieldsSeq(steps) {
		name, value, _ := strings.Cut(step, "=")
		switch path := "ns/" + strings.TrimLeft(name, "+-"); step[0] {
		case '+':
			createAll(t, leases, path)
		case '-':
			mustDelete(t, leases, path)
		default:
			mustModify(t, leases, path, func(l *lease.Lease) {
				label("x", value)(l)
				l.Spec.LeaseTransitions = new(int32(st.ResourceVersion() % 1000))
			})
		}
	}
}

func TestVeilCollapsesTheEventsOfAnObject(t *testing.T) {
	now := registry.ListOptions{ResourceVersion: "1002"}
	for name, row := range map[string]struct {
		before, hidden string
		opts           registry.ListOptions
		want           []string
	}{
		"nothing happened":     {"+a", "b b", now, nil},
		"a change":             {"+a", "a", now, []string{"MODIFIED ns/a@1003"}},
		"changes":              {"+a", "a a a", now, []string{"MODIFIED ns/a@1005"}},
		"created":              {"+z", "+a", now, []string{"ADDED ns/a@1003"}},
		"created, changed":     {"+z", "+a a", now, []string{"ADDED ns/a@1004"}},
		"created, deleted":     {"+z", "+a a -a", now, nil},
		"deleted":              {"+a", "-a", now, []string{"DELETED ns/a@1003"}},
		"changed, deleted":     {"+a", "a -a b", now, []string{"DELETED ns/a@1004"}},
		"deleted, created":     {"+a", "-a +a", now, []string{"MODIFIED ns/a@1004"}},
		"and again, deleted":   {"+a", "-a +a -a", now, []string{"DELETED ns/a@1005"}},
		"begins to match":      {"+a", "a=y", registry.ListOptions{ResourceVersion: "1002", LabelSelector: "x=y"}, []string{"ADDED ns/a@1003"}},
		"ends to match":        {"+a", "a=y a=z", registry.ListOptions{ResourceVersion: "1002", LabelSelector: "x=y"}, nil},
		"does not match":       {"+a", "a", registry.ListOptions{ResourceVersion: "1002", Namespace: "other"}, nil},
		"matched, and does no": {"+a", "a=z", registry.ListOptions{ResourceVersion: "1002", LabelSelector: "x!=z"}, []string{"DELETED ns/a@1003"}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				st := newStore(t)
				act(t, st, "+b "+row.before)
				veil := veiled(t, st, "ns/a")
				// One watch is open, one opens while events are hidden, one after all of them.
				var watches []*recorder
				var veils []*registry.Veils
				open := func() {
					vs := &registry.Veils{}
					vs.Add(veil)
					watches, veils = append(watches, recordUnder(vs.Context(t.Context()), t, st, row.opts)), append(veils, vs)
				}
				open()
				open()
				act(t, st, row.hidden)
				open()
				for _, w := range watches {
					for _, ev := range w.take() {
						assert.NotContains(t, ev, "ns/a")
					}
				}
				veil.Lift()
				for i, w := range watches {
					veils[i].Wake()
					assert.Equal(t, row.want, w.take(), "watch %d", i)
				}
				act(t, st, "+c")
				if row.opts.LabelSelector == "" && row.opts.Namespace == "" {
					assert.Len(t, watches[0].take(), 1)
				}
			})
		})
	}
}

// A watch that is not read while a Veil comes and goes.
func TestEventsBeforeAVeilComeFirst(t *testing.T) {
	st := newStore(t)
	act(t, st, "+a")
	vs := &registry.Veils{}
	w, err := leaseResource(st).Watch(vs.Context(t.Context()), registry.ListOptions{ResourceVersion: "1001"})
	require.NoError(t, err)
	defer w.Close()
	act(t, st, "a")
	veil := veiled(t, st, "ns/a")
	vs.Add(veil)
	act(t, st, "a a")
	veil.Lift()
	var got []string
	for len(got) < 2 {
		events, err := w.Next(t.Context())
		require.NoError(t, err)
		for _, ev := range events {
			got = append(got, eventText(ev))
		}
	}
	assert.Equal(t, []string{"MODIFIED ns/a@1002", "MODIFIED ns/a@1004"}, got)
}

func TestVeilLetsNoBookmarkPass(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := newStoreWith(t, registry.Options{Clock: clock.Real{}})
		act(t, st, "+a +b")
		veil, vs := veiled(t, st, "ns/a"), &registry.Veils{}
		vs.Add(veil)
		opts := registry.ListOptions{ResourceVersion: "1002", AllowWatchBookmarks: true, Timeout: time.Hour}
		w := recordUnder(vs.Context(t.Context()), t, st, opts)
		act(t, st, "a b")
		time.Sleep(10 * time.Minute)
		assert.Equal(t, []string{"MODIFIED ns/b@1004"}, w.take())
		veil.Lift()
		vs.Wake()
		assert.Equal(t, []string{"MODIFIED ns/a@1003"}, w.take())
		time.Sleep(time.Minute)
		assert.Equal(t, []string{"BOOKMARK @1004"}, w.take())
	})
}

// A client that starts under a Veil sees the state, and then no changes.
func TestVeilHidesWhatComesAfterTheStartOfAWatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := newStore(t)
		act(t, st, "+a")
		veil, vs := veiled(t, st, "ns/a"), &registry.Veils{}
		act(t, st, "-a +a")
		vs.Add(veil)
		w := recordUnder(vs.Context(t.Context()), t, st, registry.ListOptions{})
		assert.Equal(t, []string{"ADDED ns/a@1003"}, w.take())
		act(t, st, "a -a +b")
		assert.Equal(t, []string{"ADDED ns/b@1006"}, w.take())
		veil.Lift()
		vs.Wake()
		assert.Equal(t, []string{"DELETED ns/a@1005"}, w.take())
	})
}

// know applies the events of a watch to what its client knows: the versions of the objects by their paths.
func know(t testing.TB, known map[string]string, events []string) {
	t.Helper()
	for _, ev := range events {
		kind, object, _ := strings.Cut(ev, " ")
		path, version, _ := strings.Cut(object, "@")
		assert.Equal(t, kind != "ADDED", known[path] != "", "%s does not fit", ev)
		if known[path] = version; kind == "DELETED" {
			delete(known, path)
		}
	}
}

// Clients under Veils that come and go get events that fit what they have, and have the true state in the end.
func TestVeiledWatchesConverge(t *testing.T) {
	for seed := range uint64(60) {
		synctest.Test(t, func(t *testing.T) {
			rnd := rand.New(rand.NewPCG(seed, 1))
			st := newStore(t)
			exists := map[string]bool{}
			change := func() {
				switch name := string(rune('a' + rnd.IntN(3))); {
				case !exists[name]:
					act(t, st, "+"+name)
					exists[name] = true
				case rnd.IntN(3) == 0:
					act(t, st, "-"+name)
					exists[name] = false
				default:
					act(t, st, name+"="+string(rune('x'+rnd.IntN(3))))
				}
			}
			for range 5 {
				change()
			}
			opts := registry.ListOptions{}
			if seed%2 == 1 {
				opts.LabelSelector = "x!=y"
			}
			vs, known := &registry.Veils{}, map[string]string{}
			w := recordUnder(vs.Context(t.Context()), t, st, opts)
			var on []*registry.Veil
			lift := func(i int) {
				on[i].Lift()
				vs.Wake()
				on = slices.Delete(on, i, i+1)
			}
			for range 40 {
				switch n := rnd.IntN(8); {
				case n == 0 && len(on) < 3:
					on = append(on, veiled(t, st, "ns/"+string(rune('a'+rnd.IntN(2)))))
					vs.Add(on[len(on)-1])
				case n == 1 && len(on) > 0:
					lift(rnd.IntN(len(on)))
				default:
					change()
				}
				if rnd.IntN(3) == 0 {
					know(t, known, w.take())
				}
			}
			for len(on) > 0 {
				lift(0)
			}
			know(t, known, w.take())
			items, err := leaseResource(st).List(t.Context(), opts)
			require.NoError(t, err)
			want := map[string]string{}
			for _, it := range items.Items {
				want[it.Namespace()+"/"+it.Name()] = rv(it.Version())
			}
			assert.Equal(t, want, known, "seed %d", seed)
		})
	}
}

func TestReplicaThatIsBehindWithOneObject(t *testing.T) {
	st := newStore(t)
	act(t, st, "+a +b a=old")
	p, ctx := newReplica(t, st, registry.ReplicaOptions{Only: only("ns/a")})
	then := stateUnder(ctx, st, anyState)
	act(t, st, "-a b +c")
	assert.Equal(t, "1006: ns/a ns/b ns/c", stateUnder(ctx, st, anyState))
	assert.Equal(t, "1006: ns/b ns/c", stateUnder(ctx, st, registry.ListOptions{}), "a consistent list")
	assert.Equal(t, "1006: ns/a ns/b ns/c", stateUnder(ctx, st, registry.ListOptions{ResourceVersion: "1006"}))
	it, err := leaseResource(st).Get(ctx, "ns", "a", "0")
	require.NoError(t, err)
	assert.EqualValues(t, 1003, it.Version())
	p.CatchUp()
	assert.Equal(t, "1006: ns/b ns/c", stateUnder(ctx, st, anyState))
	assert.Equal(t, "1003: ns/a ns/b", then)

	_, ctx = newReplica(t, st, registry.ReplicaOptions{Only: only("ns/d"), EveryRead: true})
	act(t, st, "+d")
	assert.Equal(t, "1007: ns/b ns/c", stateUnder(ctx, st, registry.ListOptions{}))
}

func TestReplicaWithoutWatchList(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := newStore(t)
		act(t, st, "+a")
		_, ctx := newReplica(t, st, registry.ReplicaOptions{NoWatchList: true})
		act(t, st, "+b")
		_, err := leaseResource(st).Watch(ctx, registry.ListOptions{SendInitialEvents: new(true), ResourceVersionMatch: registry.MatchNotOlderThan})
		assertStatus(t, err, 422, store.ErrInvalid,
			`ListOptions.meta.k8s.io "" is invalid: sendInitialEvents: Forbidden: sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled`)
		w := recordUnder(ctx, t, st, registry.ListOptions{AllowWatchBookmarks: true})
		assert.Equal(t, []string{"ADDED ns/a@1001"}, w.take(), "any state, and no bookmark")
	})
}
