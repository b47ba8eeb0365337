package scheme_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func podTemplate() corev1.PodTemplateSpec {
	return corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": "web"}},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "nginx"}}},
	}
}

func named(name string) metav1.ObjectMeta { return metav1.ObjectMeta{Name: name, Namespace: "default"} }

func TestJobsGetASelectorOfTheirUID(t *testing.T) {
	client, _ := newClient(t)
	template := podTemplate()
	template.Spec.RestartPolicy = corev1.RestartPolicyNever
	j, err := client.BatchV1().Jobs("default").Create(t.Context(), &batchv1.Job{ObjectMeta: named("j"), Spec: batchv1.JobSpec{Template: template}}, metav1.CreateOptions{})
	require.NoError(t, err)
	assert.Equal(t, map[string]string{batchv1.ControllerUidLabel: string(j.UID)}, j.Spec.Selector.MatchLabels)
	assert.Equal(t, "j", j.Spec.Template.Labels[batchv1.JobNameLabel])
	assert.Equal(t, string(j.UID), j.Spec.Template.Labels["controller-uid"])
	// As the labels of a Job default to the labels of its template.
	template.Labels = nil
	j, err = client.BatchV1().Jobs("default").Create(t.Context(), &batchv1.Job{ObjectMeta: named("k"), Spec: batchv1.JobSpec{Template: template}}, metav1.CreateOptions{})
	require.NoError(t, err)
	assert.Len(t, j.Labels, 4)
	assert.Equal(t, j.Spec.Template.Labels, j.Labels)
	list, err := client.BatchV1().Jobs("default").List(t.Context(), metav1.ListOptions{LabelSelector: "job-name=k"})
	require.NoError(t, err)
	assert.Len(t, list.Items, 1)
}
