package verdicts

import (
	"log/slog"
	"os"
	"testing"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/klog/v2"
)

// TestMain takes out the handler that slows down whoever reports errors: it
// remembers when the last error was for the whole process, and in a bubble
// whose clock is behind that of another one it would sleep for years.
func TestMain(m *testing.M) {
	utilruntime.ErrorHandlers = utilruntime.ErrorHandlers[:1]
	klog.SetSlogLogger(slog.New(slog.DiscardHandler)) // electors tell of each failed request
	os.Exit(m.Run())
}
