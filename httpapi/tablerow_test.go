package httpapi_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/internal/kinds"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/kind"
)

// A kind may write rows as a whole: with more cells than columns, and with conditions.
func TestTableRowsOfAKindThatWritesThemAsAWhole(t *testing.T) {
	k, err := kinds.NewKind(kinds.Descriptor{
		Group: "example.com", Name: "Task",
		New:      func() kinds.Object { return &store.Unstructured{} },
		Versions: []kinds.Version{{Name: "v1"}},
		Columns:  []kinds.Column{{ColumnInfo: kinds.ColumnInfo{Name: "Name", Type: "string", Format: "name"}}},
		Cells: func(obj kinds.Object, _ time.Time) []any {
			return []any{obj.GetObjectMeta().Name, 7}
		},
		RowConditions: func(obj kinds.Object) []any {
			if obj.GetObjectMeta().Name == "open" {
				return nil
			}
			return []any{map[string]string{"type": "Completed"}}
		},
	})
	require.NoError(t, err)
	s := newServerWith(t, store.Options{}, httpapi.Options{Kinds: []kind.Kind{k}})
	const tasks = "/apis/example.com/v1/namespaces/default/tasks"
	for _, name := range []string{"done", "open"} {
		w := s.do(t, "POST", tasks, `{"apiVersion":"example.com/v1","kind":"Task","metadata":{"name":"`+name+`"}}`)
		require.Equal(t, 201, w.Code, w.Body)
	}
	w := s.do(t, "GET", tasks+"?includeObject=None", "", "Accept", "application/json"+asTable)
	assert.Contains(t, w.Body, `"rows":[{"cells":["done",7],"conditions":[{"type":"Completed"}],"object":null},{"cells":["open",7],"object":null}]`)
}
