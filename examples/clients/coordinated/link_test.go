package main

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"net/http"
	"sync"
	"syscall"
	"time"
)

// weather is how a link does.
type weather string

const (
	clear   weather = "clear"
	slow    weather = "slow"    // answers, and requests, take up to the link's delay
	failing weather = "failing" // requests fail at once, watches break
	hanging weather = "hanging" // nothing comes through; in the end connections break
	flaky   weather = "flaky"   // a third fail, a third break after the server did its part
	dead    weather = "dead"    // failing, for ever
)

// givesUp is when a connection that is silent is given up: client-go pings those
// of HTTP/2 after 30s, and waits another 15s.
const givesUp = 45 * time.Second

var (
	errBroken  = errors.New("connection broken")
	errRefused = syscall.ECONNREFUSED
)

// link is the http.RoundTripper between one process and the server.
//
// A request that hangs is never answered late. Nor does slow answer later than
// its delay: client-go's electors count from when an answer comes, so that two
// may lead at once if one comes later than LeaseDuration - RenewDeadline -
// RetryPeriod. No server can help that.
type link struct {
	next  http.RoundTripper
	delay time.Duration
	// watching is told of watches that open and end, and failed of each request
	// that breaks while others do not.
	watching func(open bool)
	failed   func()

	mu      sync.Mutex // guards all below
	rng     *rand.Rand
	weather weather
	turn    chan struct{} // closed when the weather changes
	streams map[*stream]context.CancelCauseFunc
}

func newLink(next http.RoundTripper, delay time.Duration, seed uint64) *link {
	return &link{
		next: next, delay: delay, rng: rand.New(rand.NewPCG(seed, 1)),
		weather: clear, turn: make(chan struct{}), streams: map[*stream]context.CancelCauseFunc{},
	}
}

// set changes the weather. What stands in the way of it breaks.
func (l *link) set(w weather) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.weather == dead || l.weather == w {
		return
	}
	if w == failing || w == dead || l.weather == hanging {
		l.breakAllLocked()
	}
	l.weather = w
	close(l.turn)
	l.turn = make(chan struct{})
	if w == hanging {
		turn := l.turn
		time.AfterFunc(givesUp, func() {
			l.mu.Lock()
			defer l.mu.Unlock()
			if l.turn == turn {
				l.breakAllLocked()
			}
		})
	}
}

func (l *link) breakAllLocked() {
	for _, cut := range l.streams {
		cut(errBroken)
	}
}

// now returns the weather, when it turns, and two dice.
func (l *link) now() (w weather, turn <-chan struct{}, before, after float64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.weather, l.turn, l.rng.Float64(), l.rng.Float64()
}

// RoundTrip passes a request on if the weather allows.
func (l *link) RoundTrip(req *http.Request) (*http.Response, error) {
	w, _, before, after := l.now()
	if err := l.pass(req.Context(), w, before); err != nil {
		closeBody(req)
		return nil, err
	}
	ctx, cut := context.WithCancelCause(req.Context())
	resp, err := l.next.RoundTrip(req.WithContext(ctx))
	if err != nil {
		cut(err)
		return nil, err
	}
	if now, _, _, _ := l.now(); now != w && now != slow {
		w = now
	}
	if w == flaky && after > 0.5 {
		l.failed()
		err = errBroken
	} else if w != flaky {
		err = l.pass(req.Context(), w, after)
	}
	if err != nil {
		cut(err)
		resp.Body.Close()
		return nil, err
	}
	if req.URL.Query().Get("watch") == "true" {
		resp.Body = l.open(resp.Body, ctx, cut)
	} else {
		context.AfterFunc(req.Context(), func() { cut(nil) })
	}
	return resp, nil
}

// pass waits until a request, or its answer, is through.
func (l *link) pass(ctx context.Context, w weather, dice float64) error {
	switch w {
	case failing, dead:
		return errRefused
	case hanging:
		return l.hang(ctx)
	case flaky:
		if dice < 1./3 {
			l.failed()
			return errRefused
		}
	case slow:
		return sleep(ctx, time.Duration(dice*float64(l.delay)))
	}
	return nil
}

// hang waits for the end of a request that does not get through.
func (l *link) hang(ctx context.Context) error {
	_, turn, _, _ := l.now()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-turn:
	case <-time.After(givesUp):
	}
	return errBroken
}

func closeBody(req *http.Request) {
	if req.Body != nil {
		req.Body.Close()
	}
}

// open makes a stream of the body of a watch.
func (l *link) open(body io.ReadCloser, ctx context.Context, cut context.CancelCauseFunc) *stream {
	s := &stream{body: body, link: l, ctx: ctx}
	s.end = sync.OnceFunc(func() {
		l.mu.Lock()
		delete(l.streams, s)
		l.mu.Unlock()
		cut(nil)
		l.watching(false)
	})
	l.mu.Lock()
	l.streams[s] = cut
	l.mu.Unlock()
	l.watching(true)
	return s
}

// stream is a watch on its way through a link.
type stream struct {
	body io.ReadCloser
	link *link
	ctx  context.Context
	end  func()
}

// Read reads the bytes that come through.
func (s *stream) Read(p []byte) (int, error) {
	n, err := s.body.Read(p)
	if w, _, _, _ := s.link.now(); w == hanging && s.ctx.Err() == nil {
		<-s.ctx.Done()
	}
	if s.ctx.Err() != nil {
		n, err = 0, errBroken
	}
	if err != nil {
		s.end()
	}
	return n, err
}

// Close ends the watch.
func (s *stream) Close() error {
	s.end()
	return s.body.Close()
}
