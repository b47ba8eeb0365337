package exact_test

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/httpapi/apitest"
	"github.com/kubecoord/kubecoord/httpapi/client"
	"github.com/kubecoord/kubecoord/internal/test/exact"
	"github.com/kubecoord/kubecoord/lease"
	"github.com/kubecoord/kubecoord/store"
)

var (
	duration = flag.Duration("exact.for", 0, "how long TestAPIIsConsistent looks for violations; 0 is a few rounds")
	onlyDoor = flag.String("exact.door", "", "use only this door: go, client, transport, socket, replica, cut, fork, backend")
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
}

func newWorld(t *testing.T, history int) *world {
	api := apitest.New(t, apitest.Options{Store: store.Options{History: history}})
	return &world{api: api, log: exact.NewLog(), record: exact.Record(api.Store().Registry()), limit: history}
}

func (w *world) history() *exact.History { return w.record.History(w.limit) }

// fork returns a fork of the world while its clients go on.
func (w *world) fork(t *testing.T) *world {
	api := w.api.Fork(t)
	return &world{api: api, log: w.log.Fork(), record: w.record.Fork(api.Store().Registry()), limit: w.limit, isFork: true}
}

const (
	direct  = "transport"
	replica = "replica"
	cut     = "cut"
)

// doors returns the doors of the world that the flag allows. For "fork" these are all doors of a fork, and one of its parent.
func (w *world) doors(t *testing.T) map[string]exact.Door {
	transport := func(client string) exact.HTTPDoor {
		return exact.HTTPDoor{Base: w.api.Host(), Client: &http.Client{Transport: w.api.TransportFor(client)}}
	}
	c, err := client.New(client.Config{Server: w.api.Host(), Transport: w.api.TransportFor("client")})
	require.NoError(t, err)
	all := map[string]exact.Door{
		"go":     exact.GoDoor{Leases: lease.In(w.api.Store())},
		"client": exact.GoDoor{Leases: client.In(c, lease.Kind())},
		direct:   transport("direct"),
		"socket": exact.HTTPDoor{Base: w.api.URL(), Client: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 8}}},
		replica:  transport(replica),
		cut:      transport(cut),
	}
	only := *onlyDoor
	switch {
	case only == "fork" && !w.isFork:
		only = direct
	case only == "fork" || only == "":
		return all
	}
	require.Contains(t, all, only, "-exact.door")
	return map[string]exact.Door{only: all[only]}
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
			c.Stale, c.Reconnect = name == replica, name == cut
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
	clients.Wait()
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
	if *onlyDoor == "backend" {
		t.Skip("-exact.door")
	}
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
