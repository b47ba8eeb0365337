package cluster_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	"github.com/kubecoord/kubecoord/httpapi/kube/cluster"
)

// graph is a test of owners and dependents, which are ConfigMaps.
type graph struct {
	*testing.T
	*kubernetes.Clientset
}

// inBubble runs a test with a garbage collector in virtual time.
func inBubble(t *testing.T, f func(g graph)) {
	synctest.Test(t, func(t *testing.T) {
		_, client := newServer(t, cluster.Options{GarbageCollection: true})
		f(graph{t, client})
	})
}

func (g graph) create(name string, owners ...metav1.OwnerReference) *corev1.ConfigMap {
	g.Helper()
	o, err := g.CoreV1().ConfigMaps("a").Create(g.Context(), &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Name: name, OwnerReferences: owners},
	}, metav1.CreateOptions{})
	require.NoError(g, err)
	return o
}

func (g graph) delete(name string, policy metav1.DeletionPropagation) {
	g.Helper()
	require.NoError(g, g.CoreV1().ConfigMaps("a").Delete(g.Context(), name, metav1.DeleteOptions{PropagationPolicy: &policy}))
}

// left returns the names of the objects, once the collector has nothing to do for an hour.
func (g graph) left() (out []string) {
	g.Helper()
	time.Sleep(time.Hour)
	synctest.Wait()
	list, err := g.CoreV1().ConfigMaps("").List(g.Context(), metav1.ListOptions{})
	require.NoError(g, err)
	for _, o := range list.Items {
		out = append(out, o.Name)
	}
	return out
}

func owner(o *corev1.ConfigMap, blocks bool) metav1.OwnerReference {
	return metav1.OwnerReference{APIVersion: "v1", Kind: "ConfigMap", Name: o.Name, UID: o.UID, BlockOwnerDeletion: &blocks}
}

func TestCircleOfOwners(t *testing.T) {
	for _, policy := range []metav1.DeletionPropagation{metav1.DeletePropagationBackground, metav1.DeletePropagationForeground} {
		inBubble(t, func(g graph) {
			a := g.create("a")
			b := g.create("b", owner(a, true))
			a.OwnerReferences = []metav1.OwnerReference{owner(b, true)}
			_, err := g.CoreV1().ConfigMaps("a").Update(g.Context(), a, metav1.UpdateOptions{})
			require.NoError(g, err)
			assert.Equal(g, []string{"a", "b"}, g.left(), "a circle that nobody deletes stays")
			g.delete("a", policy)
			assert.Empty(g, g.left(), policy)
		})
	}
}

func TestOwnersThatAreNot(t *testing.T) {
	inBubble(t, func(g graph) {
		a := g.create("a")
		wrong := owner(a, false)
		wrong.UID = "another"
		g.create("replaced", wrong)
		unknown := owner(a, false)
		unknown.Kind = "Unknown"
		g.create("unknown", unknown)
		elsewhere := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "elsewhere", OwnerReferences: []metav1.OwnerReference{owner(a, false)}}}
		_, err := g.CoreV1().ConfigMaps("b").Create(g.Context(), elsewhere, metav1.CreateOptions{})
		require.NoError(g, err)
		node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node", OwnerReferences: []metav1.OwnerReference{owner(a, false)}}}
		_, err = g.CoreV1().Nodes().Create(g.Context(), node, metav1.CreateOptions{})
		require.NoError(g, err)
		assert.Equal(g, []string{"a", "unknown"}, g.left(), "an owner of a kind that is not served may be there")
		_, err = g.CoreV1().Nodes().Get(g.Context(), "node", metav1.GetOptions{})
		require.NoError(g, err, "a reference that cannot be right deletes nothing")
		events, err := g.CoreV1().Events("").List(g.Context(), metav1.ListOptions{})
		require.NoError(g, err)
		var texts []string
		for _, e := range events.Items {
			texts = append(texts, e.Namespace+" "+e.Reason+": "+e.Message)
		}
		slices.Sort(texts)
		message := "OwnerRefInvalidNamespace: ownerRef [v1/ConfigMap, namespace: %s, name: a, uid: " + string(a.UID) + "] does not exist in namespace %q"
		assert.Contains(g, texts, "default "+fmt.Sprintf(message, "", ""))
		assert.Contains(g, texts, "b "+fmt.Sprintf(message, "b", "b"))
	})
}

// TestRandomOwners compares the collector with its rule: an object stays if it has no owner, or if an owner stays.
func TestRandomOwners(t *testing.T) {
	policies := []metav1.DeletionPropagation{metav1.DeletePropagationBackground, metav1.DeletePropagationForeground}
	for seed := range uint64(12) {
		inBubble(t, func(g graph) {
			r := rand.New(rand.NewPCG(seed, 1))
			const n = 14
			var all []*corev1.ConfigMap
			owners := make([][]int, n)
			for i := range n {
				var refs []metav1.OwnerReference
				for j := range i {
					if r.IntN(5) == 0 {
						refs = append(refs, owner(all[j], r.IntN(2) == 0))
						owners[i] = append(owners[i], j)
					}
				}
				all = append(all, g.create(fmt.Sprintf("o%02d", i), refs...))
			}
			gone, deleted := make([]bool, n), r.Perm(n)[:3]
			slices.Sort(deleted)
			for _, i := range slices.Backward(deleted) {
				g.delete(all[i].Name, policies[r.IntN(2)])
				gone[i] = true
			}
			for i := range n {
				hasOwner := slices.ContainsFunc(owners[i], func(j int) bool { return !gone[j] })
				gone[i] = gone[i] || len(owners[i]) > 0 && !hasOwner
			}
			var want []string
			for i := range n {
				if !gone[i] {
					want = append(want, all[i].Name)
				}
			}
			assert.Equal(g, want, g.left(), "seed %d, deleted %v of %v", seed, deleted, owners)
		})
	}
}

// A collector does not look at events (upstream: ignoredResources).
func TestEventsAreNotCollected(t *testing.T) {
	inBubble(t, func(g graph) {
		a := g.create("a")
		for _, uid := range []types.UID{a.UID, "absent"} {
			ref := owner(a, false)
			ref.UID = uid
			_, err := g.CoreV1().Events("a").Create(g.Context(), &corev1.Event{
				ObjectMeta:     metav1.ObjectMeta{Name: "of-" + string(uid), Namespace: "a", OwnerReferences: []metav1.OwnerReference{ref}},
				InvolvedObject: corev1.ObjectReference{Namespace: "a"},
			}, metav1.CreateOptions{})
			require.NoError(g, err)
		}
		g.delete("a", metav1.DeletePropagationBackground)
		assert.Empty(g, g.left())
		events, err := g.CoreV1().Events("a").List(g.Context(), metav1.ListOptions{})
		require.NoError(g, err)
		assert.Len(g, events.Items, 2)
	})
}
