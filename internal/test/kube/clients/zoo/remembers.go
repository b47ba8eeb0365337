package zoo

import (
	"context"
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
)

// followed is the annotation of a StatefulSet that has the generation of its Widget.
const followed = "zoo.example.com/followed"

// remembers makes a StatefulSet for each Widget, of the size that the Widget says. It reads all from its cache. In the set it keeps the generation of
// the Widget that it followed, so that it does not follow an older one. The mistake: it does not look there, and with an old Widget it scales to an old
// size, and back.
func remembers(wrong bool) run {
	return managed(func(mgr ctrl.Manager) error {
		c := mgr.GetClient()
		reconcile := func(ctx context.Context, name client.ObjectKey) error {
			w, set := &widget{}, emptySet(name.Name)
			if err := c.Get(ctx, name, w); err != nil {
				return client.IgnoreNotFound(err)
			}
			size, _ := strconv.ParseInt(w.Spec.Text, 10, 32)
			err := c.Get(ctx, name, set)
			before, _ := strconv.ParseInt(set.Annotations[followed], 10, 64)
			switch exists := err == nil; {
			case err != nil && !apierrors.IsNotFound(err):
				return err
			case exists && (!metav1.IsControlledBy(set, w) || before == w.Generation || before > w.Generation && !wrong):
				return nil // an event follows: of the next set, or of the Widget that is newer
			}
			set.Spec.Replicas = new(int32(size))
			metav1.SetMetaDataAnnotation(&set.ObjectMeta, followed, strconv.FormatInt(w.Generation, 10))
			if err == nil {
				return c.Update(ctx, set)
			}
			if err := controllerutil.SetControllerReference(w, set, c.Scheme()); err != nil {
				return err
			}
			return unlessExists(c.Create(ctx, set))
		}
		return ctrl.NewControllerManagedBy(mgr).For(&widget{}).Owns(&appsv1.StatefulSet{}).Complete(reconciler(reconcile))
	})
}
