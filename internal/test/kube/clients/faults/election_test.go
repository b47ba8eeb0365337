package faults

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/httpapi/apitest"
	"github.com/kubecoord/kubecoord/internal/test/kube/clients/internal/testapi"
)

// team is several electors that record when each led.
type team struct {
	t      *testing.T
	api    *apitest.API
	events []string // one elector at a time writes, or the test fails under -race
}

// elect starts an elector with a client of the same name.
func (tm *team) elect(name string) {
	tm.t.Helper()
	events := func(event string) {
		tm.events = append(tm.events, name+" "+event)
	}
	lock := testapi.Lock(clientOf(tm.t, tm.api, name).CoordinationV1(), name)
	ctx, cancel := context.WithCancel(tm.t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		testapi.RunElector(ctx, lock, false, func(context.Context) { events("leads") }, func() { events("stops") })
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
		tm := &team{t: t, api: apitest.New(t)}
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
				assert.Equal(t, []string{"a stops"}, tm.wait(testapi.RenewDeadline+testapi.RetryPeriod))
				assert.Equal(t, []string{"b leads"}, tm.wait(testapi.LeaseDuration))
				assert.NotZero(t, f.Hits())
			})
		})
	}
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
		assert.Equal(t, []string{"a stops"}, tm.wait(testapi.RenewDeadline+testapi.RetryPeriod))
		assert.Equal(t, []string{"b leads"}, tm.wait(testapi.LeaseDuration))
	})
}
