package lease

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/kubecoord/kubecoord/internal/atwork"
	"github.com/kubecoord/kubecoord/internal/registry"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/clock"
	"github.com/kubecoord/kubecoord/watch"
)

// Client is what a Contender and Observe need of the leases.
// *store.Collection[Lease] is a Client.
type Client interface {
	// Get returns the Lease, or an error that is store.ErrNotFound.
	Get(ctx context.Context, namespace, name string) (*Lease, error)
	// Create returns what was stored, or store.ErrAlreadyExists.
	Create(ctx context.Context, l *Lease, opts store.CreateOptions) (*Lease, error)
	// Update returns what was stored, or store.ErrConflict if the Lease is no longer
	// at the resourceVersion of l.
	Update(ctx context.Context, l *Lease, opts store.UpdateOptions) (*Lease, error)
	// Watch follows one Lease, as store.Collection.Watch does.
	Watch(ctx context.Context, opts store.WatchOptions) iter.Seq2[watch.Event[Lease], error]
	// Clock is what waiting goes by.
	Clock() clock.Clock
}

// ErrLost is what a Contender returns that holds the Lease no longer: another
// one took it, it was deleted or released, or could not be renewed in time.
var ErrLost = errors.New("lease: not held, or no longer")

// Defaults of ContenderOptions, as in client-go.
const (
	DefaultLeaseDuration = 15 * time.Second
	DefaultRenewDeadline = 10 * time.Second
	DefaultRetryPeriod   = 2 * time.Second
)

// ContenderOptions says what a Contender contends for, and how. The fields have
// the names and meanings of client-go's LeaderElectionConfig.
type ContenderOptions struct {
	// Namespace and Name say which Lease. It is created where there is none.
	Namespace, Name string
	// Identity is what the Contender calls itself in the Lease. No other
	// contender for the same Lease may have it. A program that is started
	// again should take a new one: a Lease that bears its name and is not
	// known to be its own is respected until it expires, like anybody's.
	Identity string
	// LeaseDuration is how long others wait after they saw the last renewal
	// before they take over: whole seconds. Zero means DefaultLeaseDuration.
	LeaseDuration time.Duration
	// RenewDeadline is how long the holder believes that it holds the Lease
	// after it began the last renewal that succeeded. It must be shorter than
	// LeaseDuration; the difference is what a leader has to stop in. Zero
	// means DefaultRenewDeadline.
	RenewDeadline time.Duration
	// RetryPeriod is the time between two renewals in Run. It must be less
	// than RenewDeadline/1.2, and one second at least: client-go tells one
	// renewal from another by the whole second of renewTime. Zero means
	// DefaultRetryPeriod.
	RetryPeriod time.Duration
	// ReleaseOnCancel makes Run release the Lease when lead has returned, for
	// whatever reason, so that others need not wait for it to expire.
	ReleaseOnCancel bool
	// FieldManager is under what name managedFields show the writes, at most
	// 128 printable bytes.
	FieldManager string
}

// jitterFactor is client-go's: how much longer than RetryPeriod its electors
// may wait.
const jitterFactor = 1.2

func (o *ContenderOptions) setDefaults() {
	for _, d := range []struct {
		value *time.Duration
		std   time.Duration
	}{
		{&o.LeaseDuration, DefaultLeaseDuration},
		{&o.RenewDeadline, DefaultRenewDeadline},
		{&o.RetryPeriod, DefaultRetryPeriod},
	} {
		if *d.value == 0 {
			*d.value = d.std
		}
	}
}

func (o *ContenderOptions) validate() error {
	var errs []error
	refuse := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	for _, problem := range store.DNSLabelName(o.Namespace, false) {
		refuse("Namespace %q: %s", o.Namespace, problem)
	}
	for _, problem := range store.DNSSubdomainName(o.Name, false) {
		refuse("Name %q: %s", o.Name, problem)
	}
	if o.Identity == "" {
		refuse("Identity must not be empty")
	}
	if o.LeaseDuration%time.Second != 0 || o.LeaseDuration > math.MaxInt32*time.Second {
		refuse("LeaseDuration %s must be whole seconds, 2147483647 at most", o.LeaseDuration)
	}
	if o.LeaseDuration <= o.RenewDeadline {
		refuse("LeaseDuration %s must be greater than RenewDeadline %s", o.LeaseDuration, o.RenewDeadline)
	}
	if float64(o.RenewDeadline) <= jitterFactor*float64(o.RetryPeriod) {
		refuse("RenewDeadline %s must be greater than RetryPeriod %s by a factor of %v", o.RenewDeadline, o.RetryPeriod, jitterFactor)
	}
	if o.RetryPeriod < time.Second {
		refuse("RetryPeriod %s must be 1s or more", o.RetryPeriod)
	}
	if err := registry.CheckFieldManager(o.FieldManager, "CreateOptions"); err != nil {
		refuse("FieldManager: %w", err)
	}
	if errs == nil {
		return nil
	}
	return fmt.Errorf("lease: contender: %w", errors.Join(errs...))
}

// Contender contends for one Lease. Run does all that a leader needs. TryAcquire,
// Acquire, Renew and Release are the single steps, for programs with a loop of
// their own.
//
// One goroutine may use it at a time, except that Held may be called from any.
// Two calls at once are a mistake that would let two lead under one name, and
// make the second one panic; so does a call of any other method than Held by
// the leader that Run has called.
//
// Time is that of Client.Clock throughout, so that a Contender works in the virtual
// time of testing/synctest, and by a clock.Manual. No goroutine is left when a
// method has returned.
type Contender struct {
	leases Client
	clock  clock.Clock
	worker *atwork.Worker // of the method under way, if it waits
	opts   ContenderOptions

	busy     atomic.Bool // a method is under way
	observed Observation // for the method under way
	// term is nil unless the Lease, as far as known, bears this Contender's
	// name by its own doing. Written by the method under way.
	term atomic.Pointer[term]
}

// term is what a Contender knows of the Lease it holds. It never changes.
type term struct {
	lease   *Lease // as last written
	holding Holding
	began   time.Time // when the renewal began that the term counts from
	expires time.Time // when the Contender has to stop believing in it
}

// Holding is one holder's time with a Lease.
type Holding struct {
	// Holder is the holder's identity; "" is nobody.
	Holder string
	// ResourceVersion is that of the Lease when the holding began or, to an
	// observer who came later, when it was first seen: greater than any of a
	// holding before. 0 means that there is no Lease.
	ResourceVersion uint64
	// LeaseTransitions is the Lease's, 0 where it has none.
	LeaseTransitions int32
}

// NewContender returns a Contender, or an error that tells what is wrong with
// the options. It does nothing yet.
func NewContender(leases Client, opts ContenderOptions) (*Contender, error) {
	opts.setDefaults()
	if err := opts.validate(); err != nil {
		return nil, err
	}
	c := leases.Clock()
	return &Contender{leases: leases, clock: c, worker: atwork.New(c), opts: opts}, nil
}

// Held returns what the Contender holds, and whether it does: false from
// RenewDeadline after the last successful renewal on. It never blocks.
func (c *Contender) Held() (Holding, bool) {
	t := c.term.Load()
	if t == nil || !t.holds(c.clock.Now()) {
		return Holding{}, false
	}
	return t.holding, true
}

func (t *term) holds(now time.Time) bool { return now.Before(t.expires) }

// owns reports whether a state of the Lease, nil where there is none, is of the
// same term: others may have changed it, but not who holds it.
func (t *term) owns(l *Lease) bool {
	if l == nil || l.UID != t.lease.UID {
		return false
	}
	now, then := &l.Spec, &t.lease.Spec
	return same(now.HolderIdentity, then.HolderIdentity) && same(now.LeaseTransitions, then.LeaseTransitions) &&
		sameTime(now.AcquireTime, then.AcquireTime)
}

// enter and leave enclose a method that may not run twice at once.
func (c *Contender) enter() {
	if !c.busy.CompareAndSwap(false, true) {
		panic("lease: two calls of one Contender at once")
	}
}

func (c *Contender) leave() { c.busy.Store(false) }

func newHolding(l *Lease) Holding {
	h := Holding{}
	if l == nil {
		return h
	}
	if s := l.Spec.HolderIdentity; s != nil {
		h.Holder = *s
	}
	if n := l.Spec.LeaseTransitions; n != nil {
		h.LeaseTransitions = *n
	}
	h.ResourceVersion, _ = strconv.ParseUint(l.ResourceVersion, 10, 64) // the store's own
	return h
}
