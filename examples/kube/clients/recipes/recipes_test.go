package recipes

import (
	"context"
	"flag"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/client-go/util/retry"
	ctrl "sigs.k8s.io/controller-runtime"
	ctrlclient "sigs.k8s.io/controller-runtime/pkg/client"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/kubecoord/kubecoord/httpapi/apitest"
	"github.com/kubecoord/kubecoord/lease"
	"github.com/kubecoord/kubecoord/store/fixture"
)

func TestMain(m *testing.M) {
	// The second handler sleeps after an error. In a bubble it would sleep for decades.
	utilruntime.ErrorHandlers = utilruntime.ErrorHandlers[:1]
	os.Exit(m.Run())
}

// connect returns a client with a name, which faults and the log of requests know.
func connect(t *testing.T, api *apitest.API, name string) *kubernetes.Clientset {
	client, err := kubernetes.NewForConfig(&rest.Config{Host: api.Host(), Transport: api.TransportFor(name), QPS: -1})
	require.NoError(t, err)
	return client
}

// rename is the code under test: it changes the holder of a Lease.
func rename(ctx context.Context, client kubernetes.Interface, holder string) error {
	leases := client.CoordinationV1().Leases("default")
	return retry.RetryOnConflict(retry.DefaultRetry, func() error {
		l, err := leases.Get(ctx, "a", metav1.GetOptions{})
		if err != nil {
			return err
		}
		l.Spec.HolderIdentity = &holder
		_, err = leases.Update(ctx, l, metav1.UpdateOptions{})
		return err
	})
}

func TestConflictIsTriedAgain(t *testing.T) {
	api := apitest.New(t, apitest.Options{Fixtures: []fixture.Source{fixture.Stream("leases.yaml", strings.NewReader(`
apiVersion: coordination.k8s.io/v1
kind: Lease
metadata: {name: a, namespace: default}
`))}})
	conflict := api.Fault(apitest.Answer(409).First(1), apitest.Match{Verb: "update", Resource: "leases"})

	require.NoError(t, rename(t.Context(), connect(t, api, "worker"), "me"))
	assert.Equal(t, 1, conflict.Hits())
	api.Requests().Assert(t,
		"get leases default/a 200", "update leases default/a 409",
		"get leases default/a 200", "update leases default/a 200")
}

func TestInformerSurvivesAnError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		api := apitest.New(t)
		api.Fault(apitest.Answer(500).First(3), apitest.Match{Client: "informer"})
		factory := informers.NewSharedInformerFactory(connect(t, api, "informer"), 0)
		leases := factory.Coordination().V1().Leases().Lister()
		ctx, stop := context.WithCancel(t.Context())
		factory.StartWithContext(ctx)
		defer factory.Shutdown() // waits for the informers
		defer stop()

		_, err := connect(t, api, "test").CoordinationV1().Leases("default").Create(t.Context(),
			&coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Name: "a"}}, metav1.CreateOptions{})
		require.NoError(t, err)
		time.Sleep(time.Minute) // takes no real time
		_, err = leases.Leases("default").Get("a")
		require.NoError(t, err)
	})
}

func TestFollowerTakesOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		api := apitest.New(t, apitest.Options{Verify: true}) // fails if two clients held the Lease at once
		leaders := make(chan string, 2)
		elect := func(name string) {
			lock := &resourcelock.LeaseLock{
				LeaseMeta: metav1.ObjectMeta{Namespace: "default", Name: "leader"}, Client: connect(t, api, name).CoordinationV1(),
				LockConfig: resourcelock.ResourceLockConfig{Identity: name},
			}
			go leaderelection.RunOrDie(t.Context(), leaderelection.LeaderElectionConfig{
				Lock: lock, LeaseDuration: 15 * time.Second, RenewDeadline: 10 * time.Second, RetryPeriod: 2 * time.Second,
				Callbacks: leaderelection.LeaderCallbacks{
					OnStartedLeading: func(context.Context) { leaders <- name },
					OnStoppedLeading: func() {},
				},
			})
			synctest.Wait()
		}
		elect("a")
		elect("b")
		require.Equal(t, "a", <-leaders)

		cut := api.Fault(apitest.Refuse(), apitest.Match{Client: "a"})
		start := time.Now()
		require.Equal(t, "b", <-leaders)
		assert.Less(t, time.Since(start), 20*time.Second)
		assert.NotZero(t, cut.Hits())
	})
}

func TestReconcilerSeesEachLease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		api := apitest.New(t)
		mgr, err := ctrl.NewManager(&rest.Config{Host: api.Host(), Transport: api.TransportFor("manager")}, ctrl.Options{
			Metrics: metricsserver.Options{BindAddress: "0"}, // no port
		})
		require.NoError(t, err)
		seen := make(chan string, 1)
		require.NoError(t, ctrl.NewControllerManagedBy(mgr).For(&coordinationv1.Lease{}).Complete(
			reconcilerFunc(func(ctx context.Context, r ctrl.Request) (ctrl.Result, error) {
				l := &coordinationv1.Lease{}
				err := mgr.GetClient().Get(ctx, r.NamespacedName, l)
				seen <- l.Name
				return ctrl.Result{}, ctrlclient.IgnoreNotFound(err)
			})))
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- mgr.Start(ctx) }()

		_, err = connect(t, api, "test").CoordinationV1().Leases("default").Create(t.Context(),
			&coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Name: "a"}}, metav1.CreateOptions{})
		require.NoError(t, err)
		assert.Equal(t, "a", <-seen)
		stop()
		require.NoError(t, <-ended)
	})
}

// reconcilerFunc makes a function a reconciler.
type reconcilerFunc func(context.Context, ctrl.Request) (ctrl.Result, error)

func (f reconcilerFunc) Reconcile(ctx context.Context, r ctrl.Request) (ctrl.Result, error) {
	return f(ctx, r)
}

func TestEachCaseStartsFromTheSameState(t *testing.T) {
	prepared := apitest.New(t)
	client := connect(t, prepared, "setup")
	for _, name := range []string{"a", "b", "c"} {
		_, err := client.CoordinationV1().Leases("default").Create(t.Context(), &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{})
		require.NoError(t, err)
	}
	for _, holder := range []string{"me", "you"} {
		t.Run(holder, func(t *testing.T) {
			t.Parallel()
			api := prepared.Fork(t)
			require.NoError(t, rename(t.Context(), connect(t, api, "worker"), holder))
			l, err := lease.In(api.Store()).Get(t.Context(), "default", "a")
			require.NoError(t, err)
			assert.Equal(t, holder, *l.Spec.HolderIdentity)
		})
	}
}

var _ = flag.Bool("update", false, "rewrite the golden files") // in one file of the package; Golden finds it

func TestRenameChangesNothingElse(t *testing.T) {
	api := apitest.New(t, apitest.Options{Fixtures: []fixture.Source{fixture.FS(os.DirFS("testdata"), "before.yaml")}})
	require.NoError(t, rename(t.Context(), connect(t, api, "worker"), "me"))
	api.Golden("testdata/after.yaml", fixture.DumpOptions{Namespaces: []string{"default"}, Resources: []string{"leases"}})
}

func TestStaleReadIsRefusedByTheServer(t *testing.T) {
	api := apitest.New(t)
	client := connect(t, api, "worker")
	leases := client.CoordinationV1().Leases("default")
	l, err := leases.Create(t.Context(), &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Name: "a"}}, metav1.CreateOptions{})
	require.NoError(t, err)

	api.Fault(apitest.Stale(apitest.StaleOptions{}), apitest.Match{Client: "worker"}) // from now on its reads lag
	l.Spec.HolderIdentity = new("you")
	_, err = connect(t, api, "other").CoordinationV1().Leases("default").Update(t.Context(), l, metav1.UpdateOptions{})
	require.NoError(t, err)
	old, err := leases.List(t.Context(), metav1.ListOptions{ResourceVersion: "0"})
	require.NoError(t, err)
	require.Nil(t, old.Items[0].Spec.HolderIdentity, "the replica has not seen the update")
	_, err = leases.Update(t.Context(), &old.Items[0], metav1.UpdateOptions{})
	require.Error(t, err, "a write is decided by the current state")
}
