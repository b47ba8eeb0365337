package main

import (
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecoord/kubecoord/httpapi/apitest"
)

// Each status the controller writes is refused while others keep on changing the
// Pool. It must neither give up nor write what is out of date.
func TestConflictStormPasses(t *testing.T) {
	inSite(t, func(t *testing.T, s *site) {
		s.leader("a")
		s.pool("web", 1)
		s.member("web", 1)
		require.Equal(t, "1/1 True", s.state("web").status)

		const storm = 8
		conflicts := s.api.Fault(apitest.Answer(409).First(storm), apitest.Match{Verb: "update", Resource: "pools", Subresource: "status", Client: "a"})
		for i := range int32(storm) {
			require.NoError(t, s.merge(s.get("web"), fmt.Sprintf(`{"spec":{"minReady":%d}}`, i+2)))
			synctest.Wait()
			s.member("web", int(i)+2)
		}
		s.settle()
		for i := range storm + 1 {
			s.member("web", i+1)
		}
		s.settle()
		assert.Equal(t, storm, conflicts.Hits())
		got, p := s.state("web"), s.get("web")
		assert.Len(t, got.alive, storm+1)
		assert.Equal(t, "9/9 True", got.status)
		assert.Equal(t, p.Generation, got.observed)
	})
}

// The leader is cut off between its two writes: the Endpoints are there, and
// neither does it know, nor does the status tell. Who follows has to finish it.
func TestFailoverInMidReconcile(t *testing.T) {
	inSite(t, func(t *testing.T, s *site) {
		a := s.leader("a")
		b := s.replica("b")
		s.pool("web", 1)
		require.Equal(t, state{status: "0/0 False", observed: 1}, s.state("web"))

		var gone atomic.Bool
		s.api.Fault(apitest.Choose(func(apitest.Request) apitest.Effect {
			if gone.Load() {
				return apitest.Refuse()
			}
			return apitest.Effect{}
		}), apitest.Match{Client: "a"})
		cut := s.api.Fault(apitest.Choose(func(apitest.Request) apitest.Effect {
			gone.Store(true)
			return apitest.CutAfter()
		}).First(1), apitest.Match{Client: "a", Verb: "update", Resource: "endpoints"})
		s.member("web", 1)
		assert.Equal(t, state{alive: []string{"10.0.0.1"}, status: "0/0 False", observed: 1}, s.state("web"), "half of it is done")
		assert.Equal(t, 1, cut.Hits())
		require.False(t, b.leads())

		time.Sleep(longestTurn)
		require.True(t, b.leads())
		assert.ErrorContains(t, a.stop(), "leader election lost")
		s.member("web", 1)
		s.settle()
		assert.Equal(t, state{alive: []string{"10.0.0.1"}, status: "1/1 True", observed: 1}, s.state("web"))
	})
}

// A leader that ends in order is followed as soon as the other looks.
func TestUpgradeHandsOver(t *testing.T) {
	inSite(t, func(t *testing.T, s *site) {
		a := s.leader("a")
		b := s.replica("b")
		s.pool("web", 1)
		synctest.Wait()
		require.NoError(t, a.stop())
		s.settle()
		require.True(t, b.leads())
		s.member("web", 1)
		assert.Equal(t, "1/1 True", s.state("web").status)
	})
}

// While its watches are torn the controller misses changes, and then the server
// has forgotten them: it has to list again, and finds what became of all.
func TestRelistAfterExpiry(t *testing.T) {
	inSite(t, func(t *testing.T, s *site) {
		s.leader("a")
		s.pool("web", 1)
		s.member("web", 1)
		s.member("web", 2)
		require.Equal(t, "2/2 True", s.state("web").status)

		// Its watch of the Leases breaks, and cannot be opened for a while.
		down := s.api.Fault(apitest.Refuse(), apitest.Match{Verb: "watch", Resource: "leases", Client: "a"})
		s.member("web", 3)
		require.NoError(t, s.Delete(t.Context(), &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "web-2"}}))
		assert.Equal(t, "2/2 True", s.state("web").status, "nobody has told it")
		s.api.Store().ExpireHistory()
		s.api.ForgetRequests()
		down.Remove()

		time.Sleep(termOfLease)
		s.member("web", 1)
		s.member("web", 3)
		s.settle()
		assert.NotZero(t, down.Hits())
		assert.Equal(t, state{alive: []string{"10.0.0.1", "10.0.0.3"}, status: "2/2 True", observed: 1}, s.state("web"))
		relists := s.api.Requests().Where(func(r apitest.Request) bool {
			return r.Client == "a" && r.Resource == "leases" && r.Name == "" && (r.Verb == "list" || r.Query.Get("sendInitialEvents") == "true")
		})
		assert.Len(t, relists, 1)
	})
}
