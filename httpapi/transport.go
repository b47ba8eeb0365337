package httpapi

import (
	"cmp"
	"errors"
	"net/http"
	"strings"
)

// Transport returns an http.RoundTripper that passes requests to the API without a socket,
// also inside a testing/synctest bubble. It ignores host and scheme. The end of a request's
// context ends the request. A panic of a handler ends only its request: it is logged, unless it
// is http.ErrAbortHandler, and the client gets io.ErrUnexpectedEOF.
//
// The goroutine of the client runs the handler if it ends with the context of the request, is
// no watch, and has its body in memory. This takes a third of the time of a request of client-go
// away (internal/test/clients/bench, BenchmarkAgainstFake: a get by 37 %, an update by 36 %). The
// API does not know this of kinds, an Authenticator, an Authorizer, a Log or Checks of the user, and
// of Middleware only if the handler has a method AnswersAtOnce() bool, which is asked for each request.
// Other requests have a goroutine each.
func (a *API) Transport() http.RoundTripper { return transport{a} }

type transport struct{ api *API }

var errClosed = errors.New("httpapi: API is closed")

// RoundTrip starts the request and returns when the header of its answer is known.
func (t transport) RoundTrip(req *http.Request) (*http.Response, error) {
	err := req.Context().Err()
	if err == nil && !t.api.begin() {
		err = errClosed
	}
	if err != nil {
		if req.Body != nil {
			req.Body.Close()
		}
		return nil, err
	}
	p := newPipe(t.api, req)
	if t.api.runsAtOnce(req) {
		p.serve()
	} else {
		p.stream()
		go func() {
			growStack()
			p.serve()
		}()
		select {
		case <-p.started:
		case <-req.Context().Done():
			p.cancel(req.Context().Err())
		}
	}
	if err := req.Context().Err(); err != nil {
		return nil, err
	}
	return p.response(req)
}

// CancelRequest does nothing. client-go calls it when its own timeout fires, and ends the context too.
func (t transport) CancelRequest(*http.Request) {}

// begin adds a request to a.running. It returns false if the API is closed.
func (a *API) begin() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.ctx.Err() != nil {
		return false
	}
	a.running.Add(1)
	return true
}

// runsAtOnce reports whether the goroutine of the client may run the handler: the answer is no
// stream, the body is in memory, no kind has functions of the user, and the handler ends with the
// context of the request.
func (a *API) runsAtOnce(req *http.Request) bool {
	return (req.Body == nil || req.Body == http.NoBody || req.GetBody != nil) && !mayWatch(req) &&
		len(a.served.Load().kinds) == len(Kinds()) && a.atOnce()
}

// answersAtOnce returns a function that reports whether a handler may run on the goroutine of the client: it must return when the
// context of its request ends.
func answersAtOnce(h http.Handler, opts Options) func() bool {
	if opts.Authenticate != nil || opts.Authorize != nil || opts.Log != nil || opts.Checks != nil {
		return func() bool { return false }
	}
	if m, ok := h.(interface{ AnswersAtOnce() bool }); ok {
		return m.AnswersAtOnce
	}
	return func() bool { return opts.Middleware == nil }
}

// mayWatch reports whether a request may be a watch.
func mayWatch(req *http.Request) bool {
	if req.Method != http.MethodGet && req.Method != "" {
		return false
	}
	for part, rest := "", req.URL.RawQuery; rest != ""; {
		part, rest, _ = strings.Cut(rest, "&")
		key, _, _ := strings.Cut(part, "=")
		if key == "watch" || strings.Contains(key, "%") {
			return true
		}
	}
	return strings.Contains(req.URL.Path, "/watch/")
}

// asReceived changes a request of a client to one as a server receives it.
func asReceived(r *http.Request) {
	r.RequestURI = r.URL.RequestURI()
	r.Method = cmp.Or(r.Method, http.MethodGet)
	if r.URL.Path == "" {
		u := *r.URL
		u.Path = "/"
		r.URL = &u
	}
	r.Proto, r.ProtoMajor, r.ProtoMinor = "HTTP/1.1", 1, 1
	r.Host = cmp.Or(r.Host, r.URL.Host)
	switch {
	case r.Body == nil:
		r.Body = http.NoBody
	case r.ContentLength == 0 && r.Body != http.NoBody:
		r.ContentLength = -1 // 0 means unknown in a client's request
	}
	r.RemoteAddr = transportAddr
	if r.Header == nil {
		r.Header = http.Header{}
	}
}
