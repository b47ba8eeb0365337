package differential

import (
	"bytes"
	"path"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	coordinationv1 "k8s.io/api/coordination/v1"
	coordinationv1beta1 "k8s.io/api/coordination/v1beta1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"

	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/internal/kinds"
	"github.com/kubecoord/kubecoord/internal/registry"
	"github.com/kubecoord/kubecoord/internal/test/engine"
	"github.com/kubecoord/kubecoord/internal/test/wiretest"
	"github.com/kubecoord/kubecoord/store"
)

// storedBelow is where a real API server keeps each kind below /registry, and the version in which it does.
var storedBelow = map[schema.GroupVersionKind]string{
	coordinationv1.SchemeGroupVersion.WithKind("Lease"):               "leases",
	coordinationv1beta1.SchemeGroupVersion.WithKind("LeaseCandidate"): "leasecandidates",
	corev1.SchemeGroupVersion.WithKind("Endpoints"):                   "services/endpoints",
}

// A store on a backend writes what a real API server would write: the recorded exchanges are played, and each value is decoded and
// encoded again by upstream's code.
func TestStoredValuesAreThoseOfUpstream(t *testing.T) {
	goldens, err := wiretest.LoadGolden("../../../../../httpapi/testdata/wire")
	require.NoError(t, err)
	serializer := protobuf.NewSerializer(scheme, scheme)
	compared := map[schema.GroupVersionKind]int{}
	for _, g := range goldens {
		synctest.Test(t, func(t *testing.T) {
			e := engine.New(1000)
			var all []*kinds.Kind
			for _, k := range httpapi.Kinds() {
				all = append(all, kinds.Of(k))
			}
			st, err := registry.Open(registry.Options{}, e, all...)
			require.NoError(t, err)
			defer st.Close()
			require.NoError(t, st.Loaded(t.Context()))
			api := httpapi.New((*store.Store)(st), httpapi.Options{})
			defer api.Close()
			(&wiretest.Runner{Transport: api.Transport(), BaseURL: "http://test"}).Check(t.Context(), g)
			changes, _ := e.History()
			for _, c := range changes {
				if c.Value == nil {
					continue
				}
				o, kind, err := serializer.Decode(c.Value, nil, nil)
				require.NoError(t, err, "%s: %x", c.Key, c.Value)
				m := o.(metav1.Object)
				require.Equal(t, path.Join(storedBelow[*kind], m.GetNamespace(), m.GetName()), c.Key, kind)
				require.Empty(t, m.GetResourceVersion(), c.Key)
				var want bytes.Buffer
				require.NoError(t, codecs.EncoderForVersion(serializer, kind.GroupVersion()).Encode(o, &want))
				require.Equal(t, want.Bytes(), c.Value, c.Key)
				compared[*kind]++
			}
		})
	}
	for kind := range storedBelow {
		assert.Greater(t, compared[kind], 20, kind)
	}
	t.Log(compared)
}
