package controllerruntime

import (
	"os"
	"testing"

	"github.com/go-logr/logr"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/kubecoord/kubecoord/internal/test/clients/internal/virtualtime"
)

// TestMain drops logs: the tests provoke the errors that they contain.
func TestMain(m *testing.M) {
	virtualtime.HandleErrorsAtOnce()
	ctrl.SetLogger(logr.Discard())
	klog.SetLogger(logr.Discard())
	os.Exit(m.Run())
}
