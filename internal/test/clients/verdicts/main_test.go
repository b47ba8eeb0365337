package verdicts

import (
	"log/slog"
	"os"
	"testing"

	"k8s.io/klog/v2"

	"github.com/kubecoord/kubecoord/internal/test/clients/internal/virtualtime"
)

func TestMain(m *testing.M) {
	virtualtime.HandleErrorsAtOnce()
	klog.SetSlogLogger(slog.New(slog.DiscardHandler)) // electors log each failed request
	os.Exit(m.Run())
}
