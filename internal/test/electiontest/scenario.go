package electiontest

import (
	"context"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/candidate"
	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/store"
)

// The name of the Lease, and the timings of the contenders.
const (
	Namespace     = "kube-system"
	Lease         = "controller"
	LeaseDuration = 15 * time.Second
	RenewDeadline = 10 * time.Second
	RetryPeriod   = 2 * time.Second
)

// bound is the longest time until a healthy contender leads after a failure, as
// derived in the package comment of candidate: the Lease expires, one candidate
// does not answer a ping, the elected candidate has just read the Lease, and
// other candidates have just arrived.
const bound = LeaseDuration + 5*time.Second + 22*RetryPeriod/10 + time.Second

// Contender is the configuration of one process that contends for the Lease.
type Contender struct {
	Name, BinaryVersion, EmulationVersion string
	// Transport reaches the server.
	Transport http.RoundTripper
	// Started and Stopped must be called when it begins and stops to lead.
	Started func(ctx context.Context)
	Stopped func()
}

// Client is a version of a client library.
type Client struct {
	// Start starts a contender. The function stop ends it without a release.
	Start func(c Contender) (stop func(), err error)
	// APIVersion and ContentType are the ones of LeaseCandidates on the wire.
	APIVersion, ContentType string
}

// Run runs all scenarios with contenders of one library.
func Run(t *testing.T, c Client) {
	for name, play := range map[string]func(t *testing.T, s *stage){
		"election": election, "hand-over to a better candidate": handOver, "failover": failover,
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newStage(t, c)
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
	time.Sleep(22*RetryPeriod/10 + time.Second)
	assert.Equal(t, "v1.37.0", s.referee.leader())
	time.Sleep(time.Hour)
	assert.Equal(t, []string{"v1.37.0"}, s.referee.leaders(), "they come together, so the oldest is the first to lead, and the last")
}

// handOver starts an older contender while another leads.
func handOver(t *testing.T, s *stage) {
	s.start("1.39.0")
	time.Sleep(bound)
	require.Equal(t, "v1.39.0", s.referee.leader())
	s.start("1.38.0")
	time.Sleep(bound)
	assert.Equal(t, "v1.38.0", s.referee.leader())
	s.start("1.40.0")
	time.Sleep(bound)
	assert.Equal(t, []string{"v1.39.0", "v1.38.0"}, s.referee.leaders(), "a newer one is no better")
}

// failover kills the leader, again and again.
func failover(t *testing.T, s *stage) {
	versions := []string{"1.37.0", "1.38.0", "1.39.0", "1.40.0"}
	var want []string
	for _, version := range versions {
		s.start(version)
		want = append(want, "v"+version)
		time.Sleep(bound)
	}
	for _, name := range want[:3] {
		require.Equal(t, name, s.referee.leader())
		s.kill(name)
		time.Sleep(bound)
	}
	assert.Equal(t, want, s.referee.leaders())
}

// stage is a server with a Coordinator and its contenders.
type stage struct {
	t       *testing.T
	client  Client
	st      *store.Store
	api     *httpapi.API
	tap     *tap
	referee referee
	stops   map[string]func()
}

func newStage(t *testing.T, c Client) *stage {
	st := store.New(store.Options{})
	api := httpapi.New(st, httpapi.Options{Elect: &candidate.CoordinatorOptions{}})
	return &stage{t: t, client: c, st: st, api: api, tap: newTap(api.Transport()), stops: map[string]func(){}}
}

// start starts a contender named after its version.
func (s *stage) start(version string) {
	name := "v" + version
	stop, err := s.client.Start(Contender{
		Name: name, BinaryVersion: version, EmulationVersion: version, Transport: s.tap,
		Started: func(ctx context.Context) { s.referee.started(ctx, name) },
		Stopped: func() { s.referee.stopped(name) },
	})
	require.NoError(s.t, err)
	s.stops[name] = stop
}

func (s *stage) kill(name string) {
	s.stops[name]()
	delete(s.stops, name)
}

// finish checks the rules common to all scenarios.
func (s *stage) finish() {
	for name := range s.stops {
		s.kill(name)
	}
	s.api.Close()
	s.st.Close()
	assert.NoError(s.t, s.referee.verdict())
	assert.Equal(s.t, map[string]bool{s.client.APIVersion + " " + s.client.ContentType: true}, s.tap.wrote(),
		"API version and media type of the candidates")
}
