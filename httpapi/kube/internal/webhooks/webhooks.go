// Package webhooks sends the requests of one server to admission and conversion webhooks: through its dialer, within time limits
// by the clock of its store, and with a bound on the size of an answer. The clients come from k8s.io/apiserver.
package webhooks

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"

	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/apiserver/pkg/util/webhook"
	"k8s.io/client-go/rest"

	"github.com/kubecoord/kubecoord/store/clock"
)

// Options say how webhooks are reached.
type Options struct {
	// Dial connects to webhooks. Nil is TCP.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
	// Services finds the addresses of services. Nil uses their DNS names.
	Services webhook.ServiceResolver
	// Clock counts the time limits. Nil is the time of the machine.
	Clock clock.Clock
}

// Calls sends requests to webhooks, without credentials. It implements upstream's AuthenticationInfoResolver and
// ServiceResolver, and is safe for concurrent use.
type Calls struct {
	webhook.ServiceResolver
	opts Options

	mu   sync.Mutex          // guards used
	used []http.RoundTripper // the newest ones of the network, at most maxUsed
}

var (
	_ webhook.AuthenticationInfoResolver = (*Calls)(nil)
	_ webhook.ServiceResolver            = (*Calls)(nil)
)

// maxUsed is how many clients the library remembers. An older one has no request that was not sent before.
const maxUsed = 200

// maxAnswer bounds the answer of a webhook, in bytes. A real server has no bound but its memory. An object has at most 1.5 MiB.
const maxAnswer = 16 << 20

// limit is the time limit of a request that has none of its own (upstream: webhook.NewDefaultAuthenticationInfoResolver).
const limit = 30 * time.Second

// New returns Calls, which must be closed.
func New(opts Options) *Calls {
	if opts.Services == nil {
		opts.Services = webhook.NewDefaultServiceResolver()
	}
	if opts.Clock == nil {
		opts.Clock = clock.Real{}
	}
	return &Calls{ServiceResolver: opts.Services, opts: opts}
}

// Close closes the connections that no request uses. Later requests open new ones.
func (c *Calls) Close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, rt := range c.used {
		utilnet.CloseIdleConnectionsFor(rt)
	}
}

// Resolver replaces the AuthenticationInfoResolver of upstream's clients by c.
func (c *Calls) Resolver(webhook.AuthenticationInfoResolver) webhook.AuthenticationInfoResolver {
	return c
}

// ClientConfigFor implements webhook.AuthenticationInfoResolver.
func (c *Calls) ClientConfigFor(string) (*rest.Config, error) { return c.config(), nil }

// ClientConfigForService implements webhook.AuthenticationInfoResolver.
func (c *Calls) ClientConfigForService(string, string, int) (*rest.Config, error) {
	return c.config(), nil
}

// config returns a configuration whose connections no other client shares, which the Proxy ensures.
func (c *Calls) config() *rest.Config {
	return &rest.Config{Dial: c.opts.Dial, Proxy: http.ProxyFromEnvironment, WrapTransport: c.wrap, Timeout: limit}
}

// wrap returns a RoundTripper whose answers are bounded in time and size.
func (c *Calls) wrap(network http.RoundTripper) http.RoundTripper {
	c.mu.Lock()
	if c.used = append(c.used, network); len(c.used) > maxUsed {
		utilnet.CloseIdleConnectionsFor(c.used[0])
		c.used = slices.Delete(c.used, 0, 1)
	}
	c.mu.Unlock()
	return roundTripper(func(req *http.Request) (*http.Response, error) { return c.send(network, req) })
}

type roundTripper func(*http.Request) (*http.Response, error)

// RoundTrip implements http.RoundTripper.
func (f roundTripper) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

// send sends a request. The library ends it after its timeout by package time, and send by the clock of the store.
func (c *Calls) send(next http.RoundTripper, req *http.Request) (*http.Response, error) {
	ctx, cancel := req.Context(), context.CancelFunc(func() {})
	if _, real := c.opts.Clock.(clock.Real); !real {
		if limit, err := time.ParseDuration(req.URL.Query().Get("timeout")); err == nil {
			ctx, cancel = clock.WithDeadline(ctx, c.opts.Clock, c.opts.Clock.Now().Add(limit), context.DeadlineExceeded)
			req = req.WithContext(ctx)
		}
	}
	resp, err := next.RoundTrip(req)
	if err != nil {
		cancel()
		return nil, cause(ctx, err)
	}
	resp.Body = &answer{body: resp.Body, ctx: ctx, cancel: cancel, left: maxAnswer}
	return resp, nil
}

// cause returns the error of a request whose context ended with its cause.
func cause(ctx context.Context, err error) error {
	if errors.Is(context.Cause(ctx), context.DeadlineExceeded) {
		return context.DeadlineExceeded
	}
	return err
}

// answer is the body of an answer.
type answer struct {
	body   io.ReadCloser
	ctx    context.Context
	cancel context.CancelFunc
	left   int // bytes that may be read
}

// Read implements io.Reader.
func (a *answer) Read(p []byte) (int, error) {
	n, err := a.body.Read(p)
	if a.left -= n; a.left < 0 {
		return 0, fmt.Errorf("the answer has more than %d bytes", maxAnswer)
	}
	if err != nil && err != io.EOF {
		err = cause(a.ctx, err)
	}
	return n, err
}

// Close implements io.Closer.
func (a *answer) Close() error {
	a.cancel()
	return a.body.Close()
}

type contextKey struct{}

// With returns a context in which conversion webhooks are called by c.
func With(ctx context.Context, c *Calls) context.Context {
	return context.WithValue(ctx, contextKey{}, c)
}

// From returns the Calls of a context, or nil.
func From(ctx context.Context) *Calls {
	c, _ := ctx.Value(contextKey{}).(*Calls)
	return c
}
