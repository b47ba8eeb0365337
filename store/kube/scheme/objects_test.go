package scheme_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	applyappsv1 "k8s.io/client-go/applyconfigurations/apps/v1"
	applycorev1 "k8s.io/client-go/applyconfigurations/core/v1"
	applymetav1 "k8s.io/client-go/applyconfigurations/meta/v1"
)

func podTemplate() corev1.PodTemplateSpec {
	return corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": "web"}},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "nginx"}}},
	}
}

func named(name string) metav1.ObjectMeta { return metav1.ObjectMeta{Name: name, Namespace: "default"} }

func TestSecretsHaveDefaultsAndNoGeneration(t *testing.T) {
	client, _ := newClient(t)
	s, err := client.CoreV1().Secrets("default").Create(t.Context(), &corev1.Secret{ObjectMeta: named("s"), StringData: map[string]string{"a": "b"}}, metav1.CreateOptions{})
	require.NoError(t, err)
	assert.Equal(t, corev1.SecretTypeOpaque, s.Type)
	assert.Equal(t, map[string][]byte{"a": []byte("b")}, s.Data)
	assert.Empty(t, s.StringData)
	assert.Zero(t, s.Generation)
}

func TestApplyMergesListMapsByTheirKeys(t *testing.T) {
	client, _ := newClient(t)
	deployments := client.AppsV1().Deployments("default")
	config := func(container, image string) *applyappsv1.DeploymentApplyConfiguration {
		return applyappsv1.Deployment("d", "default").WithSpec(applyappsv1.DeploymentSpec().
			WithSelector(applymetav1.LabelSelector().WithMatchLabels(map[string]string{"app": "web"})).
			WithTemplate(applycorev1.PodTemplateSpec().WithLabels(map[string]string{"app": "web"}).WithSpec(applycorev1.PodSpec().
				WithContainers(applycorev1.Container().WithName(container).WithImage(image).WithPorts(applycorev1.ContainerPort().WithContainerPort(80))))))
	}
	_, err := deployments.Apply(t.Context(), config("a", "nginx"), metav1.ApplyOptions{FieldManager: "one"})
	require.NoError(t, err)
	d, err := deployments.Apply(t.Context(), config("b", "proxy"), metav1.ApplyOptions{FieldManager: "two"})
	require.NoError(t, err)
	assert.Len(t, d.Spec.Template.Spec.Containers, 2)
	assert.Len(t, d.ManagedFields, 2)
	assert.Contains(t, string(d.ManagedFields[0].FieldsV1.GetRawBytes()), `k:{\"containerPort\":80,\"protocol\":\"TCP\"}`)
	_, err = deployments.Apply(t.Context(), config("a", "other"), metav1.ApplyOptions{FieldManager: "two"})
	require.ErrorContains(t, err, `conflict with "one": .spec.template.spec.containers[name="a"].image`)
}
