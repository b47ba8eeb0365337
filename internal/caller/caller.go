// Package caller stores in the context of a request the name of its client in a test, and whether a lagging replica
// answers it.
package caller

import "context"

type (
	nameKey  struct{}
	staleKey struct{}
)

// WithName returns a context for the requests of a client with a name.
func WithName(ctx context.Context, name string) context.Context {
	return context.WithValue(ctx, nameKey{}, name)
}

// Name returns the name of the client, or "".
func Name(ctx context.Context) string {
	name, _ := ctx.Value(nameKey{}).(string)
	return name
}

// WithStale returns a context for a request that a lagging replica answers.
func WithStale(ctx context.Context) context.Context {
	return context.WithValue(ctx, staleKey{}, true)
}

// Stale reports whether a lagging replica answers.
func Stale(ctx context.Context) bool {
	stale, _ := ctx.Value(staleKey{}).(bool)
	return stale
}
