package zoo

import (
	"context"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/tools/cache"
)

// count writes into the status of each ReplicaSet how many Pods have its name as their label. The mistake: it adds one for each new Pod, so
// that a write without an answer is counted twice.
func count(wrong bool) run {
	return queued(func(i *informed) (func(context.Context, string) error, error) {
		sets, pods := i.Apps().V1().ReplicaSets(), i.Core().V1().Pods()
		sync := func(ctx context.Context, name string) error {
			set, err := i.AppsV1().ReplicaSets(namespace).Get(ctx, name, metav1.GetOptions{})
			if apierrors.IsNotFound(err) {
				return nil
			}
			if err != nil {
				return err
			}
			n := set.Status.Replicas + 1
			if !wrong {
				all, err := pods.Lister().Pods(namespace).List(labels.SelectorFromSet(labels.Set{"set": name}))
				if err != nil {
					return err
				}
				n = int32(len(all))
			}
			return i.setReplicas(ctx, set, n)
		}
		_, err := pods.Informer().AddEventHandler(cache.ResourceEventHandlerDetailedFuncs{AddFunc: func(o any, first bool) {
			if !wrong || !first {
				i.queue.Add(o.(*corev1.Pod).Labels["set"])
			}
		}})
		if err == nil && !wrong {
			err = i.queueNames(sets.Informer())
		}
		return sync, err
	})
}

func (i *informed) setReplicas(ctx context.Context, set *appsv1.ReplicaSet, n int32) error {
	if set.Status.Replicas == n {
		return nil
	}
	set.Status.Replicas = n
	_, err := i.AppsV1().ReplicaSets(namespace).UpdateStatus(ctx, set, metav1.UpdateOptions{})
	return err
}
