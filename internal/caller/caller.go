// Package caller stores the observer of an answer in the context of its request.
package caller

import "context"

type observerKey struct{}

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
