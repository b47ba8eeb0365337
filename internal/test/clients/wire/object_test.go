package wire

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
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

func TestUpdatedObjectsAreEncodedAsUpstream(t *testing.T) {
	for _, k := range kinds {
		t.Run(k.Kind+" "+k.Version, func(t *testing.T) {
			r, s := newRandom(t), newServer(t)
			start, _ := s.write(t, http.MethodPost, k.path(""), protobuf, k.GroupVersion(), k.random(r, 0))
			for range count(t) {
				o := k.random(r, 0)
				keep(start, o)
				stored, answer := s.write(t, http.MethodPut, k.path(o.GetName()), protobuf, k.GroupVersion(), o)
				requireSame(t, k, protobuf, stored, answer)
				start = stored
			}
		})
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

func TestCandidatesAreTheSameInBothVersions(t *testing.T) {
	r, s := newRandom(t), newServer(t)
	for i := range count(t) {
		o := candidates.random(r, i)
		stored, _ := s.write(t, http.MethodPost, candidates.path(""), protobuf, candidates.GroupVersion(), o)
		b := stored.(*coordinationv1beta1.LeaseCandidate)
		a := &coordinationv1alpha2.LeaseCandidate{ObjectMeta: b.ObjectMeta, Spec: coordinationv1alpha2.LeaseCandidateSpec(b.Spec)}
		for _, accept := range []string{protobuf, json} {
			requireSame(t, candidatesV1alpha2, accept, a, s.get(t, candidatesV1alpha2.path(o.GetName()), accept))
		}
	}
}

func TestErrorsAreEncodedAsUpstream(t *testing.T) {
	for _, k := range kinds {
		for _, accept := range []string{protobuf, json} {
			t.Run(k.Kind+" "+k.Version+" as "+accept, func(t *testing.T) {
				r, s := newRandom(t), newServer(t)
				o, _ := s.write(t, http.MethodPost, k.path(""), protobuf, k.GroupVersion(), k.random(r, 0))
				stale := o.DeepCopyObject().(object)
				stale.SetResourceVersion("1")
				stale.SetAnnotations(map[string]string{"changed": ""})
				o.SetLabels(map[string]string{"not valid!": "<&>"})
				for _, row := range []struct {
					code                 int
					method, path, accept string
					body                 []byte
				}{
					{http.StatusNotFound, http.MethodGet, k.path("none"), accept, nil},
					{http.StatusConflict, http.MethodPost, k.path(""), accept, encode(t, protobuf, k.GroupVersion(), k.random(r, 0))},
					{http.StatusConflict, http.MethodPut, k.path(o.GetName()), accept, encode(t, protobuf, k.GroupVersion(), stale)},
					{http.StatusUnprocessableEntity, http.MethodPut, k.path(o.GetName()), accept, encode(t, protobuf, k.GroupVersion(), o)},
					{http.StatusBadRequest, http.MethodPost, k.path(""), accept, []byte("\x01nonsense")},
					{http.StatusOK, http.MethodDelete, k.path("gone"), accept, nil},
				} {
					if row.method == http.MethodDelete {
						free := k.random(r, 1)
						free.SetName("gone")
						free.SetFinalizers(nil)
						s.write(t, http.MethodPost, k.path(""), protobuf, k.GroupVersion(), free)
					}
					code, data := s.do(t, row.method, row.path, row.accept, protobuf, row.body)
					assert.Equal(t, row.code, code, "%q", data)
					again := encode(t, accept, k.GroupVersion(), decode(t, accept, data))
					if accept == json {
						assert.JSONEq(t, string(again), string(data)) // errors are indented for browsers
						continue
					}
					requireBytes(t, again, data)
				}
			})
		}
	}
}
