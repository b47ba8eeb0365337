package main

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecoord/kubecoord/httpapi/apitest"
)

func TestPoolFollowsItsMembers(t *testing.T) {
	inSite(t, func(t *testing.T, s *site) {
		s.leader("a")
		s.pool("web", 2)
		assert.Equal(t, state{status: "0/0 False", observed: 1}, s.state("web"))
		s.member("web", 1)
		assert.Equal(t, state{alive: []string{"10.0.0.1"}, status: "1/1 False", observed: 1}, s.state("web"))
		s.member("web", 2)
		s.member("other", 3)
		assert.Equal(t, state{alive: []string{"10.0.0.1", "10.0.0.2"}, status: "2/2 True", observed: 1}, s.state("web"))

		time.Sleep(termOfLease - time.Second)
		s.member("web", 2)
		time.Sleep(time.Second)
		assert.Equal(t, state{alive: []string{"10.0.0.2"}, dead: []string{"10.0.0.1"}, status: "1/2 False", observed: 1}, s.state("web"),
			"the member that did not renew is dead to the second")
		s.member("web", 1)
		assert.Equal(t, state{alive: []string{"10.0.0.1", "10.0.0.2"}, status: "2/2 True", observed: 1}, s.state("web"))

		require.NoError(t, s.merge(s.get("web"), `{"spec":{"minReady":3}}`))
		assert.Equal(t, state{alive: []string{"10.0.0.1", "10.0.0.2"}, status: "2/2 False", observed: 2}, s.state("web"))
	})
}

func TestReconcilerRepairsWhatItOwns(t *testing.T) {
	inSite(t, func(t *testing.T, s *site) {
		s.leader("a")
		s.pool("web", 1)
		s.member("web", 1)
		want := s.state("web")
		require.Equal(t, []string{"10.0.0.1"}, want.alive)
		endpoints := &corev1.Endpoints{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "web"}}
		require.NoError(t, s.Delete(t.Context(), endpoints))
		assert.Equal(t, want, s.state("web"))
	})
}

// A status that says what is there already would wake the controller for ever.
func TestControllerThatIsUpToDateWritesNothing(t *testing.T) {
	inSite(t, func(t *testing.T, s *site) {
		s.leader("a")
		s.pool("web", 1)
		for range 20 {
			s.member("web", 1)
			s.settle()
		}
		s.api.ForgetRequests()
		for range 20 {
			s.member("web", 1)
			s.settle()
		}
		writes := s.api.Requests().Where(func(r apitest.Request) bool {
			return r.Client == "a" && r.Verb != "get" && r.Verb != "list" && r.Verb != "watch" && r.Name != lock
		})
		writes.Assert(t)
	})
}

func TestWhoDoesNotLeadDoesNothing(t *testing.T) {
	inSite(t, func(t *testing.T, s *site) {
		s.leader("a")
		b := s.replica("b")
		s.pool("web", 1)
		s.member("web", 1)
		require.NotEmpty(t, s.state("web").alive)
		s.settle()
		assert.False(t, b.leads())
		s.api.Requests().Where(func(r apitest.Request) bool {
			return r.Client == "b" && r.Verb != "get" && r.Verb != "list" && r.Verb != "watch"
		}).Assert(t)
	})
}

func TestPoolThatIsDeletedIsLeftAlone(t *testing.T) {
	inSite(t, func(t *testing.T, s *site) {
		s.leader("a")
		p := s.pool("web", 1)
		require.NoError(t, s.merge(p, `{"metadata":{"finalizers":["pools.kubecoord.example/held"]}}`))
		s.settle()
		require.NoError(t, s.Delete(t.Context(), p))
		before := s.get("web")
		s.member("web", 1)
		s.settle()
		assert.Equal(t, before, s.get("web"))
		require.NoError(t, s.merge(before, `{"metadata":{"finalizers":null}}`))
	})
}
