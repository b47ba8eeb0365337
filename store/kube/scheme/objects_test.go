package scheme_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
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

func TestPodsStartPendingAndKeepTheirStatus(t *testing.T) {
	client, _ := newClient(t)
	pods := client.CoreV1().Pods("default")
	pod := &corev1.Pod{ObjectMeta: named("p"), Spec: podTemplate().Spec, Status: corev1.PodStatus{Phase: corev1.PodRunning}}
	p, err := pods.Create(t.Context(), pod, metav1.CreateOptions{})
	require.NoError(t, err)
	assert.Equal(t, corev1.PodStatus{Phase: corev1.PodPending, QOSClass: corev1.PodQOSBestEffort}, p.Status)
	assert.EqualValues(t, 1, p.Generation)
	assert.Equal(t, corev1.PullAlways, p.Spec.Containers[0].ImagePullPolicy)
	assert.Equal(t, corev1.DefaultSchedulerName, p.Spec.SchedulerName)

	p.Status.Phase = corev1.PodRunning
	p, err = pods.UpdateStatus(t.Context(), p, metav1.UpdateOptions{})
	require.NoError(t, err)
	assert.Equal(t, corev1.PodRunning, p.Status.Phase)
	p.Labels, p.Status.Phase = map[string]string{"a": "b"}, corev1.PodFailed
	p, err = pods.Update(t.Context(), p, metav1.UpdateOptions{})
	require.NoError(t, err)
	assert.Equal(t, corev1.PodRunning, p.Status.Phase)
	assert.EqualValues(t, 1, p.Generation)

	list, err := pods.List(t.Context(), metav1.ListOptions{FieldSelector: "status.phase=Running,spec.nodeName="})
	require.NoError(t, err)
	assert.Len(t, list.Items, 1)
	list, err = pods.List(t.Context(), metav1.ListOptions{FieldSelector: "status.phase!=Running"})
	require.NoError(t, err)
	assert.Empty(t, list.Items)
}

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

func TestNamespacesAreActive(t *testing.T) {
	client, _ := newClient(t)
	n, err := client.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "n"}}, metav1.CreateOptions{})
	require.NoError(t, err)
	assert.Equal(t, corev1.NamespaceActive, n.Status.Phase)
	assert.Equal(t, []corev1.FinalizerName{corev1.FinalizerKubernetes}, n.Spec.Finalizers)
	assert.Equal(t, map[string]string{corev1.LabelMetadataName: "n"}, n.Labels)
}

func TestDeletedNamespacesStayUntilTheyAreFinalized(t *testing.T) {
	client, _ := newClient(t)
	namespaces := client.CoreV1().Namespaces()
	_, err := namespaces.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "n"}}, metav1.CreateOptions{})
	require.NoError(t, err)
	require.NoError(t, namespaces.Delete(t.Context(), "n", metav1.DeleteOptions{}))
	n, err := namespaces.Get(t.Context(), "n", metav1.GetOptions{})
	require.NoError(t, err)
	assert.Equal(t, corev1.NamespaceTerminating, n.Status.Phase)
	assert.NotNil(t, n.DeletionTimestamp)
	assert.Nil(t, n.DeletionGracePeriodSeconds)
}

func TestSomeKindsAnswerADeletionWithTheObject(t *testing.T) {
	_, api := newClient(t)
	client := &http.Client{Transport: api.Transport()}
	for path, kind := range map[string]string{"services": "Service", "configmaps": "Status"} {
		body := strings.NewReader(`{"metadata":{"name":"a"},"spec":{"ports":[{"port":80}]}}`)
		if path == "configmaps" {
			body = strings.NewReader(`{"metadata":{"name":"a"}}`)
		}
		created, err := client.Post("http://kubernetes/api/v1/namespaces/default/"+path, "application/json", body)
		require.NoError(t, err)
		require.NoError(t, created.Body.Close())
		require.Equal(t, http.StatusCreated, created.StatusCode)
		request, err := http.NewRequestWithContext(t.Context(), http.MethodDelete, "http://kubernetes/api/v1/namespaces/default/"+path+"/a", nil)
		require.NoError(t, err)
		answer, err := client.Do(request)
		require.NoError(t, err)
		var object map[string]any
		require.NoError(t, json.NewDecoder(answer.Body).Decode(&object))
		require.NoError(t, answer.Body.Close())
		assert.Equal(t, kind, object["kind"])
	}
}

func TestAWriteOfTheStatusWritesTheMetadataToo(t *testing.T) {
	client, _ := newClient(t)
	nodes := client.CoreV1().Nodes()
	n, err := nodes.Create(t.Context(), &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n"}, Status: corev1.NodeStatus{Phase: corev1.NodeRunning}}, metav1.CreateOptions{})
	require.NoError(t, err)
	assert.Equal(t, corev1.NodeRunning, n.Status.Phase, "a create may set the status of a node")
	n.Annotations, n.Spec.Unschedulable, n.Status.Phase = map[string]string{"a": "b"}, true, corev1.NodePending
	n, err = nodes.UpdateStatus(t.Context(), n, metav1.UpdateOptions{})
	require.NoError(t, err)
	assert.Equal(t, map[string]string{"a": "b"}, n.Annotations)
	assert.False(t, n.Spec.Unschedulable)
	assert.Equal(t, corev1.NodePending, n.Status.Phase)
}

func TestScaleBindingAndEviction(t *testing.T) {
	client, _ := newClient(t)
	deployments := client.AppsV1().Deployments("default")
	_, err := deployments.Create(t.Context(), &appsv1.Deployment{
		ObjectMeta: named("d"),
		Spec:       appsv1.DeploymentSpec{Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}, Template: podTemplate()},
	}, metav1.CreateOptions{})
	require.NoError(t, err)
	s, err := deployments.GetScale(t.Context(), "d", metav1.GetOptions{})
	require.NoError(t, err)
	assert.Equal(t, "app=web", s.Status.Selector)
	s.Spec.Replicas = 3
	s, err = deployments.UpdateScale(t.Context(), "d", s, metav1.UpdateOptions{})
	require.NoError(t, err)
	assert.EqualValues(t, 3, s.Spec.Replicas)
	d, err := deployments.Get(t.Context(), "d", metav1.GetOptions{})
	require.NoError(t, err)
	assert.EqualValues(t, 3, *d.Spec.Replicas)
	assert.EqualValues(t, 2, d.Generation)
	s.ResourceVersion, s.Spec.Replicas = "", -1
	_, err = deployments.UpdateScale(t.Context(), "d", s, metav1.UpdateOptions{})
	require.EqualError(t, err, `Scale.autoscaling "d" is invalid: spec.replicas: Invalid value: -1: must be greater than or equal to 0`)

	pods := client.CoreV1().Pods("default")
	_, err = pods.Create(t.Context(), &corev1.Pod{ObjectMeta: named("p"), Spec: podTemplate().Spec}, metav1.CreateOptions{})
	require.NoError(t, err)
	binding := &corev1.Binding{ObjectMeta: named("p"), Target: corev1.ObjectReference{Kind: "Node", Name: "n"}}
	require.NoError(t, pods.Bind(t.Context(), binding, metav1.CreateOptions{}))
	p, err := pods.Get(t.Context(), "p", metav1.GetOptions{})
	require.NoError(t, err)
	assert.Equal(t, "n", p.Spec.NodeName)
	assert.Equal(t, corev1.PodScheduled, p.Status.Conditions[0].Type)
	err = pods.Bind(t.Context(), binding, metav1.CreateOptions{})
	require.EqualError(t, err, `Operation cannot be fulfilled on pods/binding "p": pod p is already assigned to node "n"`)
	require.NoError(t, pods.EvictV1(t.Context(), &policyv1.Eviction{ObjectMeta: named("p")}))
	p, err = pods.Get(t.Context(), "p", metav1.GetOptions{})
	require.NoError(t, err)
	assert.NotNil(t, p.DeletionTimestamp)
	assert.EqualValues(t, 30, *p.DeletionGracePeriodSeconds)
	require.NoError(t, pods.Delete(t.Context(), "p", *metav1.NewDeleteOptions(0)))
	_, err = pods.Get(t.Context(), "p", metav1.GetOptions{})
	require.ErrorContains(t, err, "not found")
}

func TestFinalizedNamespacesAreGone(t *testing.T) {
	client, _ := newClient(t)
	namespaces := client.CoreV1().Namespaces()
	n, err := namespaces.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "n"}}, metav1.CreateOptions{})
	require.NoError(t, err)
	require.NoError(t, namespaces.Delete(t.Context(), "n", metav1.DeleteOptions{}))
	n.Spec.Finalizers, n.ResourceVersion = nil, ""
	_, err = namespaces.Finalize(t.Context(), n, metav1.UpdateOptions{})
	require.NoError(t, err)
	_, err = namespaces.Get(t.Context(), "n", metav1.GetOptions{})
	assert.ErrorContains(t, err, "not found")
}
