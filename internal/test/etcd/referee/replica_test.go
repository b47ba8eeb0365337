package referee

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	apiwatch "k8s.io/apimachinery/pkg/watch"
	"k8s.io/apiserver/pkg/apis/example"
	"k8s.io/apiserver/pkg/storage"
	"k8s.io/apiserver/pkg/storage/cacher"
	etcdfeature "k8s.io/apiserver/pkg/storage/feature"

	"github.com/kubecoord/kubecoord/internal/registry"
)

// This file compares a registry.Replica with upstream's watch cache. Both read the same store, and lag behind it.

// lagging is a storage that holds back watch events, so that a watch cache over it lags.
type lagging struct {
	*Storage
	mu   sync.Mutex // guards gate
	gate chan struct{}
}

// hold holds back watch events until the next release.
func (l *lagging) hold() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.gate = make(chan struct{})
}

func (l *lagging) release() { close(l.gate) }

// RequestWatchProgress does nothing, because progress is held back too.
func (l *lagging) RequestWatchProgress(context.Context) error { return nil }

// EnableResourceSizeEstimation is for priority and fairness.
func (l *lagging) EnableResourceSizeEstimation(storage.KeysFunc) error { return nil }

// Watch returns a watch that can be held back.
func (l *lagging) Watch(ctx context.Context, key string, opts storage.ListOptions) (apiwatch.Interface, error) {
	from, err := l.Storage.Watch(ctx, key, opts)
	if err != nil {
		return nil, err
	}
	out := &held{Interface: from, events: make(chan apiwatch.Event), stopped: make(chan struct{})}
	go func() {
		defer close(out.events)
		for ev := range from.ResultChan() {
			l.mu.Lock()
			gate := l.gate
			l.mu.Unlock()
			if gate != nil {
				select {
				case <-gate:
				case <-out.stopped:
				}
			}
			select {
			case out.events <- ev:
			case <-out.stopped:
			}
		}
	}()
	return out, nil
}

// held is a watch whose events are delayed.
type held struct {
	apiwatch.Interface
	events  chan apiwatch.Event
	once    sync.Once
	stopped chan struct{}
}

func (h *held) ResultChan() <-chan apiwatch.Event { return h.events }

func (h *held) Stop() {
	h.once.Do(func() { close(h.stopped) })
	h.Interface.Stop()
}

// newerEtcd supports progress on request, as all but very old versions of etcd do.
type newerEtcd struct {
	etcdfeature.FeatureSupportChecker
}

func (newerEtcd) Supports(storage.Feature) bool { return true }

// rivals are upstream's watch cache and our replica. Both are at version 4, while the store is at 6: a was changed and c
// was created since.
type rivals struct {
	lagging *lagging
	cache   storage.Interface
	ours    *Storage
	replica *registry.Replica
}

func newRivals(t *testing.T) *rivals {
	t.Helper()
	f := newFixture(t, registry.Options{})
	r := &rivals{lagging: &lagging{Storage: f.Storage}, ours: f.Storage}
	config := cacher.Config{
		Storage: r.lagging, Versioner: storage.APIObjectVersioner{}, GroupResource: schema.GroupResource{Resource: "pods"},
		EventsHistoryWindow: cacher.DefaultEventFreshDuration, ResourcePrefix: resourcePrefix,
		KeyFunc:      func(obj runtime.Object) (string, error) { return podKey(obj.(*example.Pod).Name), nil },
		GetAttrsFunc: storage.DefaultNamespaceScopedAttr,
		NewFunc:      func() runtime.Object { return &example.Pod{} }, NewListFunc: func() runtime.Object { return &example.PodList{} },
		Codec: newCodec(),
	}
	c, err := cacher.NewCacherFromConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	d := cacher.NewCacheDelegator(c, r.lagging)
	t.Cleanup(func() {
		d.Stop()
		c.Stop()
	})
	r.cache = d
	if err := c.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	r.create(t, "a")
	r.label(t, "a", "x")
	r.create(t, "b")
	synctest.Wait()
	r.lagging.hold()
	if r.replica, err = f.st.NewReplica(registry.ReplicaOptions{}); err != nil {
		t.Fatal(err)
	}
	r.label(t, "a", "y")
	r.create(t, "c")
	synctest.Wait()
	return r
}

func podKey(name string) string { return resourcePrefix + "ns/" + name }

func (r *rivals) create(t *testing.T, name string) {
	t.Helper()
	pod := &example.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name}}
	if err := r.ours.Create(t.Context(), podKey(name), pod, &example.Pod{}, 0); err != nil {
		t.Fatal(err)
	}
}

func (r *rivals) label(t *testing.T, name, value string) {
	t.Helper()
	err := r.ours.GuaranteedUpdate(t.Context(), podKey(name), &example.Pod{}, false, nil, storage.SimpleUpdate(func(obj runtime.Object) (runtime.Object, error) {
		pod := obj.(*example.Pod)
		pod.Labels = map[string]string{"k": value}
		return pod, nil
	}), nil)
	if err != nil {
		t.Fatal(err)
	}
}

// each runs a request on both, and compares the answers and the time until them.
func (r *rivals) each(t *testing.T, ask func(ctx context.Context, s storage.Interface) string) {
	t.Helper()
	timed := func(ctx context.Context, s storage.Interface) string {
		start := time.Now()
		return fmt.Sprint(ask(ctx, s), " after ", time.Since(start))
	}
	want := timed(t.Context(), r.cache)
	got := timed(r.replica.Context(t.Context()), r.ours)
	if got != want {
		t.Errorf("got %q, want upstream's %q", got, want)
	}
}

func text(obj runtime.Object) string {
	if shared, ok := obj.(runtime.CacheableObject); ok {
		obj = shared.GetObject()
	}
	switch o := obj.(type) {
	case *example.Pod:
		return fmt.Sprintf("%s=%s@%s%v", o.Name, o.Labels["k"], o.ResourceVersion, o.Annotations)
	case *example.PodList:
		out := "@" + o.ResourceVersion
		if o.Continue != "" {
			out += " more"
		}
		for i := range o.Items {
			out += " " + text(&o.Items[i])
		}
		return out
	case *metav1.Status:
		return fmt.Sprint(o.Code, " ", o.Reason, " ", o.Message, " ", o.Details)
	}
	return fmt.Sprintf("%T", obj)
}

// lagged runs a test inside a bubble.
func lagged(t *testing.T, test func(t *testing.T, r *rivals)) {
	t.Helper()
	checker := etcdfeature.DefaultFeatureSupportChecker
	etcdfeature.DefaultFeatureSupportChecker = newerEtcd{checker}
	defer func() { etcdfeature.DefaultFeatureSupportChecker = checker }()
	synctest.Test(t, func(t *testing.T) { test(t, newRivals(t)) })
}

func TestReplicaGetsWhatAWatchCacheGets(t *testing.T) {
	for _, name := range []string{"a", "c", "d"} {
		for _, version := range []string{"", "0", "3", "4", "5", "6", "7", "x"} {
			t.Run(name+"@"+version, func(t *testing.T) {
				lagged(t, func(t *testing.T, r *rivals) {
					r.each(t, func(ctx context.Context, s storage.Interface) string {
						pod := &example.Pod{}
						err := s.Get(ctx, podKey(name), storage.GetOptions{ResourceVersion: version}, pod)
						switch {
						case storage.IsNotFound(err):
							return "not found" // the texts differ, and the registry replaces them
						case err != nil:
							return err.Error()
						}
						return text(pod)
					})
				})
			})
		}
	}
}

func TestReplicaListsWhatAWatchCacheLists(t *testing.T) {
	for _, version := range []string{"", "0", "2", "3", "4", "5", "6", "7"} {
		for _, match := range []metav1.ResourceVersionMatch{"", "NotOlderThan", "Exact"} {
			if match != "" && (version == "" || version == "0" && match == "Exact") {
				continue // refused before
			}
			for _, limit := range []int64{0, 1} {
				for _, name := range []string{"", "a"} {
					t.Run(fmt.Sprint(version, " ", match, " ", limit, " ", name), func(t *testing.T) {
						lagged(t, func(t *testing.T, r *rivals) {
							r.each(t, func(ctx context.Context, s storage.Interface) string {
								return listed(ctx, s, version, match, limit, name)
							})
						})
					})
				}
			}
		}
	}
}

// listed returns the result of a list of all objects, or of one, with all pages.
func listed(ctx context.Context, s storage.Interface, version string, match metav1.ResourceVersionMatch, limit int64, name string) string {
	opts := storage.ListOptions{
		ResourceVersion: version, ResourceVersionMatch: match, Recursive: name == "",
		Predicate: storage.SelectionPredicate{Label: labels.Everything(), Field: fields.Everything(), Limit: limit, GetAttrs: storage.DefaultNamespaceScopedAttr},
	}
	key := resourcePrefix + "ns/"
	if name != "" {
		key, opts.Predicate.Field = podKey(name), fields.OneTermEqualSelector("metadata.name", name)
	}
	out := ""
	for {
		list := &example.PodList{}
		if err := s.GetList(ctx, key, opts, list); err != nil {
			return out + err.Error()
		}
		out += text(list) + "; "
		if list.Continue == "" {
			return out
		}
		opts.Predicate.Continue, opts.ResourceVersion, opts.ResourceVersionMatch = list.Continue, "", ""
	}
}

func TestReplicaIsWatchedAsAWatchCacheIs(t *testing.T) {
	for _, version := range []string{"", "0", "2", "3", "4", "5", "6", "7"} {
		for _, sends := range []*bool{nil, new(true), new(false)} {
			if sends == nil && (version == "" || version == "0") {
				sends = new(true) // as upstream's handlers set it
			}
			for _, bookmarks := range []bool{true, false} {
				t.Run(fmt.Sprint(version, " ", sends != nil && *sends, " ", sends == nil, " ", bookmarks), func(t *testing.T) {
					lagged(t, func(t *testing.T, r *rivals) {
						pred := storage.Everything
						pred.AllowWatchBookmarks = bookmarks
						opts := storage.ListOptions{ResourceVersion: version, SendInitialEvents: sends, Recursive: true, Predicate: pred}
						if sends != nil {
							opts.ResourceVersionMatch = metav1.ResourceVersionMatchNotOlderThan
						}
						var rest []func() string
						r.each(t, func(ctx context.Context, s storage.Interface) string {
							w, err := s.Watch(ctx, resourcePrefix+"ns/", opts)
							if err != nil {
								return err.Error()
							}
							t.Cleanup(w.Stop)
							rest = append(rest, func() string { return eventsOf(w) })
							return eventsOf(w)
						})
						r.lagging.release()
						r.replica.CatchUp()
						synctest.Wait()
						r.label(t, "b", "z")
						if want, got := rest[0](), rest[1](); want != got {
							t.Errorf("after it has caught up: got %q, want upstream's %q", got, want)
						}
					})
				})
			}
		}
	}
}

// eventsOf returns the events of a watch within some seconds, less than the time until a bookmark.
func eventsOf(w apiwatch.Interface) (out string) {
	end := time.After(10 * time.Second)
	for {
		select {
		case ev, open := <-w.ResultChan():
			if !open {
				return out + "end"
			}
			out += string(ev.Type) + " " + text(ev.Object) + "; "
		case <-end:
			return out
		}
	}
}
