package httpapi_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/internal/kinds"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/kind"
)

// The expected answers are those of kube-apiserver 1.36.3 for kinds of the same sort: StorageClass, Node, Job and a
// CustomResourceDefinition of the cluster.
func TestFieldSelectorsByTheSortOfTheKind(t *testing.T) {
	phase := []kinds.SelectableField{{Path: "phase", Value: func(kinds.Object) string { return "" }}}
	for name, row := range map[string]struct {
		of        kinds.Descriptor
		namespace int // the status code for metadata.namespace
		refusal   string
	}{
		"built-in": {kinds.Descriptor{Native: true}, 200,
			`"message":"\"x\" is not a known field selector: only \"metadata.name\", \"metadata.namespace\""`},
		"built-in with fields": {kinds.Descriptor{Native: true, SelectableFields: phase}, 400,
			`"message":"field label not supported: x"`},
		"built-in with a text of its own": {kinds.Descriptor{Native: true, SelectableFields: phase, FieldRefusal: "no %q"}, 400,
			`"message":"no \"x\""`},
		"custom": {kinds.Descriptor{}, 400,
			`"message":"field label not supported: x"`},
	} {
		t.Run(name, func(t *testing.T) {
			row.of.Group, row.of.Name, row.of.ClusterScoped = "example.com", "Task", true
			row.of.New = func() kinds.Object { return &store.Unstructured{} }
			row.of.Versions = []kinds.Version{{Name: "v1"}}
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
