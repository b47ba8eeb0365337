package wire

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	codecs "k8s.io/apimachinery/pkg/runtime/serializer"
)

// encodeMeta is encode for types of the meta group.
func encodeMeta(t *testing.T, mediaType string, o runtime.Object) []byte {
	t.Helper()
	s := runtime.NewScheme()
	require.NoError(t, metav1.AddMetaToScheme(s))
	factory := codecs.NewCodecFactory(s)
	info, ok := runtime.SerializerInfoForMediaType(factory.SupportedMediaTypes(), mediaType)
	require.True(t, ok)
	data, err := runtime.Encode(factory.EncoderForVersion(info.Serializer, metav1.SchemeGroupVersion), o)
	require.NoError(t, err)
	return data
}

func TestPartialObjectMetadataIsEncodedAsUpstream(t *testing.T) {
	for _, k := range kinds {
		for _, accept := range []string{protobuf, json} {
			t.Run(k.Kind+" "+k.Version+" as "+accept, func(t *testing.T) {
				s := newServer(t)
				as := func(kind string) string { return accept + ";as=" + kind + ";g=meta.k8s.io;v=v1" }
				list := &metav1.PartialObjectMetadataList{}
				for i := range count {
					stored, _ := s.write(t, http.MethodPost, k.path(""), protobuf, k.GroupVersion(), k.object(i, "x"))
					data := s.get(t, k.path(stored.GetName()), as("PartialObjectMetadata"))
					want := metav1.PartialObjectMetadata{ObjectMeta: metadataOf(stored)}
					requireBytes(t, encodeMeta(t, accept, &want), data)
					list.Items = append(list.Items, want)
				}
				list.ResourceVersion = s.st.ResourceVersion()
				data := s.get(t, k.path(""), as("PartialObjectMetadataList"))
				if accept == json { // in JSON, items of a server's list have apiVersion and kind
					for i := range list.Items {
						list.Items[i].SetGroupVersionKind(metav1.SchemeGroupVersion.WithKind("PartialObjectMetadata"))
					}
				}
				requireBytes(t, encodeMeta(t, accept, list), data)
			})
		}
	}
}

func metadataOf(o object) metav1.ObjectMeta {
	return *o.(metav1.ObjectMetaAccessor).GetObjectMeta().(*metav1.ObjectMeta)
}
