package zoo

import (
	"context"
	"errors"
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/kubecoord/kubecoord/httpapi/apitest/explore"
)

// ports gives each ConfigMap a port that no other has. The mistake: only its memory knows which port is the next one.
func ports(wrong bool) run {
	return func(ctx context.Context, c explore.Conn) error {
		next := 30000
		return looped(func(ctx context.Context, k kubernetes.Interface) error {
			all, err := k.CoreV1().ConfigMaps(namespace).List(ctx, metav1.ListOptions{})
			if err != nil {
				return err
			}
			if !wrong {
				next = 30000
				for _, o := range all.Items {
					if port, err := strconv.Atoi(o.Annotations["port"]); err == nil {
						next = max(next, port+1)
					}
				}
			}
			var failed []error
			for _, o := range all.Items {
				if o.Annotations["port"] != "" {
					continue
				}
				metav1.SetMetaDataAnnotation(&o.ObjectMeta, "port", strconv.Itoa(next))
				_, err := k.CoreV1().ConfigMaps(namespace).Update(ctx, &o, metav1.UpdateOptions{})
				if err == nil {
					next++
				}
				failed = append(failed, err)
			}
			return errors.Join(failed...)
		})(ctx, c)
	}
}
