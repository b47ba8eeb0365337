package main

import (
	"os"
	"testing"

	"github.com/go-logr/logr"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
)

// TestMain takes out the handler of errors that remembers for the whole process
// when the last one was, and in another bubble would wait for years. Logs are full
// of the errors that the tests are about.
func TestMain(m *testing.M) {
	utilruntime.ErrorHandlers = nil
	ctrl.SetLogger(logr.Discard())
	klog.SetLogger(logr.Discard())
	os.Exit(m.Run())
}
