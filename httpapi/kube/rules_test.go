package kube_test

import (
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"

	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/httpapi/apitest"

	"github.com/kubecoord/kubecoord/httpapi/kube/scheme"
)

// newClientset returns client-go on a server whose gates are set.
func newClientset(t *testing.T, gates map[string]bool) *kubernetes.Clientset {
	kinds, err := scheme.Kinds(clientgoscheme.Scheme, scheme.Options{FeatureGates: gates})
	require.NoError(t, err)
	api := apitest.New(t, apitest.Options{API: httpapi.Options{Kinds: kinds}})
	c, err := kubernetes.NewForConfig(&rest.Config{Host: api.Host(), Transport: api.Transport()})
	require.NoError(t, err)
	return c
}

func autoscalerOfV1(name string, least int32, annotations map[string]string) *autoscalingv1.HorizontalPodAutoscaler {
	return &autoscalingv1.HorizontalPodAutoscaler{
		ObjectMeta: metav1.ObjectMeta{Name: name, Annotations: annotations},
		Spec: autoscalingv1.HorizontalPodAutoscalerSpec{
			MinReplicas: &least, MaxReplicas: 3, ScaleTargetRef: autoscalingv1.CrossVersionObjectReference{APIVersion: "apps/v1", Kind: "Deployment", Name: "d"},
		},
	}
}

// The rules of autoscaling/v2 hold for what annotations of autoscaling/v1 say.
func TestAnnotationsOfAutoscalersAreValidated(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		autoscalers := newClientset(t, nil).AutoscalingV1().HorizontalPodAutoscalers("default")
		external := map[string]string{"autoscaling.alpha.kubernetes.io/metrics": `[{"type":"External","external":{"metricName":"m","targetValue":"1"}}]`}
		_, err := autoscalers.Create(t.Context(), autoscalerOfV1("zero", 0, external), metav1.CreateOptions{})
		require.NoError(t, err)
		_, err = autoscalers.Create(t.Context(), autoscalerOfV1("no-metric", 0, nil), metav1.CreateOptions{})
		assert.ErrorContains(t, err, "spec.metrics: Forbidden: must specify at least one Object or External metric to support scaling to zero replicas")
		behavior := map[string]string{"autoscaling.alpha.kubernetes.io/behavior": `{"ScaleDown":{"StabilizationWindowSeconds":1}}`}
		_, err = autoscalers.Create(t.Context(), autoscalerOfV1("no-policy", 1, behavior), metav1.CreateOptions{})
		assert.ErrorContains(t, err, "spec.behavior.scaleDown.policies: Required value: must specify at least one Policy")
	})
}

// Rules ask the gates of their server.
func TestGatesDecideWhatIsValid(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		external := map[string]string{"autoscaling.alpha.kubernetes.io/metrics": `[{"type":"External","external":{"metricName":"m","targetValue":"1"}}]`}
		off := newClientset(t, map[string]bool{"HPAScaleToZero": false}).AutoscalingV1().HorizontalPodAutoscalers("default")
		_, err := off.Create(t.Context(), autoscalerOfV1("zero", 0, external), metav1.CreateOptions{})
		assert.ErrorContains(t, err, "spec.minReplicas: Invalid value: 0: must be greater than or equal to 1")
		for sources, gates := range map[string]map[string]bool{"`secretKeyRef` or `fileKeyRef`": nil, "`configMapKeyRef` or `secretKeyRef`": {"EnvFiles": false}} {
			_, err = newClientset(t, gates).CoreV1().Pods("default").Create(t.Context(), &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "p"}, Spec: corev1.PodSpec{
				Containers: []corev1.Container{{Name: "c", Image: "i", Env: []corev1.EnvVar{{Name: "A", ValueFrom: &corev1.EnvVarSource{}}}}}}}, metav1.CreateOptions{})
			assert.ErrorContains(t, err, "must specify one of: `fieldRef`, `resourceFieldRef`, ")
			assert.ErrorContains(t, err, sources)
		}
	})
}

func TestPodsAreBoundToNamesOfNodes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pods := newClientset(t, nil).CoreV1().Pods("default")
		_, err := pods.Create(t.Context(), &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Name: "p"}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i"}}},
		}, metav1.CreateOptions{})
		require.NoError(t, err)
		to := func(node string) error {
			return pods.Bind(t.Context(), &corev1.Binding{ObjectMeta: metav1.ObjectMeta{Name: "p"}, Target: corev1.ObjectReference{Name: node}}, metav1.CreateOptions{})
		}
		assert.ErrorContains(t, to("A_"), `target.name: Invalid value: "A_": a lowercase RFC 1123 subdomain must consist of`)
		assert.NoError(t, to("a"))
	})
}
