package typed

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubecoord/kubecoord/internal/test/clients/internal/testapi"
)

const (
	jsonPatch      = types.JSONPatchType
	mergePatch     = types.MergePatchType
	strategicPatch = types.StrategicMergePatchType
)

func TestEachTypeOfPatchChangesLabels(t *testing.T) {
	eachKind(t, func(t *testing.T, _ *testapi.API, k kind) {
		k.create(t, "a")
		for _, row := range []struct {
			patch types.PatchType
			data  string
			want  map[string]string
		}{
			{mergePatch, `{"metadata":{"labels":{"one":"1","two":"2"}}}`, map[string]string{"one": "1", "two": "2"}},
			{jsonPatch, `[{"op":"test","path":"/metadata/labels/one","value":"1"},{"op":"remove","path":"/metadata/labels/one"},{"op":"add","path":"/metadata/labels/x~1y","value":"3"}]`,
				map[string]string{"two": "2", "x/y": "3"}},
			{strategicPatch, `{"metadata":{"labels":{"two":null,"four":"4"}}}`, map[string]string{"x/y": "3", "four": "4"}},
			{strategicPatch, `{"metadata":{"labels":{"$patch":"replace","five":"5"}}}`, map[string]string{"five": "5"}},
		} {
			o, err := k.Patch(t.Context(), "a", row.patch, []byte(row.data), metav1.PatchOptions{})
			require.NoError(t, err, row.data)
			assert.Equal(t, row.want, o.GetLabels(), row.data)
			assert.Equal(t, o, k.get(t, "a"))
		}
	})
}
