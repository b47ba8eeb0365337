package zoo

import (
	"context"
	"errors"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
)

// pair makes a ConfigMap and a Secret for each Widget, and says in the status that both are there. The mistake: it says so although a create
// has failed, and never looks again.
func pair(wrong bool) run {
	return managed(func(mgr ctrl.Manager) error {
		c, live := mgr.GetClient(), mgr.GetAPIReader()
		reconcile := func(ctx context.Context, name client.ObjectKey) error {
			w := &widget{}
			if err := live.Get(ctx, name, w); err != nil || w.Status.Ready {
				return client.IgnoreNotFound(err)
			}
			var failed []error
			for _, child := range []client.Object{configMap(w.Namespace, w.Name, nil), secret(w.Namespace, w.Name, nil)} {
				if err := controllerutil.SetControllerReference(w, child, c.Scheme()); err != nil {
					return err
				}
				failed = append(failed, unlessExists(c.Create(ctx, child)))
			}
			if err := errors.Join(failed...); err != nil && !wrong {
				return err
			}
			w.Status.Ready = true
			return c.Status().Update(ctx, w)
		}
		return ctrl.NewControllerManagedBy(mgr).For(&widget{}).Complete(reconciler(reconcile))
	})
}
