package zoo

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// incarnation makes a Secret for each ConfigMap, and deletes it when the ConfigMap is gone. The mistake: it believes its cache that the
// ConfigMap is gone, and deletes by the name, so that after a restart with an old cache it deletes the Secret of the next ConfigMap.
func incarnation(wrong bool) run {
	return queued(func(i *informed) (func(context.Context, string) error, error) {
		parents, children := i.Core().V1().ConfigMaps(), i.Core().V1().Secrets()
		return func(ctx context.Context, name string) error {
			parent, err := parents.Lister().ConfigMaps(namespace).Get(name)
			if !wrong {
				parent, err = i.CoreV1().ConfigMaps(namespace).Get(ctx, name, metav1.GetOptions{})
			}
			if err != nil && !apierrors.IsNotFound(err) {
				return err
			}
			wanted := err == nil
			child, err := children.Lister().Secrets(namespace).Get(name)
			switch exists := err == nil; {
			case wanted && !exists:
				made := secret(namespace, name, map[string]string{"of": string(parent.UID)})
				_, err := i.CoreV1().Secrets(namespace).Create(ctx, made, metav1.CreateOptions{})
				return unlessExists(err)
			case exists && (!wanted || child.Labels["of"] != string(parent.UID)):
				var only metav1.DeleteOptions
				if !wrong {
					only = *metav1.NewPreconditionDeleteOptions(string(child.UID))
				}
				return unlessGone(i.CoreV1().Secrets(namespace).Delete(ctx, name, only))
			}
			return nil
		}, i.queueNames(parents.Informer(), children.Informer())
	})
}
