package registry_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/internal/registry"
	"github.com/kubecoord/kubecoord/lease"
	"github.com/kubecoord/kubecoord/store/meta"
)

// fork returns the model of a fork of the store. It knows what the model knows,
// continue tokens included, and goes its own way.
func (m *model) fork(t *testing.T) *model {
	st, err := m.st.Fork()
	require.NoError(t, err)
	t.Cleanup(st.Close)
	f := *m
	f.st, f.leases, f.r = st, leasesIn(st), leaseResource(st)
	f.past = maps.Clone(m.past)
	f.changes, f.pages, f.watches = slices.Clone(m.changes), slices.Clone(m.pages), nil
	return &f
}

// forkWorld is a model and all that was done to it, since its first parent was
// made.
type forkWorld struct {
	*model
	name string
	ops  []byte
}

// Stores that are forked from each other, up to some generations, are held
// against a model each while they take turns, and in the end against a store of
// their own that nobody forked and that was told the same.
func TestForksBehaveAsIfTheyWereAlone(t *testing.T) {
	const most, turns, each = 8, 40, 20
	for _, history := range []int{1, 8, 100, 400} {
		for seed := range uint64(3) {
			t.Run(fmt.Sprintf("history=%d/seed=%d", history, seed), func(t *testing.T) {
				rnd := rand.New(rand.NewPCG(seed, uint64(history)))
				worlds := []*forkWorld{{model: newModel(t, history), name: "0"}}
				for turn := range turns {
					w := worlds[rnd.IntN(len(worlds))]
					if turn > 2 && len(worlds) < most && rnd.IntN(3) == 0 {
						w = &forkWorld{w.fork(t), fmt.Sprint(w.name, ".", len(worlds)), slices.Clone(w.ops)}
						worlds = append(worlds, w)
					}
					ops := randomOps(rnd.Uint64(), 1+rnd.IntN(each))
					w.ops = append(w.ops, ops...)
					w.do(ops)
				}
				for i := range worlds {
					w := worlds[len(worlds)-1-i]
					w.finish()
					w.compareWithReplay(t)
					w.st.Close()
				}
			})
		}
	}
}

// compareWithReplay holds the world against one that was never forked.
func (w *forkWorld) compareWithReplay(t *testing.T) {
	t.Helper()
	alone := newModel(t, int(w.history))
	alone.do(w.ops)
	require.Equal(t, alone.st.ResourceVersion(), w.st.ResourceVersion(), "version of %s", w.name)
	for v := w.oldest(); v <= w.version; v += 1 + (w.version-w.oldest())/16 {
		require.Equal(t, alone.stateAt(v), w.stateAt(v), "state of %s at %d", w.name, v)
	}
	assert.Equal(t, alone.told(), w.told(), "history of %s", w.name)
}

// stateAt lists all there was at a version, but for the uids.
func (m *model) stateAt(version uint64) (out []lease.Lease) {
	items, _ := mustList(m, m.leases, registry.ListOptions{ResourceVersion: rv(version), ResourceVersionMatch: registry.MatchExact})
	for _, l := range items {
		l.UID = ""
		out = append(out, *l)
	}
	return out
}

// told returns the events of a watch that starts where history does.
func (m *model) told() (out []string) {
	changes, _ := m.r.History()
	for _, c := range changes {
		out = append(out, fmt.Sprintf("%d %s", c.Version, eventText(registry.ItemEvent{Type: c.Type(), Item: c.Newest()})))
	}
	return out
}

// FuzzFork forks a store in the middle of operations, and goes on in both.
func FuzzFork(f *testing.F) {
	for seed := range uint64(4) {
		f.Add(byte(1<<(2*seed)), randomOps(seed, 60), randomOps(seed+100, 30), randomOps(seed+200, 30))
	}
	f.Fuzz(func(t *testing.T, history byte, before, parent, fork []byte) {
		m := newModel(t, int(history)+1)
		m.do(before[:min(len(before), 4*200)])
		fm := m.fork(t)
		for len(parent) >= 8 || len(fork) >= 8 {
			n := min(len(parent), 8)
			m.do(parent[:n])
			parent = parent[n:]
			n = min(len(fork), 8)
			fm.do(fork[:n])
			fork = fork[n:]
		}
		m.finish()
		fm.finish()
	})
}

// A token that was given out before the fork is good in both worlds, and shows
// the state that the first page was made of, whatever each has written since.
func TestPagedListGoesOnInAFork(t *testing.T) {
	for name, between := range map[string]func(collection){
		"nothing was read at the old version before": func(collection) {},
		"the old version is remembered": func(c collection) {
			mustModify(t, c, "ns/d", holder("between"))
			items, _ := mustList(t, c, registry.ListOptions{ResourceVersion: rv(1004), ResourceVersionMatch: registry.MatchExact})
			require.Len(t, items, 4)
		},
	} {
		t.Run(name, func(t *testing.T) {
			parent := newStore(t)
			leases := leasesIn(parent)
			createAll(t, leases, "ns/a", "ns/b", "ns/c", "ns/d")
			page, list := mustList(t, leases, registry.ListOptions{Limit: 2})
			require.Equal(t, []string{"ns/a", "ns/b"}, paths(page))
			between(leases)
			fork := newFork(t, parent)
			mustDelete(t, leases, "ns/c")
			mustModify(t, leasesIn(fork), "ns/d", holder("fork"))
			createAll(t, leasesIn(fork), "ns/e")
			for _, st := range []*registry.Store{parent, fork, newFork(t, fork)} {
				var last meta.ListMeta
				page, last = mustList(t, leasesIn(st), registry.ListOptions{Limit: 2, Continue: list.Continue})
				assert.Equal(t, []string{"ns/c", "ns/d"}, paths(page))
				assert.Nil(t, page[1].Spec.HolderIdentity)
				assert.Equal(t, "1004", last.ResourceVersion)
				assert.Empty(t, last.Continue)
			}
		})
	}
}
