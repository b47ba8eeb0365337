package referee

import (
	"context"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apiserver/pkg/apis/example"
	examplev1 "k8s.io/apiserver/pkg/apis/example/v1"
	"k8s.io/apiserver/pkg/storage"
	storagetesting "k8s.io/apiserver/pkg/storage/testing"
	"k8s.io/apiserver/pkg/storage/value"
	"k8s.io/apiserver/pkg/storage/value/encrypt/identity"

	"github.com/kubecoord/kubecoord/internal/kinds"
	"github.com/kubecoord/kubecoord/internal/registry"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/clock"
	"github.com/kubecoord/kubecoord/store/etcd"
	"github.com/kubecoord/kubecoord/store/etcd/member"
	"github.com/kubecoord/kubecoord/store/kind"
	"github.com/kubecoord/kubecoord/store/meta"
)

// prefix is the bytes that the transformer puts before every object.
const prefix = "test!"

func newCodec() runtime.Codec {
	scheme := runtime.NewScheme()
	metav1.AddToGroupVersion(scheme, metav1.SchemeGroupVersion)
	utilruntime.Must(example.AddToScheme(scheme))
	utilruntime.Must(examplev1.AddToScheme(scheme))
	return serializer.NewCodecFactory(scheme).LegacyCodec(examplev1.SchemeGroupVersion)
}

// fixture is the functions that the suites need beside a storage.Interface. Its
// store starts at version 1, as etcd does.
type fixture struct {
	*Storage
	clock *handClock
	other *registry.Resource
}

// onBoth runs a suite on a store in memory, and on one whose objects are in an etcd of its own.
func onBoth(t *testing.T, suite func(t *testing.T, f *fixture)) {
	t.Run("in memory", func(t *testing.T) { suite(t, newFixture(t, registry.Options{})) })
	t.Run("on etcd", func(t *testing.T) {
		m, err := member.Start(t.Context(), t.TempDir(), member.Options{})
		require.NoError(t, err)
		t.Cleanup(func() { assert.NoError(t, m.Close()) })
		pods, others := podKind(), otherKind()
		st, err := etcd.OpenClient(t.Context(), m.Client(), "", etcd.Options{}, pods, others)
		require.NoError(t, err)
		suite(t, fixtureOf(t, (*registry.Store)(st), pods, others))
	})
}

// newFixture returns a Storage over a new store in memory. The options may be zero.
func newFixture(t *testing.T, opts registry.Options) *fixture {
	t.Helper()
	opts.FirstResourceVersion = 1
	return fixtureOf(t, registry.New(opts), podKind(), otherKind())
}

func fixtureOf(t *testing.T, st *registry.Store, pods *store.Kind[Pod], others *store.Kind[Other]) *fixture {
	t.Cleanup(st.Close)
	return &fixture{
		Storage: New(st, kinds.Of(pods), newCodec(), storagetesting.NewPrefixTransformer([]byte(prefix), false)),
		other:   st.Resource(kinds.Of(others)),
	}
}

// newAgingFixture returns a fixture whose history can be compacted: it is limited
// by age, and only the fixture moves the clock.
func newAgingFixture(t *testing.T) *fixture {
	t.Helper()
	c := &handClock{now: time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC), tick: time.Second}
	f := newFixture(t, registry.Options{HistoryAge: historyAge, Clock: clock.Func(c.Now)})
	f.clock = c
	return f
}

const (
	historyAge  = time.Minute
	compactStep = 100 * time.Millisecond // less than the age between two changes
)

// Other is a kind whose changes only increase the version.
type Other struct {
	meta.TypeMeta   `json:",inline"`
	meta.ObjectMeta `json:"metadata" protobuf:"1"`
}

func otherKind() *store.Kind[Other] {
	return store.MustKind(kind.Descriptor[*Other]{Resource: kind.Resource{Kind: "Other", Plural: "others"}, Versions: []kind.Version[*Other]{{Name: "v1"}}})
}

// increaseRV changes an object that no suite reads.
func (f *fixture) increaseRV(_ context.Context, t *testing.T) int64 {
	t.Helper()
	f.clock.step()
	it, err := f.other.Create(t.Context(), &Other{ObjectMeta: meta.ObjectMeta{GenerateName: "other-"}}, &registry.Request{Namespace: "other"})
	if err != nil {
		t.Fatal(err)
	}
	version, err := strconv.ParseInt(it.ResourceVersion(), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return version
}

// compact ages history until the given version is the oldest. Like etcd's
// compactor, it uses up a version.
func (f *fixture) compact(ctx context.Context, t *testing.T, resourceVersion string) {
	t.Helper()
	want, err := strconv.ParseInt(resourceVersion, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	f.increaseRV(ctx, t)
	for aged := time.Duration(0); aged < 2*historyAge && f.CompactRevision() < want; aged += compactStep {
		f.clock.add(compactStep)
	}
	if got := f.CompactRevision(); got != want {
		t.Fatalf("compacted to %d, want %d", got, want)
	}
	// From here on writes must not age the rest of the history.
	f.clock.setTick(time.Nanosecond)
}

// Create, GuaranteedUpdate and Delete move the clock, so that changes differ in
// age.
func (f *fixture) Create(ctx context.Context, key string, obj, out runtime.Object, ttl uint64) error {
	f.clock.step()
	return f.Storage.Create(ctx, key, obj, out, ttl)
}

func (f *fixture) GuaranteedUpdate(ctx context.Context, key string, out runtime.Object, ignoreNotFound bool,
	preconditions *storage.Preconditions, tryUpdate storage.UpdateFunc, suggestion runtime.Object,
) error {
	f.clock.step()
	return f.Storage.GuaranteedUpdate(ctx, key, out, ignoreNotFound, preconditions, tryUpdate, suggestion)
}

func (f *fixture) Delete(ctx context.Context, key string, out runtime.Object, preconditions *storage.Preconditions,
	validate storage.ValidateObjectFunc, suggestion runtime.Object, opts storage.DeleteOptions,
) error {
	f.clock.step()
	return f.Storage.Delete(ctx, key, out, preconditions, validate, suggestion, opts)
}

// UpdatePrefixTransformer lets a suite change the transformer.
func (f *fixture) UpdatePrefixTransformer(modify storagetesting.PrefixTransformerModifier) func() {
	old := f.Transformer.(*storagetesting.PrefixTransformer)
	changed := *old
	f.Transformer = modify(&changed)
	return func() { f.Transformer = old }
}

var _ storagetesting.InterfaceWithPrefixTransformer = (*fixture)(nil)

// checkStored checks the stored form of an object.
func (f *fixture) checkStored(ctx context.Context, t *testing.T, key string) {
	t.Helper()
	at, err := placeOf(key, false)
	if err != nil {
		t.Fatal(err)
	}
	it, err := f.pods.Get(ctx, at.namespace, at.name, "")
	if err != nil {
		t.Fatalf("nothing is stored under %s: %v", key, err)
	}
	kept := it.Wire().(*Pod)
	plain, _, err := f.Transformer.TransformFromStorage(ctx, []byte(kept.Spec.Data), value.DefaultContext(key))
	if err != nil {
		t.Fatal(err)
	}
	pod := &example.Pod{}
	if err := runtime.DecodeInto(f.codec, plain, pod); err != nil {
		t.Fatal(err)
	}
	if pod.ResourceVersion != "" || pod.SelfLink != "" || kept.SelfLink != "" {
		t.Errorf("stored with resourceVersion %q and selfLink %q, %q, want none", pod.ResourceVersion, pod.SelfLink, kept.SelfLink)
	}
	if kept.ResourceVersion == "" || kept.UID == "" || kept.CreationTimestamp.IsZero() {
		t.Errorf("the store's own metadata is not complete: %+v", kept.ObjectMeta)
	}
}

// handClock is a manual clock. A nil clock does nothing.
type handClock struct {
	mu   sync.Mutex // guards all below
	now  time.Time
	tick time.Duration
}

func (c *handClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *handClock) add(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

func (c *handClock) setTick(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.tick = d
}

// step moves the clock by a tick.
func (c *handClock) step() {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(c.tick)
}

var noTransformer = identity.NewEncryptCheckTransformer()
