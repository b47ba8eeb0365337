package explorereal

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"

	"github.com/kubecoord/kubecoord/httpapi/apitest/explore"
)

// Kubelet is a World in which Pods run, those that need not run again end well, and claims that are deleted go as soon as no Pod uses them.
// explore.Workloads would also write the status of Deployments, StatefulSets and Jobs, whose controllers are tested here.
func Kubelet(ctx context.Context, c explore.Conn) error {
	k, err := kubernetes.NewForConfig(Config(c))
	if err != nil {
		return err
	}
	var (
		both sync.WaitGroup
		mu   sync.Mutex
	)
	claims := func() {
		mu.Lock()
		defer mu.Unlock()
		LetClaimsGo(ctx, k)
	}
	both.Go(func() {
		Follow(ctx, k.CoreV1().Pods("").Watch, func(p *corev1.Pod, deleted bool) {
			if deleted {
				claims()
			} else {
				runPod(ctx, k, p)
			}
		})
	})
	both.Go(func() {
		Follow(ctx, k.CoreV1().PersistentVolumeClaims("").Watch, func(claim *corev1.PersistentVolumeClaim, deleted bool) {
			if !deleted && claim.DeletionTimestamp != nil {
				claims()
			}
		})
	})
	both.Wait()
	return nil
}

// runPod makes a Pod run, or end, a second later.
func runPod(ctx context.Context, k kubernetes.Interface, p *corev1.Pod) {
	ready, phase := "True", corev1.PodRunning
	if p.Status.Phase == corev1.PodRunning && p.Spec.RestartPolicy == corev1.RestartPolicyNever {
		ready, phase = "False", corev1.PodSucceeded
	}
	if p.DeletionTimestamp != nil || p.Status.Phase == phase || p.Status.Phase == corev1.PodSucceeded {
		return
	}
	Pause(ctx)
	status := fmt.Sprintf(`{"status":{"phase":%q,"conditions":[{"type":"Ready","status":%q,"lastTransitionTime":%q}]}}`,
		phase, ready, time.Now().UTC().Format(time.RFC3339))
	_, _ = k.CoreV1().Pods(p.Namespace).Patch(ctx, p.Name, types.MergePatchType, []byte(status), metav1.PatchOptions{}, "status") // it may be gone
}

const protection = "kubernetes.io/pvc-protection"

// LetClaimsGo takes the finalizer away from deleted claims that no Pod uses.
func LetClaimsGo(ctx context.Context, k kubernetes.Interface) {
	claims, err := k.CoreV1().PersistentVolumeClaims("").List(ctx, metav1.ListOptions{})
	if err != nil {
		return
	}
	pods, err := k.CoreV1().Pods("").List(ctx, metav1.ListOptions{})
	if err != nil {
		return
	}
	for _, claim := range claims.Items {
		used := slices.ContainsFunc(pods.Items, func(p corev1.Pod) bool { return uses(p, claim) })
		if used || claim.DeletionTimestamp == nil || !slices.Contains(claim.Finalizers, protection) {
			continue
		}
		claim.Finalizers = slices.DeleteFunc(claim.Finalizers, func(f string) bool { return f == protection })
		_, _ = k.CoreV1().PersistentVolumeClaims(claim.Namespace).Update(ctx, &claim, metav1.UpdateOptions{}) // a conflict is an event
	}
}

func uses(p corev1.Pod, claim corev1.PersistentVolumeClaim) bool {
	return p.Namespace == claim.Namespace && slices.ContainsFunc(p.Spec.Volumes, func(v corev1.Volume) bool {
		return v.PersistentVolumeClaim != nil && v.PersistentVolumeClaim.ClaimName == claim.Name
	})
}

// Follow calls see for each object of a kind, and each change of it.
func Follow[T any](ctx context.Context, open func(context.Context, metav1.ListOptions) (watch.Interface, error), see func(o T, deleted bool)) {
	for ctx.Err() == nil {
		w, err := open(ctx, metav1.ListOptions{})
		if err == nil {
			for e := range w.ResultChan() {
				if o, ok := e.Object.(T); ok {
					see(o, e.Type == watch.Deleted)
				}
			}
		}
		Pause(ctx)
	}
}

// Pause waits for a second, unless ctx ends.
func Pause(ctx context.Context) {
	select {
	case <-ctx.Done():
	case <-time.After(time.Second):
	}
}
