package zoo

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/kubecoord/kubecoord/httpapi/apitest/explore"
)

// The Pods of all workloads run a moment after these were created or scaled, and nothing more is written.
func TestWorkloadsRun(t *testing.T) {
	prepared := prepared(t)
	synctest.Test(t, func(t *testing.T) {
		api := prepared.Fork(t)
		c := explore.Conn{Host: api.Host(), Transport: api.TransportFor("world")}
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- explore.Workloads(ctx, c) }()
		k := kubernetes.NewForConfigOrDie(config(c))
		meta := metav1.ObjectMeta{Namespace: namespace, Name: "w"}
		labels := map[string]string{"app": "w"}
		pods := corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i"}}}}
		selector := &metav1.LabelSelector{MatchLabels: labels}
		_, err := k.AppsV1().Deployments(namespace).Create(ctx, &appsv1.Deployment{ObjectMeta: meta, Spec: appsv1.DeploymentSpec{Replicas: new(int32(2)), Selector: selector, Template: pods}}, metav1.CreateOptions{})
		require.NoError(t, err)
		_, err = k.AppsV1().StatefulSets(namespace).Create(ctx, &appsv1.StatefulSet{ObjectMeta: meta, Spec: appsv1.StatefulSetSpec{Selector: selector, Template: pods}}, metav1.CreateOptions{})
		require.NoError(t, err)
		once := *pods.DeepCopy()
		once.Spec.RestartPolicy = corev1.RestartPolicyNever
		once.Labels = nil
		_, err = k.BatchV1().Jobs(namespace).Create(ctx, &batchv1.Job{ObjectMeta: meta, Spec: batchv1.JobSpec{Completions: new(int32(3)), Template: once}}, metav1.CreateOptions{})
		require.NoError(t, err)
		_, err = k.CoreV1().Pods(namespace).Create(ctx, &corev1.Pod{ObjectMeta: meta, Spec: pods.Spec}, metav1.CreateOptions{})
		require.NoError(t, err)
		time.Sleep(10 * time.Second)

		d, err := k.AppsV1().Deployments(namespace).Get(ctx, "w", metav1.GetOptions{})
		require.NoError(t, err)
		assert.Equal(t, []int32{2, 2, 2}, []int32{d.Status.Replicas, d.Status.ReadyReplicas, d.Status.AvailableReplicas})
		assert.Equal(t, d.Generation, d.Status.ObservedGeneration)
		s, err := k.AppsV1().StatefulSets(namespace).Get(ctx, "w", metav1.GetOptions{})
		require.NoError(t, err)
		assert.EqualValues(t, 1, s.Status.ReadyReplicas)
		j, err := k.BatchV1().Jobs(namespace).Get(ctx, "w", metav1.GetOptions{})
		require.NoError(t, err)
		assert.EqualValues(t, 3, j.Status.Succeeded)
		require.NotEmpty(t, j.Status.Conditions)
		assert.Equal(t, batchv1.JobComplete, j.Status.Conditions[len(j.Status.Conditions)-1].Type)
		p, err := k.CoreV1().Pods(namespace).Get(ctx, "w", metav1.GetOptions{})
		require.NoError(t, err)
		assert.Equal(t, corev1.PodRunning, p.Status.Phase)

		scaled := d.DeepCopy()
		scaled.Spec.Replicas = new(int32(5))
		_, err = k.AppsV1().Deployments(namespace).Update(ctx, scaled, metav1.UpdateOptions{})
		require.NoError(t, err)
		time.Sleep(10 * time.Second)
		d, err = k.AppsV1().Deployments(namespace).Get(ctx, "w", metav1.GetOptions{})
		require.NoError(t, err)
		assert.EqualValues(t, 5, d.Status.AvailableReplicas)
		before := api.Store().ResourceVersion()
		time.Sleep(time.Hour)
		assert.Equal(t, before, api.Store().ResourceVersion())
		stop()
		assert.NoError(t, <-ended)
	})
}
