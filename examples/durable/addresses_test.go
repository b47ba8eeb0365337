package main

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	utilnet "k8s.io/apimachinery/pkg/util/net"

	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/store/etcd"
	"github.com/kubecoord/kubecoord/store/etcd/member"
	kubecluster "github.com/kubecoord/kubecoord/store/kube/cluster"
)

// TestAddressesOutliveTheServer: a server that starts again on its etcd knows which addresses and ports are taken.
func TestAddressesOutliveTheServer(t *testing.T) {
	m, err := member.Start(t.Context(), t.TempDir(), member.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, m.Close()) })
	does := kubecluster.Bare()
	does.NodePorts = utilnet.PortRange{Base: 31000, Size: 2}
	start := func() (*replica, func()) {
		options, err := does.API(httpapi.Options{})
		require.NoError(t, err)
		st, err := etcd.OpenClient(t.Context(), m.Client(), etcd.DefaultPrefix, etcd.Options{}, options.Kinds...)
		require.NoError(t, err)
		api := httpapi.New(st, options)
		return &replica{t, http.Client{Transport: api.Transport()}}, func() {
			api.Close()
			st.Close()
		}
	}
	const services = "/api/v1/namespaces/default/services"
	service := func(name, more string) string {
		return "{apiVersion: v1, kind: Service, metadata: {name: " + name + "}, spec: {type: NodePort, ports: [{port: 80}]" + more + "}}"
	}
	spec := func(doc map[string]any) map[string]any { return doc["spec"].(map[string]any) }
	port := func(doc map[string]any) any {
		return spec(doc)["ports"].([]any)[0].(map[string]any)["nodePort"]
	}

	a, stop := start()
	first := a.create(services, service("a", ""))
	addresses, uids := a.names("/apis/networking.k8s.io/v1/ipaddresses")
	require.Len(t, addresses, 2, "of the service kubernetes, and of the new one")
	stop()

	a, stop = start()
	defer stop()
	again, others := a.names("/apis/networking.k8s.io/v1/ipaddresses")
	assert.Equal(t, addresses, again)
	assert.Equal(t, uids, others, "none was made again")
	_, kept := a.do(http.MethodGet, services+"/a", "")
	assert.Equal(t, first["spec"], kept["spec"])
	ip, _ := spec(first)["clusterIP"].(string)
	code, doc := a.do(http.MethodPost, services, service("b", ", clusterIP: "+ip))
	assert.Equal(t, http.StatusUnprocessableEntity, code)
	assert.Contains(t, doc["message"], "provided IP is already allocated")
	second := a.create(services, service("b", ""))
	assert.NotEqual(t, port(first), port(second))
	assert.NotEqual(t, ip, spec(second)["clusterIP"])
	code, doc = a.do(http.MethodPost, services, service("c", ""))
	assert.Equal(t, http.StatusInternalServerError, code)
	assert.Contains(t, doc["message"], "range is full", "two ports are taken, and none was given twice")
	code, _ = a.do(http.MethodDelete, services+"/a", "")
	require.Equal(t, http.StatusOK, code)
	assert.Equal(t, port(first), port(a.create(services, service("c", ""))), "what a service of before had is free")
}
