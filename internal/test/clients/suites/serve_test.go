package suites

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"

	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/httpapi/apitest"
	"github.com/kubecoord/kubecoord/store/fixture"
	"github.com/kubecoord/kubecoord/store/kube/cluster"
	"github.com/kubecoord/kubecoord/store/kube/crd"
	"github.com/kubecoord/kubecoord/store/kube/scheme"
)

// bootstrap are the objects that a kube-apiserver makes at its start, and the suites look for.
const bootstrap = `# YAML
apiVersion: v1
kind: List
items:
- {apiVersion: v1, kind: Namespace, metadata: {name: default}}
- {apiVersion: v1, kind: Namespace, metadata: {name: kube-system}}
- {apiVersion: v1, kind: Namespace, metadata: {name: kube-public}}
- {apiVersion: v1, kind: Namespace, metadata: {name: kube-node-lease}}
- apiVersion: v1
  kind: Service
  metadata: {namespace: default, name: kubernetes, labels: {component: apiserver, provider: kubernetes}}
  spec: {clusterIP: 10.0.0.1, clusterIPs: [10.0.0.1], ports: [{name: https, port: 443, targetPort: 6443}]}
`

// serve starts a server with all kinds of client-go, and returns the file of its kubeconfig.
func serve(t *testing.T) string {
	t.Helper()
	kinds, err := scheme.Kinds(clientgoscheme.Scheme, scheme.Options{})
	require.NoError(t, err)
	options := httpapi.Options{Kinds: append(kinds, crd.Definitions()), Run: []func(context.Context, *httpapi.API){crd.Run}}
	require.NoError(t, cluster.Options{Reviews: true}.Apply(&options))
	api := apitest.New(t, apitest.Options{
		API:      options,
		Fixtures: []fixture.Source{fixture.Stream("bootstrap", strings.NewReader(bootstrap))},
	})
	return api.Kubeconfig()
}
