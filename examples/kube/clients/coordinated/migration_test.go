package main

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/lease"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/watch"
)

const replicas = 3

// A component of three replicas is rolled from plain to coordinated election, one
// replica after another, and back to plain. The plain leader of before leads on
// until its replica is replaced, although the Coordinator asks it to make way.
func TestMigrationToCoordinatedElectionAndBack(t *testing.T) {
	for name, row := range map[string]struct {
		releases   bool
		leaderLast bool
		withdraws  bool // candidates are deleted with their processes
	}{
		"in order":                 {releases: true, leaderLast: true, withdraws: true},
		"the leader first":         {releases: true, withdraws: true},
		"Leases run out":           {leaderLast: true, withdraws: true},
		"candidates are left over": {releases: true, leaderLast: true},
		"replicas crash":           {},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				x, err := newSite(classic)
				require.NoError(t, err)
				defer x.close()
				m := &migration{t: t, site: x, releases: row.releases, withdraws: row.withdraws}
				defer inBackground(func(ctx context.Context) {
					for ev, err := range lease.In(x.st).Follow(ctx, store.WatchOptions{}) {
						if err == nil && ev.Type == watch.Modified {
							m.writes.Add(1)
						}
					}
				})()
				for i := range replicas {
					require.NoError(t, x.run(fmt.Sprintf("plain-%d", i), "1.36.0", processOptions{releases: row.releases, plain: true}))
				}
				time.Sleep(time.Minute)
				m.roll("plain", "coordinated", row.leaderLast)
				assert.Equal(t, lease.OldestEmulationVersion, *m.lease().Spec.Strategy)
				m.quiet()
				m.roll("coordinated", "plain-again", row.leaderLast)
				assert.Nil(t, m.lease().Spec.Strategy, "client-go removes it")
				m.quiet()
				assert.NoError(t, x.referee.verdict())
			})
		})
	}
}

// migration is a site whose replicas change.
type migration struct {
	t *testing.T
	*site
	releases, withdraws bool
	writes              atomic.Int64 // of the Lease
}

// roll replaces replicas, one a minute. When the leader goes last, there is an hour
// before that in which it leads beside candidates for its Lease.
func (m *migration) roll(from, to string, leaderLast bool) {
	first := m.referee.leader()
	require.True(m.t, strings.HasPrefix(first, from), "%q leads", first)
	old := []string{first}
	for i := range replicas {
		name := fmt.Sprintf("%s-%d", from, i)
		switch {
		case name == first:
		case leaderLast:
			old = append([]string{name}, old...)
		default:
			old = append(old, name)
		}
	}
	for i, name := range old {
		if name == first && leaderLast {
			require.Equal(m.t, first, m.referee.leader())
			if to == "coordinated" {
				m.quiet()
			}
		}
		m.end(name)
		require.NoError(m.t, m.run(fmt.Sprintf("%s-%d", to, i), "1.37.0", processOptions{releases: m.releases, plain: to != "coordinated"}))
		time.Sleep(time.Minute)
		require.NotEmpty(m.t, m.referee.leader())
	}
	require.True(m.t, strings.HasPrefix(m.referee.leader(), to), "%q leads", m.referee.leader())
}

func (m *migration) end(name string) {
	p := m.running[name]
	delete(m.running, name)
	if m.withdraws {
		require.NoError(m.t, p.drain(m.t.Context()))
	} else {
		p.kill()
	}
}

// quiet lets an hour pass. The leader stays, and beside its renewals there is no more
// than a write of the Lease now and then.
func (m *migration) quiet() {
	leader, before := m.referee.leader(), m.writes.Load()
	time.Sleep(time.Hour)
	assert.Equal(m.t, leader, m.referee.leader())
	assert.LessOrEqual(m.t, m.writes.Load()-before, int64(time.Hour/m.retryPeriod)+12)
}

func (m *migration) lease() *lease.Lease {
	l, err := lease.In(m.st).Get(context.Background(), leaseNamespace, leaseName)
	require.NoError(m.t, err)
	return l
}
