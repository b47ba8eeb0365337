package untyped

import (
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
	"k8s.io/client-go/tools/cache"

	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/httpapi/apitest"
	"github.com/kubecoord/kubecoord/internal/test/consistency"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/meta"
)

// engine is the Go type of the typed kinds below.
type engine struct {
	meta.TypeMeta   `json:",inline"`
	meta.ObjectMeta `json:"metadata" protobuf:"1"`
	Spec            engineSpec   `json:"spec,omitzero" protobuf:"2"`
	Status          engineStatus `json:"status,omitzero" protobuf:"3"`
}

type engineSpec struct {
	Speed int64            `json:"speed,omitempty" protobuf:"1"`
	Parts map[string]int64 `json:"parts,omitempty" protobuf:"2"`
}

type engineStatus struct {
	Ready bool  `json:"ready,omitempty" protobuf:"1"`
	Turns int64 `json:"turns,omitempty" protobuf:"2"`
}

// anyKind is one way to define a custom kind.
type anyKind struct {
	kind    store.AnyKind
	cluster bool
}

func anyKinds() map[string]anyKind {
	out := map[string]anyKind{}
	for name, cluster := range map[string]bool{"namespaced": false, "cluster-scoped": true} {
		out["of any form, "+name] = anyKind{store.MustKind(store.Descriptor[store.Unstructured]{
			Group: "example.com", Name: "Engine", Status: true, ClusterScoped: cluster,
			Versions: []store.Version[store.Unstructured]{{Name: "v1"}, {Name: "v1beta1"}},
		}), cluster}
		out["of a Go type, "+name] = anyKind{store.MustKind(store.Descriptor[engine]{
			Group: "example.com", Name: "Engine", Status: true, ClusterScoped: cluster, Versions: []store.Version[engine]{{Name: "v1"}, {Name: "v1beta1"}},
		}), cluster}
	}
	return out
}

var engines = schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "engines"}

// eachKind runs a test in virtual time for each way to define a kind.
func eachKind(t *testing.T, test func(t *testing.T, config *rest.Config, k anyKind)) {
	for name, k := range anyKinds() {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				api := consistency.Checked(t, apitest.Options{Verify: true, API: httpapi.Options{Kinds: []store.AnyKind{k.kind}}})
				test(t, &rest.Config{Host: "http://kubecoord", Transport: api.Transport(), QPS: -1, WarningHandler: rest.NoWarnings{}}, k)
			})
		})
	}
}

func (k anyKind) in(t *testing.T, config *rest.Config) dynamic.ResourceInterface {
	c, err := dynamic.NewForConfig(config)
	require.NoError(t, err)
	if k.cluster {
		return c.Resource(engines)
	}
	return c.Resource(engines).Namespace("default")
}

func newEngine(name string, members map[string]any) *unstructured.Unstructured {
	o := map[string]any{"apiVersion": "example.com/v1", "kind": "Engine", "metadata": map[string]any{"name": name}}
	for key, v := range members {
		o[key] = v
	}
	return &unstructured.Unstructured{Object: o}
}

func TestStatusIsWrittenThroughTheDynamicClient(t *testing.T) {
	eachKind(t, func(t *testing.T, config *rest.Config, k anyKind) {
		c := k.in(t, config)
		spec, status := map[string]any{"speed": int64(1)}, map[string]any{"ready": true, "turns": int64(2)}
		o, err := c.Create(t.Context(), newEngine("a", map[string]any{"spec": spec, "status": status}), metav1.CreateOptions{})
		require.NoError(t, err)
		assert.NotContains(t, o.Object, "status")
		assert.EqualValues(t, 1, o.GetGeneration())
		assert.Equal(t, !k.cluster, o.GetNamespace() == "default")

		o.Object["status"], o.Object["spec"] = status, map[string]any{"speed": int64(9)}
		o, err = c.UpdateStatus(t.Context(), o, metav1.UpdateOptions{})
		require.NoError(t, err)
		assert.Equal(t, status, o.Object["status"])
		assert.Equal(t, spec, o.Object["spec"])
		assert.EqualValues(t, 1, o.GetGeneration())
		stale := o.DeepCopy()
		o, err = c.Patch(t.Context(), "a", types.MergePatchType, []byte(`{"status":{"turns":3},"spec":{"speed":7}}`), metav1.PatchOptions{}, "status")
		require.NoError(t, err)
		assert.Equal(t, map[string]any{"ready": true, "turns": int64(3)}, o.Object["status"])
		_, err = c.UpdateStatus(t.Context(), stale, metav1.UpdateOptions{})
		assert.True(t, apierrors.IsConflict(err), "%v", err)

		o.Object["status"], o.Object["spec"] = nil, map[string]any{"speed": int64(2)}
		o, err = c.Update(t.Context(), o, metav1.UpdateOptions{})
		require.NoError(t, err)
		assert.Equal(t, map[string]any{"ready": true, "turns": int64(3)}, o.Object["status"])
		assert.EqualValues(t, 2, o.GetGeneration())
		got, err := c.Get(t.Context(), "a", metav1.GetOptions{}, "status")
		require.NoError(t, err)
		assert.Equal(t, o, got)
		_, err = c.UpdateStatus(t.Context(), newEngine("b", nil), metav1.UpdateOptions{})
		assert.True(t, apierrors.IsNotFound(err), "%v", err)
	})
}

func TestConfigurationsAreAppliedToObjectAndStatus(t *testing.T) {
	eachKind(t, func(t *testing.T, config *rest.Config, k anyKind) {
		c := k.in(t, config)
		me, other := metav1.ApplyOptions{FieldManager: "me"}, metav1.ApplyOptions{FieldManager: "other"}
		parts := func(name string, n int64) map[string]any {
			return map[string]any{"spec": map[string]any{"parts": map[string]any{name: n}}}
		}
		_, err := c.Apply(t.Context(), "a", newEngine("a", parts("x", 1)), me)
		require.NoError(t, err)
		o, err := c.Apply(t.Context(), "a", newEngine("a", parts("y", 2)), other)
		require.NoError(t, err)
		assert.Equal(t, map[string]any{"parts": map[string]any{"x": int64(1), "y": int64(2)}}, o.Object["spec"], "maps are merged")
		_, err = c.Apply(t.Context(), "a", newEngine("a", parts("x", 3)), other)
		require.EqualError(t, err, `Apply failed with 1 conflict: conflict with "me": .spec.parts.x`)

		turns := func(n int64) map[string]any { return map[string]any{"status": map[string]any{"turns": n}} }
		o, err = c.ApplyStatus(t.Context(), "a", newEngine("a", turns(1)), me)
		require.NoError(t, err)
		assert.Equal(t, turns(1)["status"], o.Object["status"])
		_, err = c.ApplyStatus(t.Context(), "a", newEngine("a", turns(2)), other)
		require.EqualError(t, err, `Apply failed with 1 conflict: conflict with "me" with subresource "status": .status.turns`)
		require.Len(t, o.GetManagedFields(), 3)
		_, err = c.ApplyStatus(t.Context(), "b", newEngine("b", turns(2)), other)
		assert.True(t, apierrors.IsNotFound(err), "%v", err)
	})
}

func TestInformersFollowAnyKind(t *testing.T) {
	eachKind(t, func(t *testing.T, config *rest.Config, k anyKind) {
		c := k.in(t, config)
		_, err := c.Create(t.Context(), newEngine("before", nil), metav1.CreateOptions{})
		require.NoError(t, err)
		client, err := dynamic.NewForConfig(config)
		require.NoError(t, err)
		factory := dynamicinformer.NewDynamicSharedInformerFactory(client, 0)
		informer := factory.ForResource(engines)
		events := make(chan string, 10)
		_, err = informer.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
			AddFunc:    func(o any) { events <- "+" + o.(*unstructured.Unstructured).GetName() },
			UpdateFunc: func(_, o any) { events <- "*" + o.(*unstructured.Unstructured).GetName() },
			DeleteFunc: func(o any) { events <- "-" + o.(*unstructured.Unstructured).GetName() },
		})
		require.NoError(t, err)
		stop := make(chan struct{})
		factory.Start(stop)
		defer factory.Shutdown()
		defer close(stop)
		require.True(t, cache.WaitForCacheSync(stop, informer.Informer().HasSynced))
		assert.Equal(t, "+before", <-events)

		_, err = c.Create(t.Context(), newEngine("a", nil), metav1.CreateOptions{})
		require.NoError(t, err)
		assert.Equal(t, "+a", <-events)
		_, err = c.Patch(t.Context(), "a", types.MergePatchType, []byte(`{"status":{"ready":true}}`), metav1.PatchOptions{}, "status")
		require.NoError(t, err)
		assert.Equal(t, "*a", <-events)
		synctest.Wait()
		key := "default/a"
		if k.cluster {
			key = "a"
		}
		o, found, err := informer.Informer().GetIndexer().GetByKey(key)
		require.NoError(t, err)
		require.True(t, found)
		assert.Equal(t, map[string]any{"ready": true}, o.(*unstructured.Unstructured).Object["status"])
		require.NoError(t, c.Delete(t.Context(), "a", metav1.DeleteOptions{}))
		assert.Equal(t, "-a", <-events)
	})
}

func TestMappersFindAnyKind(t *testing.T) {
	eachKind(t, func(t *testing.T, config *rest.Config, k anyKind) {
		d, err := discovery.NewDiscoveryClientForConfig(config)
		require.NoError(t, err)
		groups, err := restmapper.GetAPIGroupResources(d)
		require.NoError(t, err)
		mapping, err := restmapper.NewDiscoveryRESTMapper(groups).RESTMapping(schema.GroupKind{Group: "example.com", Kind: "Engine"})
		require.NoError(t, err)
		assert.Equal(t, engines, mapping.Resource)
		scope := apimeta.RESTScopeNameNamespace
		if k.cluster {
			scope = apimeta.RESTScopeNameRoot
		}
		assert.Equal(t, scope, mapping.Scope.Name())
		resources, err := d.ServerResourcesForGroupVersion("example.com/v1beta1")
		require.NoError(t, err)
		require.Len(t, resources.APIResources, 2)
		assert.Equal(t, "engines/status", resources.APIResources[1].Name)
		assert.Equal(t, metav1.Verbs{"get", "patch", "update"}, resources.APIResources[1].Verbs)
		_, err = d.OpenAPISchema()
		require.NoError(t, err)
	})
}

func TestMetadataClientReadsAnyKind(t *testing.T) {
	eachKind(t, func(t *testing.T, config *rest.Config, k anyKind) {
		_, err := k.in(t, config).Create(t.Context(), newEngine("a", nil), metav1.CreateOptions{})
		require.NoError(t, err)
		c, err := metadata.NewForConfig(config)
		require.NoError(t, err)
		list, err := c.Resource(engines).List(t.Context(), metav1.ListOptions{})
		require.NoError(t, err)
		require.Len(t, list.Items, 1)
		assert.Equal(t, "a", list.Items[0].Name)
		assert.EqualValues(t, 1, list.Items[0].Generation)
	})
}
