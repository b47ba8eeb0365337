package informers

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/features"
	featurestesting "k8s.io/client-go/features/testing"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"

	"github.com/kubecoord/kubecoord/internal/test/kube/clients/internal/testapi"
	"github.com/kubecoord/kubecoord/store"
)

func TestMain(m *testing.M) { testapi.Main(m) }

// eachProtocol runs a test inside a bubble, once with informers that start with a
// list and once with informers that start with a stream.
func eachProtocol(t *testing.T, opts store.Options, test func(t *testing.T, f *fixture)) {
	for name, watchList := range map[string]bool{"list and watch": false, "WatchList": true} {
		t.Run(name, func(t *testing.T) {
			featurestesting.SetFeatureDuringTest(t, features.WatchListClient, watchList)
			synctest.Test(t, func(t *testing.T) {
				api := testapi.New(t, opts)
				f := &fixture{API: api, cs: api.Client(t), watchList: watchList}
				test(t, f)
			})
		})
	}
}

type fixture struct {
	*testapi.API
	cs        kubernetes.Interface
	watchList bool
}

// start starts informers for leases and Endpoints and waits for their first
// sync. They end with the test.
func (f *fixture) start(t *testing.T, opts ...informers.SharedInformerOption) (informers.SharedInformerFactory, *testapi.Recorder) {
	t.Helper()
	factory := informers.NewSharedInformerFactoryWithOptions(f.cs, 0, opts...)
	factory.Core().V1().Endpoints().Informer()
	return factory, testapi.Inform(t, factory)
}

func (f *fixture) createLease(t *testing.T, name string) *coordinationv1.Lease {
	t.Helper()
	l, err := f.cs.CoordinationV1().Leases(testapi.Namespace).Create(t.Context(), testapi.Lease(name), metav1.CreateOptions{})
	require.NoError(t, err)
	return l
}

func (f *fixture) renewLease(t *testing.T, l *coordinationv1.Lease) *coordinationv1.Lease {
	t.Helper()
	l = l.DeepCopy()
	*l.Spec.LeaseTransitions++
	l, err := f.cs.CoordinationV1().Leases(testapi.Namespace).Update(t.Context(), l, metav1.UpdateOptions{})
	require.NoError(t, err)
	return l
}

func (f *fixture) deleteLease(t *testing.T, name string) {
	t.Helper()
	require.NoError(t, f.cs.CoordinationV1().Leases(testapi.Namespace).Delete(t.Context(), name, metav1.DeleteOptions{}))
}

// assertFresh compares the cached leases with the server.
func (f *fixture) assertFresh(t *testing.T, factory informers.SharedInformerFactory) {
	t.Helper()
	synctest.Wait()
	list, err := f.cs.CoordinationV1().Leases(metav1.NamespaceAll).List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	want := make([]*coordinationv1.Lease, len(list.Items))
	for i := range list.Items {
		want[i] = &list.Items[i]
	}
	got, err := factory.Coordination().V1().Leases().Lister().List(labels.Everything())
	require.NoError(t, err)
	slices.SortFunc(got, func(a, b *coordinationv1.Lease) int {
		return strings.Compare(a.Namespace+"/"+a.Name, b.Namespace+"/"+b.Name)
	})
	assert.Equal(t, want, got)
}

// leaseRequests splits the requests for leases since the last call.
func (f *fixture) leaseRequests() (starts, resumes []testapi.Request) {
	for _, r := range f.Link.Requests() {
		switch {
		case r.Method != "GET" || !strings.HasSuffix(r.Path, "/leases"):
		case r.Watches() && r.Query.Get("sendInitialEvents") == "":
			resumes = append(resumes, r)
		default:
			starts = append(starts, r)
		}
	}
	return starts, resumes
}
