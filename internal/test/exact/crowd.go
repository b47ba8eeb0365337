package exact

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"
	"sync"
	"time"

	"github.com/kubecoord/kubecoord/store/meta"
)

// What the clients choose from. There are few objects, so that clients meet.
var (
	namespaces = []string{"default", "default-b"}
	names      = []string{"a", "b", "c", "d", "e", "f"}
	colors     = []string{"red", "green", "blue"}
)

func pick[T any](rnd *rand.Rand, from []T) T { return from[rnd.IntN(len(from))] }

// Client uses one door.
type Client struct {
	Name string
	Door Door
	Log  *Log
	// Stale says that the door lags: its reads without a resourceVersion would wait.
	Stale bool
	// Reconnect makes followers go on from the last version that they have seen, when their watch ends without a refusal.
	Reconnect bool

	rnd      *rand.Rand
	writes   int
	seen     []State  // the last states
	versions []uint64 // of the last lists
}

// NewClient returns a client that chooses its operations by a seed.
func NewClient(name string, d Door, l *Log, seed uint64) *Client {
	return &Client{Name: name, Door: d, Log: l, rnd: rand.New(rand.NewPCG(seed, uint64(len(name))))}
}

// write returns a state that no other write has.
func (c *Client) write() State {
	c.writes++
	return State{
		Namespace: pick(c.rnd, namespaces), Name: pick(c.rnd, names), Color: pick(c.rnd, colors),
		Write: fmt.Sprintf("%s-%d", c.Name, c.writes),
	}
}

// Step runs one operation, or a list of several pages.
func (c *Client) Step(ctx context.Context) {
	o := &Operation{Client: c.Name, In: c.write()}
	if c.rnd.IntN(30) == 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithCancel(ctx)
		defer cancel()
		go cancel()
	}
	switch n := c.rnd.IntN(20); {
	case n < 3:
		c.one(o, Create, func() (State, error) { return c.Door.Create(ctx, o.In) })
	case n < 7 && len(c.seen) > 0:
		s := pick(c.rnd, c.seen)
		o.In.Namespace, o.In.Name, o.In.Version = s.Namespace, s.Name, s.Version
		c.one(o, Update, func() (State, error) { return c.Door.Update(ctx, o.In) })
	case n < 10:
		c.one(o, Patch, func() (State, error) { return c.Door.Patch(ctx, o.In) })
	case n < 12:
		if len(c.seen) > 0 && n == 10 {
			s := pick(c.rnd, c.seen)
			o.In.Namespace, o.In.Name, o.In.UID = s.Namespace, s.Name, s.UID
		}
		c.one(o, Delete, func() (State, error) { return c.Door.Delete(ctx, o.In.Namespace, o.In.Name, o.In.UID) })
	case n < 15:
		v := ""
		if _, ok := c.Door.(GoDoor); !ok && (n == 12 || c.Stale) {
			v, o.In.Version = "0", stale
		}
		c.one(o, Get, func() (State, error) { return c.Door.Get(ctx, o.In.Namespace, o.In.Name, v) })
	default:
		c.list(ctx)
	}
}

// one runs an operation on one object and remembers the result.
func (c *Client) one(o *Operation, v Verb, run func() (State, error)) {
	o.Verb = v
	c.Log.do(o, func() { o.Out, o.Err = run() })
	if o.Err == nil && o.Out.Version != 0 && v != Delete {
		c.seen = append(c.seen, o.Out)
		c.seen = c.seen[max(0, len(c.seen)-4):]
	}
}

// list runs a list with random options, and sometimes its further pages.
func (c *Client) list(ctx context.Context) {
	opts := ListOptions{Limit: c.rnd.IntN(6)}
	if c.rnd.IntN(2) == 0 {
		opts.Namespace = pick(c.rnd, namespaces)
	}
	if c.rnd.IntN(3) == 0 {
		opts.Color = pick(c.rnd, colors)
	}
	switch n := c.rnd.IntN(6); {
	case n == 0 || c.Stale:
		opts.Version = "0"
	case n == 1 && len(c.versions) > 0:
		opts.Version, opts.Match = strconv.FormatUint(pick(c.rnd, c.versions), 10), "Exact"
	case n == 2 && len(c.versions) > 0:
		opts.Version, opts.Match = strconv.FormatUint(pick(c.rnd, c.versions), 10), "NotOlderThan"
	}
	var before *Operation
	for {
		o := &Operation{Client: c.Name, Verb: List, List: opts, Before: before}
		c.Log.do(o, func() { o.Page, o.Err = c.Door.List(ctx, opts) })
		if o.Err != nil {
			return
		}
		c.versions = append(c.versions, o.Page.Version)
		c.versions = c.versions[max(0, len(c.versions)-50):]
		if o.Page.Continue == "" || len(o.Page.Items) == 0 {
			return
		}
		if c.rnd.IntN(2) == 0 {
			c.Step(ctx) // between the pages
		}
		opts.Continue, opts.Version, opts.Match = o.Page.Continue, "", ""
		before = o
	}
}

// watchOptions returns random options of a watch.
func (c *Client) watchOptions() WatchOptions {
	opts := WatchOptions{}
	if c.rnd.IntN(2) == 0 {
		opts.Namespace = pick(c.rnd, namespaces)
	}
	if c.rnd.IntN(2) == 0 {
		opts.Color = pick(c.rnd, colors)
	}
	if c.rnd.IntN(4) == 0 {
		opts.Name = pick(c.rnd, names)
	}
	switch n := c.rnd.IntN(4); {
	case c.Stale || n == 0:
		opts.Version = "0"
		if _, ok := c.Door.(GoDoor); ok {
			opts.Version = ""
		}
	case n == 1 && len(c.versions) > 0:
		opts.Version = strconv.FormatUint(pick(c.rnd, c.versions), 10)
	case n == 2:
		opts.Initial = true
	}
	return opts
}

// Glance opens a watch and ends it after a few events.
func (c *Client) Glance(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, time.Duration(c.rnd.IntN(20))*time.Millisecond)
	defer cancel()
	w := &Watched{Client: c.Name, Options: c.watchOptions(), Begin: c.Log.ticks.Add(1)}
	most := c.rnd.IntN(30)
	for e, err := range c.Door.Watch(ctx, w.Options) {
		if w.First == 0 {
			w.First = c.Log.ticks.Add(1)
		}
		if err != nil {
			w.Err = err
			break
		}
		if w.Events = append(w.Events, e); len(w.Events) > most {
			break
		}
	}
	c.Log.watched(w)
}

// Follower is a watch from its beginning to the end of the history.
type Follower struct {
	client *Client
	cancel context.CancelFunc
	done   chan struct{}
	news   chan struct{} // has room for one
	mu     sync.Mutex    // guards the fields below
	last   *Watched
}

// Follow opens a watch from a version, or with initial events and a bookmark if version is 0. After a 410 it opens another one.
func (c *Client) Follow(ctx context.Context, version uint64) *Follower {
	ctx, cancel := context.WithCancel(ctx)
	f := &Follower{client: c, cancel: cancel, done: make(chan struct{}), news: make(chan struct{}, 1)}
	opts := c.watchOptions()
	opts.Initial, opts.Version = version == 0, ""
	if !opts.Initial {
		opts.Version = strconv.FormatUint(version, 10)
	}
	go f.run(ctx, opts)
	return f
}

func (f *Follower) run(ctx context.Context, opts WatchOptions) {
	defer close(f.done)
	for again := true; again; {
		w := &Watched{Client: f.client.Name, Options: opts, Begin: f.client.Log.ticks.Add(1)}
		f.mu.Lock()
		f.last = w
		f.mu.Unlock()
		for e, err := range f.client.Door.Watch(ctx, opts) {
			if w.First == 0 {
				w.First = f.client.Log.ticks.Add(1)
			}
			if err != nil {
				w.Err = err
				break
			}
			f.mu.Lock()
			w.Events = append(w.Events, e)
			f.mu.Unlock()
			select {
			case f.news <- struct{}{}:
			default:
			}
		}
		f.client.Log.watched(w)
		switch {
		case reason(w.Err) == meta.ReasonExpired:
			opts.Initial, opts.Version = true, ""
		case f.client.Reconnect && ctx.Err() == nil:
			if seen := w.seen(); seen != 0 {
				opts.Initial, opts.Version = false, strconv.FormatUint(seen, 10)
			}
		default:
			again = false
		}
	}
}

// seen returns the version from which another watch goes on, or 0 if the initial events are not complete.
func (w *Watched) seen() uint64 {
	seen, began := version(w.Options.Version), !w.Options.Initial
	for _, e := range w.Events {
		began = began || e.InitialEnd
		seen = max(seen, e.State.Version)
	}
	if !began {
		return 0
	}
	return seen
}

// Finish waits until the watch has the last event of a history, at most for patience, and ends it.
func (f *Follower) Finish(h *History, patience time.Duration) {
	timeout := time.NewTimer(patience)
	defer timeout.Stop()
wait:
	for !f.upToDate(h) {
		select {
		case <-f.news:
		case <-f.done:
			break wait
		case <-timeout.C:
			break wait
		}
	}
	f.mu.Lock()
	f.last.Complete = h.last()
	f.mu.Unlock()
	f.cancel()
	<-f.done
}

// upToDate reports whether the watch has the last event of a history.
func (f *Follower) upToDate(h *History) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	w := f.last
	seen := w.seen()
	return seen != 0 && len(h.events(w.Options.scope(), seen, 1)) == 0
}
