package cluster

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/netip"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/klog/v2"

	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/httpapi/kube/cluster"
	"github.com/kubecoord/kubecoord/internal/test/exchange"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/clock"
)

// newServer returns a server in memory that does what a kube-apiserver does, with RBAC, and the two controllers if asked. Nil is
// the clock of the machine.
func newServer(t *testing.T, controllers bool, c clock.Clock, changes ...func(*cluster.Options)) *httpapi.API {
	t.Helper()
	klog.LogToStderr(false) // upstream's webhooks log each failure
	klog.SetOutput(io.Discard)
	bearers := httpapi.BearerTokens(map[string]httpapi.User{"nobody-token": {Name: "nobody", UID: "nobody-uid", Groups: []string{"guests"}}})
	does := cluster.Options{
		Objects: true, ClientCA: []byte("-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----\n"),
		Plugins: cluster.DefaultPlugins(), Namespaces: true, Service: true, Addresses: true, Webhooks: true, Policies: true, Disruptions: true,
		Reviews: true, RBAC: true, GarbageCollection: controllers, NamespaceDeletion: controllers, PolicyStatus: controllers,
		Tokens: cluster.Tokens{Issuer: "https://127.0.0.1:8443/"},
		Dial:   dial,
	}
	for _, change := range changes {
		change(&does)
	}
	options, err := does.API(httpapi.Options{Authenticate: func(r *http.Request) (httpapi.User, bool) {
		if r.Header.Get("Authorization") == "" {
			return httpapi.User{Name: "admin", UID: "admin-uid", Groups: []string{"system:masters"}}, true
		}
		return bearers(r)
	}})
	require.NoError(t, err)
	st := store.New(store.Options{Clock: c})
	t.Cleanup(st.Close)
	api := httpapi.New(st, options)
	t.Cleanup(api.Close)
	return api
}

// named returns the scenario of a name.
func named(name string, all []exchange.Scenario) []exchange.Scenario {
	return slices.DeleteFunc(all, func(s exchange.Scenario) bool { return s.Name != name })
}

// dial connects to addresses of the loopback. Others refuse it.
func dial(ctx context.Context, network, address string) (net.Conn, error) {
	at, err := net.ResolveTCPAddr(network, address)
	if err == nil && !at.IP.IsLoopback() {
		return nil, &net.OpError{Op: "dial", Net: network, Addr: at, Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}
	}
	return (&net.Dialer{}).DialContext(ctx, network, address)
}

// TestAnswersEqualThoseOfKubeAPIServer plays each scenario and compares the answers with the recorded ones.
func TestAnswersEqualThoseOfKubeAPIServer(t *testing.T) {
	moved := clock.NewManual(time.Now()) // whenever a webhook hangs
	all := scenarios(Player{Transport: newServer(t, false, moved).Transport(), URL: "http://test", Hung: func() { moved.FastForward(30 * time.Second) }}, needsPlain)
	all = named("conversions", all)
	for _, controllers := range []bool{false, true} {
		is := func(s Scenario) bool { return needsPlain(s) && !s.Alone }
		if controllers {
			is = needsControllers
		}
		for _, s := range scenarios(Player{Transport: newServer(t, controllers, nil).Transport(), URL: "http://test"}, is) {
			if s.Name != "conversions" {
				all = append(all, s)
			}
		}
	}
	twoRanges := newServer(t, false, nil, func(o *cluster.Options) {
		for _, text := range strings.Split(dualStackRanges, ",") {
			o.ServiceRanges = append(o.ServiceRanges, netip.MustParsePrefix(text))
		}
	})
	all = append(all, scenarios(Player{Transport: twoRanges.Transport(), URL: "http://test"}, needsDualStack)...)
	gated := newServer(t, false, nil, func(o *cluster.Options) {
		o.FeatureGates = map[string]bool{}
		for _, gate := range strings.Split(otherGates, ",") {
			name, on, _ := strings.Cut(gate, "=")
			o.FeatureGates[name] = on == "true"
		}
	})
	all = append(all, scenarios(Player{Transport: gated.Transport(), URL: "http://test"}, needsGates)...)
	restricted := newServer(t, false, nil, func(o *cluster.Options) { o.Plugins = append(o.Plugins, "ServiceAccount", "NodeRestriction") })
	all = append(all, scenarios(Player{Transport: restricted.Transport(), URL: "http://test"}, needsAccounts)...)
	for _, s := range Scenarios() {
		if s.Alone {
			is := func(other Scenario) bool { return other.Name == s.Name }
			all = append(all, scenarios(Player{Transport: newServer(t, false, nil).Transport(), URL: "http://test"}, is)...)
		}
	}
	exchange.Equal(t, recorded, all, *write)
}
