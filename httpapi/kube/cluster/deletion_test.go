package cluster_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	"github.com/kubecoord/kubecoord/httpapi/kube/cluster"
)

// deleting runs a test in virtual time, with a client of a server that deletes what is in deleted namespaces and has a namespace a.
func deleting(t *testing.T, f func(t *testing.T, client *kubernetes.Clientset)) {
	synctest.Test(t, func(t *testing.T) {
		o := cluster.KubeAPIServer()
		o.NamespaceDeletion = true
		_, client := newServer(t, o)
		_, err := client.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "a"}}, metav1.CreateOptions{})
		require.NoError(t, err)
		f(t, client)
	})
}

func TestSystemNamespaceComesAgain(t *testing.T) {
	deleting(t, func(t *testing.T, client *kubernetes.Clientset) {
		require.NoError(t, client.CoreV1().Namespaces().Delete(t.Context(), "kube-node-lease", metav1.DeleteOptions{}))
		time.Sleep(10 * time.Second) // a deletion begins after 5 seconds
		synctest.Wait()
		assert.NotContains(t, namesOf(t, client), "kube-node-lease")
		time.Sleep(time.Minute)
		synctest.Wait()
		assert.Contains(t, namesOf(t, client), "kube-node-lease")
	})
}

// TestFinalizersOfOthersHoldANamespace: the controller removes only its own finalizer (upstream: namespaced_resources_deleter.go,
// finalizeNamespace).
func TestFinalizersOfOthersHoldANamespace(t *testing.T) {
	deleting(t, func(t *testing.T, client *kubernetes.Clientset) {
		ctx, finalizer := t.Context(), corev1.FinalizerName("example.com/held")
		held := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "held"}, Spec: corev1.NamespaceSpec{Finalizers: []corev1.FinalizerName{finalizer}}}
		_, err := client.CoreV1().Namespaces().Create(ctx, held, metav1.CreateOptions{})
		require.NoError(t, err)
		require.NoError(t, client.CoreV1().Namespaces().Delete(ctx, "held", metav1.DeleteOptions{}))
		time.Sleep(time.Minute)
		synctest.Wait()
		ns, err := client.CoreV1().Namespaces().Get(ctx, "held", metav1.GetOptions{})
		require.NoError(t, err)
		assert.Equal(t, []corev1.FinalizerName{finalizer}, ns.Spec.Finalizers)
		ns.Spec.Finalizers = nil
		_, err = client.CoreV1().Namespaces().Finalize(ctx, ns, metav1.UpdateOptions{})
		require.NoError(t, err)
		assert.NotContains(t, namesOf(t, client), "held")
	})
}

func TestNamespaceDeletedUnderAWriter(t *testing.T) {
	deleting(t, func(t *testing.T, client *kubernetes.Clientset) {
		ctx := t.Context()
		outcomes, ended := []string{}, make(chan struct{})
		go func() {
			defer close(ended)
			for i := range 200 { // for 20 seconds
				_, err := client.CoreV1().ConfigMaps("a").Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("m%d", i)}}, metav1.CreateOptions{})
				outcome := "created"
				switch {
				case apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause):
					outcome = fmt.Sprint(apierrors.ReasonForError(err), ": ", strings.ReplaceAll(err.Error(), fmt.Sprintf("m%d", i), "NAME"))
				case err != nil:
					outcome = err.Error()
				}
				if len(outcomes) == 0 || outcomes[len(outcomes)-1] != outcome {
					outcomes = append(outcomes, outcome)
				}
				time.Sleep(100 * time.Millisecond)
			}
		}()
		time.Sleep(2 * time.Second)
		require.NoError(t, client.CoreV1().Namespaces().Delete(ctx, "a", metav1.DeleteOptions{}))
		<-ended
		assert.Equal(t, []string{
			"created",
			`Forbidden: configmaps "NAME" is forbidden: unable to create new content in namespace a because it is being terminated`,
			`namespaces "a" not found`,
		}, outcomes)
		left, err := client.CoreV1().ConfigMaps("").List(ctx, metav1.ListOptions{FieldSelector: "metadata.namespace=a"})
		require.NoError(t, err)
		assert.Empty(t, left.Items)
		assert.NotContains(t, namesOf(t, client), "a")
	})
}

func TestServiceOfTheServerComesAgain(t *testing.T) {
	deleting(t, func(t *testing.T, client *kubernetes.Clientset) {
		before, err := client.CoreV1().Services("default").Get(t.Context(), "kubernetes", metav1.GetOptions{})
		require.NoError(t, err)
		require.NoError(t, client.CoreV1().Services("default").Delete(t.Context(), "kubernetes", metav1.DeleteOptions{}))
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		after, err := client.CoreV1().Services("default").Get(t.Context(), "kubernetes", metav1.GetOptions{})
		require.NoError(t, err)
		assert.Equal(t, before.Spec, after.Spec)
	})
}

// The other objects of a namespace may be needed by its pods until these are gone.
func TestPodsOfANamespaceAreDeletedFirst(t *testing.T) {
	deleting(t, func(t *testing.T, client *kubernetes.Clientset) {
		ctx := t.Context()
		_, err := client.CoreV1().Pods("a").Create(ctx, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "p"}, Spec: corev1.PodSpec{
			NodeName: "n", Containers: []corev1.Container{{Name: "c", Image: "i"}},
		}}, metav1.CreateOptions{})
		require.NoError(t, err)
		_, err = client.CoreV1().ConfigMaps("a").Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "m"}}, metav1.CreateOptions{})
		require.NoError(t, err)
		require.NoError(t, client.CoreV1().Namespaces().Delete(ctx, "a", metav1.DeleteOptions{}))
		time.Sleep(10 * time.Second)
		synctest.Wait()
		p, err := client.CoreV1().Pods("a").Get(ctx, "p", metav1.GetOptions{})
		require.NoError(t, err)
		require.NotNil(t, p.DeletionTimestamp)
		_, err = client.CoreV1().ConfigMaps("a").Get(ctx, "m", metav1.GetOptions{})
		require.NoError(t, err, "the pod still runs")

		require.NoError(t, client.CoreV1().Pods("a").Delete(ctx, "p", *metav1.NewDeleteOptions(0)))
		time.Sleep(time.Minute)
		synctest.Wait()
		_, err = client.CoreV1().ConfigMaps("a").Get(ctx, "m", metav1.GetOptions{})
		assert.True(t, apierrors.IsNotFound(err))
		assert.NotContains(t, namesOf(t, client), "a")
	})
}

// The time of a condition is when its status changed, whatever its message says.
func TestTimeOfAConditionIsOfItsStatus(t *testing.T) {
	deleting(t, func(t *testing.T, client *kubernetes.Clientset) {
		ctx := t.Context()
		for _, name := range []string{"m", "n"} {
			held := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name, Finalizers: []string{"example.com/held"}}}
			_, err := client.CoreV1().ConfigMaps("a").Create(ctx, held, metav1.CreateOptions{})
			require.NoError(t, err)
		}
		require.NoError(t, client.CoreV1().Namespaces().Delete(ctx, "a", metav1.DeleteOptions{}))
		remaining := func() corev1.NamespaceCondition {
			time.Sleep(time.Minute)
			synctest.Wait()
			ns, err := client.CoreV1().Namespaces().Get(ctx, "a", metav1.GetOptions{})
			require.NoError(t, err)
			for _, c := range ns.Status.Conditions {
				if c.Type == corev1.NamespaceContentRemaining {
					return c
				}
			}
			return corev1.NamespaceCondition{}
		}
		first := remaining()
		assert.Equal(t, "Some resources are remaining: configmaps. has 2 resource instances", first.Message)
		_, err := client.CoreV1().ConfigMaps("a").Patch(ctx, "m", types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{})
		require.NoError(t, err)
		second := remaining()
		assert.Equal(t, "Some resources are remaining: configmaps. has 1 resource instances", second.Message)
		assert.Equal(t, first.LastTransitionTime, second.LastTransitionTime)
	})
}
