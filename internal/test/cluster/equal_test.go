package cluster

import (
	"context"
	"io"
	"net/http"
	"os"
	"regexp"
	"slices"
	"sync"
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

// reasonsFile has the reasons for differences, and table lists all differences with them.
const (
	reasonsFile = "reasons.txt"
	table       = "differences.md"
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
	data, err := os.ReadFile(reasonsFile)
	require.NoError(t, err)
	known, err := exchange.ParseReasons(string(data))
	require.NoError(t, err)
	moved := clock.NewManual(time.Now()) // by hand, whenever a conversion hangs
	servers := map[string]*httpapi.API{"": newServer(t, false, nil), "controllers": newServer(t, true, nil), "moved": newServer(t, false, moved)}
	var mu sync.Mutex
	explained := exchange.Explained{}
	t.Run("all", func(t *testing.T) {
		for _, s := range Scenarios() {
			t.Run(s.Name, func(t *testing.T) {
				t.Parallel()
				want, err := exchange.LoadAnswers(recorded, s.Name)
				require.NoError(t, err)
				player := &Player{URL: "http://test", ID: runID(), Events: events(want)}
				server := ""
				switch {
				case s.Controllers:
					server = "controllers"
				case s.Name == "conversions":
					server, player.Hung = "moved", func() { moved.FastForward(30 * time.Second) }
				}
				player.Transport = servers[server].Transport()
				got, err := player.Play(t.Context(), s)
				require.NoError(t, err)
				mu.Lock()
				defer mu.Unlock()
				for _, d := range exchange.Compare(s.Name, want, got) {
					if why := known.Explain(d); why != nil {
						explained.Add(why, d)
						continue
					}
					t.Errorf("%s: %s\n\tkube-apiserver %.600s\n\tkubecoord      %.600s", d.Step, d.Path, d.Want, d.Got)
				}
			})
		}
	})
	filtered := slices.ContainsFunc(os.Args, regexp.MustCompile(`-test\.run=?.*/`).MatchString)
	if filtered || t.Failed() {
		return
	}
	for _, r := range known {
		if !r.Needed {
			t.Errorf("reasons.txt:%d: no difference needs this reason", r.Line)
		}
	}
	got := explained.Table(known)
	if *write {
		require.NoError(t, os.WriteFile(table, []byte(got), 0o644))
		return
	}
	tabled, err := os.ReadFile(table)
	require.NoError(t, err)
	require.Equal(t, string(tabled), got, "differences.md is old: go test . -write")
}

// events returns how many events each watch of a recorded scenario has.
func events(answers []exchange.Answer) map[string]int {
	out := map[string]int{}
	for _, a := range answers {
		out[a.Step] = len(a.Events)
	}
	return out
}
