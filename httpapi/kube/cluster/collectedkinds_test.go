package cluster_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/kubecoord/kubecoord/httpapi/apitest"
	"github.com/kubecoord/kubecoord/httpapi/kube/cluster"
)

// custom writes objects of the kind Widget, which comes and goes.
type custom struct {
	graph
	client  dynamic.Interface
	widgets dynamic.ResourceInterface
}

func newCustom(t *testing.T, api *apitest.API) custom {
	client, err := dynamic.NewForConfig(&rest.Config{Host: api.Host(), Transport: api.Transport(), QPS: -1})
	require.NoError(t, err)
	widgets := client.Resource(schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "widgets"}).Namespace("a")
	return custom{graph{t, clientOf(t, api)}, client, widgets}
}

// define creates the definition of the kind, and waits until it is served.
func (c custom) define() {
	c.Helper()
	yes := true
	doc, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&apiextensionsv1.CustomResourceDefinition{
		TypeMeta:   metav1.TypeMeta{APIVersion: "apiextensions.k8s.io/v1", Kind: "CustomResourceDefinition"},
		ObjectMeta: metav1.ObjectMeta{Name: "widgets.example.com"},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: "example.com", Scope: apiextensionsv1.NamespaceScoped, Names: apiextensionsv1.CustomResourceDefinitionNames{Plural: "widgets", Kind: "Widget"},
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{
				Name: "v1", Served: true, Storage: true,
				Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{Type: "object", XPreserveUnknownFields: &yes}},
			}},
		},
	})
	require.NoError(c, err)
	_, err = c.definitions().Create(c.Context(), &unstructured.Unstructured{Object: doc}, metav1.CreateOptions{})
	require.NoError(c, err)
	synctest.Wait()
}

func (c custom) definitions() dynamic.ResourceInterface {
	return c.client.Resource(apiextensionsv1.SchemeGroupVersion.WithResource("customresourcedefinitions"))
}

// widget creates a Widget and returns a reference to it.
func (c custom) widget(name string) metav1.OwnerReference {
	c.Helper()
	o, err := c.widgets.Create(c.Context(), &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "example.com/v1", "kind": "Widget", "metadata": map[string]any{"name": name},
	}}, metav1.CreateOptions{})
	require.NoError(c, err)
	return metav1.OwnerReference{APIVersion: "example.com/v1", Kind: "Widget", Name: name, UID: o.GetUID()}
}

func TestCollectorWithAKindThatComesAndGoes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		api, _ := newServer(t, cluster.Options{GarbageCollection: true})
		c := newCustom(t, api)
		early := metav1.OwnerReference{APIVersion: "example.com/v1", Kind: "Widget", Name: "early", UID: "an-early-one"}
		c.create("waits", early)
		assert.Equal(t, []string{"waits"}, c.left(), "an owner of a kind that is not served may be there")

		c.define()
		assert.Empty(t, c.left(), "it is not there, now that its kind is served")
		first, second := c.widget("first"), c.widget("second")
		c.create("of-first", first)
		c.create("of-second", second)
		c.create("of-both", first, second)
		require.NoError(t, c.widgets.Delete(t.Context(), "first", metav1.DeleteOptions{}))
		assert.Equal(t, []string{"of-both", "of-second"}, c.left())

		require.NoError(t, c.definitions().Delete(t.Context(), "widgets.example.com", metav1.DeleteOptions{}))
		assert.Empty(t, c.left(), "the objects of a definition are deleted with it, and were seen to go")

		c.define()
		third := c.widget("third")
		c.create("of-third", third)
		c.create("of-second", second)
		assert.Equal(t, []string{"of-third"}, c.left(), "an object of the kind that was there before is still gone")
	})
}

func TestForkCollectsItsOwnObjects(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		api, _ := newServer(t, cluster.Options{GarbageCollection: true})
		c := newCustom(t, api)
		c.define()
		widget := c.widget("w")
		a := c.create("a")
		c.create("of-a", owner(a, true))
		c.create("of-w", widget)
		f := newCustom(t, api.Fork(t))
		f.delete("a", metav1.DeletePropagationBackground)
		assert.Equal(t, []string{"of-w"}, f.left())
		require.NoError(t, f.definitions().Delete(t.Context(), "widgets.example.com", metav1.DeleteOptions{}))
		assert.Empty(t, f.left())
		assert.Equal(t, []string{"a", "of-a", "of-w"}, c.left())

		c.delete("a", metav1.DeletePropagationForeground)
		require.NoError(t, c.widgets.Delete(t.Context(), "w", metav1.DeleteOptions{}))
		assert.Empty(t, c.left(), "what a fork has seen to go does not matter here, and the other way round")
		time.Sleep(time.Hour)
		assert.Empty(t, f.left())
	})
}
