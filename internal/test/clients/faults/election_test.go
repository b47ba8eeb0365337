package faults

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"

	"github.com/kubecoord/kubecoord/httpapi/apitest"
	"github.com/kubecoord/kubecoord/internal/test/clients/internal/testapi"
)

// The timing of the electors here is the default of Kubernetes.
const (
	leaseDuration = 15 * time.Second
	renewDeadline = 10 * time.Second
	retryPeriod   = 2 * time.Second
)

// team is several electors that record when each led.
type team struct {
	t      *testing.T
	api    *apitest.API
	start  time.Time
	events []string // one elector at a time writes, or the test fails under -race
}

// elect starts an elector with a client of the same name.
func (tm *team) elect(name string) {
	tm.t.Helper()
	events := func(event string) {
		tm.events = append(tm.events, name+" "+event)
	}
	le, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
		Lock: &resourcelock.LeaseLock{
			LeaseMeta:  metav1.ObjectMeta{Namespace: testapi.Namespace, Name: "leader"},
			Client:     clientOf(tm.t, tm.api.Host(), tm.api.TransportFor(name)).CoordinationV1(),
			LockConfig: resourcelock.ResourceLockConfig{Identity: name},
		},
		LeaseDuration: leaseDuration, RenewDeadline: renewDeadline, RetryPeriod: retryPeriod,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(context.Context) { events("leads") },
			OnStoppedLeading: func() { events("stops") },
		},
	})
	require.NoError(tm.t, err)
	ctx, cancel := context.WithCancel(tm.t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		le.Run(ctx)
	}()
	tm.t.Cleanup(func() {
		cancel()
		<-done
	})
	synctest.Wait()
}

// wait lets time pass and returns the events since the last call.
func (tm *team) wait(d time.Duration) []string {
	time.Sleep(d)
	synctest.Wait()
	out := tm.events
	tm.events = nil
	return out
}

// inTeam runs a test with a leader, a, and a follower, b.
func inTeam(t *testing.T, test func(tm *team)) {
	synctest.Test(t, func(t *testing.T) {
		tm := &team{t: t, api: apitest.New(t), start: time.Now()}
		tm.elect("a")
		tm.elect("b")
		require.Equal(t, []string{"a leads"}, tm.wait(time.Minute))
		test(tm)
	})
}

func TestPartitionedLeaderStopsBeforeAnotherLeads(t *testing.T) {
	for _, kind := range []apitest.Effect{apitest.Partition(), apitest.Refuse()} {
		t.Run(kind.String(), func(t *testing.T) {
			inTeam(t, func(tm *team) {
				f := tm.api.Fault(kind, apitest.Match{Client: "a"})
				assert.Equal(t, []string{"a stops"}, tm.wait(renewDeadline+retryPeriod))
				assert.Equal(t, []string{"b leads"}, tm.wait(leaseDuration))
				assert.NotZero(t, f.Hits())
			})
		})
	}
}

func TestPartitionOfAFollowerChangesNothing(t *testing.T) {
	inTeam(t, func(tm *team) {
		tm.api.Fault(apitest.Partition(), apitest.Match{Client: "b"})
		assert.Empty(t, tm.wait(10*time.Minute))
	})
}

func TestLeaderSurvivesAShortPartition(t *testing.T) {
	inTeam(t, func(tm *team) {
		f := tm.api.Fault(apitest.Refuse(), apitest.Match{Client: "a"})
		assert.Empty(t, tm.wait(renewDeadline-2*retryPeriod))
		f.Remove()
		assert.Empty(t, tm.wait(10*time.Minute))
		assert.NotZero(t, f.Hits())
	})
}

func TestLeaderSurvivesLostAnswersToRenewals(t *testing.T) {
	inTeam(t, func(tm *team) {
		var renewals atomic.Int64
		f := tm.api.Fault(apitest.Choose(func(apitest.Request) apitest.Effect {
			if renewals.Add(1)%2 == 0 {
				return apitest.CutAfter()
			}
			return apitest.Effect{}
		}), apitest.Match{Verb: "update", Client: "a"})
		assert.Empty(t, tm.wait(10*time.Minute))
		assert.Greater(t, f.Hits(), 100, "half of all renewals")
	})
}

func TestLeaderStopsWhenItsRenewalsHang(t *testing.T) {
	inTeam(t, func(tm *team) {
		tm.api.Fault(apitest.Hang(), apitest.Match{Verb: "update", Client: "a"})
		assert.Equal(t, []string{"a stops"}, tm.wait(renewDeadline+retryPeriod))
		assert.Equal(t, []string{"b leads"}, tm.wait(leaseDuration))
	})
}

func TestLeaderSurvivesAShortConflictStorm(t *testing.T) {
	inTeam(t, func(tm *team) {
		f := tm.api.Fault(apitest.Answer(409).First(4), apitest.Match{Verb: "update", Resource: "leases", Client: "a"})
		assert.Empty(t, tm.wait(10*time.Minute))
		assert.Equal(t, 4, f.Hits())
	})
}
