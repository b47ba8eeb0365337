package main

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/httpapi/apitest"
	"github.com/kubecoord/kubecoord/store/fixture"
	"github.com/kubecoord/kubecoord/store/kind"
)

const (
	namespace = "default"

	// termOfLease is how long a member, or a leader, is alive without renewing.
	termOfLease = 15 * time.Second
	// longestTurn is more than it takes a replica to find the lock free.
	longestTurn = termOfLease + 5*time.Second
)

// site is an API server with Pools, and a client that no fault is meant for.
type site struct {
	client.Client
	t   *testing.T
	api *apitest.API
}

// inSite runs a test inside a bubble.
func inSite(t *testing.T, test func(t *testing.T, s *site), fixtures ...fixture.Source) {
	synctest.Test(t, func(t *testing.T) {
		api := apitest.New(t, apitest.Options{
			API:      httpapi.Options{Kinds: []kind.Kind{poolKind()}},
			Fixtures: fixtures,
			Verify:   true,
		})
		scheme := runtime.NewScheme()
		require.NoError(t, clientgoscheme.AddToScheme(scheme))
		require.NoError(t, addToScheme(scheme))
		c, err := client.New(config(api, "test"), client.Options{Scheme: scheme})
		require.NoError(t, err)
		test(t, &site{Client: c, t: t, api: api})
	})
}

// config leads a client, known by a name, to a server.
func config(api *apitest.API, name string) *rest.Config {
	return &rest.Config{Host: api.Host(), Transport: api.TransportFor(name), QPS: -1, WarningHandler: rest.NoWarnings{}}
}

// replica is one of the processes that the controller runs as.
type replica struct {
	manager.Manager
	stop func() error // waits for the end
}

// replica starts a process; its client is known by its name.
func (s *site) replica(name string) *replica {
	s.t.Helper()
	opts := manager.Options{}
	opts.Metrics.BindAddress = "0"
	opts.Controller.SkipNameValidation = new(true) // names are remembered for the whole process
	mgr, err := newManager(config(s.api, name), namespace, opts)
	require.NoError(s.t, err)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		err = mgr.Start(ctx)
	}()
	r := &replica{Manager: mgr, stop: func() error {
		cancel()
		<-ended
		return err
	}}
	s.t.Cleanup(func() { r.stop() })
	return r
}

// leads tells whether a replica was elected, once everybody has come to rest.
func (r *replica) leads() bool {
	synctest.Wait()
	select {
	case <-r.Elected():
		return true
	default:
		return false
	}
}

// leader starts a replica that leads.
func (s *site) leader(name string) *replica {
	s.t.Helper()
	r := s.replica(name)
	s.settle()
	require.True(s.t, r.leads())
	return r
}

// settle gives replicas the time for all that they put off for some moments.
func (s *site) settle() {
	time.Sleep(5 * time.Second)
	synctest.Wait()
}

// pool stores a Pool of the members with the label app.
func (s *site) pool(name string, minReady int32) *Pool {
	s.t.Helper()
	p := &Pool{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec:       PoolSpec{Members: map[string]string{"app": name}, Port: 8080, MinReady: minReady},
	}
	require.NoError(s.t, s.Create(s.t.Context(), p))
	return p
}

// member renews the Lease of a member, and stores it first where there is none.
// Its address follows from its number.
func (s *site) member(pool string, number int) {
	s.t.Helper()
	l := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{
		Namespace: namespace, Name: fmt.Sprintf("%s-%d", pool, number),
		Labels: map[string]string{"app": pool}, Annotations: map[string]string{addressAnnotation: fmt.Sprintf("10.0.0.%d", number)},
	}}
	l.Spec.HolderIdentity, l.Spec.RenewTime = &l.Name, new(metav1.NowMicro())
	l.Spec.LeaseDurationSeconds = new(int32(termOfLease.Seconds()))
	err := s.Create(s.t.Context(), l.DeepCopy())
	if client.IgnoreAlreadyExists(err) == nil && err != nil {
		err = s.merge(l, fmt.Sprintf(`{"spec":{"renewTime":%q}}`, l.Spec.RenewTime.UTC().Format(metav1.RFC3339Micro)))
	}
	require.NoError(s.t, err)
}

// merge changes a stored object by a merge patch, whoever else does.
func (s *site) merge(o client.Object, patch string) error {
	return s.Patch(s.t.Context(), o, client.RawPatch(types.MergePatchType, []byte(patch)))
}

// state is the result of the controller for a Pool.
type state struct {
	alive, dead []string // in the Endpoints
	status      string   // in the status, such as "1/2 False"
	observed    int64    // the generation that the status is about
}

// state returns it once the controller has tried again what failed.
func (s *site) state(name string) state {
	s.t.Helper()
	time.Sleep(100 * time.Millisecond)
	synctest.Wait()
	var out state
	e := &corev1.Endpoints{}
	require.NoError(s.t, client.IgnoreNotFound(s.Get(s.t.Context(), key(name), e)))
	for _, subset := range e.Subsets {
		for _, a := range subset.Addresses {
			out.alive = append(out.alive, a.IP)
		}
		for _, a := range subset.NotReadyAddresses {
			out.dead = append(out.dead, a.IP)
		}
	}
	p := s.get(name)
	out.observed = p.Status.ObservedGeneration
	if c := meta.FindStatusCondition(p.Status.Conditions, available); c != nil {
		out.status = fmt.Sprintf("%d/%d %s", p.Status.Ready, p.Status.Members, c.Status)
	}
	return out
}

func (s *site) get(name string) *Pool {
	s.t.Helper()
	p := &Pool{}
	require.NoError(s.t, s.Get(s.t.Context(), key(name), p))
	return p
}

func key(name string) client.ObjectKey { return client.ObjectKey{Namespace: namespace, Name: name} }
