package scheme_test

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/store"
)

// startVariable makes this binary start one server, and print how long it took.
const startVariable = "KUBECOORD_START"

// BenchmarkFirstStart starts a server with all built-in kinds in a new process, and writes a Secret. It reports the time in that
// process: until the server answers, and with the write.
func BenchmarkFirstStart(b *testing.B) {
	var start, write time.Duration
	for b.Loop() {
		command := exec.CommandContext(b.Context(), os.Args[0], "-test.run=^TestFirstStart$", "-test.v")
		command.Env = append(os.Environ(), startVariable+"=1")
		out, err := command.CombinedOutput()
		require.NoError(b, err, string(out))
		_, times, ok := strings.Cut(string(out), "started in ")
		require.True(b, ok, string(out))
		var s, w int64
		_, err = fmt.Sscanf(times, "%d ns, wrote in %d ns", &s, &w)
		require.NoError(b, err)
		start, write = start+time.Duration(s), write+time.Duration(w)
	}
	b.ReportMetric(float64(start.Microseconds())/1e3/float64(b.N), "ms/start")
	b.ReportMetric(float64(write.Microseconds())/1e3/float64(b.N), "ms/first-write")
}

// TestFirstStart is the process of BenchmarkFirstStart.
func TestFirstStart(t *testing.T) {
	if os.Getenv(startVariable) == "" {
		t.Skip("only for BenchmarkFirstStart")
	}
	begin := time.Now()
	client, _ := newClient(t)
	started := time.Since(begin)
	begin = time.Now()
	_, err := client.CoreV1().Secrets("default").Create(t.Context(), &corev1.Secret{ObjectMeta: named("s")}, metav1.CreateOptions{})
	require.NoError(t, err)
	fmt.Printf("started in %d ns, wrote in %d ns\n", started.Nanoseconds(), time.Since(begin).Nanoseconds())
}

// BenchmarkFurtherServer starts a server with kinds that another server has already.
func BenchmarkFurtherServer(b *testing.B) {
	kinds := newKinds(b)
	b.ReportAllocs()
	for b.Loop() {
		api := httpapi.New(store.New(store.Options{}), httpapi.Options{Kinds: kinds})
		api.Close()
	}
}
