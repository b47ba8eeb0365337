package exact_test

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/httpapi/apitest"
	"github.com/kubecoord/kubecoord/httpapi/client"
	"github.com/kubecoord/kubecoord/internal/registry"
	"github.com/kubecoord/kubecoord/internal/test/exact"
	"github.com/kubecoord/kubecoord/lease"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/kind"
)

var (
	duration = flag.Duration("exact.for", 0, "how long TestAPIIsConsistent looks for violations; 0 is a few rounds")
	onlyDoor = flag.String("exact.door", "", "use only this door: go, client, transport, socket, replica, cut, fork, backend, kinds")
	seed     = flag.Uint64("exact.seed", 1, "the seed of the first round")
)

// rounds is how many rounds TestAPIIsConsistent runs without -exact.for, and operations how many a client runs in each.
const (
	rounds     = 6
	operations = 60
)

// world is a store with its doors and a log of the operations of the clients.
type world struct {
	api    *apitest.API
	log    *exact.Log
	record *exact.Recorder
	limit  int
	isFork bool
	// kind, if not nil, is the kind of the objects at the beginning, and lost the version of the last change to another one.
	kind *store.Kind[lease.Lease]
	lost atomic.Uint64
}

func newWorld(t *testing.T, history int) *world {
	api := apitest.New(t, apitest.Options{Store: store.Options{History: history}})
	return &world{api: api, log: exact.NewLog(), record: exact.Record((*registry.Store)(api.Store())), limit: history}
}

// newChangingWorld returns a world whose clients use a kind that changes.
func newChangingWorld(t *testing.T, history int) *world {
	k := exact.NewKind(0)
	api := apitest.New(t, apitest.Options{Store: store.Options{History: history}, API: httpapi.Options{Kinds: []kind.Kind{k}}})
	return &world{api: api, log: exact.NewLog(), record: exact.Record((*registry.Store)(api.Store())), limit: history, kind: k}
}

func (w *world) history() *exact.History {
	h := w.record.History(w.limit)
	h.Lost = w.lost.Load()
	return h
}

// fork returns a fork of the world while its clients go on.
func (w *world) fork(t *testing.T) *world {
	api := w.api.Fork(t)
	f := &world{api: api, log: w.log.Fork(), record: w.record.Fork((*registry.Store)(api.Store())), limit: w.limit, isFork: true, kind: w.kind}
	f.lost.Store((*registry.Store)(api.Store()).ResourceVersion())
	if w.kind == nil {
		f.lost.Store(0)
	}
	return f
}

// change replaces the kind again and again, until done is closed.
func (w *world) change(t *testing.T, done <-chan struct{}) {
	for old, number := kind.Kind(w.kind), 1; ; number++ {
		select {
		case <-done:
			return
		case <-time.After(rand.N(10 * time.Millisecond)):
		}
		next := exact.NewKind(number)
		assert.NoError(t, w.log.Swap(number, func() error { return w.api.Handler().ReplaceKind(t.Context(), old, next) }))
		w.lost.Store((*registry.Store)(w.api.Store()).ResourceVersion())
		old = next
	}
}

const (
	direct  = "transport"
	replica = "replica"
	cut     = "cut"
)

// doors returns the doors of the world that the flag allows. For "fork" these are all doors of a fork, and one of its parent.
func (w *world) doors(t *testing.T) map[string]exact.Door {
	transport := func(client string) exact.HTTPDoor {
		return exact.HTTPDoor{Base: w.api.Host(), Client: &http.Client{Transport: w.api.TransportFor(client)}, Group: w.group()}
	}
	c, err := client.New(client.Config{Server: w.api.Host(), Transport: w.api.TransportFor("client")})
	require.NoError(t, err)
	all := map[string]exact.Door{
		"client": exact.GoDoor{Leases: client.In(c, cmp.Or(w.kind, lease.Kind()))},
		direct:   transport("direct"),
		"socket": exact.HTTPDoor{Base: w.api.URL(), Client: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 8}}, Group: w.group()},
		replica:  transport(replica),
		cut:      transport(cut),
	}
	if w.kind == nil { // a collection of the Go API has one kind for life
		all["go"] = exact.GoDoor{Leases: lease.In(w.api.Store())}
	}
	only := *onlyDoor
	switch {
	case only == "fork" && !w.isFork:
		only = direct
	case only == "fork" || only == "kinds" || only == "":
		return all
	}
	require.Contains(t, all, only, "-exact.door")
	return map[string]exact.Door{only: all[only]}
}

// group returns the group of the objects, or "" for the group of Leases.
func (w *world) group() string {
	if w.kind == nil {
		return ""
	}
	return exact.Group
}

// unreliable cuts connections at random, before and after the request took place, and between and within the events of watches.
func unreliable() apitest.Effect {
	return apitest.Choose(func(r apitest.Request) apitest.Effect {
		switch n := rand.IntN(20); {
		case n == 0:
			return apitest.CutBefore()
		case n < 4 && r.Verb != "watch":
			return apitest.CutAfter()
		case n < 8 && r.Verb == "watch":
			return apitest.CutWatch(rand.IntN(20))
		case n < 12 && r.Verb == "watch":
			return apitest.EndWatch(rand.IntN(20))
		}
		return apitest.Delay(rand.N(time.Millisecond))
	})
}

// crowd runs clients at each door, and ends when all watches have all events.
func (w *world) crowd(t *testing.T, prefix string, seed uint64, fork func()) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	lagging := w.api.Fault(apitest.Stale(apitest.StaleOptions{Changes: 3}), apitest.Match{Client: replica})
	cuts := w.api.Fault(unreliable(), apitest.Match{Client: cut})
	var clients sync.WaitGroup
	var followers []*exact.Follower
	for name, door := range w.doors(t) {
		client := func(kind string) *exact.Client {
			seed++
			c := exact.NewClient(fmt.Sprintf("%s%s-%s", prefix, name, kind), door, w.log, seed)
			c.Stale, c.Reconnect = name == replica, name == cut || w.kind != nil
			return c
		}
		for i := range 2 {
			c := client(fmt.Sprintf("writer%d", i))
			clients.Go(func() {
				for n := range operations {
					c.Step(ctx)
					if i == 0 && n == operations/2 && name == direct && fork != nil {
						fork()
					}
				}
			})
		}
		c := client("watcher")
		clients.Go(func() {
			for range operations / 6 {
				c.Glance(ctx)
			}
		})
		followers = append(followers, client("follower").Follow(ctx, 1000))
		if name != replica { // a consistent read of a replica that lags ends with 504
			followers = append(followers, client("second follower").Follow(ctx, 0))
		}
	}
	done := make(chan struct{})
	var changes sync.WaitGroup
	if w.kind != nil && !w.isFork {
		changes.Go(func() { w.change(t, done) })
	}
	clients.Wait()
	close(done)
	changes.Wait()
	lagging.Remove()
	cuts.Remove()
	h := w.history()
	for _, f := range followers {
		f.Finish(h, 30*time.Second)
	}
	w.api.Close() // requests whose clients have gone may have written until now
	h = w.history()
	require.Empty(t, exact.Check(h, w.log), "history of %d changes, %d operations, %d watches", len(h.Changes), len(w.log.Operations), len(w.log.Watches))
}

func TestAPIIsConsistent(t *testing.T) {
	if *onlyDoor == "backend" || *onlyDoor == "kinds" {
		t.Skip("-exact.door")
	}
	inRounds(t, newWorld)
}

// TestAPIIsConsistentWhileTheKindChanges replaces the kind of the objects beside the clients. No write may take place under a kind that
// was replaced, none may be lost, and watches must end or go on without a gap.
func TestAPIIsConsistentWhileTheKindChanges(t *testing.T) {
	if *onlyDoor != "" && *onlyDoor != "kinds" {
		t.Skip("-exact.door")
	}
	inRounds(t, newChangingWorld)
}

func inRounds(t *testing.T, newWorld func(t *testing.T, history int) *world) {
	start := time.Now()
	for i := uint64(0); ; i++ {
		if i >= rounds && time.Since(start) >= *duration {
			return
		}
		history := []int{4096, 40}[i%2]
		t.Run(fmt.Sprintf("seed %d history %d", *seed+i, history), func(t *testing.T) {
			w := newWorld(t, history)
			var forks sync.WaitGroup
			w.crowd(t, "", (*seed+i)*1000, func() {
				f := w.fork(t)
				forks.Go(func() { f.crowd(t, "fork-", (*seed+i)*1000+500, nil) })
			})
			forks.Wait()
		})
		if t.Failed() {
			return
		}
	}
}
