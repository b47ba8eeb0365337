package testapi

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"syscall"
)

// Link is an http.RoundTripper that can be cut like a network connection. It
// records the requests that pass through.
type Link struct {
	mu       sync.Mutex // guards all below
	next     http.RoundTripper
	down     bool
	open     map[*answer]context.CancelCauseFunc
	requests []Request
}

// Request is a request of a client and its answer.
type Request struct {
	Method, Path        string
	Query               url.Values
	Accept, ContentType string
	IfNoneMatch         string
	// Code and AnswerType are the status code and Content-Type of the answer.
	Code       int
	AnswerType string
}

// String returns the request as text for failing tests.
func (r Request) String() string {
	return fmt.Sprintf("%s %s?%s %d %s", r.Method, r.Path, r.Query.Encode(), r.Code, r.AnswerType)
}

// Watches reports whether the request opened a watch.
func (r Request) Watches() bool { return r.Query.Get("watch") == "true" }

func newLink(next http.RoundTripper) *Link {
	return &Link{next: next, open: map[*answer]context.CancelCauseFunc{}}
}

// RoundTrip passes a request on, unless the link is cut.
func (l *Link) RoundTrip(req *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancelCause(req.Context())
	body := &answer{link: l}
	l.mu.Lock()
	if l.down {
		l.mu.Unlock()
		cancel(nil)
		if req.Body != nil {
			req.Body.Close()
		}
		return nil, syscall.ECONNREFUSED
	}
	l.open[body] = cancel
	next := l.next
	l.mu.Unlock()
	resp, err := next.RoundTrip(req.WithContext(ctx))
	if err != nil {
		l.forget(body)
		return nil, err
	}
	l.mu.Lock()
	l.requests = append(l.requests, Request{
		Method: req.Method, Path: req.URL.Path, Query: req.URL.Query(),
		Accept: req.Header.Get("Accept"), ContentType: req.Header.Get("Content-Type"),
		IfNoneMatch: req.Header.Get("If-None-Match"),
		Code:        resp.StatusCode, AnswerType: resp.Header.Get("Content-Type"),
	})
	l.mu.Unlock()
	body.ReadCloser = resp.Body
	resp.Body = body
	return resp, nil
}

// Cut breaks all connections and refuses new ones until Mend.
func (l *Link) Cut() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.down = true
	for _, cancel := range l.open {
		cancel(io.ErrUnexpectedEOF)
	}
}

// Mend lets requests through again.
func (l *Link) Mend() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.down = false
}

// Redirect sends requests to another server, as if it had replaced the one at
// this address.
func (l *Link) Redirect(to *API) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.next, l.down = to.Link, false
}

// Open returns how many answers have not been closed.
func (l *Link) Open() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.open)
}

// Requests returns the requests that were answered since the last call.
func (l *Link) Requests() []Request {
	l.mu.Lock()
	defer l.mu.Unlock()
	out := slices.Clone(l.requests)
	l.requests = nil
	return out
}

func (l *Link) forget(body *answer) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if cancel := l.open[body]; cancel != nil {
		cancel(nil)
	}
	delete(l.open, body)
}

// answer is the body of a response that passes through a Link.
type answer struct {
	io.ReadCloser
	link *Link
}

// Close closes the body and removes it from the open ones.
func (a *answer) Close() error {
	err := a.ReadCloser.Close()
	a.link.forget(a)
	return err
}
