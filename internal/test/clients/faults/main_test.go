package faults

import (
	"os"
	"testing"

	"github.com/kubecoord/kubecoord/internal/test/clients/internal/virtualtime"
)

func TestMain(m *testing.M) {
	virtualtime.HandleErrorsAtOnce()
	os.Exit(m.Run())
}
