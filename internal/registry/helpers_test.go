package registry_test

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/endpoints"
	"github.com/kubecoord/kubecoord/internal/kinds"
	"github.com/kubecoord/kubecoord/internal/registry"
	"github.com/kubecoord/kubecoord/lease"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/clock"
	"github.com/kubecoord/kubecoord/store/meta"
	"github.com/kubecoord/kubecoord/watch"
)

// epoch is the time of the clock of newStore.
var epoch = time.Date(2026, 1, 2, 3, 4, 5, 678_901_234, time.FixedZone("", 3600))

// newStore returns a store with a clock that stands still. It is closed at the end of
// the test.
func newStore(t testing.TB) *registry.Store {
	return newStoreWith(t, registry.Options{})
}

func newStoreWith(t testing.TB, opts registry.Options) *registry.Store {
	if opts.Clock == nil {
		opts.Clock = clock.Func(func() time.Time { return epoch })
	}
	st := registry.New(opts)
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

func newEndpoints(path string) *endpoints.Endpoints {
	return &endpoints.Endpoints{ObjectMeta: objectMeta(path)}
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

// client is the typed collection of a kind, with lists, watches and deletions in the
// wire's form.
type client[T any] struct {
	*store.Collection[T]
	r *registry.Resource
}

func in[T any](st *registry.Store, kind *store.Kind[T]) *client[T] {
	return &client[T]{kind.In((*store.Store)(st)), st.Resource(kinds.Of(kind))}
}

func (c *client[T]) List(ctx context.Context, opts registry.ListOptions) ([]*T, meta.ListMeta, error) {
	l, err := c.r.List(ctx, opts)
	if err != nil {
		return nil, meta.ListMeta{}, err
	}
	return typedItems[T](l), l.Meta(), nil
}

func (c *client[T]) Delete(_ context.Context, namespace, name string, opts kinds.DeleteOptions) (*T, error) {
	call := struct {
		req  registry.Request
		opts kinds.DeleteOptions
	}{registry.Request{Namespace: namespace, Name: name}, opts}
	d, err := c.r.Delete(context.Background(), &call.req, &call.opts)
	if err != nil {
		return nil, err
	}
	return any(d.Copy()).(*T), nil
}

func (c *client[T]) DeleteCollection(ctx context.Context, opts kinds.DeleteOptions, list registry.ListOptions) ([]*T, error) {
	l, err := c.r.DeleteCollection(ctx, registry.Request{}, list, opts)
	if err != nil {
		return nil, err
	}
	return typedItems[T](l), nil
}

func typed[T any](it *registry.Item) *T { return any(it.Copy()).(*T) }

func typedItems[T any](l *registry.List) []*T {
	out := make([]*T, len(l.Items))
	for i, it := range l.Items {
		out[i] = typed[T](it)
	}
	return out
}

// collection is what most tests write and read.
type collection = *client[lease.Lease]

func leasesIn(st *registry.Store) collection { return in(st, lease.Kind()) }

// leaseResource is the untyped collection of the leases.
func leaseResource(st *registry.Store) *registry.Resource {
	return st.Resource(kinds.Of(lease.Kind()))
}

func mustCreate(t testing.TB, c collection, l *lease.Lease) *lease.Lease {
	t.Helper()
	out, err := c.Create(t.Context(), l, store.CreateOptions{})
	require.NoError(t, err)
	return out
}

func createAll(t testing.TB, c collection, paths ...string) {
	t.Helper()
	for _, path := range paths {
		mustCreate(t, c, newLease(path))
	}
}

func mustUpdate(t testing.TB, c collection, l *lease.Lease) *lease.Lease {
	t.Helper()
	out, err := c.Update(t.Context(), l, store.UpdateOptions{})
	require.NoError(t, err)
	return out
}

// mustModify changes the lease at "namespace/name".
func mustModify(t testing.TB, c collection, path string, change func(*lease.Lease)) *lease.Lease {
	t.Helper()
	m := objectMeta(path)
	out, err := c.Modify(t.Context(), m.Namespace, m.Name, func(l *lease.Lease) error {
		change(l)
		return nil
	}, store.UpdateOptions{})
	require.NoError(t, err)
	return out
}

func mustDelete(t testing.TB, c collection, path string) *lease.Lease {
	t.Helper()
	m := objectMeta(path)
	out, err := c.Delete(t.Context(), m.Namespace, m.Name, kinds.DeleteOptions{})
	require.NoError(t, err)
	return out
}

func mustGet(t testing.TB, c collection, path string) *lease.Lease {
	t.Helper()
	m := objectMeta(path)
	out, err := c.Get(t.Context(), m.Namespace, m.Name)
	require.NoError(t, err)
	return out
}

func mustList(t testing.TB, c collection, opts registry.ListOptions) ([]*lease.Lease, meta.ListMeta) {
	t.Helper()
	items, m, err := c.List(t.Context(), opts)
	require.NoError(t, err)
	return items, m
}

// paths returns "namespace/name" of each lease.
func paths(items []*lease.Lease) []string {
	out := make([]string, len(items))
	for i, l := range items {
		out[i] = l.Namespace + "/" + l.Name
	}
	return out
}

// manyPaths returns n paths in one namespace, in order.
func manyPaths(namespace string, n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = fmt.Sprintf("%s/l%05d", namespace, i)
	}
	return out
}

// statusOf demands that an error carries a Status.
func statusOf(t testing.TB, err error) *meta.Status {
	t.Helper()
	var status *meta.StatusError
	require.ErrorAs(t, err, &status)
	return &status.Status
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

// assertPlain demands an error that carries no Status: a server answers 500 with its text.
func assertPlain(t testing.TB, err error, text string) {
	t.Helper()
	assert.EqualError(t, err, text)
	var status *meta.StatusError
	assert.False(t, errors.As(err, &status), "got a Status, want a bare error")
}

func rv(version uint64) string { return strconv.FormatUint(version, 10) }

// recorder follows a watch in a goroutine of its own. It is for synctest bubbles.
type recorder struct {
	t    testing.TB
	w    *registry.Watcher
	done chan struct{}
	stop context.CancelFunc
	end  error // set before done is closed

	mu     sync.Mutex // guards events and items: fake time orders nothing
	events []string   // since the last take
	items  []*registry.Item
}

// record opens a watch that is closed at the end of the test.
func record(t testing.TB, st *registry.Store, opts registry.ListOptions) *recorder {
	t.Helper()
	return recordUnder(t.Context(), t, st, opts)
}

// recordUnder is record under a context.
func recordUnder(ctx context.Context, t testing.TB, st *registry.Store, opts registry.ListOptions) *recorder {
	t.Helper()
	ctx, stop := context.WithCancel(ctx)
	w, err := leaseResource(st).Watch(ctx, opts)
	require.NoError(t, err)
	r := &recorder{t: t, w: w, done: make(chan struct{}), stop: stop}
	go func() {
		defer close(r.done)
		defer w.Close()
		for {
			events, err := w.Next(ctx)
			if err != nil {
				r.end = err
				return
			}
			r.mu.Lock()
			for _, ev := range events {
				r.events = append(r.events, eventText(ev))
				r.items = append(r.items, ev.Item)
			}
			r.mu.Unlock()
		}
	}()
	t.Cleanup(r.close)
	return r
}

func (r *recorder) close() {
	r.stop()
	<-r.done
}

// take returns the events since the last call, once all is quiet.
func (r *recorder) take() []string {
	synctest.Wait()
	r.mu.Lock()
	defer r.mu.Unlock()
	events := r.events
	r.events = nil
	return events
}

// takeItems returns the objects of the events since the last call, once all is quiet.
func (r *recorder) takeItems() []*registry.Item {
	r.take()
	r.mu.Lock()
	defer r.mu.Unlock()
	items := r.items
	r.items = nil
	return items
}

// ended returns the error that the watch ended with, nil while it goes on.
func (r *recorder) ended() error {
	synctest.Wait()
	select {
	case <-r.done:
		return r.end
	default:
		return nil
	}
}

// fromNow are options for changes alone.
func fromNow() registry.ListOptions {
	return registry.ListOptions{SendInitialEvents: new(false), ResourceVersionMatch: registry.MatchNotOlderThan}
}

// eventText is such as "ADDED ns/name@1001".
func eventText(ev registry.ItemEvent) string {
	if ev.Type == watch.Bookmark {
		text := "BOOKMARK @" + ev.Item.ResourceVersion()
		if ev.InitialEnd {
			text += " end"
		}
		return text
	}
	return fmt.Sprintf("%s %s/%s@%s", ev.Type, ev.Item.Namespace(), ev.Item.Name(), ev.Item.ResourceVersion())
}

// replaceUID puts the uid of an object where a wanted text says UID in parentheses.
func replaceUID(text string, uid meta.UID) string {
	return strings.ReplaceAll(text, "(UID)", "("+string(uid)+")")
}

var dryAll = []string{kinds.DryRunAll}
