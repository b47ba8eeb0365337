package zoo

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
)

// pool gives each Widget the first Secret pool-0, pool-1, … whose name is free. The mistake: it trusts its cache that the name is free, and
// writes what it wants there, over the Secret of somebody else.
func pool(wrong bool) run {
	return managed(func(mgr ctrl.Manager) error {
		c, live := mgr.GetClient(), mgr.GetAPIReader()
		reconcile := func(ctx context.Context, name client.ObjectKey) error {
			w := &widget{}
			if err := live.Get(ctx, name, w); err != nil {
				return client.IgnoreNotFound(err)
			}
			have := &corev1.SecretList{}
			if err := c.List(ctx, have, client.InNamespace(name.Namespace)); err != nil {
				return err
			}
			taken := map[string]bool{}
			for _, s := range have.Items {
				if s.Labels["widget"] == name.Name {
					return nil
				}
				taken[s.Name] = true
			}
			n := 0
			for taken[fmt.Sprint("pool-", n)] {
				n++
			}
			s := secret(name.Namespace, fmt.Sprint("pool-", n), map[string]string{"widget": name.Name})
			if err := controllerutil.SetControllerReference(w, s, c.Scheme()); err != nil {
				return err
			}
			err := c.Create(ctx, s)
			if wrong && apierrors.IsAlreadyExists(err) {
				return c.Patch(ctx, s, client.Merge) // it must be there from an earlier attempt
			}
			return err
		}
		return ctrl.NewControllerManagedBy(mgr).For(&widget{}).Owns(&corev1.Secret{}).Complete(reconciler(reconcile))
	})
}
