package debug

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/kubecoord/kubecoord/candidate"
	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/httpapi/apitest"
	"github.com/kubecoord/kubecoord/internal/timeline"
	"github.com/kubecoord/kubecoord/store"
)

// stage is an API with its faults, its elections, and the pages that show them. A
// fork has one at a time.
type stage struct {
	api     *apitest.API
	test    *failures
	rec     *timeline.Recorder
	control http.Handler // below /debug/
	faults  faults
	changed bell            // rung when the page may look different
	ctx     context.Context // ends with the stage
	cancel  context.CancelFunc
	// authenticate returns the user of a request; nil if everyone may send any. named reports whether users are the names of clients.
	authenticate httpapi.Authenticator
	named        bool

	mu    sync.Mutex // guards the fields below
	over  bool
	calls sync.WaitGroup // requests of the API, and the run of rec; none is added once over
}

// failures is used as the test of an apitest.API. It keeps a failure as an error
// instead of ending a test.
type failures struct {
	apitest.TB // nil: an API uses only the methods below
	mu         sync.Mutex
	err        error
}

// Helper does nothing.
func (*failures) Helper() {}

// Cleanup does nothing: a stage closes its API itself.
func (*failures) Cleanup(func()) {}

// Logf does nothing.
func (*failures) Logf(string, ...any) {}

// Errorf does nothing.
func (*failures) Errorf(string, ...any) {}

// TempDir returns the folder of the machine for temporary files.
func (*failures) TempDir() string { return os.TempDir() }

// Fatalf keeps the failure.
func (f *failures) Fatalf(format string, args ...any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.err = fmt.Errorf(format, args...)
}

// last returns the last failure.
func (f *failures) last() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.err
}

// newStage opens a stage with a fork of a store.
func (w *fork) newStage(from *store.Store) (*stage, error) {
	st, err := from.Fork()
	if err != nil {
		return nil, err
	}
	s := &stage{test: &failures{}, rec: timeline.NewRecorder(st)}
	opts := w.srv.options.Server
	opts.Over, opts.API.Parts = st, slices.Clip(opts.API.Parts)
	if w.srv.options.Elect != nil {
		opts.API.Parts = append(opts.API.Parts, httpapi.Elect(s.elector(*w.srv.options.Elect)))
	}
	s.named = opts.API.Authenticate != nil
	opts.API.Parts = append(opts.API.Parts, func(_ *httpapi.API, all *httpapi.Options) func(context.Context) {
		s.authenticate = all.Authenticate // which the Parts before may have set
		return nil
	})
	if s.api = apitest.New(s.test, opts); s.api == nil {
		st.Close()
		return nil, s.test.last()
	}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	s.calls.Go(func() { s.rec.Run(s.ctx) }) // returns the error of s.ctx
	s.control = w.newControl(s)
	return s, nil
}

// elector returns the options of a Coordinator whose events are recorded.
func (s *stage) elector(opts candidate.CoordinatorOptions) candidate.CoordinatorOptions {
	log := opts.Log
	opts.Log = func(ev candidate.ElectionEvent) {
		s.rec.Log(ev)
		if log != nil {
			log(ev)
		}
	}
	return opts
}

// knows reports whether a request has valid credentials.
func (s *stage) knows(r *http.Request) bool {
	if s.authenticate == nil {
		return true
	}
	_, ok := s.authenticate(r)
	return ok
}

// slowClient is how long a client has to read the rest of an answer when the stage
// ends.
const slowClient = 500 * time.Millisecond

// serve answers a request for the API. It returns false, without an answer, if the
// stage has ended.
func (s *stage) serve(w http.ResponseWriter, r *http.Request) bool {
	s.mu.Lock()
	if s.over {
		s.mu.Unlock()
		return false
	}
	s.calls.Add(1)
	s.mu.Unlock()
	defer s.calls.Done()
	defer s.changed.ring()

	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	if s.named && s.authenticate != nil {
		if u, ok := s.authenticate(r); ok {
			ctx = apitest.WithClient(ctx, u.Name)
		}
	}
	ended := make(chan struct{})
	stop := context.AfterFunc(s.ctx, func() {
		defer close(ended)
		http.NewResponseController(w).SetWriteDeadline(time.Now().Add(slowClient))
		cancel() // ends a watch cleanly
	})
	defer func() {
		if !stop() {
			<-ended
		}
	}()
	s.api.Handler().ServeHTTP(w, r.WithContext(ctx))
	return true
}

// end ends the watches, waits for the requests in progress, and closes the API. Its
// store can still be read.
func (s *stage) end() {
	s.mu.Lock()
	s.over = true
	s.mu.Unlock()
	s.cancel()
	s.calls.Wait()
	s.api.Close()
}
