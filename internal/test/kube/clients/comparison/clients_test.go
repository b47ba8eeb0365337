package comparison

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

var clients = row{"one state for", []point{
	{name: "typed clients", check: func(t *testing.T, s subject) finding {
		given(t, s, "a")
		return when(get(t, s, "a").Name == "a")
	}},
	{name: "untyped", check: func(t *testing.T, s subject) finding {
		given(t, s, "a")
		return when(s.getUntyped(t.Context(), "a") == nil)
	}},
	{name: "metadata", check: func(t *testing.T, s subject) finding {
		given(t, s, "a")
		return when(s.getMetadata(t.Context(), "a") == nil)
	}},
	{name: "discovery", check: func(t *testing.T, s subject) finding { return when(s.discovered()) }},
	{name: "informers", check: informer},
	{name: "managers", check: managed},
}, "yes"}

// informer follows Leases with client-go's informer, which asks semantics whether
// WatchList is supported.
func informer(t *testing.T, s subject) finding {
	leases := leasesOf(s)
	lw := &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, opts metav1.ListOptions) (runtime.Object, error) {
			return leases.List(ctx, opts)
		},
		WatchFuncWithContext: func(ctx context.Context, opts metav1.ListOptions) (watch.Interface, error) {
			return leases.Watch(ctx, opts)
		},
	}
	given(t, s, "a")
	inf := cache.NewSharedIndexInformer(cache.ToListWatcherWithWatchListSemantics(lw, s.semantics()), &coordinationv1.Lease{}, 0, nil)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		inf.RunWithContext(ctx)
	}()
	settle()
	defer func() { stop(); <-ended }()
	given(t, s, "b")
	require.NoError(t, hold(t, s, get(t, s, "a"), "b"))
	settle()
	got, found, err := inf.GetStore().GetByKey(namespace + "/a")
	require.NoError(t, err)
	return when(inf.HasSynced() && found && *got.(*coordinationv1.Lease).Spec.HolderIdentity == "b" && len(inf.GetStore().List()) == 2)
}

// settle waits until all clients are idle.
func settle() {
	time.Sleep(10 * time.Second)
	synctest.Wait()
}

// managed reads from the cache of controller-runtime's manager.
func managed(t *testing.T, s subject) finding {
	if s.config() == nil {
		return no()
	}
	given(t, s, "a")
	mgr, err := manager.New(s.config(), manager.Options{Scheme: scheme.Scheme, Metrics: metricsserver.Options{BindAddress: "0"}})
	require.NoError(t, err)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- mgr.Start(ctx) }()
	settle()
	err = mgr.GetClient().Get(ctx, client.ObjectKey{Namespace: namespace, Name: "a"}, &coordinationv1.Lease{})
	stop()
	require.NoError(t, <-ended)
	return when(err == nil)
}

var wire = row{"a socket", []point{
	{name: "for other languages", inRealTime: true, check: func(t *testing.T, s subject) finding {
		return asks(t, s, "application/json", `"kind":"LeaseList"`)
	}},
	{name: "for kubectl", inRealTime: true, check: func(t *testing.T, s subject) finding {
		return asks(t, s, "application/json;as=Table;v=v1;g=meta.k8s.io", `"columnDefinitions"`)
	}},
	{name: "protobuf", inRealTime: true, check: func(t *testing.T, s subject) finding {
		return asks(t, s, "application/vnd.kubernetes.protobuf", "k8s\x00")
	}},
}, "yes"}

// asks lists the Leases over HTTP, as another program would.
func asks(t *testing.T, s subject, accept, answer string) finding {
	if s.url() == "" {
		return no()
	}
	given(t, s, "a")
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.url()+"/apis/coordination.k8s.io/v1/leases", nil)
	require.NoError(t, err)
	req.Header.Set("Accept", accept)
	resp, err := transport.RoundTrip(req)
	require.NoError(t, err)
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	return when(resp.StatusCode == http.StatusOK && strings.Contains(string(body), answer))
}
