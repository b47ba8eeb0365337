package controllerruntime

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	coordinationv1 "k8s.io/api/coordination/v1"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/kubecoord/kubecoord/internal/test/clients/internal/testapi"
	"github.com/kubecoord/kubecoord/store"
)

const (
	lock = "operator.kubecoord.example"

	// The durations are controller-runtime's defaults. A replica reads the
	// lock every 2 s plus a jitter of at most 1.2 times that.
	leaseDuration = 15 * time.Second
	longestRetry  = 4400 * time.Millisecond
)

// replica is one of several managers with the same reconciler, each over a link
// of its own. Only the leader reconciles.
type replica struct {
	manager.Manager
	*running
	link *testapi.Link
}

// signer is a reconciler that writes its name on each Lease with the label
// sign.
type signer struct {
	client.Client
	name string
}

// wanted selects the Leases to sign.
var wanted = predicate.NewPredicateFuncs(func(o client.Object) bool { return o.GetLabels()["sign"] != "" })

// Reconcile signs one Lease.
func (s signer) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	l := &coordinationv1.Lease{}
	if err := s.Get(ctx, req.NamespacedName, l); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	before := l.DeepCopy()
	l.Annotations = map[string]string{"signed-by": s.name, "for": l.Labels["sign"]}
	return reconcile.Result{}, s.Patch(ctx, l, client.MergeFrom(before))
}

// join starts a replica.
func join(t *testing.T, api *testapi.API, name string, change ...func(*manager.Options)) *replica {
	t.Helper()
	api = api.Bypass()
	opts := manager.Options{
		LeaderElection: true, LeaderElectionID: lock, LeaderElectionNamespace: testapi.Namespace,
		LeaderElectionLabels: map[string]string{"replica": name},
	}
	for _, c := range change {
		c(&opts)
	}
	mgr := newManager(t, api, opts)
	require.NoError(t, builder.ControllerManagedBy(mgr).Named("signer").
		For(&coordinationv1.Lease{}, builder.WithPredicates(wanted, predicate.LabelChangedPredicate{})).
		Complete(signer{mgr.GetClient(), name}))
	return &replica{Manager: mgr, running: start(t, mgr), link: api.Link}
}

func released(opts *manager.Options) { opts.LeaderElectionReleaseOnCancel = true }

// leads reports whether the replica was elected.
func (r *replica) leads() bool {
	select {
	case <-r.Elected():
		return true
	default:
		return false
	}
}

// toSign stores a Lease to sign, or changes the value to sign.
func toSign(t *testing.T, c client.Client, name, value string) {
	t.Helper()
	l := testapi.Lease(name)
	require.NoError(t, client.IgnoreAlreadyExists(c.Create(t.Context(), l)))
	require.NoError(t, c.Patch(t.Context(), l, client.RawPatch("application/merge-patch+json", fmt.Appendf(nil, `{"metadata":{"labels":{"sign":%q}}}`, value))))
}

// signature returns the name that signed a Lease, and the signed value.
func signature(t *testing.T, c client.Client, name string) (by, value string) {
	t.Helper()
	l := &coordinationv1.Lease{}
	require.NoError(t, c.Get(t.Context(), key(name), l))
	return l.Annotations["signed-by"], l.Annotations["for"]
}

func theLock(t *testing.T, c client.Client) *coordinationv1.Lease {
	t.Helper()
	l := &coordinationv1.Lease{}
	require.NoError(t, c.Get(t.Context(), key(lock), l))
	return l
}

func TestOnlyTheElectedManagerReconciles(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		api := testapi.New(t, store.Options{})
		c := newClient(t, api)
		first := join(t, api, "first")
		second := join(t, api, "second")
		require.True(t, first.leads())
		for i := range 10 {
			name := fmt.Sprintf("lease-%d", i)
			toSign(t, c, name, "x")
			time.Sleep(time.Minute)
			by, value := signature(t, c, name)
			assert.Equal(t, "first x", by+" "+value)
		}
		assert.False(t, second.leads())
		held := theLock(t, c)
		assert.Equal(t, map[string]string{"replica": "first"}, held.Labels)
		assert.Equal(t, int32(15), *held.Spec.LeaseDurationSeconds)
		assert.Less(t, time.Since(held.Spec.RenewTime.Time), leaseDuration)

		for _, r := range second.link.Requests() {
			assert.Equal(t, "GET", r.Method, "a follower writes nothing: %v", r)
		}
		var events []testapi.Request
		for _, r := range first.link.Requests() {
			if strings.HasSuffix(r.Path, "/events") {
				events = append(events, r)
			}
		}
		require.Len(t, events, 1, "the leader has sent an Event")
		assert.Equal(t, 404, events[0].Code, "the leader ignores the answer")
	})
}

func TestAnotherManagerLeadsAfterOneStops(t *testing.T) {
	for name, row := range map[string]struct {
		options []func(*manager.Options)
		early   bool
	}{
		"at once after a release":                    {[]func(*manager.Options){released}, true},
		"after the lease duration without a release": {nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				api := testapi.New(t, store.Options{})
				c := newClient(t, api)
				first := join(t, api, "first", row.options...)
				second := join(t, api, "second", row.options...)
				require.True(t, first.leads())
				toSign(t, c, "a", "1")
				synctest.Wait()
				require.NoError(t, first.stop())
				stopped := time.Now()
				held := theLock(t, c)
				assert.Equal(t, row.early, *held.Spec.HolderIdentity == "", "released")
				toSign(t, c, "a", "2")

				<-second.Elected()
				took := time.Since(stopped)
				assert.Equal(t, row.early, took <= longestRetry, "it took %v", took)
				assert.Less(t, took, leaseDuration+2*longestRetry)
				settle()
				by, value := signature(t, c, "a")
				assert.Equal(t, "second 2", by+" "+value, "the new leader does the remaining work")
				assert.Equal(t, int32(1), *theLock(t, c).Spec.LeaseTransitions)
				assert.Zero(t, first.link.Open())
			})
		})
	}
}

func TestDisconnectedManagerStopsBeforeAnotherLeads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		api := testapi.New(t, store.Options{})
		c := newClient(t, api)
		first := join(t, api, "first")
		second := join(t, api, "second")
		require.True(t, first.leads())
		toSign(t, c, "a", "1")
		settle()
		first.link.Cut()
		toSign(t, c, "a", "2")

		err := first.wait()
		require.ErrorContains(t, err, "leader election lost")
		synctest.Wait()
		assert.False(t, second.leads(), "the lease has not expired")
		<-second.Elected()
		settle()
		by, value := signature(t, c, "a")
		assert.Equal(t, "second 2", by+" "+value)

		first.link.Mend()
		third := join(t, api, "third")
		time.Sleep(5 * time.Minute)
		assert.False(t, third.leads())
		toSign(t, c, "a", "3")
		synctest.Wait()
		by, value = signature(t, c, "a")
		assert.Equal(t, "second 3", by+" "+value)
	})
}
