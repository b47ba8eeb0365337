package zoo

import (
	"testing"

	"github.com/go-logr/logr"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/kubecoord/kubecoord/internal/test/kube/clients/internal/testapi"
)

func TestMain(m *testing.M) {
	ctrl.SetLogger(logr.Discard())
	testapi.Main(m)
}
