package admission

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/apiserver/pkg/util/proxy"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/rest"

	"github.com/kubecoord/kubecoord/internal/registry"
	"github.com/kubecoord/kubecoord/store/clock"
)

// calls sends requests to webhooks. It finds services in the store, and sends no credentials.
type calls struct {
	objects *objects
	dial    func(ctx context.Context, network, address string) (net.Conn, error) // nil for TCP
	clock   clock.Clock

	mu   sync.Mutex          // guards used
	used []http.RoundTripper // the newest ones of the network, at most maxUsed
}

// maxUsed is how many clients the library remembers. An older one has no request that was not sent before.
const maxUsed = 200

// maxAnswer bounds the answer of a webhook, in bytes. A real server has no bound but its memory. An object has at most 1.5 MiB.
const maxAnswer = 16 << 20

func newCalls(o *objects, opts Options) *calls {
	return &calls{objects: o, dial: opts.Dial, clock: (*registry.Store)(o.api.Store()).Clock()}
}

// close closes the connections that no request uses.
func (c *calls) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, rt := range c.used {
		utilnet.CloseIdleConnectionsFor(rt)
	}
}

// ClientConfigFor implements webhook.AuthenticationInfoResolver.
func (c *calls) ClientConfigFor(string) (*rest.Config, error) { return c.config(), nil }

// ClientConfigForService implements webhook.AuthenticationInfoResolver.
func (c *calls) ClientConfigForService(string, string, int) (*rest.Config, error) {
	return c.config(), nil
}

// config returns a configuration whose connections no other client shares, which the Proxy ensures.
func (c *calls) config() *rest.Config {
	return &rest.Config{Dial: c.dial, Proxy: http.ProxyFromEnvironment, WrapTransport: c.wrap}
}

// wrap returns a RoundTripper whose answers are bounded in time and size.
func (c *calls) wrap(network http.RoundTripper) http.RoundTripper {
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
func (c *calls) send(next http.RoundTripper, req *http.Request) (*http.Response, error) {
	ctx, cancel := req.Context(), context.CancelFunc(func() {})
	if _, real := c.clock.(clock.Real); !real {
		if limit, err := time.ParseDuration(req.URL.Query().Get("timeout")); err == nil {
			ctx, cancel = clock.WithDeadline(ctx, c.clock, c.clock.Now().Add(limit), context.DeadlineExceeded)
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

// ResolveEndpoint implements webhook.ServiceResolver as a server that does not route to endpoints itself.
func (c *calls) ResolveEndpoint(namespace, name string, port int32) (*url.URL, error) {
	return proxy.ResolveCluster(serviceLister{objects: c.objects}, namespace, name, port)
}

// serviceLister reads services from the store.
type serviceLister struct {
	corelisters.ServiceLister
	objects *objects
}

// Services implements corelisters.ServiceLister.
func (l serviceLister) Services(namespace string) corelisters.ServiceNamespaceLister {
	return namespacedServices{objects: l.objects, namespace: namespace}
}

type namespacedServices struct {
	corelisters.ServiceNamespaceLister
	objects   *objects
	namespace string
}

// Get implements corelisters.ServiceNamespaceLister.
func (l namespacedServices) Get(name string) (*corev1.Service, error) {
	o, err := l.objects.get(corev1.SchemeGroupVersion.WithResource("services"), l.namespace, name)
	if err != nil {
		return nil, apierrors.NewNotFound(corev1.Resource("service"), name) // the text of a lister
	}
	return o.(*corev1.Service), nil
}
