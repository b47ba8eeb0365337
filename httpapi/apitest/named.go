package apitest

import (
	"context"
	"net/http"
)

type clientKey struct{}

// WithClient returns a context for the request of a client, whose name Match, Request and Verify know as Client. It is for a
// transport of your own, which sends requests to Transport, and for a handler in front of Handler. TransportFor does it for
// one name.
func WithClient(ctx context.Context, name string) context.Context {
	return context.WithValue(ctx, clientKey{}, name)
}

func clientOf(ctx context.Context) string {
	name, _ := ctx.Value(clientKey{}).(string)
	return name
}

// TransportFor is like Transport and names its client for Match, Request and Verify.
func (a *API) TransportFor(client string) http.RoundTripper {
	return namedTransport{a.api.Transport(), client}
}

type namedTransport struct {
	http.RoundTripper
	client string
}

// RoundTrip sends a request in the name of the client.
func (n namedTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	return n.RoundTripper.RoundTrip(req.WithContext(WithClient(req.Context(), n.client)))
}

// CancelRequest does nothing. client-go calls it when its own timeout fires, and ends the context too.
func (n namedTransport) CancelRequest(*http.Request) {}
