package verdicts

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	coordinationclient "k8s.io/client-go/kubernetes/typed/coordination/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"

	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/httpapi/apitest"
	"github.com/kubecoord/kubecoord/internal/test/clients/internal/testapi"
	"github.com/kubecoord/kubecoord/internal/test/consistency"
)

// clientOf returns a named client.
func clientOf(t testing.TB, api *apitest.API, name string, contentType string) kubernetes.Interface {
	t.Helper()
	cs, err := kubernetes.NewForConfig(&rest.Config{
		Host: api.Host(), Transport: api.TransportFor(name), QPS: -1, WarningHandler: rest.NoWarnings{},
		ContentConfig: rest.ContentConfig{ContentType: contentType},
	})
	require.NoError(t, err)
	return cs
}

const (
	jsonType     = "application/json"
	protobufType = "application/vnd.kubernetes.protobuf"
)

// leasesOf returns the Leases as a named client sees them.
func leasesOf(t testing.TB, api *apitest.API, name string) coordinationclient.LeaseInterface {
	t.Helper()
	return clientOf(t, api, name, protobufType).CoordinationV1().Leases(testapi.Namespace)
}

// The timing of the electors here is the default of Kubernetes.
const (
	leaseDuration = 15 * time.Second
	renewDeadline = 10 * time.Second
	retryPeriod   = 2 * time.Second
)

// elect runs an elector until ctx ends. After losing the Lease it contends again.
func elect(ctx context.Context, t testing.TB, lock resourcelock.Interface) {
	for ctx.Err() == nil {
		le, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
			Lock: lock, LeaseDuration: leaseDuration, RenewDeadline: renewDeadline, RetryPeriod: retryPeriod,
			Callbacks: leaderelection.LeaderCallbacks{OnStartedLeading: func(context.Context) {}, OnStoppedLeading: func() {}},
		})
		if err != nil {
			t.Error(err)
			return
		}
		le.Run(ctx)
	}
}

// lockOf returns the lock of a named client.
func lockOf(t testing.TB, api *apitest.API, name string) resourcelock.Interface {
	t.Helper()
	return &resourcelock.LeaseLock{
		LeaseMeta:  metav1.ObjectMeta{Namespace: testapi.Namespace, Name: "leader"},
		Client:     clientOf(t, api, name, jsonType).CoordinationV1(),
		LockConfig: resourcelock.ResourceLockConfig{Identity: name},
	}
}

// behind returns a server with a middleware.
func behind(t testing.TB, middleware func(next http.Handler) http.Handler) *consistency.API {
	return consistency.New(t, apitest.Options{API: httpapi.Options{Middleware: middleware}})
}

// text returns the texts of findings.
func text(findings []apitest.Finding) string {
	var b strings.Builder
	for _, f := range findings {
		b.WriteString(f.String() + "\n")
	}
	return b.String()
}
