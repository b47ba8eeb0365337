//go:build unix

package kubectl

import (
	"testing"

	"github.com/stretchr/testify/require"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"

	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/store/kube/cluster"
	"github.com/kubecoord/kubecoord/store/kube/crd"
	"github.com/kubecoord/kubecoord/store/kube/scheme"
)

// everyKind adds all kinds of Kubernetes, and the ones that CustomResourceDefinitions define.
func everyKind(t *testing.T, o *httpapi.Options) {
	t.Helper()
	kinds, err := scheme.Kinds(clientgoscheme.Scheme, scheme.Options{})
	require.NoError(t, err)
	o.Kinds, o.Run = append(kinds, crd.Definitions()), append(o.Run, crd.Run)
	require.NoError(t, cluster.Options{Reviews: true, RBAC: true}.Apply(o))
}
