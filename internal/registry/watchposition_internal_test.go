package registry

import (
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/store/meta"
	"github.com/kubecoord/kubecoord/watch"
)

// TestWatchLosesNoWriteThatComesNext lets a write have the lock at the moment in which a watch that
// begins with the state gives it back. A sync.Mutex hands itself from one goroutine to the next
// if these have waited for a millisecond, and on one processor the one that gave it does not run
// before the other has finished.
func TestWatchLosesNoWriteThatComesNext(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	starve := func() {
		for start := time.Now(); time.Since(start) < 2*time.Millisecond; {
			runtime.Gosched()
		}
	}
	st := New(Options{})
	defer st.Close()
	r := st.Resource(checkedKind(t, func(string) {}))
	create := func(name string) {
		_, err := r.Create(t.Context(), &widget{ObjectMeta: meta.ObjectMeta{Name: name}}, &Request{Namespace: "ns"})
		assert.NoError(t, err)
	}
	done := make(chan *Watcher, 3)
	st.mu.Lock()
	go func() { create("before"); done <- nil }()
	starve()
	st.mu.Unlock()
	st.mu.Lock() // before the other one wakes, which asks for the lock to be handed over from now on
	starve()
	go func() {
		w, err := r.Watch(t.Context(), ListOptions{OtherRules: true})
		assert.NoError(t, err)
		done <- w
	}()
	starve()
	go func() { create("next"); done <- nil }()
	starve()
	st.mu.Unlock()
	var w *Watcher
	for range cap(done) {
		if opened := <-done; opened != nil {
			w = opened
		}
	}
	defer w.Close()
	create("last")
	var names []string
	for len(names) == 0 || names[len(names)-1] != "last" {
		events, err := w.Next(t.Context())
		require.NoError(t, err)
		for _, ev := range events {
			require.Equal(t, watch.Added, ev.Type)
			names = append(names, ev.Item.Name())
		}
	}
	assert.Equal(t, []string{"before", "next", "last"}, names)
}
