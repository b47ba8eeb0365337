package lease

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"math"
	"sync/atomic"
	"time"

	"github.com/kubecoord/kubecoord/internal/kinds"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/clock"
	"github.com/kubecoord/kubecoord/store/kind"
	"github.com/kubecoord/kubecoord/watch"
)

// Client reads and writes Leases for a Contender and for Observe. *store.Collection[Lease] is a
// Client, whether the Leases are in a store or on a server. The methods must return soon after the end of ctx.
//
// An error is temporary if its method Temporary() bool returns true or, without such a method, if
// it is a Status with the code 429, or 500 and more. For a leader all errors are temporary until
// RenewDeadline.
type Client interface {
	// Get returns the Lease, or store.ErrNotFound. A Status in that error must name the Lease: a 404
	// that names something else may come from a proxy, and is no sign that there is no Lease.
	Get(ctx context.Context, namespace, name string) (*Lease, error)
	// Create returns the Lease as stored, or store.ErrAlreadyExists.
	Create(ctx context.Context, l *Lease, opts store.CreateOptions) (*Lease, error)
	// Update returns the Lease as stored, or store.ErrConflict if the resourceVersion in l is
	// not the current one.
	Update(ctx context.Context, l *Lease, opts store.UpdateOptions) (*Lease, error)
	// Watch yields the events of one Lease, and ends with an error; see store.Collection.Watch.
	Watch(ctx context.Context, opts store.WatchOptions) iter.Seq2[watch.Event[Lease], error]
	// Clock returns the clock for all waiting.
	Clock() clock.Clock
}

// ErrLost means that the Contender does not hold the Lease: it never took the Lease, released it,
// or could not renew it in time; another holder took the Lease, or the Lease was deleted.
var ErrLost = errors.New("lease: not held, or no longer held")

// errLate is the ErrLost of a term whose time is over.
var errLate = fmt.Errorf("%w: no renewal was answered within RenewDeadline", ErrLost)

// Defaults of ContenderOptions, as in client-go.
const (
	DefaultLeaseDuration = 15 * time.Second
	DefaultRenewDeadline = 10 * time.Second
	DefaultRetryPeriod   = 2 * time.Second
)

// ContenderOptions configures a Contender. Fields have the meaning of the fields of the same
// names in client-go's LeaderElectionConfig.
type ContenderOptions struct {
	// Namespace and Name name the Lease. The Contender creates it if necessary.
	Namespace, Name string
	// Identity is the Contender's name in the Lease, unique among the contenders. A program
	// should take a new one at each start: a new Contender waits for a Lease with its own name
	// to expire, as for any other.
	Identity string
	// LeaseDuration is how long others wait after the last renewal they saw before they take
	// over, in whole seconds. Zero means DefaultLeaseDuration.
	LeaseDuration time.Duration
	// RenewDeadline is how long the Contender considers the Lease its own after the start of
	// the last successful renewal. It must be less than LeaseDuration: the difference is the
	// time a leader has to stop. Zero means DefaultRenewDeadline.
	RenewDeadline time.Duration
	// RetryPeriod is the time between two attempts, which may be up to a tenth longer. It must
	// be less than RenewDeadline/1.2 and at least one second, because client-go cannot
	// distinguish two renewals in the same second. Zero means DefaultRetryPeriod.
	RetryPeriod time.Duration
	// RenewPeriod is the time from a renewal that succeeded to the next one in Run, which may
	// be up to a tenth longer, or shorter if the watch of the Lease fails. Client-go has no such
	// option. A longer period costs the server less, but a leader survives only RenewDeadline -
	// RenewPeriod without its server. It must be at least RetryPeriod, and together with
	// RetryPeriod less than RenewDeadline/1.2. Zero means RetryPeriod.
	RenewPeriod time.Duration
	// ReleaseOnCancel makes Run release the Lease after lead has returned, so that others need
	// not wait for it to expire.
	ReleaseOnCancel bool
	// FieldManager is the Contender's name in managedFields: at most 128 printable bytes.
	FieldManager string

	// Logger gets one Warn when requests begin to fail, an Info when they succeed again, and an
	// Info for each new holder. Nil means that Warns go to slog.Default and Infos nowhere.
	Logger *slog.Logger
	// OnNewLeader, if not nil, is called with each new Holding that the Contender sees, its own
	// included. Holder is "" if the Lease was released or deleted. OnNewLeader and OnContact
	// must return soon, because renewals wait for them, and may call no method of the Contender
	// but Held and Healthy.
	OnNewLeader func(Holding)
	// OnContact, if not nil, is called with the error of a request that failed and is tried
	// again, and with nil when one has succeeded after that.
	OnContact func(err error)
}

// jitterFactor is client-go's JitterFactor: its electors wait that much longer than RetryPeriod.
const jitterFactor = 1.2

func (o *ContenderOptions) setDefaults() {
	o.LeaseDuration = cmp.Or(o.LeaseDuration, DefaultLeaseDuration)
	o.RenewDeadline = cmp.Or(o.RenewDeadline, DefaultRenewDeadline)
	o.RetryPeriod = cmp.Or(o.RetryPeriod, DefaultRetryPeriod)
	o.RenewPeriod = cmp.Or(o.RenewPeriod, o.RetryPeriod)
}

func (o *ContenderOptions) validate() error {
	var errs []error
	refuse := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	for _, problem := range kind.DNSLabelName(o.Namespace, false) {
		refuse("Namespace %q: %s", o.Namespace, problem)
	}
	for _, problem := range kind.DNSSubdomainName(o.Name, false) {
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
	if o.RenewPeriod < o.RetryPeriod {
		refuse("RenewPeriod %s must be RetryPeriod %s or more", o.RenewPeriod, o.RetryPeriod)
	}
	if o.RenewPeriod > o.RetryPeriod && float64(o.RenewDeadline) <= jitterFactor*float64(o.RenewPeriod+o.RetryPeriod) {
		refuse("RenewDeadline %s must be greater than RenewPeriod %s and RetryPeriod %s by a factor of %v", o.RenewDeadline, o.RenewPeriod, o.RetryPeriod, jitterFactor)
	}
	if err := kinds.CheckFieldManager(o.FieldManager, "CreateOptions"); err != nil {
		refuse("FieldManager: %w", err)
	}
	if errs == nil {
		return nil
	}
	return fmt.Errorf("lease: contender: %w", errors.Join(errs...))
}

// Contender contends for one Lease. Most programs need only Run. TryAcquire, Acquire, Renew and
// Release are the single steps, for a program with its own loop.
//
// Held and Healthy may be called from any goroutine. Only one of the other methods may run at a
// time: a second call panics, also in the function lead of Run, because two could lead under one
// name.
//
// All times are readings of Client.Clock, so a Contender works with clock.Manual and in the
// bubbles of testing/synctest. The small delays that spread requests depend on Identity and time
// only; with a clock that tests move there are none. A method leaves no goroutine behind.
type Contender struct {
	leases Client
	clock  clock.Clock
	opts   ContenderOptions
	// chance returns a number from 0 to less than 1 for a time; see chanceOf.
	chance func(at time.Time) float64

	busy atomic.Bool // a method is running
	// term is nil unless the Contender wrote its name into the Lease and has not seen another
	// holder since.
	term  atomic.Pointer[term]
	leads atomic.Pointer[term] // the last state of the term until lead of Run returns, else nil

	// Only the running method uses the fields below, and writes those above.
	observed    Observation
	reported    Holding // to OnNewLeader
	alone       bool    // the last request failed
	unconfirmed *term   // written by the last take, perhaps without an answer; has no holding
}

// term is one time of holding the Lease. It is immutable: a renewal replaces it.
type term struct {
	lease   *Lease // as last written
	holding Holding
	began   time.Time // start of the last renewal that counts
	expires time.Time // RenewDeadline after began
	// released means that a release was tried, which may take place, or has.
	released bool
}

// NewContender returns a Contender that holds nothing yet. The error lists all options that are
// not valid.
func NewContender(leases Client, opts ContenderOptions) (*Contender, error) {
	opts.setDefaults()
	if err := opts.validate(); err != nil {
		return nil, err
	}
	c := &Contender{leases: leases, clock: leases.Clock(), opts: opts, chance: chanceOf(opts.Identity)}
	if clock.Waiting(c.clock) != clock.Clock(clock.Real{}) { // a clock that is moved by hand must not stand still before the turn
		c.chance = func(time.Time) float64 { return 0 }
	}
	return c, nil
}

// Held returns the Contender's Holding and reports whether it holds the Lease: not once
// RenewDeadline has passed since the last successful renewal. It never blocks.
func (c *Contender) Held() (Holding, bool) {
	t := c.term.Load()
	if t == nil || !t.holds(c.clock.Now()) {
		return Holding{}, false
	}
	return t.holding, true
}

func (t *term) holds(now time.Time) bool { return now.Before(t.expires) }

// owns reports whether the Lease, which may be nil, still has the holder of the term.
func (t *term) owns(l *Lease) bool {
	if l == nil || l.UID != t.lease.UID {
		return false
	}
	now, then := &l.Spec, &t.lease.Spec
	return same(now.HolderIdentity, then.HolderIdentity) && same(now.LeaseTransitions, then.LeaseTransitions) &&
		now.AcquireTime.Equal(then.AcquireTime)
}

// enter begins a method that must not run twice at once, and returns its end.
func (c *Contender) enter() (leave func()) {
	if !c.busy.CompareAndSwap(false, true) {
		panic("lease: two calls of one Contender at once")
	}
	return func() { c.busy.Store(false) }
}

// contact reports each time whether requests fail and are tried again, or succeed again.
func (c *Contender) contact(err error) {
	if (err != nil) == c.alone {
		return
	}
	c.alone = err != nil
	if err != nil {
		c.log(slog.LevelWarn, "lease: no contact, trying again", "error", err)
	} else {
		c.log(slog.LevelInfo, "lease: contact again")
	}
	if c.opts.OnContact != nil {
		c.opts.OnContact(err)
	}
}

// observe adds a state of the Lease at a time, and reports a new Holding.
func (c *Contender) observe(l *Lease, at time.Time) {
	c.observed.Observe(l, at)
	h := newHolding(l)
	if h.same(c.reported) {
		return
	}
	c.reported = h
	if h.Holder == "" {
		c.log(slog.LevelInfo, "lease: released")
	} else {
		c.log(slog.LevelInfo, "lease: new leader", "holder", h.Holder)
	}
	if c.opts.OnNewLeader != nil {
		c.opts.OnNewLeader(h)
	}
}

func (c *Contender) log(level slog.Level, text string, args ...any) {
	logger := c.opts.Logger
	switch {
	case logger != nil:
	case level < slog.LevelWarn:
		return
	default:
		logger = slog.Default()
	}
	args = append(args, "lease", c.opts.Namespace+"/"+c.opts.Name, "identity", c.opts.Identity)
	logger.Log(context.Background(), level, text, args...)
}

// tolerance is how long after LeaseDuration a leader may be late, as in kube-controller-manager
// (upstream: client-go, leaderelection/healthzadaptor.go).
const tolerance = 20 * time.Second

// Healthy returns an error if the function lead of Run has not returned although the last
// successful renewal began more than LeaseDuration and 20 seconds ago: another may lead. It is a
// check for httpapi.HealthCheck and never blocks.
func (c *Contender) Healthy(context.Context) error {
	t := c.leads.Load()
	if t == nil {
		return nil
	}
	if late := c.clock.Now().Sub(t.began) - c.opts.LeaseDuration; late > tolerance {
		return fmt.Errorf("lease: %q still leads %s after its lease %s/%s has expired",
			c.opts.Identity, late.Round(time.Second), c.opts.Namespace, c.opts.Name)
	}
	return nil
}
