package managedfields

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	kjson "sigs.k8s.io/json"

	"github.com/kubecoord/kubecoord/store/meta"
)

// blob is an unstructured object.
type blob struct {
	meta.TypeMeta   `json:",inline"`
	meta.ObjectMeta `json:"metadata"`
	Rest            map[string]any `json:",rest"`
}

func treeOf(t *testing.T, text string) map[string]any {
	t.Helper()
	var tree map[string]any
	require.NoError(t, kjson.UnmarshalCaseSensitivePreserveInts([]byte(text), &tree))
	return tree
}

// The expected sets and objects below are from an API server 1.37, for a custom
// resource whose schema preserves unknown fields.

func TestUntypedFieldsAreOwnedByTheirForm(t *testing.T) {
	kind := &FieldManager{Name: "Blob", Versions: []Version{versionOf[blob]("example.com/v1")}}
	for name, row := range map[string]struct{ before, after, want string }{
		"an object and its content": {`{}`, `{"s":{"a":{"b":1},"l":[{"x":1}],"e":{},"n":null}}`,
			`{"f:s":{".":{},"f:a":{".":{},"f:b":{}},"f:e":{},"f:l":{},"f:n":{}}}`},
		"a member that is new":           {`{"s":{"a":1}}`, `{"s":{"a":1,"b":2}}`, `{"f:s":{"f:b":{}}}`},
		"a list that changes":            {`{"s":[1]}`, `{"s":[1,2]}`, `{"f:s":{}}`},
		"a list that becomes an object":  {`{"s":[1]}`, `{"s":{"k":1}}`, `{"f:s":{".":{},"f:k":{}}}`},
		"an object that becomes a list":  {`{"s":{"k":1}}`, `{"s":[1]}`, `{"f:s":{}}`},
		"null that becomes an object":    {`{"s":null}`, `{"s":{"k":1}}`, `{"f:s":{"f:k":{}}}`},
		"null that becomes an empty one": {`{"s":null}`, `{"s":{}}`, `{"f:s":{}}`},
		"the same number":                {`{"s":{"a":1}}`, `{"s":{"a":1.0}}`, ``},
	} {
		t.Run(name, func(t *testing.T) {
			live := &blob{Rest: treeOf(t, row.before)}
			live.UID, live.ManagedFields = "u", []meta.ManagedFieldsEntry{{
				Manager: "o", Operation: "Apply", APIVersion: "example.com/v1", FieldsType: "FieldsV1", FieldsV1: &meta.FieldsV1{Raw: []byte(`{"f:other":{}}`)},
			}}
			next := &blob{Rest: treeOf(t, row.after)}
			next.UID = "u"
			kind.Update(0, live, next, "m", at(1))
			got := ""
			for _, e := range next.ManagedFields {
				if e.Manager == "m" {
					got = string(e.FieldsV1.Raw)
				}
			}
			assert.Equal(t, row.want, got)
		})
	}
}
