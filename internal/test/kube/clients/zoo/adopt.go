package zoo

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// adopt makes each Widget an owner of the Secret that it names. The mistake: a merge patch has the whole list of owners, and drops one that somebody else has
// added.
func adopt(wrong bool) run {
	return managed(func(mgr ctrl.Manager) error {
		c, live := mgr.GetClient(), mgr.GetAPIReader()
		reconcile := func(ctx context.Context, name client.ObjectKey) error {
			w, s := &widget{}, &corev1.Secret{}
			if err := live.Get(ctx, name, w); err != nil {
				return client.IgnoreNotFound(err)
			}
			if err := live.Get(ctx, client.ObjectKey{Namespace: name.Namespace, Name: w.Spec.Text}, s); err != nil {
				return err
			}
			if slices.ContainsFunc(s.OwnerReferences, func(o metav1.OwnerReference) bool { return o.UID == w.UID }) {
				return nil
			}
			before := s.DeepCopy()
			s.OwnerReferences = append(s.OwnerReferences, metav1.OwnerReference{APIVersion: group + "/v1", Kind: "Widget", Name: w.Name, UID: w.UID})
			return c.Patch(ctx, s, fromCopy(before, wrong))
		}
		return ctrl.NewControllerManagedBy(mgr).For(&widget{}).Complete(reconciler(reconcile))
	})
}
