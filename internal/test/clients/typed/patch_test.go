package typed

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

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

func TestStrategicPatchMergesFinalizersAndOwners(t *testing.T) {
	eachKind(t, func(t *testing.T, _ *testapi.API, k kind) {
		o := k.new("a")
		o.SetFinalizers([]string{"x.io/one"})
		o.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: "v1", Kind: "Node", Name: "n", UID: "1"}})
		_, err := k.Create(t.Context(), o, metav1.CreateOptions{})
		require.NoError(t, err)
		o, err = k.Patch(t.Context(), "a", strategicPatch,
			[]byte(`{"metadata":{"finalizers":["x.io/two"],"ownerReferences":[{"uid":"2","apiVersion":"v1","kind":"Node","name":"m"}]}}`), metav1.PatchOptions{})
		require.NoError(t, err)
		assert.ElementsMatch(t, []string{"x.io/one", "x.io/two"}, o.GetFinalizers())
		assert.Len(t, o.GetOwnerReferences(), 2)
	})
}

func TestPatchErrorsNameTheMistake(t *testing.T) {
	eachKind(t, func(t *testing.T, _ *testapi.API, k kind) {
		o := k.create(t, "a")
		patch := func(name string, pt types.PatchType, data string) error {
			_, err := k.Patch(t.Context(), name, pt, []byte(data), metav1.PatchOptions{})
			return err
		}
		err := patch("b", mergePatch, `{}`)
		assert.True(t, apierrors.IsNotFound(err), "%v", err)
		err = patch("a", mergePatch, `{`)
		assert.True(t, apierrors.IsBadRequest(err), "%v", err)
		err = patch("a", jsonPatch, `[{"op":"test","path":"/metadata/name","value":"b"}]`)
		assert.True(t, apierrors.IsInvalid(err), "%v", err)
		err = patch("a", mergePatch, `{"metadata":{"labels":{"l":"not valid!"}}}`)
		assert.True(t, apierrors.IsInvalid(err), "%v", err)
		err = patch("a", "application/unknown", `{}`)
		assert.True(t, apierrors.IsUnsupportedMediaType(err), "%v", err)
		err = patch("a", mergePatch, `{"metadata":{"resourceVersion":"1"}}`)
		assert.True(t, apierrors.IsConflict(err), "%v", err)
		assert.Equal(t, o, k.get(t, "a"))
	})
}

func TestPatchReplacesSubsetsAsAWhole(t *testing.T) {
	testapi.EachWire(t, func(t *testing.T, _ *testapi.API, cs kubernetes.Interface) {
		c := cs.CoreV1().Endpoints(testapi.Namespace)
		_, err := c.Create(t.Context(), testapi.Endpoints("a"), metav1.CreateOptions{})
		require.NoError(t, err)
		for _, pt := range []types.PatchType{mergePatch, strategicPatch} {
			got, err := c.Patch(t.Context(), "a", pt, []byte(`{"subsets":[{"notReadyAddresses":[{"ip":"10.0.0.2"}],"ports":[{"port":443}]}]}`), metav1.PatchOptions{})
			require.NoError(t, err)
			assert.Equal(t, []corev1.EndpointSubset{{
				NotReadyAddresses: []corev1.EndpointAddress{{IP: "10.0.0.2"}},
				Ports:             []corev1.EndpointPort{{Port: 443, Protocol: corev1.ProtocolTCP}},
			}}, got.Subsets)
		}
	})
}
