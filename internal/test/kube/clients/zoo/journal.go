package zoo

import (
	"context"
	"strconv"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
)

// journal writes the text of each generation of a Widget into a ConfigMap. The mistake: it appends, so that a text is there twice if the write
// of the status, which remembers the generation, does not follow.
func journal(wrong bool) run {
	return managed(func(mgr ctrl.Manager) error {
		c := mgr.GetClient()
		reconcile := func(ctx context.Context, name client.ObjectKey) error {
			w := &widget{}
			if err := c.Get(ctx, name, w); err != nil || w.Status.ObservedGeneration == w.Generation {
				return client.IgnoreNotFound(err)
			}
			all := configMap(w.Namespace, "journal", nil)
			if _, err := controllerutil.CreateOrUpdate(ctx, c, all, func() error {
				if all.Data == nil {
					all.Data = map[string]string{}
				}
				if wrong {
					all.Data[w.Name] += w.Spec.Text + "\n"
				} else {
					all.Data[w.Name+"."+strconv.FormatInt(w.Generation, 10)] = w.Spec.Text
				}
				return nil
			}); err != nil {
				return err
			}
			w.Status.ObservedGeneration = w.Generation
			return c.Status().Update(ctx, w)
		}
		return ctrl.NewControllerManagedBy(mgr).For(&widget{}).Complete(reconciler(reconcile))
	})
}
