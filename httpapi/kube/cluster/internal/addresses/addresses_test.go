package addresses_test

import (
	"net/netip"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"

	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/httpapi/kube/cluster/internal/addresses"
	"github.com/kubecoord/kubecoord/httpapi/kube/scheme"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/kind"
	"github.com/kubecoord/kubecoord/store/meta"
)

// TestAWriteHoldsItsPortsUntilItHasEnded: another write that claims meanwhile gets others, or none.
func TestAWriteHoldsItsPortsUntilItHasEnded(t *testing.T) {
	all, err := scheme.Kinds(clientgoscheme.Scheme, scheme.Options{})
	require.NoError(t, err)
	st := store.New(store.Options{})
	t.Cleanup(st.Close)
	api := httpapi.New(st, httpapi.Options{Kinds: all})
	t.Cleanup(api.Close)
	al := addresses.New(api, addresses.Options{Ranges: []netip.Prefix{netip.MustParsePrefix("10.1.0.0/24")}, Ports: utilnet.PortRange{Base: 31000, Size: 2}})
	require.NoError(t, al.Make(t.Context()))
	var services kind.Kind
	for _, k := range api.Kinds() {
		if k.GroupResource() == (meta.GroupResource{Resource: "services"}) {
			services = k
		}
	}
	claim := func(name string, port int32) (func(bool), error) {
		o := services.New(0)
		o.GetObjectMeta().Name, o.GetObjectMeta().UID = name, meta.UID(name)
		*kind.ValueOf[corev1.Service](o) = corev1.Service{
			ObjectMeta: kind.ValueOf[corev1.Service](o).ObjectMeta,
			Spec:       corev1.ServiceSpec{Type: corev1.ServiceTypeNodePort, Ports: []corev1.ServicePort{{Port: 80, NodePort: port}}},
		}
		return al.Claim(t.Context(), services, o, nil, false)
	}
	first, err := claim("a", 31000)
	require.NoError(t, err)
	_, err = claim("b", 31000)
	assert.ErrorContains(t, err, "provided port is already allocated")
	second, err := claim("b", 0)
	require.NoError(t, err)
	_, err = claim("c", 0)
	assert.ErrorContains(t, err, "range is full")
	first(false)
	third, err := claim("c", 0)
	require.NoError(t, err)
	second(false)
	third(false)
}
