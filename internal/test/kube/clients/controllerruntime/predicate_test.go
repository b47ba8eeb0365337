package controllerruntime

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// recorder is a reconciler that records the names of its requests.
type recorder struct {
	mu    sync.Mutex // guards names
	names []string
}

// Reconcile records the object's name.
func (r *recorder) Reconcile(_ context.Context, req reconcile.Request) (reconcile.Result, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.names = append(r.names, req.Name)
	return reconcile.Result{}, nil
}

// take returns the names since the last call.
func (r *recorder) take() []string {
	synctest.Wait()
	r.mu.Lock()
	defer r.mu.Unlock()
	out := r.names
	r.names = nil
	return out
}

// record starts a manager that records the changes of the fixture's resource.
func (f *fixture) record(t *testing.T, opts ...builder.ForOption) *recorder {
	t.Helper()
	mgr := newManager(t, f.api.Bypass(), manager.Options{})
	rec := &recorder{}
	require.NoError(t, builder.ControllerManagedBy(mgr).Named("recorder").For(f.empty(t), opts...).Complete(rec))
	start(t, mgr)
	return rec
}

func TestReconcilerSeesChangesInEachForm(t *testing.T) {
	eachForm(t, func(t *testing.T, f *fixture) {
		o := f.given(t, "a")
		rec := f.record(t)
		assert.Equal(t, []string{"a"}, rec.take(), "the existing object")
		f.given(t, "b", inNamespace("other"))
		assert.Equal(t, []string{"b"}, rec.take())
		f.label(t, o, "1")
		assert.Equal(t, []string{"a"}, rec.take())
		f.label(t, o, "1")
		assert.Empty(t, rec.take(), "nothing was changed")
		require.NoError(t, f.Delete(t.Context(), o))
		assert.Equal(t, []string{"a"}, rec.take())
		time.Sleep(time.Hour)
		assert.Empty(t, rec.take(), "watches opened again repeat no event")
	})
}

// label changes an object's only label.
func (f *fixture) label(t *testing.T, o client.Object, value string) {
	t.Helper()
	before := copyOf(o)
	o.SetLabels(map[string]string{"value": value})
	require.NoError(t, f.Patch(t.Context(), o, client.MergeFrom(before)))
}
