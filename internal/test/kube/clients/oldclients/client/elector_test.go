// Package client runs candidates and coordinated electors of an old client-go against an embedded server. The test in the
// parent folder runs it with go.mod, which requires 0.31, and with client032.mod.
package client

import (
	"context"
	"log/slog"
	"os"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/klog/v2"

	"github.com/kubecoord/kubecoord/candidate"
	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/httpapi/apitest"
)

const (
	namespace, leaseName = "kube-system", "controller"
	leaseDuration        = 15 * time.Second
	retryPeriod          = 2 * time.Second
	// bound is the longest time until a healthy contender leads after a failure, as derived in the package comment of
	// candidate: the Lease expires, one candidate does not answer a ping, the elected candidate has just read the Lease, and
	// other candidates have just arrived.
	bound = leaseDuration + 5*time.Second + 22*retryPeriod/10 + time.Second
)

func TestMain(m *testing.M) {
	klog.SetSlogLogger(slog.New(slog.DiscardHandler))
	utilruntime.ErrorHandlers = nil // one handler would sleep for decades in virtual time
	os.Exit(m.Run())
}

func TestElectionHandOverAndFailover(t *testing.T) {
	for name, play := range map[string]func(t *testing.T, s *stage){
		"election": election, "hand-over to a better candidate": handOver, "failover": failover,
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &stage{t: t, stops: map[string]func(){}}
				s.api = apitest.New(t, apitest.Options{Verify: true, API: httpapi.Options{Parts: []httpapi.Part{httpapi.Elect(candidate.CoordinatorOptions{})}}})
				play(t, s)
				s.finish()
			})
		})
	}
}

// election starts three contenders together.
func election(t *testing.T, s *stage) {
	for _, version := range []string{"1.39.0", "1.37.0", "1.38.0"} {
		s.start(version)
	}
	time.Sleep(22*retryPeriod/10 + time.Second)
	assert.Equal(t, []string{"v1.37.0"}, s.leaders())
	time.Sleep(time.Hour)
	assert.Equal(t, []string{"v1.37.0"}, s.leaders(), "they come together, so the oldest is the first to lead, and the last")
}

// handOver starts an older contender while another leads.
func handOver(t *testing.T, s *stage) {
	for _, version := range []string{"1.39.0", "1.38.0", "1.40.0"} {
		s.start(version)
		time.Sleep(bound)
	}
	assert.Equal(t, []string{"v1.39.0", "v1.38.0"}, s.leaders(), "a newer one is no better")
}

// failover kills the leader, again and again.
func failover(t *testing.T, s *stage) {
	names := []string{"v1.37.0", "v1.38.0", "v1.39.0", "v1.40.0"}
	for i, name := range names {
		s.start(name[1:])
		time.Sleep(bound)
		require.Equal(t, names[:1], s.leaders(), i)
	}
	for i, name := range names[:3] {
		s.kill(name)
		time.Sleep(bound)
		require.Equal(t, names[:i+2], s.leaders())
	}
}

// stage is a server with a Coordinator and its contenders.
type stage struct {
	t     *testing.T
	api   *apitest.API
	stops map[string]func()

	mu      sync.Mutex // guards all below
	current string     // the leader, or ""
	terms   []string   // all leaders, in order
}

// leaders returns all leaders until now.
func (s *stage) leaders() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.terms...)
}

// start starts a candidate and a coordinated elector, as one process would. They are named after their version.
func (s *stage) start(version string) {
	name := "v" + version
	client, err := kubernetes.NewForConfig(&rest.Config{Host: s.api.Host(), Transport: s.api.Transport(), QPS: -1})
	require.NoError(s.t, err)
	offer, _, err := leaderelection.NewCandidate(client, namespace, name, leaseName, version, version, strategy)
	require.NoError(s.t, err)
	elector, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
		Lock: &resourcelock.LeaseLock{
			LeaseMeta:  metav1.ObjectMeta{Namespace: namespace, Name: leaseName},
			Client:     client.CoordinationV1(),
			LockConfig: resourcelock.ResourceLockConfig{Identity: name},
		},
		LeaseDuration: leaseDuration, RenewDeadline: 10 * time.Second, RetryPeriod: retryPeriod,
		Coordinated: true,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(ctx context.Context) { s.started(ctx, name) },
			OnStoppedLeading: func() { s.stopped(name) },
		},
	})
	require.NoError(s.t, err)
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	wg.Go(func() { offer.Run(ctx) })
	wg.Go(func() { elector.Run(ctx) })
	s.stops[name] = func() { cancel(); wg.Wait() }
}

// started records that a contender leads until ctx ends. Two must not believe at once that they lead.
func (s *stage) started(ctx context.Context, name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if ctx.Err() != nil {
		return // client-go calls this in a goroutine, so the term may be over
	}
	assert.Empty(s.t, s.current, "%s began to lead while it did", name)
	s.current = name
	s.terms = append(s.terms, name)
}

func (s *stage) stopped(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.current == name {
		s.current = ""
	}
}

func (s *stage) kill(name string) {
	s.stops[name]()
	delete(s.stops, name)
}

// finish ends all contenders, and checks how they wrote their candidates.
func (s *stage) finish() {
	for name := range s.stops {
		s.kill(name)
	}
	forms := map[string]bool{}
	for _, r := range s.api.Requests() {
		if r.Resource == "leasecandidates" && (r.Verb == "create" || r.Verb == "update") {
			forms[r.Version+" "+r.ContentType] = true
		}
	}
	assert.Equal(s.t, map[string]bool{candidateForm: true}, forms)
}
