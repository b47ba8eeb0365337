// Package caller keeps two things in the context of a request: the observer of its answer, and the function that takes its warnings.
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

type warnerKey struct{}

// WithWarner returns a context for a request whose warnings are passed to warn.
func WithWarner(ctx context.Context, warn func(text string)) context.Context {
	return context.WithValue(ctx, warnerKey{}, warn)
}

// Warner returns the function that takes the warnings of a request, or nil.
func Warner(ctx context.Context) func(text string) {
	warn, _ := ctx.Value(warnerKey{}).(func(string))
	return warn
}
