package zoo

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// portlist makes the Service web, and adds a port to it for each entry of the ConfigMap ports, in the order of a map. Ports that others add stay. The
// mistake: it sends a merge patch with the whole list, without the resourceVersion of the Service that the list was made from.
func portlist(wrong bool) run {
	return queued(func(i *informed) (func(context.Context, string) error, error) {
		parents, services := i.Core().V1().ConfigMaps(), i.Core().V1().Services()
		sync := func(ctx context.Context, _ string) error {
			parent, err := parents.Lister().ConfigMaps(namespace).Get("ports")
			if err != nil {
				return unlessGone(err)
			}
			s, err := services.Lister().Services(namespace).Get("web")
			if unlessGone(err) != nil {
				return err
			}
			exists := err == nil
			if !exists {
				s = &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: "web"}, Spec: corev1.ServiceSpec{ClusterIP: "None"}}
			}
			ports := slices.Clone(s.Spec.Ports)
			for name, text := range parent.Data {
				n, _ := strconv.Atoi(text)
				if !slices.ContainsFunc(ports, func(p corev1.ServicePort) bool { return p.Name == name }) {
					ports = append(ports, corev1.ServicePort{Name: name, Port: int32(n)})
				}
			}
			switch {
			case !exists:
				s.Spec.Ports = ports
				_, err := i.CoreV1().Services(namespace).Create(ctx, s, metav1.CreateOptions{})
				return err // AlreadyExists while the cache does not have the Service yet; the queue tries again
			case len(ports) == len(s.Spec.Ports):
				return nil
			}
			patch := map[string]any{"spec": map[string]any{"ports": ports}}
			if !wrong {
				patch["metadata"] = map[string]any{"resourceVersion": s.ResourceVersion}
			}
			body, err := json.Marshal(patch)
			if err != nil {
				return err
			}
			_, err = i.CoreV1().Services(namespace).Patch(ctx, "web", types.MergePatchType, body, metav1.PatchOptions{})
			return err
		}
		return sync, i.queueNames(parents.Informer(), services.Informer())
	})
}
