package zoo

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// hasty says in a label of each ConfigMap whether there is a Secret of the same name. It updates the ConfigMap of its cache, and after a conflict tries again at
// once, until the cache has the new one. The mistake: after another error it does not try again.
func hasty(wrong bool) run {
	return queued(func(i *informed) (func(context.Context, string) error, error) {
		parents, secrets := i.Core().V1().ConfigMaps(), i.Core().V1().Secrets()
		sync := func(ctx context.Context, name string) error {
			parent, err := parents.Lister().ConfigMaps(namespace).Get(name)
			if err != nil {
				return unlessGone(err)
			}
			there := "no"
			if _, err := secrets.Lister().Secrets(namespace).Get(name); err == nil {
				there = "yes"
			}
			if parent.Labels["secret"] == there {
				return nil
			}
			parent = parent.DeepCopy()
			metav1.SetMetaDataLabel(&parent.ObjectMeta, "secret", there)
			_, err = i.CoreV1().ConfigMaps(namespace).Update(ctx, parent, metav1.UpdateOptions{})
			if apierrors.IsConflict(err) {
				i.queue.Add(name)
				return nil
			}
			if wrong {
				return nil
			}
			return unlessGone(err)
		}
		return sync, i.queueNames(parents.Informer(), secrets.Informer())
	})
}
