package wire

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
	coordinationv1 "k8s.io/api/coordination/v1"
	coordinationv1alpha2 "k8s.io/api/coordination/v1alpha2"
	coordinationv1beta1 "k8s.io/api/coordination/v1beta1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// corrupt changes a few bytes of an encoded object.
func corrupt(r random, data []byte) []byte {
	data = append([]byte(nil), data...)
	for range 1 + r.IntN(3) {
		if len(data) == 0 {
			return data
		}
		at := r.IntN(len(data))
		switch r.IntN(4) {
		case 0:
			data[at] = byte(r.IntN(256))
		case 1:
			data[at] ^= 1 << r.IntN(8)
		case 2:
			data = append(data[:at], data[at+1:]...)
		case 3:
			data = append(data[:at], append([]byte{byte(r.IntN(256))}, data[at:]...)...)
		}
	}
	return data
}

// Upstream's code for maps reads beyond the end of an entry, so that it accepts
// some invalid bytes as a label or annotation. kubecoord refuses them.
func hasMaps(o object) bool { return len(o.GetLabels())+len(o.GetAnnotations()) > 0 }

func TestCorruptBytesAreDecodedAsUpstream(t *testing.T) {
	type message interface {
		Marshal() ([]byte, error)
		Unmarshal([]byte) error
	}
	for _, k := range kinds {
		t.Run(k.Kind+" "+k.Version, func(t *testing.T) {
			r, s := newRandom(t), newServer(t)
			taken, refused := 0, 0
			for i := range 10 * count(t) {
				o := k.random(r, i)
				o.SetLabels(nil)
				o.SetAnnotations(nil)
				raw, err := o.(message).Marshal()
				require.NoError(t, err)
				raw = corrupt(r, raw)
				want := empty(o)
				wantErr := want.(message).Unmarshal(raw)
				unknown := &runtime.Unknown{TypeMeta: runtime.TypeMeta{APIVersion: k.GroupVersion().String(), Kind: k.Kind}, Raw: raw}
				body, err := unknown.Marshal()
				require.NoError(t, err)
				code, answer := s.do(t, http.MethodPost, k.path("")+"?dryRun=All", protobuf, protobuf, append([]byte("k8s\x00"), body...))
				switch {
				case wantErr != nil:
					require.Equal(t, http.StatusBadRequest, code, "upstream: %v, answer: %q\n%x", wantErr, answer, raw)
					refused++
				case hasMaps(want):
				case code == http.StatusCreated:
					requireBytes(t, content(t, k, want), content(t, k, decode(t, protobuf, answer).(object)))
					taken++
				case want.GetNamespace() == "" || want.GetNamespace() == namespace: // otherwise also 400
					require.Equal(t, http.StatusUnprocessableEntity, code, "%q\n%x", answer, raw)
				}
			}
			require.NotZero(t, taken)
			require.NotZero(t, refused)
		})
	}
}

// content returns an object without its metadata, as bytes.
func content(t *testing.T, k kind, o object) []byte {
	o = o.DeepCopyObject().(object)
	switch o := o.(type) {
	case *coordinationv1.Lease:
		o.ObjectMeta = metav1.ObjectMeta{}
	case *coordinationv1beta1.LeaseCandidate:
		o.ObjectMeta = metav1.ObjectMeta{}
	case *coordinationv1alpha2.LeaseCandidate:
		o.ObjectMeta = metav1.ObjectMeta{}
	case *corev1.Endpoints:
		o.ObjectMeta = metav1.ObjectMeta{}
		for i := range o.Subsets {
			for j := range o.Subsets[i].Ports {
				if p := &o.Subsets[i].Ports[j]; p.Protocol == "" {
					p.Protocol = corev1.ProtocolTCP
				}
			}
		}
	}
	return encode(t, protobuf, k.GroupVersion(), o)
}
