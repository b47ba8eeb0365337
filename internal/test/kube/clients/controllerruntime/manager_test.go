package controllerruntime

import (
	"context"
	"io"
	"net/http"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/kubecoord/kubecoord/internal/test/kube/clients/internal/testapi"
)

// newManager returns a manager without listeners.
func newManager(t *testing.T, api *testapi.API, opts manager.Options) manager.Manager {
	t.Helper()
	config := api.Config()
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return quietEnd{next} })
	mgr, err := manager.New(config, quiet(opts))
	require.NoError(t, err)
	return mgr
}

// quiet returns options for a manager without listeners.
func quiet(opts manager.Options) manager.Options {
	opts.Metrics.BindAddress = "0"
	opts.Controller.SkipNameValidation = new(true) // the names in use are global to the process
	return opts
}

// quietEnd hides the read error of a watch whose body its reader has closed.
//
// controller-runtime passes metadata-only watches through apimachinery's
// watch.Filter. Its goroutine blocks for ever on an event that nobody reads,
// and the read error would be such an event. A bubble cannot end while that
// goroutine exists.
type quietEnd struct{ http.RoundTripper }

// RoundTrip wraps the body of each answer.
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
	ended  chan struct{} // closed after err is set
	err    error
}

// start runs a manager inside a bubble, and waits until it is idle.
func start(t *testing.T, mgr manager.Manager) *running {
	t.Helper()
	r := run(t, mgr)
	settle()
	return r
}

// run runs a manager until it is stopped, or the test is over.
func run(t testing.TB, mgr manager.Manager) *running {
	ctx, cancel := context.WithCancel(context.Background())
	r := &running{cancel: cancel, ended: make(chan struct{})}
	go func() {
		defer close(r.ended)
		r.err = mgr.Start(ctx)
	}()
	t.Cleanup(func() { r.stop() })
	return r
}

// stop stops the manager and returns its error.
func (r *running) stop() error {
	r.cancel()
	return r.wait()
}

// wait waits until the manager has ended and returns its error.
func (r *running) wait() error {
	<-r.ended
	return r.err
}

// settle waits until all goroutines are idle, including work delayed by some
// seconds.
func settle() {
	time.Sleep(10 * time.Second)
	synctest.Wait()
}
