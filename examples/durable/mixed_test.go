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

const (
	clientGo = "client-go" // begins the identities of its electors
	// leftToClientGo begins the names of the Leases whose Contenders all die with a leader. A
	// Contender takes a Lease when it expires, and an elector of client-go later, so that it
	// would never lead.
	leftToClientGo = "left-to-client-go"
)

// program is one life of a program that contends. The next one has another identity.
type program struct {
	lease     string
	contender bool
	identity  string
	die       context.CancelFunc
}

// fault is the time in which servers were dead.
type fault struct {
	name       string
	leadersToo bool // the programs that led died with the servers
	killed     time.Time
	since      time.Time // when etcd could elect: at the kill, or with the second server again
	none       time.Time // when the last leader had stopped; zero unless there was no quorum
}

// gap is a time in which a Lease had no leader.
type gap struct {
	from, to time.Time
	lease    string
}

// leads reports whether an elector is a leader now.
func (ts *terms) leads(elector string) bool {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	return slices.ContainsFunc(ts.all, func(t *term) bool { return t.elector == elector && t.to.IsZero() })
}

// gaps returns the times between the terms of each Lease.
func (ts *terms) gaps() (all []gap) {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	until := map[string]time.Time{}
	for _, t := range ts.all { // in the order of their begin
		if last, found := until[t.lease]; found && last.Before(t.from) {
			all = append(all, gap{last, t.from, t.lease})
		}
		if t.to.After(until[t.lease]) {
			until[t.lease] = t.to
		}
	}
	return all
}

// Electors of client-go and Contenders contend for the same Leases, through a proxy that
// changes their server again and again. Servers are killed and started again: one that only
// follows in etcd, the server of etcd's leader, and two at once. In half of the kills of one server
// the programs that lead die too, without a release.
func TestMixedElectorsOutliveServers(t *testing.T) {
	t.Parallel()
	klog.SetSlogLogger(slog.New(slog.DiscardHandler))
	const n = 6
	usual := pace{15 * time.Second, 10 * time.Second, 2 * time.Second}
	// The time in which the others of three members elect a leader: two timeouts of etcd, of a
	// second each.
	const election = 2 * time.Second
	limit := usual.leaseDuration + usual.retryPeriod + election
	// Electors of client-go see a renewal up to an interval late, and look up to an interval after
	// the end of the Lease. Their intervals are random: up to 2.2 times RetryPeriod.
	limitOfClientGo := usual.leaseDuration + 2*22*usual.retryPeriod/10 + election

	servers := startCluster(t)
	url := startProxy(t, servers.addresses())
	ctx, cancel := context.WithCancel(t.Context())
	var electors errgroup.Group
	defer func() {
		cancel()
		assert.NoError(t, electors.Wait())
	}()
	ts := &terms{}
	var programs sync.Map // the last life of each
	for i := range 4 * n {
		p := program{lease: fmt.Sprintf("%s-%d", []string{"mixed", leftToClientGo}[i/4%2], i/4), contender: i%2 == 1}
		electors.Go(func() error {
			kind, run := clientGo, contend
			if p.contender {
				kind, run = "contender", contendWithout
			}
			for life := 0; ctx.Err() == nil; life++ {
				living, die := context.WithCancel(ctx)
				p.identity, p.die = fmt.Sprintf("%s-%d-%d", kind, i, life), die
				programs.Store(i, p)
				err := run(living, url, p.lease, p.identity, usual, ts)
				die()
				if err != nil {
					return err
				}
				select { // it takes a while to start again
				case <-ctx.Done():
				case <-time.After(5 * time.Second):
				}
			}
			return nil
		})
	}
	leadersDie := func() {
		programs.Range(func(_, value any) bool {
			if p := value.(program); ts.leads(p.identity) || p.contender && strings.HasPrefix(p.lease, leftToClientGo) {
				p.die()
			}
			return true
		})
	}
	haveLeaders := func() bool { return ts.leaders() == n }
	waitForLeaders := func() { require.Eventually(t, haveLeaders, time.Minute, 10*time.Millisecond) }
	waitForLeaders()

	var faults []*fault
	kill := func(name string, leadersToo bool, victims ...*clusterMember) {
		f := &fault{name: name, leadersToo: leadersToo, killed: time.Now()}
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
		if strings.HasPrefix(term.elector, clientGo) {
			byClientGo++
		}
	}
	t.Logf("%d terms of %d Leases, %d of them of client-go", len(ts.all), n, byClientGo)
	for i, f := range faults {
		end := time.Now()
		if i+1 < len(faults) {
			end = faults[i+1].killed
		}
		lost := 0
		var without, again, againByClientGo time.Duration
		for _, g := range gaps {
			if g.from.Before(f.killed) || g.from.After(end) {
				continue
			}
			lost++
			without = max(without, g.to.Sub(g.from))
			if f.leadersToo && strings.HasPrefix(g.lease, leftToClientGo) {
				againByClientGo = max(againByClientGo, g.to.Sub(f.since))
			} else {
				again = max(again, g.to.Sub(f.since))
			}
		}
		t.Logf("%s killed: %d Leases lost their leader, for up to %s; etcd could elect %s after the kill, and another led within %s of that, without Contenders within %s",
			f.name, lost, ms(without), ms(f.since.Sub(f.killed)), ms(again), ms(againByClientGo))
		if *electorsFor != 0 {
			assert.LessOrEqual(t, again, limit, "%s killed: another leads", f.name)
			assert.LessOrEqual(t, againByClientGo, limitOfClientGo, "%s killed: another leads without Contenders", f.name)
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
