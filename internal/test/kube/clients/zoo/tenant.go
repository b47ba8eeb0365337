package zoo

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// tenant makes a Namespace for each ConfigMap, and gives it a label. The mistake: it writes all of the Namespace, without a resourceVersion.
func tenant(wrong bool) run {
	return looped(func(ctx context.Context, k kubernetes.Interface) error {
		parents, err := k.CoreV1().ConfigMaps(namespace).List(ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		for _, parent := range parents.Items {
			name := "t-" + parent.Name
			_, err := k.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{})
			if unlessExists(err) != nil {
				return err
			}
			ns, err := k.CoreV1().Namespaces().Get(ctx, name, metav1.GetOptions{})
			if err != nil {
				return err
			}
			if ns.Labels["team"] == parent.Name {
				continue
			}
			metav1.SetMetaDataLabel(&ns.ObjectMeta, "team", parent.Name)
			if wrong {
				ns.ResourceVersion = ""
			}
			if _, err := k.CoreV1().Namespaces().Update(ctx, ns, metav1.UpdateOptions{}); err != nil {
				return err
			}
		}
		return nil
	})
}
