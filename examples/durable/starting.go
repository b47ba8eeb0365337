package main

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/meta"
)

// sayAgain is how often the log has the same reason again.
const sayAgain = 10 * time.Second

// starting answers requests from the moment the server listens. Until the store is open,
// /livez passes, /readyz fails, and other requests are answered as by a real API server whose
// paths are not all there yet.
type starting struct {
	log   *slog.Logger
	url   string
	empty *store.Store
	early *httpapi.API

	open atomic.Pointer[http.Handler] // of the open store

	mu     sync.Mutex // guards all below
	reason string     // why the store is not open
	said   time.Time  // when the log got the reason
	ended  bool
	end    func() // ends all requests to open
}

func newStarting(log *slog.Logger, url string, opts httpapi.Options) *starting {
	s := &starting{log: log, url: url, reason: "etcd starts", empty: store.New(store.Options{})}
	opts.Checks = []httpapi.HealthCheck{{Name: readiness, ReadyOnly: true, Healthy: s.notReady}}
	s.early = httpapi.New(s.empty, opts)
	return s
}

// ServeHTTP implements http.Handler.
func (s *starting) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if h := s.open.Load(); h != nil {
		(*h).ServeHTTP(w, r)
		return
	}
	switch first, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/"); first {
	case "healthz", "livez", "readyz":
		s.early.ServeHTTP(w, r)
	default:
		// Upstream: controlplane, util/notfoundhandler.
		s.early.Fail(w, r, meta.NewStatusError(http.StatusServiceUnavailable, meta.ReasonServiceUnavailable,
			&meta.StatusDetails{RetryAfterSeconds: 5}, "the request has been made before all known HTTP paths have been installed, please retry"))
	}
}

// waiting notes why the store is not open, and logs it.
func (s *starting) waiting(reason string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	if reason == s.reason && now.Sub(s.said) < sayAgain {
		return
	}
	s.reason, s.said = reason, now
	s.log.Warn("not ready", "listens", s.url, "waits for", reason)
}

func (s *starting) notReady(context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return errors.New("waits for " + s.reason)
}

// serve lets a handler answer from now on. end must end all its requests.
func (s *starting) serve(h http.Handler, end func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		end()
		return
	}
	s.end = end
	s.open.Store(&h)
}

// close ends all requests.
func (s *starting) close() {
	s.early.Close()
	s.empty.Close()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended = true
	if s.end != nil {
		s.end()
	}
}
