package zoo

import (
	"context"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// bucket makes a Secret in another namespace for each ConfigMap, and keeps the ConfigMap by a finalizer until the Secret is deleted. The mistake: it adds the
// finalizer after it has made the Secret, so that nothing keeps a ConfigMap that is deleted while the process is down between both.
func bucket(wrong bool) run {
	return queued(func(i *informed) (func(context.Context, string) error, error) {
		sync := func(ctx context.Context, name string) error {
			parent, err := i.CoreV1().ConfigMaps(namespace).Get(ctx, name, metav1.GetOptions{})
			if err != nil {
				return unlessGone(err)
			}
			setFinalizers := func(all []string) error {
				if slices.Equal(all, parent.Finalizers) {
					return nil
				}
				parent.Finalizers = all
				_, err := i.CoreV1().ConfigMaps(namespace).Update(ctx, parent, metav1.UpdateOptions{})
				return err
			}
			others := slices.DeleteFunc(slices.Clone(parent.Finalizers), func(f string) bool { return f == cleaned })
			if !parent.DeletionTimestamp.IsZero() {
				if err := unlessGone(i.CoreV1().Secrets(vault).Delete(ctx, name, metav1.DeleteOptions{})); err != nil {
					return err
				}
				return setFinalizers(others)
			}
			makeChild := func() error {
				_, err := i.CoreV1().Secrets(vault).Create(ctx, secret(vault, name, nil), metav1.CreateOptions{})
				return unlessExists(err)
			}
			if wrong {
				if err := makeChild(); err != nil {
					return err
				}
			}
			if err := setFinalizers(append(others, cleaned)); err != nil {
				return err
			}
			return makeChild()
		}
		return sync, i.queueNames(i.Core().V1().ConfigMaps().Informer())
	})
}
