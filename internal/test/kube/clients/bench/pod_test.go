package bench

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/fake"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	runtimefake "sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/httpapi/kube/scheme"
	"github.com/kubecoord/kubecoord/store"
)

// newPod returns a Pod of one container.
func newPod(name string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: namespace, Labels: map[string]string{"app": "web"}},
		Spec: corev1.PodSpec{
			Containers: []corev1.Container{{
				Name: "web", Image: "registry.example.com/web:1.2.3",
				Args:  []string{"--port=8080"},
				Env:   []corev1.EnvVar{{Name: "LEVEL", Value: "info"}, {Name: "REGION", Value: "here"}},
				Ports: []corev1.ContainerPort{{Name: "http", ContainerPort: 8080}},
				Resources: corev1.ResourceRequirements{
					Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("100m"), corev1.ResourceMemory: resource.MustParse("128Mi")},
				},
			}},
			NodeName: "node-1",
		},
	}
}

// podDoor is one way to write Pods. update changes an annotation.
type podDoor struct{ create, update func() }

func podClient(t testing.TB, client kubernetes.Interface) podDoor {
	pods, ctx, n := client.CoreV1().Pods(namespace), t.Context(), 0
	pod, err := pods.Create(ctx, newPod("updated"), metav1.CreateOptions{})
	require.NoError(t, err)
	return podDoor{
		create: func() {
			n++
			_, err := pods.Create(ctx, newPod(fmt.Sprint("pod-", n)), metav1.CreateOptions{})
			require.NoError(t, err)
		},
		update: func() {
			n++
			pod.Annotations = map[string]string{"n": fmt.Sprint(n)}
			pod, err = pods.Update(ctx, pod, metav1.UpdateOptions{})
			require.NoError(t, err)
		},
	}
}

// newPodServer is a clientset over the in-memory transport of a server with all built-in kinds.
func newPodServer(t testing.TB) podDoor {
	kinds, err := scheme.Kinds(clientgoscheme.Scheme, scheme.Options{})
	require.NoError(t, err)
	st := store.New(store.Options{})
	api := httpapi.New(st, httpapi.Options{Kinds: kinds})
	t.Cleanup(func() {
		api.Close()
		st.Close()
	})
	client, err := kubernetes.NewForConfig(&rest.Config{Host: "http://kube", Transport: api.Transport(), QPS: -1})
	require.NoError(t, err)
	return podClient(t, client)
}

// newPodRuntimeFake is the fake of controller-runtime.
func newPodRuntimeFake(t testing.TB) podDoor {
	c, n := runtimefake.NewClientBuilder().Build(), 0
	pod := newPod("updated")
	require.NoError(t, c.Create(t.Context(), pod))
	return podDoor{
		create: func() {
			n++
			require.NoError(t, c.Create(context.Background(), newPod(fmt.Sprint("pod-", n))))
		},
		update: func() {
			n++
			pod.Annotations = map[string]string{"n": fmt.Sprint(n)}
			require.NoError(t, c.Update(context.Background(), pod))
		},
	}
}

// BenchmarkPod writes Pods by client-go in process, and to both fakes.
func BenchmarkPod(b *testing.B) {
	for name, open := range map[string]func(testing.TB) podDoor{
		"kubecoord": newPodServer, "controller-runtime-fake": newPodRuntimeFake,
		"client-go-fake": func(t testing.TB) podDoor { return podClient(t, fake.NewSimpleClientset()) },
	} {
		for verb, of := range map[string]func(podDoor) func(){
			"create": func(d podDoor) func() { return d.create }, "update": func(d podDoor) func() { return d.update },
		} {
			b.Run(verb+"/"+name, func(b *testing.B) {
				do := of(open(b))
				b.ReportAllocs()
				for b.Loop() {
					do()
				}
			})
		}
	}
}

// TestAllocationsOfAPod counts what a write takes with all that its client does. An update that leaves spec and status as they are compares
// them once, by their bytes.
func TestAllocationsOfAPod(t *testing.T) {
	d := newPodServer(t)
	for range 50 {
		d.create()
		d.update()
	}
	assert.LessOrEqual(t, testing.AllocsPerRun(100, d.create), 480.0, "create")
	assert.LessOrEqual(t, testing.AllocsPerRun(100, d.update), 520.0, "update")
}
