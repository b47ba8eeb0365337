// Package caller stores facts of a request in its context: an observer of the answer, and whether the server itself writes.
package caller

import "context"

type (
	observerKey struct{}
	serverKey   struct{}
)

// Sight is a version that an answer or a watch event shows to the client of a request: of one object, or of all objects in
// the scope of the request if Name is "".
type Sight struct {
	Namespace, Name string
	Version         uint64
}

// WithObserver returns a context for a request whose Sights are passed to observe, each one
// before the bytes that show it are written.
func WithObserver(ctx context.Context, observe func(Sight)) context.Context {
	return context.WithValue(ctx, observerKey{}, observe)
}

// Observer returns the observer of a request, or nil.
func Observer(ctx context.Context) func(Sight) {
	observe, _ := ctx.Value(observerKey{}).(func(Sight))
	return observe
}

// WithServer returns a context for writes below admission, which a real server makes in its storage, such as the deletion of
// the objects of a CustomResourceDefinition.
func WithServer(ctx context.Context) context.Context {
	return context.WithValue(ctx, serverKey{}, true)
}

// IsServer reports whether a write is below admission.
func IsServer(ctx context.Context) bool { return ctx.Value(serverKey{}) != nil }
