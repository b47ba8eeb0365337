package httpapi

import (
	"cmp"
	"errors"
	"net/http"
)

// Transport returns an http.RoundTripper that passes requests to the API without a socket,
// also inside a testing/synctest bubble. It ignores host and scheme. The end of a request's
// context ends the request. A panic of Middleware ends only its request: it is logged, unless it
// is http.ErrAbortHandler, and the client gets io.ErrUnexpectedEOF. A panic behind the Middleware is
// answered as by a port: 500. Each request has a goroutine.
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
	go func() {
		growStack()
		p.serve()
	}()
	p.awaitStart()
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
