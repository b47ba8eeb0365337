package zoo

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// orphan deletes Secrets whose ConfigMap is gone. The mistake: it takes a ConfigMap that its cache does not have yet for one that is gone.
func orphan(wrong bool) run {
	return queued(func(i *informed) (func(context.Context, string) error, error) {
		owners, secrets := i.Core().V1().ConfigMaps(), i.Core().V1().Secrets()
		sync := func(ctx context.Context, name string) error {
			s, err := secrets.Lister().Secrets(namespace).Get(name)
			if err != nil {
				return nil
			}
			_, err = owners.Lister().ConfigMaps(namespace).Get(name)
			if !wrong && apierrors.IsNotFound(err) {
				_, err = i.CoreV1().ConfigMaps(namespace).Get(ctx, name, metav1.GetOptions{})
			}
			if !apierrors.IsNotFound(err) {
				return err
			}
			return unlessGone(i.CoreV1().Secrets(namespace).Delete(ctx, name, *metav1.NewPreconditionDeleteOptions(string(s.UID))))
		}
		return sync, i.queueNames(owners.Informer(), secrets.Informer())
	})
}
