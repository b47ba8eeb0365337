package controllerruntime

import (
	"context"
	"io"
	"net/http"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/kubecoord/kubecoord/internal/test/clients/internal/testapi"
)

// newManager returns a manager that listens nowhere.
func newManager(t *testing.T, api *testapi.API, opts manager.Options) manager.Manager {
	t.Helper()
	opts.Metrics.BindAddress = "0"
	opts.Controller.SkipNameValidation = new(true) // names are remembered for the whole process
	config := api.Config()
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return quietEnd{next} })
	mgr, err := manager.New(config, opts)
	require.NoError(t, err)
	return mgr
}

// quietEnd makes a watch that its reader has left end like any other.
//
// controller-runtime passes watches of metadata alone through apimachinery's
// watch.Filter, whose goroutine waits for ever when such a watch brings one
// event more than is read, and the error of a body that was closed is one more.
// A bubble cannot be left while that goroutine is there.
type quietEnd struct{ http.RoundTripper }

// RoundTrip watches over the end of each answer.
func (q quietEnd) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := q.RoundTripper.RoundTrip(req)
	if err == nil {
		resp.Body = &quietBody{ReadCloser: resp.Body, ctx: req.Context()}
	}
	return resp, err
}

type quietBody struct {
	io.ReadCloser
	ctx    context.Context
	closed atomic.Bool
}

func (b *quietBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err != nil && (b.closed.Load() || b.ctx.Err() != nil) {
		err = io.EOF
	}
	return n, err
}

func (b *quietBody) Close() error {
	b.closed.Store(true)
	return b.ReadCloser.Close()
}

// running is a manager that was started.
type running struct {
	cancel func()
	ended  chan struct{} // closed when err is there
	err    error
}

// start runs a manager inside a bubble, and waits until it has nothing to do.
func start(t *testing.T, mgr manager.Manager) *running {
	t.Helper()
	r := run(t, mgr)
	settle()
	return r
}

// run runs a manager until it is stopped, or the test is over.
func run(t *testing.T, mgr manager.Manager) *running {
	ctx, cancel := context.WithCancel(context.Background())
	r := &running{cancel: cancel, ended: make(chan struct{})}
	go func() {
		defer close(r.ended)
		r.err = mgr.Start(ctx)
	}()
	t.Cleanup(func() { r.stop() })
	return r
}

// stop stops the manager and returns what it ended with.
func (r *running) stop() error {
	r.cancel()
	return r.wait()
}

// wait waits until the manager has ended, by whatever cause.
func (r *running) wait() error {
	<-r.ended
	return r.err
}

// settle waits until nobody has anything to do, not even what is put off for
// some seconds.
func settle() {
	time.Sleep(10 * time.Second)
	synctest.Wait()
}

// longestBackoff is more than reflectors wait before they try again.
const longestBackoff = 2 * time.Minute

// assertFresh holds what a manager has in its cache against the server.
func (f *fixture) assertFresh(t *testing.T, cached client.Reader) {
	t.Helper()
	settle()
	want, got := f.emptyList(t), f.emptyList(t)
	require.NoError(t, f.List(t.Context(), want))
	require.NoError(t, cached.List(t.Context(), got))
	assert.ElementsMatch(t, itemsIn(t, want), itemsIn(t, got))
}
