package main

import (
	"context"
	"fmt"
	"log/slog"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	coordination "k8s.io/client-go/kubernetes/typed/coordination/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/klog/v2"
)

// term is a time in which an elector took itself for the leader, by its own clock.
type term struct {
	lease, elector string
	from, to       time.Time
}

// terms collects the terms of all electors.
type terms struct {
	mu  sync.Mutex
	all []*term
}

func (ts *terms) begin(lease, elector string) *term {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	t := &term{lease: lease, elector: elector, from: time.Now()}
	ts.all = append(ts.all, t)
	return t
}

func (ts *terms) end(t *term) {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	t.to = time.Now()
}

// leaders returns how many Leases have a leader now.
func (ts *terms) leaders() (n int) {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	for _, t := range ts.all {
		if t.to.IsZero() {
			n++
		}
	}
	return n
}

// overlap returns the longest time in which a Lease had two leaders, or less than 0.
func (ts *terms) overlap() time.Duration {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	longest := time.Duration(-1)
	for _, a := range ts.all {
		for _, b := range ts.all {
			if a.lease == b.lease && a.elector != b.elector && !b.from.Before(a.from) {
				longest = max(longest, a.to.Sub(b.from))
			}
		}
	}
	return longest
}

// pace is how fast electors are: the options of these names.
type pace struct{ leaseDuration, renewDeadline, retryPeriod time.Duration }

// contend runs an elector of client-go until the context ends.
func contend(ctx context.Context, url, name, identity string, p pace, ts *terms) error {
	leases, err := coordination.NewForConfig(&rest.Config{Host: url, QPS: -1, Timeout: p.renewDeadline / 2})
	if err != nil {
		return err
	}
	for ctx.Err() == nil {
		elector, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
			Lock: &resourcelock.LeaseLock{
				LeaseMeta: metav1.ObjectMeta{Namespace: "default", Name: name}, Client: leases,
				LockConfig: resourcelock.ResourceLockConfig{Identity: identity},
			},
			LeaseDuration: p.leaseDuration, RenewDeadline: p.renewDeadline, RetryPeriod: p.retryPeriod,
			Callbacks: leaderelection.LeaderCallbacks{
				OnStartedLeading: func(ctx context.Context) {
					t := ts.begin(name, identity)
					<-ctx.Done()
					ts.end(t)
				},
				OnStoppedLeading: func() {},
			},
		})
		if err != nil {
			return err
		}
		elector.Run(ctx)
	}
	return nil
}

// Electors with Leases of 3 seconds go on while their server is killed and started again,
// with a pause in between of up to 4 seconds. In memory the new server would not know the
// Leases, and elect others at once.
func TestNeverTwoLeadersAcrossAKill(t *testing.T) {
	klog.SetSlogLogger(slog.New(slog.DiscardHandler))
	const tries, leasesPerTry = 6, 5
	var running errgroup.Group
	running.SetLimit(3)
	for try := range tries {
		running.Go(func() error {
			t.Run(fmt.Sprint(try), func(t *testing.T) { killUnderElectors(t, leasesPerTry, time.Duration(try)*800*time.Millisecond) })
			return nil
		})
	}
	require.NoError(t, running.Wait())
}

func killUnderElectors(t *testing.T, n int, pause time.Duration) {
	args := []string{"-listen", freeAddress(t), "-data-dir", filepath.Join(t.TempDir(), "data")}
	p := startServer(t, args...)
	ctx, cancel := context.WithCancel(t.Context())
	var electors errgroup.Group
	defer func() {
		cancel()
		assert.NoError(t, electors.Wait())
	}()
	ts := &terms{}
	// An elector of client-go leads up to RenewDeadline + RetryPeriod after a renewal. Others may not have seen that renewal, because
	// they compare whole seconds. So 2 seconds in the middle would leave no margin to 3.
	fast := pace{3 * time.Second, 1500 * time.Millisecond, 500 * time.Millisecond}
	for i := range n {
		for _, identity := range []string{"one", "two"} {
			electors.Go(func() error { return contend(ctx, p.url, fmt.Sprint("lease-", i), identity, fast, ts) })
		}
	}
	haveLeaders := func() bool { return ts.leaders() == n }
	require.Eventually(t, haveLeaders, time.Minute, 10*time.Millisecond)
	time.Sleep(time.Second + pause/8) // some renewals; the kill comes at any time between two
	p.kill()
	time.Sleep(pause)
	startServer(t, args...)
	time.Sleep(4500 * time.Millisecond) // an elector that would take over has done so
	require.Eventually(t, haveLeaders, time.Minute, 10*time.Millisecond)
	cancel()
	require.NoError(t, electors.Wait())
	require.Eventually(t, func() bool { return ts.leaders() == 0 }, time.Minute, time.Millisecond)
	assert.Negative(t, ts.overlap(), "%s", ts.overlap())
	t.Logf("pause %s: %d terms of %d Leases", pause, len(ts.all), n)
}
