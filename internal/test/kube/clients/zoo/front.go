package zoo

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// front makes a Service for each ConfigMap, with a cluster IP and a node port that the server draws, and writes both into the ConfigMap. The mistake: the
// name of the Service is generated, so that a create without an answer makes a second one.
func front(wrong bool) run {
	return looped(func(ctx context.Context, k kubernetes.Interface) error {
		parents, err := k.CoreV1().ConfigMaps(namespace).List(ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		for _, parent := range parents.Items {
			if parent.Data["address"] != "" {
				continue
			}
			s := &corev1.Service{
				ObjectMeta: metav1.ObjectMeta{Name: parent.Name},
				Spec:       corev1.ServiceSpec{Type: corev1.ServiceTypeNodePort, Ports: []corev1.ServicePort{{Name: "http", Port: 80}}},
			}
			if wrong {
				s.Name, s.GenerateName = "", parent.Name+"-"
			}
			made, err := k.CoreV1().Services(namespace).Create(ctx, s, metav1.CreateOptions{})
			if unlessExists(err) != nil {
				return err
			}
			if err != nil {
				if made, err = k.CoreV1().Services(namespace).Get(ctx, s.Name, metav1.GetOptions{}); err != nil {
					return err
				}
			}
			parent.Data = map[string]string{"address": "http://" + made.Spec.ClusterIP + ":80"}
			if _, err := k.CoreV1().ConfigMaps(namespace).Update(ctx, &parent, metav1.UpdateOptions{}); err != nil {
				return err
			}
		}
		return nil
	})
}
