package suites

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/httpapi/apitest"
	"github.com/kubecoord/kubecoord/httpapi/kube/cluster"
)

// serve starts a server with all kinds of client-go, which does what a bare kube-apiserver does, and returns the file of its kubeconfig.
func serve(t *testing.T) string {
	t.Helper()
	options, err := cluster.KubeAPIServer().API(httpapi.Options{})
	require.NoError(t, err)
	return apitest.New(t, apitest.Options{API: options}).Kubeconfig()
}
