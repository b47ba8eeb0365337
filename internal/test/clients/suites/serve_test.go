package suites

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"

	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/httpapi/apitest"
	"github.com/kubecoord/kubecoord/store/kube/cluster"
	"github.com/kubecoord/kubecoord/store/kube/crd"
	"github.com/kubecoord/kubecoord/store/kube/scheme"
)

// serve starts a server with all kinds of client-go, which does what a bare kube-apiserver does, and returns the file of its kubeconfig.
func serve(t *testing.T) string {
	t.Helper()
	kinds, err := scheme.Kinds(clientgoscheme.Scheme, scheme.Options{})
	require.NoError(t, err)
	options := httpapi.Options{Kinds: append(kinds, crd.Definitions()), Run: []func(context.Context, *httpapi.API){crd.Run}}
	require.NoError(t, cluster.Bare().Apply(&options))
	return apitest.New(t, apitest.Options{API: options}).Kubeconfig()
}
