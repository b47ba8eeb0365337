package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
	"k8s.io/klog/v2"

	"github.com/kubecoord/kubecoord/httpapi/client"
	"github.com/kubecoord/kubecoord/lease"
)

var electorsFor = flag.Duration("electors.for", 0,
	"how long TestMixedElectorsOutliveServers kills servers; 0 is two kills, and no limit to the time without a leader")

// contendWithout runs a lease.Contender, which needs no Kubernetes library, until the context
// ends.
func contendWithout(ctx context.Context, url, name, identity string, p pace, ts *terms) error {
	c, err := client.New(client.Config{Server: url})
	if err != nil {
		return err
	}
	defer c.Close()
	contender, err := lease.NewContender(client.In(c, lease.Kind()), lease.ContenderOptions{
		Namespace: "default", Name: name, Identity: identity,
		LeaseDuration: p.leaseDuration, RenewDeadline: p.renewDeadline, RetryPeriod: p.retryPeriod,
	})
	if err != nil {
		return err
	}
	for ctx.Err() == nil {
		err := contender.Run(ctx, func(ctx context.Context, _ lease.Holding) {
			t := ts.begin(name, identity)
			<-ctx.Done()
			ts.end(t)
		})
		if ctx.Err() == nil && !errors.Is(err, lease.ErrLost) {
			return fmt.Errorf("%s for %s: %w", identity, name, err)
		}
	}
	return nil
}

// fault is the time in which servers were dead.
type fault struct {
	name   string
	killed time.Time
	since  time.Time // when etcd could elect: after the kill, or with the second server again
	none   time.Time // when the last leader had stopped; zero unless there was no quorum
}

// gap is a time in which a Lease had no leader.
type gap struct{ from, to time.Time }

// gaps returns the times between the terms of each Lease.
func (ts *terms) gaps() (all []gap) {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	until := map[string]time.Time{}
	for _, t := range ts.all { // in the order of their begin
		if last, found := until[t.lease]; found && last.Before(t.from) {
			all = append(all, gap{last, t.from})
		}
		if t.to.After(until[t.lease]) {
			until[t.lease] = t.to
		}
	}
	return all
}

// Electors of client-go and Contenders contend for the same Leases, through a proxy that
// changes their server again and again. Servers are killed and started again: one that only
// follows in etcd, that of etcd's leader, and two at once. In half of the kills of one server
// the programs that lead end too, without a release.
func TestMixedElectorsOutliveServers(t *testing.T) {
	klog.SetSlogLogger(slog.New(slog.DiscardHandler))
	const n = 6
	usual := pace{15 * time.Second, 10 * time.Second, 2 * time.Second}
	// The time in which the others of three members elect a leader: two timeouts of etcd, of a
	// second each.
	const election = 2 * time.Second
	limit := usual.leaseDuration + usual.retryPeriod + election

	servers := startCluster(t)
	url := startProxy(t, servers.addresses())
	ctx, cancel := context.WithCancel(t.Context())
	var electors errgroup.Group
	defer func() {
		cancel()
		assert.NoError(t, electors.Wait())
	}()
	ts := &terms{}
	var deaths sync.Map // by the identity of an elector
	for i := range 4 * n {
		name, kind, run := fmt.Sprint("lease-", i/4), "client-go", contend
		if i%2 == 1 {
			kind, run = "contender", contendWithout
		}
		electors.Go(func() error {
			for life := 0; ctx.Err() == nil; life++ { // a program that starts again has another identity
				identity := fmt.Sprintf("%s-%d-%d", kind, i, life)
				living, die := context.WithCancel(ctx)
				deaths.Store(identity, die)
				err := run(living, url, name, identity, usual, ts)
				die()
				if err != nil {
					return err
				}
			}
			return nil
		})
	}
	leadersDie := func() {
		ts.mu.Lock()
		defer ts.mu.Unlock()
		for _, t := range ts.all {
			if t.to.IsZero() {
				die, _ := deaths.Load(t.elector)
				die.(context.CancelFunc)()
			}
		}
	}
	haveLeaders := func() bool { return ts.leaders() == n }
	waitForLeaders := func() { require.Eventually(t, haveLeaders, time.Minute, 10*time.Millisecond) }
	waitForLeaders()

	var faults []*fault
	kill := func(name string, leadersToo bool, victims ...*clusterMember) {
		f := &fault{name: name, killed: time.Now()}
		faults = append(faults, f)
		if leadersToo {
			f.name += " and all leaders"
			leadersDie()
		}
		for _, m := range victims {
			m.kill()
		}
		f.since = f.killed
		if len(victims) == 2 {
			require.Eventually(t, func() bool { return ts.leaders() == 0 }, time.Minute, time.Millisecond)
			f.none = time.Now()
			time.Sleep(usual.leaseDuration) // everyone would take a Lease now
			f.since = time.Now()
			victims[1].start(t)
			waitForLeaders()
			victims = victims[:1]
		} else {
			time.Sleep(8 * time.Second) // writes under way got an answer, also the one after 7 s
			waitForLeaders()
		}
		victims[0].start(t)
		time.Sleep(4 * time.Second) // some renewals
		waitForLeaders()
	}
	began := time.Now()
	for round := 0; round == 0 || time.Since(began) < *electorsFor; round++ {
		m := servers.leaderFirst(t)
		kill("a server", round%2 == 1, m[1+round%2])
		m = servers.leaderFirst(t)
		kill("the server of etcd's leader", round%2 == 0, m[0])
		if *electorsFor != 0 {
			m = servers.leaderFirst(t)
			kill("two servers", false, m[round%2], m[2])
		}
	}
	cancel()
	require.NoError(t, electors.Wait())
	require.Eventually(t, func() bool { return ts.leaders() == 0 }, 10*time.Second, time.Millisecond)
	assert.Negative(t, ts.overlap(), "two leaders at once for %s", ts.overlap())
	gaps := ts.gaps()
	byClientGo := 0
	for _, term := range ts.all {
		if strings.HasPrefix(term.elector, "client-go") {
			byClientGo++
		}
	}
	t.Logf("%d terms of %d Leases, %d of them of client-go", len(ts.all), n, byClientGo)
	for i, f := range faults {
		end := time.Now()
		if i+1 < len(faults) {
			end = faults[i+1].killed
		}
		var without, again time.Duration
		lost := 0
		for _, g := range gaps {
			if g.from.Before(f.killed) || g.from.After(end) {
				continue
			}
			lost++
			without, again = max(without, g.to.Sub(g.from)), max(again, g.to.Sub(f.since))
		}
		t.Logf("%s killed: %d Leases lost their leader, without one for up to %s, with another up to %s after %s",
			f.name, lost, ms(without), ms(again), ms(f.since.Sub(f.killed)))
		if *electorsFor != 0 {
			assert.LessOrEqual(t, again, limit, "%s killed: another leader", f.name)
		}
		if f.none.IsZero() {
			continue
		}
		t.Logf("without a quorum the last leader stopped after %s", ms(f.none.Sub(f.killed)))
		if *electorsFor != 0 {
			assert.Less(t, f.none.Sub(f.killed), usual.leaseDuration, "the last leader stops before others may lead")
		}
		assert.False(t, slices.ContainsFunc(ts.all, func(t *term) bool { return t.from.After(f.none) && t.from.Before(f.since) }),
			"a leader without a quorum")
	}
}

func ms(d time.Duration) time.Duration { return d.Round(time.Millisecond) }
