package lease

import (
	"context"
	"errors"
	"iter"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/meta"
	"github.com/kubecoord/kubecoord/watch"
)

// remote is a Client that reaches the store by a network with faults.
type remote struct {
	Client

	mu    sync.Mutex // guards all below
	calls int
	down  func() error // nil, or the error of each request
	lost  error        // the error of the next write, which is done all the same
	hang  bool         // each request waits for the end of its context
}

// set sets the behaviour from now on.
func (r *remote) set(down func() error, lost error, hang bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.down, r.lost, r.hang = down, lost, hang
}

func (r *remote) fail(ctx context.Context) error {
	r.mu.Lock()
	r.calls++
	down, hang := r.down, r.hang
	r.mu.Unlock()
	if hang {
		<-ctx.Done()
		return ctx.Err()
	}
	if down != nil {
		return down()
	}
	return nil
}

func (r *remote) isDown() (down func() error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.down
}

func (r *remote) Get(ctx context.Context, namespace, name string) (*Lease, error) {
	if err := r.fail(ctx); err != nil {
		return nil, err
	}
	return r.Client.Get(ctx, namespace, name)
}

func (r *remote) Create(ctx context.Context, l *Lease, opts store.CreateOptions) (*Lease, error) {
	if err := r.fail(ctx); err != nil {
		return nil, err
	}
	l, err := r.Client.Create(ctx, l, opts)
	return r.answer(l, err)
}

func (r *remote) Update(ctx context.Context, l *Lease, opts store.UpdateOptions) (*Lease, error) {
	if err := r.fail(ctx); err != nil {
		return nil, err
	}
	l, err := r.Client.Update(ctx, l, opts)
	return r.answer(l, err)
}

func (r *remote) answer(l *Lease, err error) (*Lease, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if lost := r.lost; lost != nil {
		r.lost = nil
		return nil, lost
	}
	return l, err
}

func (r *remote) Watch(ctx context.Context, opts store.WatchOptions) iter.Seq2[watch.Event[Lease], error] {
	return func(yield func(watch.Event[Lease], error) bool) {
		if down := r.isDown(); down != nil {
			yield(watch.Event[Lease]{}, down())
			return
		}
		r.Client.Watch(ctx, opts)(yield)
	}
}

// cutOff is the error of a network.
type cutOff struct{ error }

func (cutOff) Temporary() bool { return true }

// lasting is an error that says so.
type lasting struct{ error }

func (lasting) Temporary() bool { return false }

var (
	errCutOff      = cutOff{errors.New("cut off")}
	errUnavailable = meta.NewStatusError(http.StatusServiceUnavailable, meta.ReasonServiceUnavailable, nil, "try later")
	errForbidden   = meta.NewStatusError(http.StatusForbidden, meta.ReasonForbidden, nil, "forbidden")
)

func newRemote(t *testing.T) (*remote, *Contender) {
	r := &remote{Client: newLeases(t, store.Options{})}
	return r, exact(t, r, ContenderOptions{Namespace: namespace, Name: name, Identity: "c", ReleaseOnCancel: true})
}

func TestAcquireTriesAgainAfterATemporaryError(t *testing.T) {
	for name, row := range map[string]error{
		"no connection": errCutOff, "unavailable": errUnavailable,
		"failed":            meta.NewStatusError(http.StatusInternalServerError, meta.ReasonInternalError, nil, "failed"),
		"too many requests": meta.NewStatusError(http.StatusTooManyRequests, meta.ReasonTooManyRequests, nil, "slow down"),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r, c := newRemote(t)
				start := time.Now()
				r.set(func() error {
					if time.Since(start) > 9*time.Second {
						return nil
					}
					return row
				}, nil, false)
				require.NoError(t, c.Acquire(t.Context()))
				assert.Equal(t, 10*time.Second, time.Since(start), "each RetryPeriod")
			})
		})
	}
}

func TestAcquireReturnsALastingError(t *testing.T) {
	for name, row := range map[string]error{"forbidden": errForbidden, "other": errors.New("other"), "not temporary": lasting{errors.New("other")}} {
		t.Run(name, func(t *testing.T) {
			r, c := newRemote(t)
			r.set(func() error { return row }, nil, false)
			assert.ErrorIs(t, c.Acquire(t.Context()), row)
			assert.Equal(t, 1, r.calls)
		})
	}
}

func TestAcquireTellsWhyItFailedUntilTheEndOfItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, c := newRemote(t)
		r.set(func() error { return errCutOff }, nil, false)
		ctx, cancel := context.WithTimeout(t.Context(), 59*time.Second)
		defer cancel()
		start := time.Now()
		err := c.Acquire(ctx)
		assert.ErrorIs(t, err, context.DeadlineExceeded)
		assert.ErrorIs(t, err, errCutOff)
		assert.Equal(t, 59*time.Second, time.Since(start))
		assert.Equal(t, 30, r.calls)
	})
}

// A real server answers 404 to a create if there is no such namespace.
func TestAcquireEndsIfTheLeaseCannotExist(t *testing.T) {
	for _, resource := range []string{"namespaces", "leases"} {
		r, c := newRemote(t)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		kind := "leases"
		r.set(func() error {
			defer func() { kind = resource }()
			if r.calls > 2 {
				cancel()
			}
			return meta.NewNotFound(meta.GroupResource{Resource: kind}, map[string]string{"leases": name, "namespaces": namespace}[kind])
		}, nil, false)
		assert.ErrorIs(t, c.Acquire(ctx), store.ErrNotFound, resource)
		assert.Equal(t, 2, r.calls, "a read and a create")
	}
}

// Another server may answer 404 to an update, if the Lease was deleted meanwhile.
func TestTryAcquireReadsAgainAfterAnUpdateThatFoundNothing(t *testing.T) {
	r, c := newRemote(t)
	hold(t, r.Client.(*store.Collection[Lease]), "", time.Second, time.Now())
	r.set(nil, meta.NewNotFound(meta.GroupResource{Resource: "leases"}, name), false)
	assert.True(t, try(t, c))
}

func TestAcquireBlamesNoServerForTheEndOfItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, c := newRemote(t)
		r.set(nil, nil, true)
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		defer cancel()
		err := c.Acquire(ctx)
		assert.ErrorIs(t, err, context.DeadlineExceeded)
		assert.NotErrorIs(t, err, errSlow)
	})
}

// The Contender finds its own name in the Lease, and knows that it has just written it.
func TestAcquireFindsItsWriteWhoseAnswerWasLost(t *testing.T) {
	for name, there := range map[string]bool{"create": false, "update": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r, c := newRemote(t)
				if there {
					hold(t, r.Client.(*store.Collection[Lease]), "", time.Second, time.Now())
				}
				start := time.Now()
				r.set(nil, errCutOff, false)
				require.NoError(t, c.Acquire(t.Context()))
				assert.Equal(t, 2*time.Second, time.Since(start), "a RetryPeriod later")
				time.Sleep(7 * time.Second)
				_, held := c.Held()
				assert.True(t, held)
				time.Sleep(time.Second)
				_, held = c.Held()
				assert.False(t, held, "RenewDeadline counts from the write")
			})
		})
	}
}

func TestAcquireDoesNotTakeTheWriteOfAnother(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, c := newRemote(t)
		leases := r.Client.(*store.Collection[Lease])
		r.set(nil, errCutOff, false)
		start := time.Now()
		done := later(func() error { return c.Acquire(t.Context()) })
		synctest.Wait()
		hold(t, leases, "other", 20*time.Second, time.Now().Add(time.Second))
		require.NoError(t, <-done)
		assert.Equal(t, 22*time.Second, time.Since(start))
	})
}

func TestAServerThatDoesNotAnswerIsAskedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, c := newRemote(t)
		r.set(nil, nil, true)
		start := time.Now()
		done := later(func() error { return c.Acquire(t.Context()) })
		time.Sleep(6 * time.Second)
		r.set(nil, nil, false)
		require.NoError(t, <-done)
		assert.Equal(t, 7*time.Second, time.Since(start), "half of RenewDeadline, and RetryPeriod")
	})
}

func TestLeaderWithoutAServerStopsAtItsDeadline(t *testing.T) {
	for name, cut := range map[string]func(r *remote){
		"cut off": func(r *remote) { r.set(func() error { return errCutOff }, nil, false) },
		"failing": func(r *remote) { r.set(func() error { return errUnavailable }, nil, false) },
		"silent":  func(r *remote) { r.set(nil, nil, true) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r, c := newRemote(t)
				var stopped time.Time
				start := time.Now()
				done := later(func() error {
					return c.Run(t.Context(), func(ctx context.Context, _ Holding) {
						<-ctx.Done()
						stopped = time.Now()
					})
				})
				time.Sleep(5 * time.Second) // the last renewal was a second ago
				cut(r)
				err := <-done
				assert.ErrorIs(t, err, ErrLost)
				assert.Equal(t, 14*time.Second, stopped.Sub(start))
				assert.LessOrEqual(t, time.Since(stopped), 5*time.Second, "the release does not wait longer")
			})
		})
	}
}

func TestLeaderSurvivesAnInterruption(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, c := newRemote(t)
		ctx, cancel := context.WithCancel(t.Context())
		led := time.Duration(0)
		start := time.Now()
		done := later(func() error {
			return c.Run(ctx, func(ctx context.Context, _ Holding) {
				<-ctx.Done()
				led = time.Since(start)
			})
		})
		for range 10 {
			time.Sleep(time.Minute)
			r.set(func() error { return errCutOff }, nil, false)
			time.Sleep(3 * time.Second)
			r.set(nil, errCutOff, false)
		}
		time.Sleep(time.Minute)
		cancel()
		assert.ErrorIs(t, <-done, context.Canceled)
		assert.Equal(t, 11*time.Minute+30*time.Second, led)
		assert.Empty(t, *get(t, r.Client.(*store.Collection[Lease])).Spec.HolderIdentity)
	})
}

// slow is a Client whose updates take a while, whatever becomes of their context.
type slow struct {
	Client
	pause atomic.Int64 // a time.Duration
	down  atomic.Bool  // updates fail
}

func (s *slow) Update(ctx context.Context, l *Lease, opts store.UpdateOptions) (*Lease, error) {
	if s.down.Load() {
		return nil, errCutOff
	}
	time.Sleep(time.Duration(s.pause.Load()))
	return s.Client.Update(context.WithoutCancel(ctx), l, opts)
}

// The work was told to stop at the old deadline, although the renewal succeeded a second later.
func TestRunLosesTheLeaseIfARenewalEndsAfterItsDeadline(t *testing.T) {
	for _, late := range []time.Duration{0, 2 * time.Second} {
		synctest.Test(t, func(t *testing.T) {
			s := &slow{Client: newLeases(t, store.Options{})}
			c := contenderBy(t, s, ContenderOptions{})
			var cause error
			done := later(func() error {
				return c.Run(t.Context(), func(ctx context.Context, _ Holding) {
					<-ctx.Done()
					cause = context.Cause(ctx)
					time.Sleep(late)
				})
			})
			s.down.Store(true)
			time.Sleep(7 * time.Second) // renewals after 2, 4 and 6 seconds fail
			s.down.Store(false)
			s.pause.Store(int64(3 * time.Second)) // the one after 8 seconds ends after 11
			assert.ErrorIs(t, <-done, ErrLost)
			assert.ErrorIs(t, cause, ErrLost)
		})
	}
}

// A leader that stops after its deadline has led for too long, whatever ended its context. The
// renewals after 3, 6 and 9 seconds failed; after 12 seconds it is too late for one.
func TestLeaderThatStopsAfterItsDeadlineHasLost(t *testing.T) {
	for _, led := range []time.Duration{11 * time.Second, 13 * time.Second} {
		synctest.Test(t, func(t *testing.T) {
			s := &slow{Client: newLeases(t, store.Options{})}
			s.down.Store(true)
			c := contenderBy(t, s, ContenderOptions{RetryPeriod: 3 * time.Second})
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			err := c.Run(ctx, func(context.Context, Holding) { time.Sleep(led) })
			assert.ErrorIs(t, err, ErrLost)
			assert.ErrorIs(t, err, errCutOff)
			assert.NotErrorIs(t, err, context.DeadlineExceeded)
		})
	}
}

func TestRenewalThatCannotReadTheLeaseKeepsIt(t *testing.T) {
	r, c := newRemote(t)
	require.True(t, try(t, c))
	calls := 0
	r.set(func() error {
		if calls++; calls == 2 { // the read after the conflict
			return errCutOff
		}
		return nil
	}, store.ErrConflict, false)
	assert.ErrorIs(t, c.Renew(t.Context()), errCutOff)
	_, held := c.Held()
	assert.True(t, held)
}

func TestRequestWithoutAnAnswerMaySucceedLater(t *testing.T) {
	assert.True(t, isTemporary(errors.Join(errSlow, context.Canceled)), "as the end of a manual clock's deadline")
	assert.False(t, isTemporary(context.Canceled))
}
