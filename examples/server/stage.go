package main

import (
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/kubecoord/kubecoord/candidate"
	"github.com/kubecoord/kubecoord/examples/internal/timeline"
	"github.com/kubecoord/kubecoord/httpapi/apitest"
	"github.com/kubecoord/kubecoord/store"
)

// stage is an API with all that belongs to it: its faults, its elections, the
// pages that show them. A world has one at a time.
type stage struct {
	api      *apitest.API
	rec      *timeline.Recorder
	stopRec  func()
	control  http.Handler // below /debug/
	faults   faults
	ctx      context.Context // ends with the stage
	cancel   context.CancelFunc
	mu       sync.Mutex // guards what is below
	over     bool
	requests sync.WaitGroup // of the API; none is added when it is over
}

// newStage opens a stage that begins as a fork of a store.
func (w *world) newStage(from *store.Store) (*stage, error) {
	s := &stage{}
	opts := w.ws.options
	opts.From = from
	opts.Elector = func(st *store.Store) (*candidate.Elector, error) {
		s.rec = timeline.NewRecorder(st, timeline.Options{})
		if !w.ws.elect {
			return nil, nil
		}
		return candidate.NewElector(st, candidate.ElectorOptions{Log: s.rec.Log})
	}
	var err error
	if s.api, err = apitest.Open(opts); err != nil {
		return nil, err
	}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	s.stopRec = record(s.ctx, s.rec)
	s.control = w.newControl(s)
	return s, nil
}

// slowClient is how long a client has to take what was on its way when the stage
// ends.
const slowClient = 500 * time.Millisecond

// serve answers a request for the API, and reports whether it did: a stage that is
// over does not.
func (s *stage) serve(w http.ResponseWriter, r *http.Request) bool {
	s.mu.Lock()
	if s.over {
		s.mu.Unlock()
		return false
	}
	s.requests.Add(1)
	s.mu.Unlock()
	defer s.requests.Done()

	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	ended := make(chan struct{})
	stop := context.AfterFunc(s.ctx, func() {
		defer close(ended)
		http.NewResponseController(w).SetWriteDeadline(time.Now().Add(slowClient))
		cancel() // ends a watch as its timeout does
	})
	defer func() {
		if !stop() {
			<-ended
		}
	}()
	s.api.Handler().ServeHTTP(w, r.WithContext(ctx))
	return true
}

// end ends the watches, waits for the requests under way, and closes the API. Its
// store can still be read.
func (s *stage) end() {
	s.mu.Lock()
	s.over = true
	s.mu.Unlock()
	s.cancel()
	s.requests.Wait()
	s.api.Close()
	s.stopRec()
}
