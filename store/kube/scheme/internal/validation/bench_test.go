package validation_test

import (
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecoord/kubecoord/store/kube/scheme/internal/defaults"
	"github.com/kubecoord/kubecoord/store/kube/scheme/internal/validation"
)

func BenchmarkValidateDeployment(b *testing.B) {
	labels := map[string]string{"app": "web"}
	d := &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: "default"},
		Spec: appsv1.DeploymentSpec{
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "web", Image: "web:1", LivenessProbe: &corev1.Probe{}}}},
			},
		},
	}
	defaults.New(time.Now).Default(d)
	b.ReportAllocs()
	for b.Loop() {
		validation.Validate(d, nil)
	}
}
