package controllerruntime

import (
	"os"
	"testing"

	"github.com/go-logr/logr"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
)

// TestMain takes out the handler that slows down whoever reports errors: it
// remembers when the last error was for the whole process, and in a bubble
// whose clock is behind that of another one it would sleep for years. Logs are
// dropped: they are full of errors that the tests are about.
func TestMain(m *testing.M) {
	utilruntime.ErrorHandlers = utilruntime.ErrorHandlers[:1]
	ctrl.SetLogger(logr.Discard())
	klog.SetLogger(logr.Discard())
	os.Exit(m.Run())
}
