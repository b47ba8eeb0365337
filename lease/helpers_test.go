package lease

import (
	"errors"
	"log/slog"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/clock"
	"github.com/kubecoord/kubecoord/store/meta"
)

// The name of the Lease in the tests.
const (
	namespace = "default"
	name      = "leader"
)

// hookedClock is the clock of a store that can call a function before its next
// reading: to pause a writer, or to write in between. A write reads the clock
// without a lock, after it has read the old state and before it stores the new
// one.
type hookedClock struct{ next atomic.Pointer[func()] }

func (c *hookedClock) now() time.Time {
	if f := c.next.Swap(nil); f != nil {
		(*f)()
	}
	return time.Now()
}

func (c *hookedClock) clock() clock.Clock { return clock.Func(c.now) }

// before sets f to be called before the next write is done.
func (c *hookedClock) before(f func()) { c.next.Store(&f) }

func newLeases(t *testing.T, opts store.Options) *store.Collection[Lease] {
	st := store.New(opts)
	t.Cleanup(st.Close)
	return In(st)
}

func newContender(t *testing.T, leases *store.Collection[Lease], identity string) *Contender {
	return contenderWith(t, leases, ContenderOptions{Identity: identity})
}

func contenderWith(t *testing.T, leases *store.Collection[Lease], opts ContenderOptions) *Contender {
	opts.Namespace, opts.Name = namespace, name
	return exact(t, leases, opts)
}

// exact returns a Contender that renews at each RetryPeriod and takes a free Lease at once.
func exact(t *testing.T, leases Client, opts ContenderOptions) *Contender {
	opts.Logger = slog.New(slog.DiscardHandler)
	c, err := NewContender(leases, opts)
	require.NoError(t, err)
	c.chance = func(time.Time) float64 { return 0 }
	return c
}

// hold sets the holder of the Lease, whoever holds it, against the rules.
func hold(t *testing.T, leases *store.Collection[Lease], holder string, duration time.Duration, renewed time.Time) *Lease {
	put := func(l *Lease) error {
		l.Spec.HolderIdentity = &holder
		l.Spec.LeaseDurationSeconds = new(int32(duration / time.Second))
		l.Spec.RenewTime = new(meta.NewMicroTime(renewed))
		return nil
	}
	l, err := leases.Modify(t.Context(), namespace, name, put, store.UpdateOptions{})
	if errors.Is(err, store.ErrNotFound) {
		l = &Lease{ObjectMeta: meta.ObjectMeta{Namespace: namespace, Name: name}}
		put(l)
		l, err = leases.Create(t.Context(), l, store.CreateOptions{})
	}
	require.NoError(t, err)
	return l
}

func get(t *testing.T, leases *store.Collection[Lease]) *Lease {
	l, err := leases.Get(t.Context(), namespace, name)
	require.NoError(t, err)
	return l
}

func remove(t *testing.T, leases *store.Collection[Lease]) {
	_, err := leases.Delete(t.Context(), namespace, name, store.DeleteOptions{})
	require.NoError(t, err)
}

// label changes a label of the Lease, as a writer outside the election.
func label(t *testing.T, leases *store.Collection[Lease], value string) {
	_, err := leases.Modify(t.Context(), namespace, name, func(l *Lease) error {
		l.Labels = map[string]string{"label": value}
		return nil
	}, store.UpdateOptions{})
	require.NoError(t, err)
}

// try calls TryAcquire and requires that there is no error.
func try(t *testing.T, c *Contender) bool {
	held, err := c.TryAcquire(t.Context())
	require.NoError(t, err)
	return held
}

// micro returns now in the precision of a Lease.
func micro() *meta.MicroTime { return new(meta.NewMicroTime(time.Now())) }

// later runs f in a goroutine and returns the channel of its result.
func later(f func() error) <-chan error {
	done := make(chan error, 1)
	go func() { done <- f() }()
	return done
}
