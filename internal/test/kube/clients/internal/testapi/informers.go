package testapi

import (
	"context"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/tools/cache"
)

// LongestBackoff is longer than the backoff of reflectors.
const LongestBackoff = 2 * time.Minute

// Inform starts the informers of a factory inside a bubble, among them one for Leases with a Recorder, and waits for their
// first sync. They end with the test.
func Inform(t testing.TB, factory informers.SharedInformerFactory) *Recorder {
	t.Helper()
	rec := &Recorder{}
	_, err := factory.Coordination().V1().Leases().Informer().AddEventHandler(rec)
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(func() {
		cancel()
		factory.Shutdown()
	})
	factory.StartWithContext(ctx)
	require.NoError(t, factory.WaitForCacheSyncWithContext(ctx).Err)
	synctest.Wait()
	return rec
}

// Recorder is an event handler that records its calls.
type Recorder struct {
	mu     sync.Mutex // guards events
	events []string
}

func (r *Recorder) add(event string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.events = append(r.events, event)
}

// Take returns the events since the last call.
func (r *Recorder) Take() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := r.events
	r.events = nil
	return out
}

// OnAdd records "found NAME" for the objects of the first list, and "added NAME" for later ones.
func (r *Recorder) OnAdd(obj any, initial bool) {
	event := "added "
	if initial {
		event = "found "
	}
	r.add(event + obj.(metav1.Object).GetName())
}

// OnUpdate records "updated NAME".
func (r *Recorder) OnUpdate(_, obj any) { r.add("updated " + obj.(metav1.Object).GetName()) }

// OnDelete records "deleted NAME", or "missed the deletion of NAME".
func (r *Recorder) OnDelete(obj any) {
	if unseen, ok := obj.(cache.DeletedFinalStateUnknown); ok {
		r.add("missed the deletion of " + strings.TrimPrefix(unseen.Key, Namespace+"/"))
		return
	}
	r.add("deleted " + obj.(metav1.Object).GetName())
}
