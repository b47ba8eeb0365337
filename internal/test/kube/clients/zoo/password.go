package zoo

import (
	"context"
	"crypto/rand"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// password makes a Secret with a random password for each ConfigMap, and says so in the ConfigMap. The mistake: if it has not said so, it writes another
// password over the first, which somebody may know already.
func password(wrong bool) run {
	return looped(func(ctx context.Context, k kubernetes.Interface) error {
		parents, err := k.CoreV1().ConfigMaps(namespace).List(ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		for _, parent := range parents.Items {
			if parent.Labels["made"] == "yes" {
				continue
			}
			child := secret(namespace, parent.Name, nil)
			child.StringData = map[string]string{"password": rand.Text()}
			_, err := k.CoreV1().Secrets(namespace).Create(ctx, child, metav1.CreateOptions{})
			if wrong && apierrors.IsAlreadyExists(err) {
				_, err = k.CoreV1().Secrets(namespace).Update(ctx, child, metav1.UpdateOptions{})
			}
			if unlessExists(err) != nil {
				return err
			}
			metav1.SetMetaDataLabel(&parent.ObjectMeta, "made", "yes")
			if _, err := k.CoreV1().ConfigMaps(namespace).Update(ctx, &parent, metav1.UpdateOptions{}); err != nil {
				return err
			}
		}
		return nil
	})
}
