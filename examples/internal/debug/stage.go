package debug

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/kubecoord/kubecoord/candidate"
	"github.com/kubecoord/kubecoord/examples/internal/timeline"
	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/httpapi/apitest"
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
	mu      sync.Mutex // guards the fields below
	over    bool
	calls   sync.WaitGroup // requests of the API, and the run of rec; none is added once over
}

// failures is used as the test of an apitest.API. It keeps a failure as an error
// instead of ending a test.
type failures struct {
	apitest.TB // nil: a stage uses only the methods below
	err        error
}

// Helper does nothing.
func (*failures) Helper() {}

// Cleanup does nothing: a stage closes its API itself.
func (*failures) Cleanup(func()) {}

// Logf does nothing.
func (*failures) Logf(string, ...any) {}

// Fatalf keeps the failure.
func (f *failures) Fatalf(format string, args ...any) { f.err = fmt.Errorf(format, args...) }

// newStage opens a stage with a fork of a store.
func (w *fork) newStage(from *store.Store) (*stage, error) {
	st, err := from.Fork()
	if err != nil {
		return nil, err
	}
	s := &stage{test: &failures{}, rec: timeline.NewRecorder(st)}
	opts := w.srv.options
	opts.Over = st
	if w.srv.elect {
		opts.API.Parts = append(slices.Clip(opts.API.Parts), httpapi.Elect(candidate.CoordinatorOptions{Log: s.rec.Log}))
	}
	if s.api = apitest.New(s.test, opts); s.api == nil {
		st.Close()
		return nil, s.test.err
	}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	s.calls.Go(func() { s.rec.Run(s.ctx) }) // returns the error of s.ctx
	s.control = w.newControl(s)
	return s, nil
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
