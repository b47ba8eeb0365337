package wire

import (
	"testing"

	"github.com/stretchr/testify/require"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/runtime"
)

// requireSame compares bytes with upstream's encoding of an object.
func requireSame(t *testing.T, k kind, mediaType string, want runtime.Object, got []byte) {
	t.Helper()
	requireBytes(t, encode(t, mediaType, k.GroupVersion(), want), got)
	if mediaType == json {
		return // protobuf does not distinguish a zero time from none
	}
	decoded := decode(t, mediaType, got)
	decoded.GetObjectKind().SetGroupVersionKind(want.GetObjectKind().GroupVersionKind())
	require.True(t, apiequality.Semantic.DeepEqual(want, decoded), "decoded to something else: %.2000q", got)
}
