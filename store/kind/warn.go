package kind

import "context"

type warnKey struct{}

// WithWarn returns a context with the function that takes the warnings of Warn. A store sets it for Subresource.Answer.
func WithWarn(ctx context.Context, warn func(text string)) context.Context {
	return context.WithValue(ctx, warnKey{}, warn)
}

// Warn adds a warning to the answer of the request that Subresource.Answer has the context of.
func Warn(ctx context.Context, text string) {
	if warn, ok := ctx.Value(warnKey{}).(func(string)); ok {
		warn(text)
	}
}
