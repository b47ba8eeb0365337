package scheme_test

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/httpapi/kube/scheme"
	"github.com/kubecoord/kubecoord/store"
)

// Explained is a type with descriptions.
type Explained struct {
	metav1.TypeMeta   `json:",inline" description:"An explained thing."`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Size              int32 `json:"size,omitempty" description:"How big it is."`
}

func (e *Explained) DeepCopyObject() runtime.Object {
	out := *e
	e.ObjectMeta.DeepCopyInto(&out.ObjectMeta)
	return &out
}

// kubectl explain shows what the tags of a type say.
func TestDescriptionsComeFromTags(t *testing.T) {
	types := runtime.NewScheme()
	types.AddKnownTypes(schema.GroupVersion{Group: "example.com", Version: "v1"}, &Explained{})
	all, err := scheme.Kinds(types, scheme.Options{})
	require.NoError(t, err)
	api := httpapi.New(store.New(store.Options{}), httpapi.Options{Kinds: all})
	defer api.Close()
	client := &http.Client{Transport: api.Transport()}
	resp, err := client.Get("http://kubernetes/openapi/v3/apis/example.com/v1")
	require.NoError(t, err)
	defer resp.Body.Close()
	type described struct{ Description string }
	var doc struct {
		Components struct {
			Schemas map[string]struct {
				described
				Kinds      []schema.GroupVersionKind `json:"x-kubernetes-group-version-kind"`
				Properties map[string]described
			}
		}
	}
	require.NoError(t, json.NewDecoder(resp.Body).Decode(&doc))
	found := false
	for _, s := range doc.Components.Schemas {
		if len(s.Kinds) != 1 || s.Kinds[0].Kind != "Explained" {
			continue
		}
		found = true
		assert.Equal(t, "An explained thing.", s.Description)
		assert.Equal(t, "How big it is.", s.Properties["size"].Description)
		for _, member := range []string{"kind", "apiVersion"} {
			assert.NotEmpty(t, s.Properties[member].Description)
			assert.NotContains(t, s.Properties[member].Description, "leave it out")
		}
	}
	assert.True(t, found)
}
