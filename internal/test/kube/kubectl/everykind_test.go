//go:build unix

package kubectl

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/httpapi/kube/cluster"
)

// everyKind adds all kinds of Kubernetes, and the ones that CustomResourceDefinitions define.
func everyKind(t *testing.T, o *httpapi.Options) {
	t.Helper()
	var err error
	*o, err = cluster.Options{Reviews: true, RBAC: true}.API(*o)
	require.NoError(t, err)
}
