package httpapi

import (
	"cmp"
	"errors"
	"io"
	"log"
	"net/http"
	"runtime/debug"
	"strconv"
	"strings"
)

// Transport returns an http.RoundTripper that passes requests to the API without a
// socket. Watches are streamed. The end of a request's context ends the request. The
// Transport works inside a testing/synctest bubble. It ignores host and scheme. A panic
// of a handler ends only its request, as behind a socket: the client gets
// io.ErrUnexpectedEOF, from RoundTrip or from the body of an answer that has begun. The
// panic is logged, unless it is http.ErrAbortHandler.
func (a *API) Transport() http.RoundTripper { return transport{a} }

type transport struct{ api *API }

var errClosed = errors.New("httpapi: API is closed")

// RoundTrip starts the request and returns when the header of its answer is known.
func (t transport) RoundTrip(req *http.Request) (*http.Response, error) {
	if err := req.Context().Err(); err != nil {
		closeBody(req.Body)
		return nil, err
	}
	if !t.api.begin() {
		closeBody(req.Body)
		return nil, errClosed
	}
	if t.api.runsAtOnce(req) {
		return t.answerAtOnce(req)
	}
	return t.stream(req)
}

// CancelRequest does nothing: the context of a request ends it. client-go looks for
// this method when its own timeout fires.
func (t transport) CancelRequest(*http.Request) {}

// begin adds a request to a.calls. It returns false if the API is closed.
func (a *API) begin() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.ctx.Err() != nil {
		return false
	}
	a.calls.Add(1)
	return true
}

// runsAtOnce reports whether the goroutine of the client may run the handler of a request.
// The handler must not stream, and must end with the context of the request. A read of the
// request's body may not, unless the body is in memory: then it has a GetBody.
func (a *API) runsAtOnce(req *http.Request) bool {
	return (req.Body == nil || req.Body == http.NoBody || req.GetBody != nil) && !mayWatch(req) && a.atOnce()
}

// answersAtOnce returns a function that reports whether handlers end with the context of
// their request. A function of the user may not. Middleware whose handler has the method
// AnswersAtOnce decides itself.
func answersAtOnce(h http.Handler, opts Options, otherKinds bool) func() bool {
	if otherKinds || opts.Authenticate != nil || opts.Authorize != nil || opts.Log != nil || opts.Checks != nil {
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
	if r.Host == "" {
		r.Host = r.URL.Host
	}
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

func closeBody(body io.Closer) {
	if body != nil {
		body.Close()
	}
}

// serveGuarded calls a handler, and then ended. whole is false if the handler panicked or
// ended its goroutine: a server then cuts the connection.
func serveGuarded(h http.Handler, w http.ResponseWriter, r *http.Request, ended func(whole bool)) {
	whole := false
	defer func() {
		if problem := recover(); problem != nil && problem != http.ErrAbortHandler {
			log.Printf("httpapi: panic serving %s %s: %v\n%s", r.Method, r.URL.Path, problem, debug.Stack())
		}
		ended(whole)
	}()
	h.ServeHTTP(w, r)
	whole = true
}

// fillResponse completes the response to req.
func fillResponse(resp *http.Response, req *http.Request, code int, header http.Header, body io.ReadCloser) {
	length, err := strconv.ParseInt(header.Get("Content-Length"), 10, 64)
	if err != nil {
		length = -1
	}
	status := "200 OK"
	if code != http.StatusOK {
		status = strconv.Itoa(code) + " " + http.StatusText(code)
	}
	*resp = http.Response{
		Status: status, StatusCode: code,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: header, Body: body, ContentLength: length, Request: req,
	}
}
