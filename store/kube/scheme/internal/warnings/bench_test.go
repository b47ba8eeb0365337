package warnings

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// A pod as most are: nothing is warned about.
func BenchmarkPod(b *testing.B) {
	amounts := corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1"), corev1.ResourceMemory: resource.MustParse("1Gi")}
	c := corev1.Container{
		Name: "a", Image: "i", Ports: []corev1.ContainerPort{{Name: "http", ContainerPort: 80, Protocol: corev1.ProtocolTCP}},
		Env:       []corev1.EnvVar{{Name: "A", Value: "a"}, {Name: "B", Value: "b"}},
		Resources: corev1.ResourceRequirements{Limits: amounts, Requests: amounts},
	}
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "a"}, Spec: corev1.PodSpec{Containers: []corev1.Container{c}}}
	b.ReportAllocs()
	for b.Loop() {
		if texts := OfWrite(pod, nil); texts != nil {
			b.Fatal(texts)
		}
	}
}
