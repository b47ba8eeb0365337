package controllerruntime

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/httpapi/kube/scheme"
	"github.com/kubecoord/kubecoord/internal/test/kube/clients/internal/testapi"
	"github.com/kubecoord/kubecoord/store"
)

// podAPI returns an API with Kubernetes' own kinds.
func podAPI(t testing.TB) *httpapi.API {
	kinds, err := scheme.Kinds(clientgoscheme.Scheme, scheme.Options{})
	require.NoError(t, err)
	st := store.New(store.Options{})
	t.Cleanup(st.Close)
	api := httpapi.New(st, httpapi.Options{Kinds: kinds})
	t.Cleanup(api.Close)
	return api
}

// watchedPods is a manager that reconciles Pods, and reads them from its cache.
type watchedPods struct {
	client.Client
	terminating atomic.Int64     // reconciles that found a Pod with a deletionTimestamp
	reconciled  chan observation // of a Pod that lives, or is gone
}

type observation struct {
	name string
	gone bool
}

func watchPods(t testing.TB, config *rest.Config) *watchedPods {
	mgr, err := manager.New(config, quiet(manager.Options{}))
	require.NoError(t, err)
	direct, err := client.New(config, client.Options{})
	require.NoError(t, err)
	p := &watchedPods{Client: direct, reconciled: make(chan observation, 1)}
	require.NoError(t, builder.ControllerManagedBy(mgr).Named("pods").For(&corev1.Pod{}).
		Complete(reconcile.Func(func(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
			pod := &corev1.Pod{}
			err := mgr.GetClient().Get(ctx, req.NamespacedName, pod)
			if err == nil && pod.DeletionTimestamp != nil {
				p.terminating.Add(1)
				return reconcile.Result{}, nil
			}
			select {
			case p.reconciled <- observation{req.Name, err != nil}:
			case <-ctx.Done():
			}
			return reconcile.Result{}, client.IgnoreNotFound(err)
		})))
	run(t, mgr)
	return p
}

// createAndDelete makes a Pod that no node runs, and waits until the manager has seen its end.
func (p *watchedPods) createAndDelete(t testing.TB, name string) {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: testapi.Namespace, Name: name}}
	pod.Spec.Containers = []corev1.Container{{Name: "a", Image: "b"}}
	require.NoError(t, p.Create(t.Context(), pod))
	p.until(observation{name, false})
	require.NoError(t, p.Delete(t.Context(), pod))
	p.until(observation{name, true})
}

func (p *watchedPods) until(want observation) {
	for <-p.reconciled != want {
	}
}

// The deletion of a Pod without a node makes two events. A controller finds the state of the first one in its cache.
func TestAReconcilerSeesEachTerminatingPod(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := watchPods(t, &rest.Config{Host: "http://kubecoord", Transport: podAPI(t).Transport(), QPS: -1})
		for i := range 100 {
			p.createAndDelete(t, fmt.Sprint("pod-", i))
		}
		assert.EqualValues(t, 100, p.terminating.Load())
	})
}
