package cluster_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/httpapi/kube/cluster"
	"github.com/kubecoord/kubecoord/store"
)

// The answers of the plugins are compared with a real server in internal/test/kube/cluster.

func podOf(name string) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "a", Image: "i"}}}}
}

func TestPluginsRunByTheirNames(t *testing.T) {
	assert.True(t, slices.IsSortedFunc(cluster.DefaultPlugins(), func(a, b string) int {
		order := []string{"NamespaceLifecycle", "LimitRanger", "TaintNodesByCondition", "PodSecurity", "Priority", "MutatingAdmissionWebhook", "ResourceQuota"}
		if i, j := slices.Index(order, a), slices.Index(order, b); i >= 0 && j >= 0 {
			return i - j
		}
		return 0
	}), "the order of a kube-apiserver")
	_, err := cluster.New(cluster.Options{Plugins: []string{"Priority", "Foo"}}, store.Options{}, httpapi.Options{})
	assert.EqualError(t, err, `cluster: there is no admission plugin "Foo"`)

	for _, row := range []struct {
		plugins               []string
		prioritized, tolerant bool
	}{
		{nil, false, false},
		{[]string{"Priority"}, true, false},
		{[]string{"DefaultTolerationSeconds"}, false, true},
		{cluster.DefaultPlugins(), true, true},
	} {
		_, client := newServer(t, cluster.Options{Namespaces: true, Plugins: row.plugins})
		pod, err := client.CoreV1().Pods("default").Create(t.Context(), podOf("p"), metav1.CreateOptions{})
		require.NoError(t, err)
		assert.Equal(t, row.prioritized, pod.Spec.Priority != nil, row.plugins)
		assert.Equal(t, row.tolerant, len(pod.Spec.Tolerations) == 2, row.plugins)
	}
	_, client := newServer(t, cluster.Options{Plugins: []string{"NamespaceLifecycle"}})
	_, err = client.CoreV1().Pods("none").Create(t.Context(), podOf("p"), metav1.CreateOptions{})
	assert.EqualError(t, err, `namespaces "none" not found`)
}

func TestPodsTolerateNodesForTheTimesOfTheOptions(t *testing.T) {
	for _, row := range []struct{ notReady, unreachable *int64 }{{nil, nil}, {new(int64(5)), nil}, {new(int64(0)), new(int64(7))}} {
		_, client := newServer(t, cluster.Options{Plugins: []string{"DefaultTolerationSeconds"}, NotReadySeconds: row.notReady, UnreachableSeconds: row.unreachable})
		pod, err := client.CoreV1().Pods("default").Create(t.Context(), podOf("p"), metav1.CreateOptions{})
		require.NoError(t, err)
		want := func(n *int64) int64 {
			if n == nil {
				return 300
			}
			return *n
		}
		require.Len(t, pod.Spec.Tolerations, 2)
		assert.Equal(t, want(row.notReady), *pod.Spec.Tolerations[0].TolerationSeconds)
		assert.Equal(t, want(row.unreachable), *pod.Spec.Tolerations[1].TolerationSeconds)
	}
}

// A fork has the classes of the server at the time, and its own from then on.
func TestForksHaveTheirOwnClasses(t *testing.T) {
	api, client := newServer(t, cluster.KubeAPIServer())
	class := func(c *kubernetes.Clientset, name string, value int32) {
		_, err := c.SchedulingV1().PriorityClasses().Create(t.Context(), &schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: name}, Value: value}, metav1.CreateOptions{})
		require.NoError(t, err)
	}
	priority := func(c *kubernetes.Clientset, pod, class string) (int32, error) {
		p := podOf(pod)
		p.Spec.PriorityClassName = class
		p, err := c.CoreV1().Pods("default").Create(t.Context(), p, metav1.CreateOptions{})
		if err != nil {
			return 0, err
		}
		return *p.Spec.Priority, nil
	}
	class(client, "shared", 7)
	fork := clientOf(t, api.Fork(t))
	class(client, "own", 8)
	got, err := priority(fork, "p", "shared")
	require.NoError(t, err)
	assert.Equal(t, int32(7), got)
	_, err = priority(fork, "q", "own")
	assert.EqualError(t, err, `pods "q" is forbidden: no PriorityClass with name own was found`)
	got, err = priority(client, "p", "own")
	require.NoError(t, err)
	assert.Equal(t, int32(8), got)
}

// quotaOf makes a quota with its status.
func quotaOf(t *testing.T, client *kubernetes.Clientset, name, pods string) {
	t.Helper()
	hard := corev1.ResourceList{corev1.ResourcePods: resource.MustParse(pods)}
	q, err := client.CoreV1().ResourceQuotas("default").Create(t.Context(), &corev1.ResourceQuota{
		ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: corev1.ResourceQuotaSpec{Hard: hard},
	}, metav1.CreateOptions{})
	require.NoError(t, err)
	q.Status = corev1.ResourceQuotaStatus{Hard: hard, Used: corev1.ResourceList{corev1.ResourcePods: resource.MustParse("0")}}
	_, err = client.CoreV1().ResourceQuotas("default").UpdateStatus(t.Context(), q, metav1.UpdateOptions{})
	require.NoError(t, err)
}

func usedOf(t *testing.T, client *kubernetes.Clientset, name string) string {
	t.Helper()
	q, err := client.CoreV1().ResourceQuotas("default").Get(t.Context(), name, metav1.GetOptions{})
	require.NoError(t, err)
	used := q.Status.Used[corev1.ResourcePods]
	return used.String()
}

// However many writers there are, a quota is charged for what was stored, in each fork by itself.
func TestQuotasAreExact(t *testing.T) {
	api, client := newServer(t, cluster.KubeAPIServer())
	quotaOf(t, client, "q", "7")
	quotaOf(t, client, "other", "9")
	fork := clientOf(t, api.Fork(t))
	var wg sync.WaitGroup
	var mu sync.Mutex
	made, refused := 0, 0
	for i := range 20 {
		wg.Go(func() {
			_, err := client.CoreV1().Pods("default").Create(t.Context(), podOf(fmt.Sprint("p", i)), metav1.CreateOptions{})
			mu.Lock()
			defer mu.Unlock()
			if err == nil {
				made++
			} else if apierrors.IsForbidden(err) {
				refused++
			}
		})
	}
	wg.Wait()
	assert.Equal(t, []int{7, 13}, []int{made, refused})
	assert.Equal(t, []string{"7", "7"}, []string{usedOf(t, client, "q"), usedOf(t, client, "other")}, "what the first quota refuses, the other is not charged for")
	assert.Equal(t, "0", usedOf(t, fork, "q"))

	_, err := fork.CoreV1().Pods("default").Create(t.Context(), podOf("a"), metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
	require.NoError(t, err)
	assert.Equal(t, "0", usedOf(t, fork, "q"), "a dry run is not charged")
	for range 2 {
		_, err = fork.CoreV1().Pods("default").Create(t.Context(), podOf("a"), metav1.CreateOptions{})
	}
	assert.EqualError(t, err, `pods "a" already exists`)
	assert.Equal(t, "1", usedOf(t, fork, "q"), "a write that fails gives back what it took")
}

// Both ends of a LimitRange are allowed (upstream: plugin/pkg/admission/limitranger, minConstraint and maxConstraint).
func TestTheEndsOfALimitRangeAreAllowed(t *testing.T) {
	_, client := newServer(t, cluster.Options{Plugins: []string{"LimitRanger"}})
	list := func(cpu string) corev1.ResourceList {
		if cpu == "" {
			return nil
		}
		return corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu)}
	}
	for _, of := range []corev1.LimitType{corev1.LimitTypeContainer, corev1.LimitTypePod} {
		namespace := strings.ToLower(string(of))
		_, err := client.CoreV1().LimitRanges(namespace).Create(t.Context(), &corev1.LimitRange{
			ObjectMeta: metav1.ObjectMeta{Name: "l"},
			Spec:       corev1.LimitRangeSpec{Limits: []corev1.LimitRangeItem{{Type: of, Min: list("100m"), Max: list("400m"), MaxLimitRequestRatio: list("3")}}},
		}, metav1.CreateOptions{})
		require.NoError(t, err)
		for _, row := range []struct{ request, limit, refused string }{
			{"100m", "100m", ""},
			{"400m", "400m", ""},
			{"100m", "300m", ""},
			{"99m", "100m", "minimum cpu usage per %s is 100m, but request is 99m"},
			{"399m", "401m", "maximum cpu usage per %s is 400m, but limit is 401m"},
			{"100m", "301m", "cpu max limit to request ratio per %s is 3, but provided ratio is 3.010000"},
		} {
			pod := podOf("p")
			pod.Spec.Containers[0].Resources = corev1.ResourceRequirements{Requests: list(row.request), Limits: list(row.limit)}
			_, err := client.CoreV1().Pods(namespace).Create(t.Context(), pod, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
			if row.refused == "" {
				assert.NoError(t, err, row)
			} else {
				assert.ErrorContains(t, err, fmt.Sprintf(row.refused, of), row)
			}
		}
	}
}

// The charge of a quota is a write of the server, about which policies are asked as such.
func TestTheChargeOfAQuotaIsNotTheUsersWrite(t *testing.T) {
	api, admin := newServer(t, cluster.KubeAPIServer())
	quotaOf(t, admin, "q", "7")
	_, err := admin.AdmissionregistrationV1().ValidatingAdmissionPolicies().Create(t.Context(), &admissionv1.ValidatingAdmissionPolicy{
		ObjectMeta: metav1.ObjectMeta{Name: "jane"},
		Spec: admissionv1.ValidatingAdmissionPolicySpec{
			MatchConstraints: &admissionv1.MatchResources{ResourceRules: []admissionv1.NamedRuleWithOperations{{RuleWithOperations: admissionv1.RuleWithOperations{
				Operations: []admissionv1.OperationType{admissionv1.Update},
				Rule:       admissionv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"resourcequotas", "resourcequotas/status"}},
			}}}},
			Validations: []admissionv1.Validation{{Expression: "request.userInfo.username != 'jane'"}},
		},
	}, metav1.CreateOptions{})
	require.NoError(t, err)
	_, err = admin.AdmissionregistrationV1().ValidatingAdmissionPolicyBindings().Create(t.Context(), &admissionv1.ValidatingAdmissionPolicyBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "jane"},
		Spec:       admissionv1.ValidatingAdmissionPolicyBindingSpec{PolicyName: "jane", ValidationActions: []admissionv1.ValidationAction{admissionv1.Deny}},
	}, metav1.CreateOptions{})
	require.NoError(t, err)
	jane := clientAs(t, api, "jane")
	_, err = jane.CoreV1().ResourceQuotas("default").Patch(t.Context(), "q", types.MergePatchType, []byte(`{"status":{"used":{"pods":"0"}}}`), metav1.PatchOptions{}, "status")
	require.ErrorContains(t, err, "ValidatingAdmissionPolicy 'jane'")
	_, err = jane.CoreV1().Pods("default").Create(t.Context(), podOf("p"), metav1.CreateOptions{})
	require.NoError(t, err)
	assert.Equal(t, "1", usedOf(t, admin, "q"))
}
