package zoo

import (
	"context"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// shuffle makes a Secret for each ConfigMap, with the keys of the ConfigMap in the order of a map. Undisturbed runs agree on it by chance only. The mistake: it
// says in the ConfigMap that the Secret is there before it is.
func shuffle(wrong bool) run {
	return looped(func(ctx context.Context, k kubernetes.Interface) error {
		parents, err := k.CoreV1().ConfigMaps(namespace).List(ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		for _, parent := range parents.Items {
			if parent.Labels["made"] == "yes" {
				continue
			}
			var keys []string
			for name := range parent.Data {
				keys = append(keys, name)
			}
			child := secret(namespace, parent.Name, nil)
			child.StringData = map[string]string{"keys": strings.Join(keys, " ")}
			say := func() error {
				metav1.SetMetaDataLabel(&parent.ObjectMeta, "made", "yes")
				_, err := k.CoreV1().ConfigMaps(namespace).Update(ctx, &parent, metav1.UpdateOptions{})
				return err
			}
			if wrong {
				if err := say(); err != nil {
					return err
				}
			}
			if _, err := k.CoreV1().Secrets(namespace).Create(ctx, child, metav1.CreateOptions{}); unlessExists(err) != nil {
				return err
			}
			if !wrong {
				if err := say(); err != nil {
					return err
				}
			}
		}
		return nil
	})
}
