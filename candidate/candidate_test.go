package candidate

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/candidate/internal/v1alpha1"
	"github.com/kubecoord/kubecoord/internal/kinds"
	"github.com/kubecoord/kubecoord/internal/registry"
	"github.com/kubecoord/kubecoord/lease"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/meta"
)

const (
	x = "example.com/x"
	y = "example.com/y"
)

func TestV1alpha1ConvertsThereAndBack(t *testing.T) {
	at := new(meta.NewMicroTime(time.Date(2026, 1, 2, 3, 4, 5, 6000, time.UTC)))
	c := &LeaseCandidate{
		TypeMeta: meta.TypeMeta{Kind: "LeaseCandidate"},
		ObjectMeta: meta.ObjectMeta{
			Name: "a", Namespace: "ns", ResourceVersion: "7", Labels: map[string]string{"k": "v"},
			OwnerReferences: []meta.OwnerReference{{UID: "u", Controller: new(true)}},
		},
		Spec: LeaseCandidateSpec{
			LeaseName: "main", PingTime: at, RenewTime: at, BinaryVersion: "1.30.0", EmulationVersion: "1.29.0",
			Strategy: x, PreferredStrategies: strategies{x, y},
		},
	}
	assert.Equal(t, c, fromV1alpha1(toV1alpha1(c)))
}

func TestV1alpha1SharesNoMemoryWithTheStoredObject(t *testing.T) {
	r := (*registry.Store)(store.New(store.Options{})).Resource(kinds.Of(Kind()))
	it, err := r.Create(t.Context(), &LeaseCandidate{
		ObjectMeta: meta.ObjectMeta{Name: "a", Labels: map[string]string{"k": "v"}},
		Spec: LeaseCandidateSpec{
			LeaseName: "main", BinaryVersion: "1.0.0", Strategy: x, PreferredStrategies: strategies{x, y},
			RenewTime: new(meta.NewMicroTime(time.Unix(1, 0))),
		},
	}, &registry.Request{Namespace: "ns"})
	require.NoError(t, err)
	before, err := it.Encoded(alpha1, kinds.JSON)
	require.NoError(t, err)

	w := inAlpha1(t, it)
	w.Labels["k"], w.Spec.PreferredStrategies[1] = "other", "other"
	w.Spec.RenewTime.Time = time.Unix(2, 0)

	after := it.Wire().(*LeaseCandidate)
	assert.Equal(t, "v", after.Labels["k"])
	assert.Equal(t, strategies{x, y}, after.Spec.PreferredStrategies)
	assert.Contains(t, string(before), `"renewTime":"1970-01-01T00:00:01.000000Z"`)
	assert.EqualValues(t, 1, after.Spec.RenewTime.Unix())
}

func inAlpha1(t *testing.T, it *registry.Item) *v1alpha1.LeaseCandidate {
	o, err := it.WireIn(t.Context(), alpha1)
	require.NoError(t, err)
	return o.(*v1alpha1.LeaseCandidate)
}

func TestListOfStrategiesThroughUpdates(t *testing.T) {
	type spec = LeaseCandidateSpec
	for name, row := range map[string]struct{ old, write, want spec }{
		"another version keeps the list": {
			spec{Strategy: x, PreferredStrategies: strategies{x, y}}, spec{Strategy: x},
			spec{Strategy: x, PreferredStrategies: strategies{x, y}}},
		"another version that changes the strategy drops it": {
			spec{Strategy: x, PreferredStrategies: strategies{x, y}}, spec{Strategy: y}, spec{Strategy: y}},
		"v1alpha1 shortens the list": {
			spec{Strategy: x, PreferredStrategies: strategies{x, y}}, spec{Strategy: x, PreferredStrategies: strategies{x}},
			spec{Strategy: x, PreferredStrategies: strategies{x}}},
		"v1alpha1 sends back the only strategy": {
			spec{Strategy: x}, spec{Strategy: x, PreferredStrategies: strategies{x}}, spec{Strategy: x}},
		"v1alpha1 sends back a list of one": {
			spec{Strategy: x, PreferredStrategies: strategies{x}}, spec{Strategy: x, PreferredStrategies: strategies{x}},
			spec{Strategy: x, PreferredStrategies: strategies{x}}},
		"v1alpha1 adds to the strategy": {
			spec{Strategy: x}, spec{Strategy: x, PreferredStrategies: strategies{x, y}},
			spec{Strategy: x, PreferredStrategies: strategies{x, y}}},
		"v1alpha1 replaces the list": {
			spec{Strategy: x, PreferredStrategies: strategies{x, y}}, spec{Strategy: y, PreferredStrategies: strategies{y, x}},
			spec{Strategy: y, PreferredStrategies: strategies{y, x}}},
		"v1alpha1 replaces the strategy": {
			spec{Strategy: x}, spec{Strategy: y, PreferredStrategies: strategies{y}}, spec{Strategy: y}},
		"v1alpha1 with no list at all keeps nothing": {
			spec{Strategy: x, PreferredStrategies: strategies{x, y}}, spec{}, spec{}},
		"Go changes the strategy of a copy": {
			spec{Strategy: x, PreferredStrategies: strategies{x, y}}, spec{Strategy: y, PreferredStrategies: strategies{x, y}},
			spec{Strategy: y}},
		"Go changes the list of a copy": {
			spec{Strategy: x, PreferredStrategies: strategies{x, y}}, spec{Strategy: x, PreferredStrategies: strategies{y, x}},
			spec{Strategy: y, PreferredStrategies: strategies{y, x}}},
		"Go changes both so that they contradict": {
			spec{Strategy: x, PreferredStrategies: strategies{x, y}}, spec{Strategy: oldest, PreferredStrategies: strategies{y, x}},
			spec{Strategy: oldest, PreferredStrategies: strategies{y, x}}}, // for validate to refuse
	} {
		t.Run(name, func(t *testing.T) {
			old, obj := &LeaseCandidate{Spec: row.old}, &LeaseCandidate{Spec: row.write}
			prepareForUpdate(obj, old)
			assert.Equal(t, row.want, obj.Spec)
		})
	}
}

// alpha1 is the index of v1alpha1 among the versions of the kind.
const alpha1 = 2

func TestVersionsSeeEachOthersWrites(t *testing.T) {
	r := (*registry.Store)(store.New(store.Options{})).Resource(kinds.Of(Kind()))
	put := func(list ...lease.CoordinatedLeaseStrategy) *registry.Item {
		t.Helper()
		req := registry.Request{Namespace: "ns", Name: "a", Version: alpha1}
		it, _, err := r.Update(t.Context(), &req, registry.Replacement(func(current *registry.Item) (kinds.Object, error) {
			w := &v1alpha1.LeaseCandidate{ObjectMeta: meta.ObjectMeta{Namespace: "ns", Name: "a"}}
			if current != nil {
				w = inAlpha1(t, current)
			}
			w.Spec.LeaseName, w.Spec.PreferredStrategies = "main", list
			return r.FromWire(t.Context(), alpha1, w)
		}))
		require.NoError(t, err)
		return it
	}
	it := put(x, y)
	stored := it.Wire().(*LeaseCandidate)
	assert.EqualValues(t, x, stored.Spec.Strategy)
	assert.Equal(t, "coordination.k8s.io/v1beta1", stored.APIVersion)
	assert.Equal(t, strategies{x, y}, inAlpha1(t, it).Spec.PreferredStrategies)
	assert.Equal(t, it.ResourceVersion(), put(x, y).ResourceVersion())
	assert.NotEqual(t, it.ResourceVersion(), put(x).ResourceVersion())

	_, _, err := r.Update(t.Context(), &registry.Request{Namespace: "ns", Name: "a"}, registry.Replacement(func(current *registry.Item) (kinds.Object, error) {
		return current.Wire(), nil
	}))
	assert.ErrorContains(t, err, "spec.binaryVersion: Required value", "v1beta1 asks for more than v1alpha1 does")
}

func TestStrategyOfAnObjectComesBeforeItsList(t *testing.T) {
	for _, row := range []struct {
		strategy lease.CoordinatedLeaseStrategy
		list     strategies
		want     lease.CoordinatedLeaseStrategy
	}{{"", strategies{x}, x}, {y, strategies{x}, y}, {y, nil, y}, {"", nil, ""}} {
		c := &LeaseCandidate{Spec: LeaseCandidateSpec{Strategy: row.strategy, PreferredStrategies: row.list}}
		setDefaults(c)
		assert.Equal(t, row.want, c.Spec.Strategy)
	}
}
