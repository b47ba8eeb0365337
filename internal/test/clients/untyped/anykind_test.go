package untyped

import (
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
	"k8s.io/client-go/tools/cache"

	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/httpapi/apitest"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/kind"
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
	kind    kind.Kind
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
				api := apitest.New(t, apitest.Options{Verify: true, API: httpapi.Options{Kinds: []kind.Kind{k.kind}}})
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
