package cluster

import (
	"context"
	"io"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/klog/v2"

	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/internal/test/exchange"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/clock"
	"github.com/kubecoord/kubecoord/store/kube/cluster"
	"github.com/kubecoord/kubecoord/store/kube/crd"
	"github.com/kubecoord/kubecoord/store/kube/scheme"
)

// newServer returns a server in memory that does what a kube-apiserver does, with RBAC, and the two controllers if asked. Nil is
// the clock of the machine.
func newServer(t *testing.T, controllers bool, c clock.Clock) *httpapi.API {
	t.Helper()
	klog.LogToStderr(false) // upstream's webhooks log each failure
	klog.SetOutput(io.Discard)
	all, err := scheme.Kinds(clientgoscheme.Scheme, scheme.Options{})
	require.NoError(t, err)
	bearers := httpapi.BearerTokens(map[string]httpapi.User{"nobody-token": {Name: "nobody", UID: "nobody-uid", Groups: []string{"guests"}}})
	options := httpapi.Options{
		Kinds: append(all, crd.Definitions()),
		Run:   []func(context.Context, *httpapi.API){crd.Run},
		Authenticate: func(r *http.Request) (httpapi.User, bool) {
			if r.Header.Get("Authorization") == "" {
				return httpapi.User{Name: "admin", UID: "admin-uid", Groups: []string{"system:masters"}}, true
			}
			return bearers(r)
		},
	}
	does := cluster.Options{
		Namespaces: true, Service: true, Webhooks: true, Policies: true, Disruptions: true, Reviews: true, RBAC: true,
		GarbageCollection: controllers, NamespaceDeletion: controllers,
		Tokens: cluster.Tokens{Issuer: "https://127.0.0.1:8443/"},
	}
	require.NoError(t, does.Apply(&options))
	st := store.New(store.Options{Clock: c})
	t.Cleanup(st.Close)
	api := httpapi.New(st, options)
	t.Cleanup(api.Close)
	return api
}

// TestAnswersEqualThoseOfKubeAPIServer plays each scenario and compares the answers with the recorded ones.
func TestAnswersEqualThoseOfKubeAPIServer(t *testing.T) {
	moved := clock.NewManual(time.Now()) // whenever a webhook hangs
	all := scenarios(false, Player{Transport: newServer(t, false, moved).Transport(), URL: "http://test", Hung: func() { moved.FastForward(30 * time.Second) }})
	all = slices.DeleteFunc(all, func(s exchange.Scenario) bool { return s.Name != "conversions" })
	for _, controllers := range []bool{false, true} {
		for _, s := range scenarios(controllers, Player{Transport: newServer(t, controllers, nil).Transport(), URL: "http://test"}) {
			if s.Name != "conversions" {
				all = append(all, s)
			}
		}
	}
	exchange.Equal(t, recorded, all, *write)
}
