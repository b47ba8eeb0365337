package candidate

import (
	"context"
	"errors"
	"math"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/lease"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/meta"
)

// world is a store with a Coordinator at work, inside a synctest bubble.
type world struct {
	t          *testing.T
	st         *store.Store
	leases     *store.Collection[lease.Lease]
	candidates *store.Collection[LeaseCandidate]
	stop       func()

	mu      sync.Mutex // guards all below
	events  []ElectionEvent
	leaders []string // processes that believe they lead
	reigns  []string
}

// newWorld starts a Coordinator, which ends with the test or with stop.
func newWorld(t *testing.T, opts CoordinatorOptions) *world {
	return newWorldOn(t, store.Options{HistoryAge: math.MaxInt64}, opts) // with the times of changes, as on etcd
}

func newWorldOn(t *testing.T, of store.Options, opts CoordinatorOptions) *world {
	st := store.New(of)
	t.Cleanup(st.Close)
	w := &world{t: t, st: st, leases: lease.In(st), candidates: In(st)}
	w.elect(opts)
	return w
}

// elect starts a Coordinator, one more if there is one.
func (w *world) elect(opts CoordinatorOptions) {
	opts.Log = w.log
	e, err := NewCoordinator(w.st, opts)
	require.NoError(w.t, err)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		assert.ErrorIs(w.t, e.Run(ctx), context.Canceled)
	}()
	w.stop = func() { cancel(); <-done }
	w.t.Cleanup(w.stop)
}

func (w *world) log(ev ElectionEvent) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.events = append(w.events, ev)
}

// takeEvents returns the events since the last call as "Type candidate".
func (w *world) takeEvents(types ...ElectionEventType) []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	var out []string
	for _, ev := range w.events {
		text := string(ev.Type)
		if ev.Candidate != "" {
			text += " " + ev.Candidate
		}
		if ev.Err != nil {
			text += ": " + ev.Err.Error()
		}
		if len(types) == 0 || slices.Contains(types, ev.Type) {
			out = append(out, text)
		}
	}
	w.events = nil
	return out
}

// lease returns the Lease "main", which must be there.
func (w *world) lease() *lease.Lease {
	l, err := w.leases.Get(context.Background(), "ns", "main")
	require.NoError(w.t, err)
	return l
}

func (w *world) holder() string {
	l, err := w.leases.Get(context.Background(), "ns", "main")
	if err != nil || l.Spec.HolderIdentity == nil {
		return ""
	}
	return *l.Spec.HolderIdentity
}

// offer returns a candidate for the Lease "main".
func offer(name, binary, emulation string) *LeaseCandidate {
	return &LeaseCandidate{
		ObjectMeta: meta.ObjectMeta{Namespace: "ns", Name: name},
		Spec: LeaseCandidateSpec{
			LeaseName: "main", BinaryVersion: binary, EmulationVersion: emulation,
			Strategy: lease.OldestEmulationVersion, RenewTime: new(meta.NewMicroTime(time.Now())),
		},
	}
}

func (w *world) create(c *LeaseCandidate) *LeaseCandidate {
	c, err := w.candidates.Create(context.Background(), c, store.CreateOptions{})
	require.NoError(w.t, err)
	return c
}

// process behaves like a process with client-go's LeaseCandidate and a coordinated
// LeaderElector, or with a plain LeaderElector.
type process struct {
	w    *world
	name string
	// delay is the time between a ping and its answer.
	delay time.Duration
	// mute leaves pings unanswered. idle never takes up a Lease. plain has no
	// candidate, takes a free Lease by itself and removes the strategy.
	mute, idle, plain bool
	cancel            context.CancelFunc
	wg                sync.WaitGroup
}

// start starts a process. stop kills it: it neither releases nor deletes anything.
func (w *world) start(c *LeaseCandidate, how ...func(p *process)) *process {
	ctx, cancel := context.WithCancel(context.Background())
	p := &process{w: w, name: c.Name, cancel: cancel}
	for _, set := range how {
		set(p)
	}
	if p.plain {
		p.wg.Go(func() { p.contendPlainly(ctx) })
	} else {
		p.wg.Go(func() { p.offer(ctx, c) })
		p.wg.Go(func() { p.contend(ctx) })
	}
	w.t.Cleanup(p.stop)
	return p
}

func mute(p *process)  { p.mute = true }
func idle(p *process)  { p.idle = true }
func plain(p *process) { p.plain = true }

func (p *process) stop() {
	p.cancel()
	p.wg.Wait()
}

// drain stops a process as a rollout does: it releases the Lease, and its
// candidate is deleted. As with client-go, the release removes the strategy.
func (p *process) drain() {
	p.stop()
	_, err := p.w.leases.Modify(context.Background(), "ns", "main", func(l *lease.Lease) error {
		if l.Spec.HolderIdentity != nil && *l.Spec.HolderIdentity == p.name {
			now := new(meta.NewMicroTime(time.Now()))
			l.Spec = lease.LeaseSpec{
				HolderIdentity: new(""), LeaseDurationSeconds: new(int32(1)), LeaseTransitions: l.Spec.LeaseTransitions,
				RenewTime: now, AcquireTime: now,
			}
		}
		return nil
	}, store.UpdateOptions{})
	if !errors.Is(err, store.ErrNotFound) {
		assert.NoError(p.w.t, err)
	}
	if !p.plain {
		_, err = p.w.candidates.Delete(context.Background(), "ns", p.name, store.DeleteOptions{})
		assert.NoError(p.w.t, err)
	}
}

func (p *process) offer(ctx context.Context, c *LeaseCandidate) {
	renew := func() error {
		_, err := p.w.candidates.Modify(context.Background(), c.Namespace, c.Name, func(c *LeaseCandidate) error {
			c.Spec.RenewTime = new(meta.NewMicroTime(time.Now()))
			return nil
		}, store.UpdateOptions{})
		return err
	}
	if err := renew(); errors.Is(err, store.ErrNotFound) {
		p.w.create(c)
	}
	go func() {
		for sleep(ctx, 5*time.Minute) {
			renew()
		}
	}()
	for {
		for ev, err := range p.w.candidates.Watch(ctx, store.WatchOptions{Namespace: c.Namespace, Name: c.Name}) {
			if err != nil {
				return
			}
			if s := ev.Object.Spec; !p.mute && s.PingTime != nil && s.PingTime.After(s.RenewTime.Time) && sleep(ctx, p.delay) {
				renew()
			}
		}
	}
}

func (p *process) contend(ctx context.Context) {
	var seen lease.Observation
	var until time.Time // leads until then; zero means that it does not
	defer func() { p.lead(&until, time.Time{}) }()
	for wait := time.Duration(0); sleep(ctx, wait); wait = 2 * time.Second {
		now := time.Now()
		if !until.IsZero() && !now.Before(until) {
			p.lead(&until, time.Time{})
		}
		l, err := p.w.leases.Get(context.Background(), "ns", "main")
		if err != nil || p.idle {
			continue
		}
		seen.Observe(l, now)
		if seen.Expired(now) || seen.Holder() != p.name || l.Spec.PreferredHolder != nil && *l.Spec.PreferredHolder != "" {
			continue
		}
		l.Spec = lease.LeaseSpec{
			HolderIdentity: &p.name, LeaseDurationSeconds: new(int32(15)), RenewTime: new(meta.NewMicroTime(now)),
			AcquireTime: l.Spec.AcquireTime, LeaseTransitions: l.Spec.LeaseTransitions, Strategy: l.Spec.Strategy,
		}
		if l, err = p.w.leases.Update(context.Background(), l, store.UpdateOptions{}); err == nil {
			seen.Observe(l, now)
			p.lead(&until, now.Add(10*time.Second))
		}
	}
}

// contendPlainly does what a LeaderElector without Coordinated does (client-go,
// tryAcquireOrRenew).
func (p *process) contendPlainly(ctx context.Context) {
	var seen lease.Observation
	var until time.Time
	defer func() { p.lead(&until, time.Time{}) }()
	for wait := time.Duration(0); sleep(ctx, wait); wait = 2 * time.Second {
		now := time.Now()
		if !until.IsZero() && !now.Before(until) {
			p.lead(&until, time.Time{})
		}
		l, err := p.w.leases.Get(context.Background(), "ns", "main")
		if errors.Is(err, store.ErrNotFound) {
			l, err = &lease.Lease{ObjectMeta: meta.ObjectMeta{Namespace: "ns", Name: "main"}}, nil
		}
		assert.NoError(p.w.t, err)
		spec := lease.LeaseSpec{
			HolderIdentity: &p.name, LeaseDurationSeconds: new(int32(15)), RenewTime: new(meta.NewMicroTime(now)),
			AcquireTime: l.Spec.AcquireTime, LeaseTransitions: l.Spec.LeaseTransitions,
		}
		seen.Observe(l, now)
		if seen.Holder() != p.name {
			if !seen.Expired(now) {
				continue
			}
			spec.AcquireTime = spec.RenewTime
		}
		l.Spec = spec
		if l.UID == "" {
			l, err = p.w.leases.Create(context.Background(), l, store.CreateOptions{FieldManager: p.name})
		} else {
			l, err = p.w.leases.Update(context.Background(), l, store.UpdateOptions{FieldManager: p.name})
		}
		if err == nil {
			seen.Observe(l, now)
			p.lead(&until, now.Add(10*time.Second))
		}
	}
}

// lead records that a process believes it leads, and checks that no other does.
func (p *process) lead(until *time.Time, next time.Time) {
	w := p.w
	w.mu.Lock()
	defer w.mu.Unlock()
	switch was := !until.IsZero(); {
	case !was && !next.IsZero():
		w.reigns = append(w.reigns, p.name)
		w.leaders = append(w.leaders, p.name)
		assert.Len(w.t, w.leaders, 1, "at %s", time.Now())
	case was && next.IsZero():
		w.leaders = slices.DeleteFunc(w.leaders, func(name string) bool { return name == p.name })
	}
	*until = next
}

// leader returns the process that believes it leads, or "".
func (w *world) leader() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.leaders) == 0 {
		return ""
	}
	return w.leaders[0]
}

// sleep waits, and reports false when the context ended first.
func sleep(ctx context.Context, d time.Duration) bool {
	select {
	case <-time.After(d):
		return ctx.Err() == nil
	case <-ctx.Done():
		return false
	}
}
