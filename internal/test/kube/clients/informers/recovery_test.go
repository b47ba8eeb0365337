package informers

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"

	"github.com/kubecoord/kubecoord/internal/test/kube/clients/internal/testapi"
	"github.com/kubecoord/kubecoord/store"
)

// offline calls a function while informers cannot reach the server.
func (f *fixture) offline(t *testing.T, do func(direct kubernetes.Interface)) {
	t.Helper()
	time.Sleep(10 * time.Second) // reflectors treat a watch that ends within a second as failed
	f.Link.Cut()
	synctest.Wait()
	bypass := f.Bypass()
	do(bypass.Client(t))
	f.Link.Mend()
	time.Sleep(testapi.LongestBackoff)
}

func TestInformerResumesAfterALostConnection(t *testing.T) {
	eachProtocol(t, store.Options{}, func(t *testing.T, f *fixture) {
		a := f.createLease(t, "a")
		f.createLease(t, "b")
		factory, rec := f.start(t)
		rec.Take()
		f.Link.Requests()
		f.offline(t, func(direct kubernetes.Interface) {
			g := &fixture{API: f.API, cs: direct}
			g.renewLease(t, g.renewLease(t, a))
			g.deleteLease(t, "b")
			g.createLease(t, "c")
		})
		f.assertFresh(t, factory)
		assert.Equal(t, []string{"updated a", "updated a", "deleted b", "added c"}, rec.Take(), "the informer gets each change")
		starts, _ := f.leaseRequests()
		require.Len(t, starts, 1, "only the list of assertFresh: %v", starts)
	})
}

func TestInformerListsAgainWhenItsVersionHasExpired(t *testing.T) {
	eachProtocol(t, store.Options{History: 8}, func(t *testing.T, f *fixture) {
		a := f.createLease(t, "a")
		f.createLease(t, "b")
		factory, rec := f.start(t)
		rec.Take()
		f.Link.Requests()
		f.offline(t, func(direct kubernetes.Interface) {
			g := &fixture{API: f.API, cs: direct}
			g.deleteLease(t, "b")
			g.createLease(t, "c")
			for range 20 {
				a = g.renewLease(t, a)
			}
		})
		starts, resumes := f.leaseRequests()
		assert.NotEmpty(t, resumes, "it tried to resume")
		assert.Len(t, starts, 1, "then it listed again")
		f.assertFresh(t, factory)
		assert.ElementsMatch(t, []string{"updated a", "missed the deletion of b", "added c"}, rec.Take())
	})
}

func TestBookmarksKeepAnIdleInformerFresh(t *testing.T) {
	eachProtocol(t, store.Options{History: 16}, func(t *testing.T, f *fixture) {
		a := f.createLease(t, "a")
		factory, rec := f.start(t)
		rec.Take()
		f.Link.Requests()
		c := f.cs.CoreV1().Endpoints(testapi.Namespace)
		for i := range 6 * 60 {
			e := testapi.Endpoints("busy")
			e.Subsets[0].Ports[0].Port = int32(i + 1)
			_, err := c.Update(t.Context(), e, metav1.UpdateOptions{})
			require.NoError(t, err)
			time.Sleep(time.Minute)
		}
		starts, resumes := f.leaseRequests()
		assert.Empty(t, starts, "six hours without a change need no second list")
		assert.Greater(t, len(resumes), 30, "watches end and are resumed")
		assert.Empty(t, rec.Take())
		f.renewLease(t, a)
		f.assertFresh(t, factory)
		assert.Equal(t, []string{"updated a"}, rec.Take())
	})
}

// A server that restarts empty must not use versions that it used
// before: see store.Options.FirstResourceVersion.
func TestInformerRecoversFromARestartOfTheServer(t *testing.T) {
	eachProtocol(t, store.Options{}, func(t *testing.T, f *fixture) {
		f.createLease(t, "a")
		factory, rec := f.start(t)
		rec.Take()
		f.Link.Cut()
		second := testapi.New(t, store.Options{FirstResourceVersion: 2000})
		g := &fixture{API: second, cs: second.Client(t)}
		g.createLease(t, "b")
		f.Link.Redirect(second)
		time.Sleep(testapi.LongestBackoff)
		assert.ElementsMatch(t, []string{"missed the deletion of a", "added b"}, rec.Take())
		g.assertFresh(t, factory)
		g.createLease(t, "c")
		g.assertFresh(t, factory)
	})
}

func TestAllInformersAgreeAfterManyWritesAndCuts(t *testing.T) {
	const watchers, writers, each = 8, 4, 100
	eachProtocol(t, store.Options{History: 64}, func(t *testing.T, f *fixture) {
		var factories []informers.SharedInformerFactory
		for range watchers {
			factory, _ := f.start(t)
			factories = append(factories, factory)
		}
		direct := f.Bypass().Client(t).CoordinationV1().Leases(testapi.Namespace)
		var all sync.WaitGroup
		for w := range writers {
			all.Go(func() {
				for i := range each {
					name := fmt.Sprintf("w%d-%d", w, rand.IntN(10))
					l := testapi.Lease(name)
					if old, err := direct.Get(t.Context(), name, metav1.GetOptions{}); err == nil {
						l = old
					}
					var err error
					if l.ResourceVersion != "" && i%4 == 0 {
						err = direct.Delete(t.Context(), name, metav1.DeleteOptions{})
					} else {
						*l.Spec.LeaseTransitions++
						_, err = direct.Update(t.Context(), l, metav1.UpdateOptions{})
					}
					assert.NoError(t, err)
					time.Sleep(rand.N(2 * time.Second))
				}
			})
		}
		for range 5 {
			time.Sleep(10 * time.Second)
			f.Link.Cut()
			time.Sleep(rand.N(40 * time.Second))
			f.Link.Mend()
		}
		all.Wait()
		time.Sleep(testapi.LongestBackoff)
		for _, factory := range factories {
			f.assertFresh(t, factory)
		}
	})
}
