package zoo

import (
	"context"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const cleaned = "zoo.example.com/cleaned"

// finalizer makes a Secret in another namespace for each ConfigMap, and keeps the ConfigMap by a finalizer until the Secret is deleted. The
// mistake: it drops the finalizer first, so that nothing is left to remind it of the Secret.
func finalizer(wrong bool) run {
	return queued(func(i *informed) (func(context.Context, string) error, error) {
		parents := i.Core().V1().ConfigMaps()
		sync := func(ctx context.Context, name string) error {
			parent, err := i.CoreV1().ConfigMaps(namespace).Get(ctx, name, metav1.GetOptions{})
			if apierrors.IsNotFound(err) {
				return nil
			}
			if err != nil {
				return err
			}
			deleteChild := func() error { return unlessGone(i.CoreV1().Secrets(vault).Delete(ctx, name, metav1.DeleteOptions{})) }
			setFinalizers := func(all []string) error {
				if slices.Equal(all, parent.Finalizers) {
					return nil
				}
				parent.Finalizers = all
				_, err := i.CoreV1().ConfigMaps(namespace).Update(ctx, parent, metav1.UpdateOptions{})
				return err
			}
			others := slices.DeleteFunc(slices.Clone(parent.Finalizers), func(f string) bool { return f == cleaned })
			switch deleting := !parent.DeletionTimestamp.IsZero(); {
			case deleting && wrong:
				if err := setFinalizers(others); err != nil {
					return err
				}
				return deleteChild()
			case deleting:
				if err := deleteChild(); err != nil {
					return err
				}
				return setFinalizers(others)
			}
			if err := setFinalizers(append(others, cleaned)); err != nil {
				return err
			}
			_, err = i.CoreV1().Secrets(vault).Create(ctx, secret(vault, name, nil), metav1.CreateOptions{})
			return unlessExists(err)
		}
		return sync, i.queueNames(parents.Informer())
	})
}
