package migrate

import (
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
)

// This file has the section of docs/migrate.md about kwok. The program can be installed by
// go install sigs.k8s.io/kwok/cmd/kwok@v0.8.0.

func TestKwokRunsThePods(t *testing.T) {
	if _, err := exec.LookPath("kwok"); err != nil {
		t.Skip("kwok is not installed")
	}
	api, config := start(t, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node"}})
	client, err := kubernetes.NewForConfig(config)
	require.NoError(t, err)
	pods := client.CoreV1().Pods("default")
	w, err := pods.Watch(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	defer w.Stop()

	kwok := exec.CommandContext(t.Context(), "kwok", "--kubeconfig", api.Kubeconfig(), "--manage-all-nodes", "--config", "testdata/kwok/stages.yaml")
	kwok.Stderr = os.Stderr
	require.NoError(t, kwok.Start())
	defer func() {
		require.NoError(t, kwok.Process.Kill())
		_ = kwok.Wait() // it was killed
	}()

	pod := newPod("a")
	pod.Spec.NodeName = "node"
	_, err = pods.Create(t.Context(), pod, metav1.CreateOptions{})
	require.NoError(t, err)
	until(t, w, func(e watch.Event) bool { return e.Object.(*corev1.Pod).Status.Phase == corev1.PodRunning })
	require.NoError(t, pods.Delete(t.Context(), "a", metav1.DeleteOptions{}))
	until(t, w, func(e watch.Event) bool { return e.Type == watch.Deleted })
}

// until reads events until one is the last.
func until(t *testing.T, w watch.Interface, last func(watch.Event) bool) {
	t.Helper()
	for event := range w.ResultChan() {
		if last(event) {
			return
		}
	}
	t.Fatal("the watch has ended")
}
