package zoo

import (
	"context"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// conditions sets the condition Ready of each Widget. The mistake: a merge patch replaces the whole list of conditions, and without the
// resourceVersion the server cannot see that the list was made from an old copy, without the condition of somebody else.
func conditions(wrong bool) run {
	return managed(func(mgr ctrl.Manager) error {
		c := mgr.GetClient()
		reconcile := func(ctx context.Context, name client.ObjectKey) error {
			w := &widget{}
			if err := c.Get(ctx, name, w); err != nil {
				return client.IgnoreNotFound(err)
			}
			before := w.copy()
			ready := metav1.Condition{Type: "Ready", Status: metav1.ConditionTrue, Reason: "Seen", Message: w.Spec.Text}
			if !meta.SetStatusCondition(&w.Status.Conditions, ready) {
				return nil
			}
			patch := client.MergeFrom(before)
			if !wrong {
				patch = client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})
			}
			return c.Status().Patch(ctx, w, patch)
		}
		return ctrl.NewControllerManagedBy(mgr).For(&widget{}).Complete(reconciler(reconcile))
	})
}
