package store_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/internal/kinds"
	"github.com/kubecoord/kubecoord/internal/registry"
	"github.com/kubecoord/kubecoord/lease"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/clock"
	"github.com/kubecoord/kubecoord/store/kind"
	"github.com/kubecoord/kubecoord/store/meta"
)

// epoch is the time of the clock of newStore.
var epoch = time.Date(2026, 1, 2, 3, 4, 5, 678_901_234, time.FixedZone("", 3600))

// newStore returns a store with a clock that stands still. It is closed at the end of
// the test.
func newStore(t testing.TB) *store.Store {
	return newStoreWith(t, store.Options{})
}

func newStoreWith(t testing.TB, opts store.Options) *store.Store {
	if opts.Clock == nil {
		opts.Clock = clock.Func(func() time.Time { return epoch })
	}
	st := store.New(opts)
	t.Cleanup(st.Close)
	return st
}

func objectMeta(path string) meta.ObjectMeta {
	namespace, name, _ := strings.Cut(path, "/")
	return meta.ObjectMeta{Namespace: namespace, Name: name}
}

// newLease returns a lease for "namespace/name", changed by each of the functions.
func newLease(path string, changes ...func(*lease.Lease)) *lease.Lease {
	l := &lease.Lease{ObjectMeta: objectMeta(path)}
	for _, change := range changes {
		change(l)
	}
	return l
}

func holder(s string) func(*lease.Lease) {
	return func(l *lease.Lease) { l.Spec.HolderIdentity = new(s) }
}

func label(k, v string) func(*lease.Lease) {
	return func(l *lease.Lease) { l.Labels = map[string]string{k: v} }
}

func finalizers(names ...string) func(*lease.Lease) {
	return func(l *lease.Lease) { l.Finalizers = names }
}

// collection is the door that most tests go through.
type collection = store.Collection[lease.Lease]

func mustCreate(t testing.TB, c *collection, l *lease.Lease) *lease.Lease {
	t.Helper()
	out, err := c.Create(t.Context(), l, store.CreateOptions{})
	require.NoError(t, err)
	return out
}

func createAll(t testing.TB, c *collection, paths ...string) {
	t.Helper()
	for _, path := range paths {
		mustCreate(t, c, newLease(path))
	}
}

func mustUpdate(t testing.TB, c *collection, l *lease.Lease) *lease.Lease {
	t.Helper()
	out, err := c.Update(t.Context(), l, store.UpdateOptions{})
	require.NoError(t, err)
	return out
}

// mustModify changes the lease at "namespace/name".
func mustModify(t testing.TB, c *collection, path string, change func(*lease.Lease)) *lease.Lease {
	t.Helper()
	m := objectMeta(path)
	out, err := c.Modify(t.Context(), m.Namespace, m.Name, func(l *lease.Lease) error {
		change(l)
		return nil
	}, store.UpdateOptions{})
	require.NoError(t, err)
	return out
}

func mustDelete(t testing.TB, c *collection, path string) *lease.Lease {
	t.Helper()
	m := objectMeta(path)
	out, err := c.Delete(t.Context(), m.Namespace, m.Name, store.DeleteOptions{})
	require.NoError(t, err)
	return out
}

func mustGet(t testing.TB, c *collection, path string) *lease.Lease {
	t.Helper()
	m := objectMeta(path)
	out, err := c.Get(t.Context(), m.Namespace, m.Name)
	require.NoError(t, err)
	return out
}

func mustList(t testing.TB, c *collection, opts store.ListOptions) *store.List[lease.Lease] {
	t.Helper()
	l, err := c.List(t.Context(), opts)
	require.NoError(t, err)
	return l
}

// paths returns "namespace/name" of each lease.
func paths(items []*lease.Lease) []string {
	out := make([]string, len(items))
	for i, l := range items {
		out[i] = l.Namespace + "/" + l.Name
	}
	return out
}

// assertStatus demands code, reason and text of an error's Status.
func assertStatus(t testing.TB, err error, code int32, reason meta.Reason, text string) {
	t.Helper()
	var status *meta.StatusError
	if !assert.ErrorAs(t, err, &status) {
		return
	}
	assert.ErrorIs(t, err, reason)
	assert.Equal(t, code, status.Status.Code)
	assert.Equal(t, text, err.Error())
}

// resourceOf returns the untyped collection of a kind.
func resourceOf(st *store.Store, kind kind.Kind) *registry.Resource {
	return (*registry.Store)(st).Resource(kinds.Of(kind))
}
