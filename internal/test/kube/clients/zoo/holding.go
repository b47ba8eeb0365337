package zoo

import (
	"context"
	"slices"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// holding keeps each Widget by a finalizer, until it has deleted its Secret in another namespace. The mistake: a merge patch has the whole list of finalizers,
// made from what the cache has, so that it drops one that somebody else has added.
func holding(wrong bool) run {
	return managed(func(mgr ctrl.Manager) error {
		c := mgr.GetClient()
		reconcile := func(ctx context.Context, name client.ObjectKey) error {
			w := &widget{}
			if err := mgr.GetAPIReader().Get(ctx, name, w); err != nil {
				return client.IgnoreNotFound(err)
			}
			before := w.copy()
			others := slices.DeleteFunc(slices.Clone(w.Finalizers), func(f string) bool { return f == cleaned })
			child := secret(vault, name.Name, nil)
			if w.DeletionTimestamp.IsZero() {
				w.Finalizers = append(others, cleaned)
			} else {
				w.Finalizers = others
				if err := client.IgnoreNotFound(c.Delete(ctx, child)); err != nil {
					return err
				}
			}
			if len(w.Finalizers) != len(before.Finalizers) {
				if err := c.Patch(ctx, w, fromCopy(before, wrong)); err != nil {
					return client.IgnoreNotFound(err)
				}
			}
			if !before.DeletionTimestamp.IsZero() {
				return nil
			}
			return unlessExists(c.Create(ctx, child))
		}
		return ctrl.NewControllerManagedBy(mgr).For(&widget{}).Complete(reconciler(reconcile))
	})
}

// fromCopy returns a merge patch against a copy of an object, with its resourceVersion unless wrong is set.
func fromCopy(before client.Object, wrong bool) client.Patch {
	if wrong {
		return client.MergeFrom(before)
	}
	return client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})
}
