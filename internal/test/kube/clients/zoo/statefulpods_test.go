package zoo

import (
	"context"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/kubecoord/kubecoord/httpapi/apitest/explore"
)

// A StatefulSet gets Pods and claims, is scaled, rolled and made again for orphans, and at each rest nothing more is written.
func TestStatefulPodsRun(t *testing.T) {
	prepared := prepared(t)
	synctest.Test(t, func(t *testing.T) {
		api := prepared.Fork(t)
		c := explore.Conn{Host: api.Host(), Transport: api.TransportFor("world")}
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- explore.StatefulPods(ctx, c) }()
		k := kubernetes.NewForConfigOrDie(config(c))
		sets, pods, claims := k.AppsV1().StatefulSets(namespace), k.CoreV1().Pods(namespace), k.CoreV1().PersistentVolumeClaims(namespace)
		set := setOfTwo()
		rests := func() *appsv1.StatefulSet {
			t.Helper()
			time.Sleep(10 * time.Second)
			before := api.Store().ResourceVersion()
			time.Sleep(time.Hour)
			assert.Equal(t, before, api.Store().ResourceVersion())
			s, err := sets.Get(ctx, "w", metav1.GetOptions{})
			require.NoError(t, err)
			assert.Equal(t, s.Generation, s.Status.ObservedGeneration)
			return s
		}
		names := func() (all []string) {
			list, err := pods.List(ctx, metav1.ListOptions{})
			require.NoError(t, err)
			for _, p := range list.Items {
				all = append(all, p.Name+" "+string(p.OwnerReferences[0].UID)+" "+p.Labels["controller-revision-hash"])
				assert.Equal(t, corev1.PodRunning, p.Status.Phase)
				assert.True(t, p.Status.ContainerStatuses[0].Ready)
				assert.Equal(t, "data-"+p.Name, p.Spec.Volumes[0].PersistentVolumeClaim.ClaimName)
			}
			return all
		}
		_, err := sets.Create(ctx, set, metav1.CreateOptions{})
		require.NoError(t, err)
		s := rests()
		first := s.Status.UpdateRevision
		assert.EqualValues(t, 2, s.Status.ReadyReplicas)
		owned := " " + string(s.UID) + " "
		assert.Equal(t, []string{"w-0" + owned + first, "w-1" + owned + first}, names())
		claim, err := claims.Get(ctx, "data-w-1", metav1.GetOptions{})
		require.NoError(t, err)
		assert.Equal(t, corev1.ClaimBound, claim.Status.Phase)
		assert.Equal(t, map[string]string{"app": "w"}, claim.Labels)

		s.Spec.Replicas = new(int32(1))
		_, err = sets.Update(ctx, s, metav1.UpdateOptions{})
		require.NoError(t, err)
		assert.EqualValues(t, 1, rests().Status.Replicas)
		assert.Len(t, names(), 1)

		require.NoError(t, sets.Delete(ctx, "w", metav1.DeleteOptions{PropagationPolicy: new(metav1.DeletePropagationOrphan)}))
		time.Sleep(10 * time.Second)
		orphan, err := pods.Get(ctx, "w-0", metav1.GetOptions{})
		require.NoError(t, err)
		if len(orphan.OwnerReferences) > 0 { // no garbage collector runs
			orphan.OwnerReferences = nil
			_, err = pods.Update(ctx, orphan, metav1.UpdateOptions{})
			require.NoError(t, err)
		}
		set.Spec.Template.Spec.Containers[0].Image = "j"
		set.Finalizers = nil
		made, err := sets.Create(ctx, set, metav1.CreateOptions{})
		require.NoError(t, err)
		s = rests()
		assert.EqualValues(t, 2, s.Status.UpdatedReplicas)
		assert.NotEqual(t, first, s.Status.UpdateRevision)
		assert.False(t, slices.ContainsFunc(names(), func(n string) bool { return !strings.Contains(n, string(made.UID)) || strings.Contains(n, first) }))
		stop()
		assert.NoError(t, <-ended)
	})
}

// setOfTwo returns one of two Pods with a claim each.
func setOfTwo() *appsv1.StatefulSet {
	labels := map[string]string{"app": "w"}
	return &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "w"}, Spec: appsv1.StatefulSetSpec{
		Replicas: new(int32(2)), Selector: &metav1.LabelSelector{MatchLabels: labels}, ServiceName: "w",
		Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i"}}}},
		VolumeClaimTemplates: []corev1.PersistentVolumeClaim{{ObjectMeta: metav1.ObjectMeta{Name: "data"}, Spec: corev1.PersistentVolumeClaimSpec{
			AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			Resources:   corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}},
		}}},
	}}
}
