package zoo

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// missed makes a Secret in another namespace for each ConfigMap, and deletes it with the ConfigMap. The mistake: it relies on seeing the
// DeletionTimestamp of the ConfigMap, which another finalizer keeps for a while only.
func missed(wrong bool) run {
	return queued(func(i *informed) (func(context.Context, string) error, error) {
		parents, children := i.Core().V1().ConfigMaps(), i.Core().V1().Secrets()
		return func(ctx context.Context, name string) error {
			parent, err := parents.Lister().ConfigMaps(namespace).Get(name)
			if wrong && apierrors.IsNotFound(err) {
				return nil
			}
			if !wrong {
				parent, err = i.CoreV1().ConfigMaps(namespace).Get(ctx, name, metav1.GetOptions{})
			}
			if err != nil && !apierrors.IsNotFound(err) {
				return err
			}
			wanted := err == nil && parent.DeletionTimestamp.IsZero()
			child, err := children.Lister().Secrets(vault).Get(name)
			switch exists := err == nil; {
			case wanted && !exists:
				_, err := i.CoreV1().Secrets(vault).Create(ctx, secret(vault, name, nil), metav1.CreateOptions{})
				return unlessExists(err)
			case exists && !wanted:
				return unlessGone(i.CoreV1().Secrets(vault).Delete(ctx, name, *metav1.NewPreconditionDeleteOptions(string(child.UID))))
			}
			return nil
		}, i.queueNames(parents.Informer(), children.Informer())
	})
}
