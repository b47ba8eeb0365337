package main

import (
	"os"
	"testing"

	"github.com/go-logr/logr"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/kubecoord/kubecoord/examples/kube/clients/internal/virtualtime"
)

// TestMain drops logs: they are full of errors that the tests are about.
func TestMain(m *testing.M) {
	virtualtime.HandleErrorsAtOnce()
	ctrl.SetLogger(logr.Discard())
	klog.SetLogger(logr.Discard())
	os.Exit(m.Run())
}
