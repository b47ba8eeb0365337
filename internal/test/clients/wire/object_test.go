package wire

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
	coordinationv1alpha2 "k8s.io/api/coordination/v1alpha2"
	coordinationv1beta1 "k8s.io/api/coordination/v1beta1"
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

func TestCreatedObjectsAreEncodedAsUpstream(t *testing.T) {
	for _, k := range kinds {
		for _, sent := range []string{protobuf, json} {
			t.Run(k.Kind+" "+k.Version+" sent as "+sent, func(t *testing.T) {
				r, s := newRandom(t), newServer(t)
				for i := range count(t) {
					o := k.random(r, i)
					stored, answer := s.write(t, http.MethodPost, k.path(""), sent, k.GroupVersion(), o)
					requireSame(t, k, sent, stored, answer)
					for _, accept := range []string{protobuf, json} {
						requireSame(t, k, accept, stored, s.get(t, k.path(o.GetName()), accept))
					}
				}
			})
		}
	}
}

// keep copies the metadata that an update must not change.
func keep(from, to object) {
	to.SetResourceVersion(from.GetResourceVersion())
	to.SetUID(from.GetUID())
	switch to := to.(type) {
	case *coordinationv1beta1.LeaseCandidate:
		to.Spec.LeaseName = from.(*coordinationv1beta1.LeaseCandidate).Spec.LeaseName
	case *coordinationv1alpha2.LeaseCandidate:
		to.Spec.LeaseName = from.(*coordinationv1alpha2.LeaseCandidate).Spec.LeaseName
	}
}
