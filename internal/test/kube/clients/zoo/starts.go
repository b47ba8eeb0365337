package zoo

import (
	"context"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/kubecoord/kubecoord/httpapi/apitest/explore"
)

// starts makes a Secret when it starts, and one for each ConfigMap, and says in a ConfigMap of its own if something fails, until it goes well again. So it
// writes nothing when it starts again, unless a request fails then. The mistake: it forgets a creation that fails.
func starts(wrong bool) run {
	return func(ctx context.Context, c explore.Conn) error {
		done := map[string]bool{}
		return looped(func(ctx context.Context, k kubernetes.Interface) error {
			parents, err := k.CoreV1().ConfigMaps(namespace).List(ctx, metav1.ListOptions{})
			if err != nil {
				return err
			}
			names := []string{"first"}
			for _, o := range parents.Items {
				if o.Name != "health" {
					names = append(names, o.Name)
				}
			}
			var failed error
			for _, name := range names {
				if done[name] {
					continue
				}
				_, err := k.CoreV1().Secrets(namespace).Create(ctx, secret(namespace, name, nil), metav1.CreateOptions{})
				if failed = unlessExists(err); failed != nil && !wrong {
					break
				}
				done[name] = true
			}
			return sayHealth(ctx, k, failed)
		})(ctx, c)
	}
}

func sayHealth(ctx context.Context, k kubernetes.Interface, failed error) error {
	text := "well"
	if failed != nil {
		text = "not well"
	}
	o, err := k.CoreV1().ConfigMaps(namespace).Get(ctx, "health", metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		o = configMap(namespace, "health", nil)
		o.Data = map[string]string{"is": text}
		_, err = k.CoreV1().ConfigMaps(namespace).Create(ctx, o, metav1.CreateOptions{})
		return err
	case err != nil || o.Data["is"] == text:
		return err
	}
	o.Data["is"] = text
	_, err = k.CoreV1().ConfigMaps(namespace).Update(ctx, o, metav1.UpdateOptions{})
	wait(ctx, time.Second)
	return err
}
