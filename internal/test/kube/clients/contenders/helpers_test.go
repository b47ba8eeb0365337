package contenders

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/httpapi/client"
	"github.com/kubecoord/kubecoord/internal/test/kube/clients/internal/testapi"
	"github.com/kubecoord/kubecoord/lease"
)

const (
	leaseNamespace = testapi.Namespace
	leaseName      = testapi.LockName
)

func TestMain(m *testing.M) { testapi.Main(m) }

// referee records when each contender leads, and fails the test if two lead at once.
type referee struct {
	mu      sync.Mutex // guards all below
	leading map[string]context.Context
	reigns  map[string]int // by kind
	fouls   []string
}

func newReferee() *referee {
	return &referee{leading: map[string]context.Context{}, reigns: map[string]int{}}
}

// started records that id leads until ctx ends or stopped is called.
func (r *referee) started(ctx context.Context, kind, identity string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if ctx.Err() != nil {
		return // client-go calls this in a goroutine, which may run after the stop
	}
	for other, leads := range r.leading {
		if leads.Err() == nil {
			r.fouls = append(r.fouls, fmt.Sprintf("%s: %s began to lead while %s did", time.Now().Format(time.TimeOnly), identity, other))
		}
	}
	r.leading[identity] = ctx
	r.reigns[kind]++
}

func (r *referee) stopped(identity string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.leading, identity)
}

// leader returns the identity of the leader, or "".
func (r *referee) leader() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	for identity, leads := range r.leading {
		if leads.Err() == nil {
			return identity
		}
	}
	return ""
}

// A run contends for the Lease until ctx ends, or until it has led and lost.
type run func(ctx context.Context, identity string, release bool)

// elector is a run of a client-go elector with the timing of Kubernetes.
func elector(t *testing.T, api *testapi.API, r *referee) run {
	client := api.Client(t).CoordinationV1()
	return func(ctx context.Context, identity string, release bool) {
		testapi.RunElector(ctx, testapi.Lock(client, identity), release,
			func(ctx context.Context) { r.started(ctx, "elector", identity) }, func() { r.stopped(identity) })
	}
}

// contender is a run of a Contender in the process of the server, with the same timing.
func contender(t *testing.T, api *testapi.API, r *referee) run {
	return contenderWith(lease.In(api.Store), "contender", r)
}

// remote is a run of a Contender that reaches the Lease through the API.
func remote(t *testing.T, api *testapi.API, r *referee) run {
	config := api.Config()
	c, err := client.New(client.Config{Server: config.Host, Transport: config.Transport})
	require.NoError(t, err)
	return contenderWith(client.In(c, lease.Kind()), "remote", r)
}

func contenderWith(leases lease.Client, kind string, r *referee) run {
	return func(ctx context.Context, identity string, release bool) {
		c, err := lease.NewContender(leases, lease.ContenderOptions{
			Namespace: leaseNamespace, Name: leaseName, Identity: identity, ReleaseOnCancel: release,
		})
		if err != nil {
			panic(err)
		}
		c.Run(ctx, func(ctx context.Context, _ lease.Holding) {
			// It leads until it has stopped, not only until its context ends.
			r.started(context.WithoutCancel(ctx), kind, identity)
			defer r.stopped(identity)
			<-ctx.Done()
		})
	}
}

// start begins a run and returns a function that stops it and waits for its end.
func start(t *testing.T, run run, identity string, release bool) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		run(ctx, identity, release)
	}()
	stop = func() {
		cancel()
		<-done
	}
	t.Cleanup(stop)
	return stop
}
