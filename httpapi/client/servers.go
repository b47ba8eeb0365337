package client

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"strings"
	"sync"
	"time"
)

// servers has the addresses of the service. All requests go to one of them until it gives no answer;
// then they go to the next one.
type servers struct {
	logger *slog.Logger // nil: warnings go to slog.Default

	mu      sync.Mutex // guards current, and the fields of all servers but base
	all     []*server
	current int
}

// server is one address.
type server struct {
	base   *url.URL
	silent time.Duration // how long requests have waited since the last answer
	lost   bool          // it has given no answer, and that was logged

	used  context.Context // ends when the client leaves the server
	leave context.CancelCauseFunc
}

// parse reads Config.Server or Config.Servers.
func (s *servers) parse(config Config) error {
	if config.Server != "" && config.Servers != nil {
		return errors.New("Servers: got them together with Server, want one of them")
	}
	for i, text := range config.Servers {
		base, err := parseServer(text)
		if err != nil {
			return fmt.Errorf("Servers[%d]: %w", i, err)
		}
		s.all = append(s.all, &server{base: base})
	}
	if s.all != nil {
		return nil
	}
	base, err := parseServer(config.Server)
	if err != nil {
		return fmt.Errorf("Server: %w", err)
	}
	s.all = []*server{{base: base}}
	return nil
}

// use returns the server for the next request, and a context that ends when the client leaves it.
func (s *servers) use() (*server, context.Context) {
	s.mu.Lock()
	defer s.mu.Unlock()
	v := s.all[s.current]
	if v.used == nil {
		v.used, v.leave = context.WithCancelCause(context.Background())
	}
	return v, v.used
}

// nextLocked makes the next server the current one if v is.
func (s *servers) nextLocked(v *server) bool {
	if len(s.all) == 1 || s.all[s.current] != v {
		return false
	}
	s.current = (s.current + 1) % len(s.all)
	return true
}

// answered notes an answer. After a 5xx the next request goes to another server, which may be able to
// answer, but watches stay.
func (s *servers) answered(v *server, code int) {
	s.mu.Lock()
	found := v.lost
	v.silent, v.lost = 0, false
	if code >= 500 {
		s.nextLocked(v)
	}
	s.mu.Unlock()
	if found {
		s.log(slog.LevelInfo, "client: the server answers again", v)
	}
}

// failed notes that a server gave no answer, and leaves it.
func (s *servers) failed(v *server, err error) {
	s.mu.Lock()
	known := v.lost
	v.silent, v.lost = 0, true
	if s.nextLocked(v) {
		v.leave(&ended{text: "the client has left the server, which does not answer"})
		v.used = nil
	}
	s.mu.Unlock()
	if !known {
		s.log(slog.LevelWarn, "client: the server does not answer", v, slog.Any("error", err))
	}
}

// patience is how long requests wait without an answer, summed, before the client leaves a server. The deadline of one
// request may be too short for any server.
const patience = time.Second

// waited notes that a request was given up after some time.
func (s *servers) waited(v *server, d time.Duration, err error) {
	s.mu.Lock()
	v.silent += d
	leave := v.silent >= patience
	s.mu.Unlock()
	if leave {
		s.failed(v, err)
	}
}

func (s *servers) log(level slog.Level, text string, v *server, more ...slog.Attr) {
	logger := s.logger
	if logger == nil && level < slog.LevelWarn {
		return
	} else if logger == nil {
		logger = slog.Default()
	}
	logger.LogAttrs(context.Background(), level, text, append([]slog.Attr{slog.String("server", v.base.String())}, more...)...)
}

// ended is the reason for which the client itself ended a request.
type ended struct {
	text string
	late bool
}

// Error returns the reason.
func (e *ended) Error() string { return e.text }

// Is reports whether target is context.DeadlineExceeded and a time is over.
func (e *ended) Is(target error) bool { return e.late && target == context.DeadlineExceeded }

func afterTime(d time.Duration) *ended {
	return &ended{text: "gave up after " + d.Round(time.Millisecond).String(), late: true}
}

// attempt is one request to one server. Its context ends after the time that the server has.
type attempt struct {
	c        *Client
	server   *server
	left     context.Context // ends when the client leaves the server
	caller   context.Context
	ctx      context.Context
	cancel   context.CancelCauseFunc
	timer    *time.Timer // nil without such a time
	began    time.Time
	watching bool
}

// begin chooses the server; within 0 is no limit. The caller calls end.
func (c *Client) begin(ctx context.Context, within time.Duration) *attempt {
	a := &attempt{c: c, caller: ctx, began: time.Now()}
	a.server, a.left = c.servers.use()
	a.ctx, a.cancel = context.WithCancelCause(ctx)
	if within > 0 {
		a.timer = time.AfterFunc(within, func() { a.cancel(afterTime(within)) })
	}
	return a
}

// unlimited ends the limit of time.
func (a *attempt) unlimited() {
	if a.timer != nil {
		a.timer.Stop()
	}
}

// watch notes that the answer to a watch has begun. From now on its end shows nothing about the
// server, unless the server no longer answers pings.
func (a *attempt) watch(code int) {
	a.unlimited()
	a.watching = true
	a.c.servers.answered(a.server, code)
}

// end notes whether the server answered: with code, or 0 if there was no answer.
func (a *attempt) end(code int, err error) {
	a.unlimited()
	defer a.cancel(nil)
	_, none := errors.AsType[*noAnswer](err)
	switch {
	case !none && code != 0 && !a.watching:
		a.c.servers.answered(a.server, code)
	case !none, a.caller.Err() == context.Canceled, a.left.Err() != nil, a.watching && !strings.Contains(err.Error(), pingLost):
	case a.ctx.Err() != nil:
		a.c.servers.waited(a.server, time.Since(a.began), err)
	default:
		a.c.servers.failed(a.server, err)
	}
}

// pingLost is the text of net/http for a connection on which no ping is answered.
const pingLost = "http2: client connection lost"

// The limits for the time of an attempt if there are several servers.
const (
	shortestAttempt = patience
	longestAttempt  = 10 * time.Second
)

// share returns how long one of several servers has, so that time is left for the next one: half of
// the time until the deadline. It returns 0, which is no limit, if there is one server.
func (c *Client) share(ctx context.Context) time.Duration {
	if len(c.servers.all) == 1 {
		return 0
	}
	half := longestAttempt
	if deadline, ok := ctx.Deadline(); ok {
		half = time.Until(deadline) / 2
	}
	return min(max(half, shortestAttempt), longestAttempt)
}

// opening returns how long a server has to begin its answer to a watch; 0 is no limit.
func (c *Client) opening(ctx context.Context) time.Duration {
	within := c.share(ctx)
	if c.timeout > 0 && (within == 0 || c.timeout < within) {
		return c.timeout
	}
	return within
}
