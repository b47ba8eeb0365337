package exact_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/candidate"
	"github.com/kubecoord/kubecoord/endpoints"
	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/internal/kinds"
	"github.com/kubecoord/kubecoord/internal/registry"
	"github.com/kubecoord/kubecoord/internal/test/engine"
	"github.com/kubecoord/kubecoord/internal/test/exact"
	"github.com/kubecoord/kubecoord/lease"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/backend"
)

// replicated is two stores on one engine, with a log of what their clients did.
type replicated struct {
	e     *engine.Engine
	apis  []*httpapi.API
	st    []*registry.Store
	log   *exact.Log
	limit int

	mu   sync.Mutex // guards what follows
	rnd  *rand.Rand
	lost uint64
}

// backendStart is the first version of the engine.
const backendStart = 1000

func newReplicated(t *testing.T, history int, seed uint64) *replicated {
	w := &replicated{e: engine.New(backendStart), log: exact.NewLog(), limit: history, rnd: rand.New(rand.NewPCG(seed, 7))}
	for range 2 {
		st, err := registry.Open(registry.Options{History: history}, w.e, kinds.Of(lease.Kind()), kinds.Of(candidate.Kind()), kinds.Of(endpoints.Kind()))
		require.NoError(t, err)
		api := httpapi.New((*store.Store)(st), httpapi.Options{})
		t.Cleanup(func() {
			api.Close()
			st.Close()
		})
		require.NoError(t, st.Loaded(t.Context()))
		w.st, w.apis = append(w.st, st), append(w.apis, api)
	}
	w.e.Set(func(f *engine.Faults) {
		f.Late = w.late
		f.Commit = w.fail
	})
	return w
}

func (w *replicated) chance(n int) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.rnd.IntN(n) == 0
}

// late lets some changes come up to a millisecond late.
func (w *replicated) late(ctx context.Context) {
	if !w.chance(3) {
		return
	}
	w.mu.Lock()
	d := time.Duration(w.rnd.IntN(1000)) * time.Microsecond
	w.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	<-ctx.Done()
}

// fail fails some commits without an answer.
func (w *replicated) fail(backend.Write) (before, after error) {
	switch {
	case w.chance(60):
		return errors.New("the request was lost"), nil
	case w.chance(60):
		return nil, errors.New("the answer was lost")
	}
	return nil, nil
}

// trouble does one of the things that happen to an engine.
func (w *replicated) trouble() {
	release := func() { w.e.Set(func(f *engine.Faults) { f.Hold, f.Cut = false, false }) }
	w.mu.Lock()
	n := w.rnd.IntN(6)
	w.mu.Unlock()
	switch n {
	case 0:
		w.e.Jump(17)
	case 1, 2: // others delete a range; for the log this is a deletion without an answer
		w.log.Others(func() { w.e.DeleteRange("leases/default/") }, "default")
	case 3:
		w.e.Set(func(f *engine.Faults) { f.Hold = true })
		time.AfterFunc(3*time.Millisecond, release)
	case 4:
		w.e.Set(func(f *engine.Faults) { f.Cut = true })
		time.AfterFunc(3*time.Millisecond, release)
	case 5: // the changes that a store has not had yet are lost to it
		w.e.Set(func(f *engine.Faults) { f.Hold = true })
		time.AfterFunc(3*time.Millisecond, func() {
			w.e.Compact()
			_, version := w.e.History()
			w.mu.Lock()
			w.lost = version
			w.mu.Unlock()
			release()
		})
	}
}

func (w *replicated) history(t *testing.T) *exact.History {
	changes, version := w.e.History()
	h, err := exact.NewBackendHistory(backendStart, version, changes, w.limit)
	require.NoError(t, err)
	w.mu.Lock()
	defer w.mu.Unlock()
	if h.Lost = w.lost; h.Lost > 0 {
		h.Lost = version // a store may have loaded the state later
	}
	return h
}

// crowd runs clients at both stores, and ends when all watches have all events.
func (w *replicated) crowd(t *testing.T, seed uint64) {
	var clients sync.WaitGroup
	var followers []*exact.Follower
	for i, api := range w.apis {
		for _, door := range []exact.Door{
			exact.HTTPDoor{Base: "http://test", Client: &http.Client{Transport: api.Transport()}},
			exact.GoDoor{Leases: lease.In((*store.Store)(w.st[i]))},
		} {
			client := func(kind string) *exact.Client {
				seed++
				return exact.NewClient(fmt.Sprintf("%T%d-%s", door, i, kind), door, w.log, seed)
			}
			for j := range 2 {
				c := client(fmt.Sprintf("writer%d", j))
				clients.Go(func() {
					for n := range operations {
						c.Step(t.Context())
						if j == 0 && n%10 == 5 {
							w.trouble()
						}
					}
				})
			}
			c := client("watcher")
			clients.Go(func() {
				for range operations / 6 {
					c.Glance(t.Context())
				}
			})
			followers = append(followers, client("follower").Follow(t.Context(), backendStart), client("second follower").Follow(t.Context(), 0))
		}
	}
	clients.Wait()
	w.e.Set(func(f *engine.Faults) { *f = engine.Faults{} })
	h := w.history(t)
	for _, f := range followers {
		f.Finish(h, 30*time.Second)
	}
	h = w.history(t)
	require.Empty(t, exact.Check(h, w.log), "history of %d changes, %d operations, %d watches", len(h.Changes), len(w.log.Operations), len(w.log.Watches))
}

// Two stores on one engine are one API: the checker needs the history of the engine only.
func TestStoresOnABackendAreConsistent(t *testing.T) {
	if *onlyDoor != "" && *onlyDoor != "backend" {
		t.Skip("-exact.door")
	}
	start := time.Now()
	for i := uint64(0); i < rounds || time.Since(start) < *duration; i++ {
		history := []int{4096, 40}[i%2]
		t.Run(fmt.Sprintf("seed %d history %d", *seed+i, history), func(t *testing.T) {
			newReplicated(t, history, *seed+i).crowd(t, (*seed+i)*1000)
		})
		if t.Failed() {
			return
		}
	}
}
