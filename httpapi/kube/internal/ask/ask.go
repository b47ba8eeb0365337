// Package ask has the interfaces by which a kind asks its server whether a pod may be evicted, what a review answers, and how to reach a
// node, a pod or a service. Package cluster implements them, and puts the implementations into the context of each request.
package ask

import (
	"context"
	"net/http"
	"net/url"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// Evictor decides about evictions. Without one all are allowed. It may be called from any goroutine.
type Evictor interface {
	// Evict may refuse the eviction of a pod, which it must not change. If exact, the eviction starts again when the pod has changed
	// meanwhile. The error is the answer of the request.
	Evict(ctx context.Context, pod *corev1.Pod, dryRun bool) (exact bool, err error)
}

// Reviewer answers reviews and requests for tokens. Without one the answer to a review is the review itself, and a request for a token gets
// 404. Its methods may be called from any goroutine, and may change their arguments. An error
// is the answer of the request.
type Reviewer interface {
	// Review fills in the answer, mostly in the status, of a review of the group authentication.k8s.io/v1 or authorization.k8s.io/v1. The
	// review was validated before. The server decides which of its metadata the answer has.
	Review(ctx context.Context, review runtime.Object) error
	// Token fills in the status of a request for a token of a ServiceAccount, which is in the store.
	Token(ctx context.Context, account *corev1.ServiceAccount, request *authenticationv1.TokenRequest) error
}

// Proxier passes requests on to nodes, pods and services. Without one none can be reached.
type Proxier interface {
	// Node returns a node, or nil if there is none.
	Node(name string) *corev1.Node
	// Endpoint returns the address of a pod that serves a port of a service, by the port's name.
	Endpoint(namespace, service, port string) (string, error)
	// Handler returns the handler that passes a request on.
	Handler(to Target) http.Handler
}

// Target is where a request is passed on to.
type Target struct {
	url.URL
	// Upgrade refuses requests that do not upgrade their connection, as exec needs it.
	Upgrade bool
	// Logs is the name of the pod whose logs are read, or "".
	Logs string
}

// key is the key of a value of type T in a context.
type key[T any] struct{}

// With returns a context with v for the interface T of this package.
func With[T any](ctx context.Context, v T) context.Context {
	return context.WithValue(ctx, key[T]{}, v)
}

// Of returns what With has put into the context for the interface T, or nil.
func Of[T any](ctx context.Context) T {
	v, _ := ctx.Value(key[T]{}).(T)
	return v
}
