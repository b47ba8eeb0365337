package initial_test

import (
	"net/netip"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"

	"github.com/kubecoord/kubecoord/endpoints"
	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/httpapi/apitest"
	"github.com/kubecoord/kubecoord/httpapi/kube/cluster"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/kind"
	"github.com/kubecoord/kubecoord/store/meta"
)

// newServer returns a server with options.
func newServer(t *testing.T, o cluster.Options) *apitest.API {
	t.Helper()
	options, err := o.API(httpapi.Options{})
	require.NoError(t, err)
	return apitest.New(t, apitest.Options{API: options})
}

// objects returns the objects of a resource of an API.
func objects(t *testing.T, api *apitest.API, group, plural string) *store.Objects {
	t.Helper()
	for _, k := range api.Handler().Kinds() {
		if k.GroupResource() == (meta.GroupResource{Group: group, Resource: plural}) {
			o, err := api.Store().Objects(k)
			require.NoError(t, err)
			return o
		}
	}
	t.Fatalf("%s is not served", plural)
	return nil
}

func TestOnlyAnAddressBesideTheLoopbackHasEndpoints(t *testing.T) {
	for address, served := range map[string]bool{"192.0.2.2": true, "fd00::1": true, "127.0.0.1": false, "::1": false, "": false} {
		o := cluster.Options{Namespaces: true, Service: true, ServicePort: 8443}
		if address != "" {
			o.Advertise = netip.MustParseAddr(address)
		}
		api := newServer(t, o)
		at, slice := objects(t, api, "", "endpoints").Get("default", "kubernetes"), objects(t, api, discoveryv1.GroupName, "endpointslices").Get("default", "kubernetes")
		if !served {
			assert.Nil(t, at, address)
			assert.Nil(t, slice, address)
			continue
		}
		assert.Equal(t, []endpoints.EndpointSubset{{
			Addresses: []endpoints.EndpointAddress{{IP: address}},
			Ports:     []endpoints.EndpointPort{{Name: "https", Port: 8443, Protocol: endpoints.ProtocolTCP}},
		}}, at.(*endpoints.Endpoints).Subsets)
		assert.Equal(t, map[string]string{"endpointslice.kubernetes.io/skip-mirror": "true"}, at.GetObjectMeta().Labels)
		s := kind.ValueOf[discoveryv1.EndpointSlice](slice)
		assert.Equal(t, []discoveryv1.Endpoint{{Addresses: []string{address}, Conditions: discoveryv1.EndpointConditions{Ready: new(true)}}}, s.Endpoints)
		assert.Equal(t, []discoveryv1.EndpointPort{{Name: new("https"), Protocol: new(corev1.ProtocolTCP), Port: new(int32(8443))}}, s.Ports)
		assert.Equal(t, netip.MustParseAddr(address).Is6(), s.AddressType == discoveryv1.AddressTypeIPv6)
		assert.Equal(t, map[string]string{"kubernetes.io/service-name": "kubernetes"}, s.Labels)
	}
}

func TestCertificatesOfClientsAreInAConfigMapIfThereAreAny(t *testing.T) {
	o := cluster.KubeAPIServer()
	all := objects(t, newServer(t, o), "", "configmaps")
	assert.Nil(t, all.Get("kube-system", "extension-apiserver-authentication"))
	o.ClientCA = []byte("PEM")
	all = objects(t, newServer(t, o), "", "configmaps")
	assert.Equal(t, map[string]string{"client-ca-file": "PEM"}, kind.ValueOf[corev1.ConfigMap](all.Get("kube-system", "extension-apiserver-authentication")).Data)
}

func TestAForkHasTheObjectsOfItsParentAndAServerThatStartsHasAll(t *testing.T) {
	api := newServer(t, cluster.KubeAPIServer())
	classes := objects(t, api, "scheduling.k8s.io", "priorityclasses")
	require.Equal(t, 2, classes.Len())
	uid := classes.Get("", "system-node-critical").GetObjectMeta().UID
	require.NoError(t, classes.Delete(t.Context(), "", "system-cluster-critical", store.DeleteOptions{}))
	fork := api.Fork(t)
	forked := objects(t, fork, "scheduling.k8s.io", "priorityclasses")
	assert.Equal(t, uid, forked.Get("", "system-node-critical").GetObjectMeta().UID, "it is the parent's")
	assert.Equal(t, 2, forked.Len(), "a server that starts makes what is missing")
	assert.Equal(t, 1, classes.Len(), "and not in the parent")
	assert.Equal(t, 11, objects(t, fork, "flowcontrol.apiserver.k8s.io", "flowschemas").Len())
	assert.Equal(t, 8, objects(t, fork, "flowcontrol.apiserver.k8s.io", "prioritylevelconfigurations").Len())
}

func TestAServerWithoutObjectsMakesNone(t *testing.T) {
	api := newServer(t, cluster.Options{Namespaces: true, Service: true})
	for _, of := range []struct{ group, plural string }{
		{"scheduling.k8s.io", "priorityclasses"}, {"flowcontrol.apiserver.k8s.io", "flowschemas"}, {"coordination.k8s.io", "leases"}, {"", "configmaps"},
	} {
		assert.Zero(t, objects(t, api, of.group, of.plural).Len(), of.plural)
	}
}
