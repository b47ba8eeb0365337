package testapi

import (
	"log/slog"
	"os"
	"testing"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/klog/v2"
)

// Main runs the tests of a package whose clients run in virtual time.
//
// It removes the apimachinery error handler that limits the rate of errors. That handler keeps the time of the last error
// for the whole process: in a bubble with an earlier clock it would sleep for years. It also drops the logs of the clients.
func Main(m *testing.M) {
	utilruntime.ErrorHandlers = utilruntime.ErrorHandlers[:1]
	klog.SetSlogLogger(slog.New(slog.DiscardHandler))
	os.Exit(m.Run())
}
