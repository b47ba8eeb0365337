package httpapi_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/internal/kinds"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/kind"
	"github.com/kubecoord/kubecoord/store/meta"
)

// The expected answers come from a kube-apiserver for kinds of the same sort: StorageClass, Node, Job and a
// CustomResourceDefinition of the cluster.
func TestFieldSelectorsByTheSortOfTheKind(t *testing.T) {
	phase := []kind.SelectableField[meta.Object]{{Path: "phase", Value: func(kinds.Object) string { return "" }}}
	for name, row := range map[string]struct {
		of        kind.Descriptor[meta.Object]
		namespace int // the status code for metadata.namespace
		refusal   string
	}{
		"built-in": {kind.Descriptor[meta.Object]{Native: &kind.Native[meta.Object]{}}, 200,
			`"message":"\"x\" is not a known field selector: only \"metadata.name\", \"metadata.namespace\""`},
		"built-in with fields": {kind.Descriptor[meta.Object]{Native: &kind.Native[meta.Object]{}, SelectableFields: phase}, 400,
			`"message":"field label not supported: x"`},
		"built-in with a text of its own": {kind.Descriptor[meta.Object]{Native: &kind.Native[meta.Object]{FieldRefusal: "no %q"}, SelectableFields: phase}, 400,
			`"message":"no \"x\""`},
		"custom": {kind.Descriptor[meta.Object]{}, 400,
			`"message":"field label not supported: x"`},
	} {
		t.Run(name, func(t *testing.T) {
			row.of.Resource.Group, row.of.Resource.Kind, row.of.Resource.ClusterScoped = "example.com", "Task", true
			row.of.New = func() kinds.Object { return &store.Unstructured{} }
			row.of.Versions = []kind.Version[meta.Object]{{Name: "v1"}}
			k, err := kinds.NewKind(row.of)
			require.NoError(t, err)
			s := newServerWith(t, store.Options{}, httpapi.Options{Kinds: []kind.Kind{k}})
			const tasks = "/apis/example.com/v1/tasks"
			assert.Equal(t, row.namespace, s.do(t, "GET", tasks+"?fieldSelector=metadata.namespace%3Da", "").Code)
			w := s.do(t, "GET", tasks+"?fieldSelector=x%3Dy", "")
			assert.Equal(t, 400, w.Code)
			assert.Contains(t, w.Body, row.refusal)
		})
	}
}
