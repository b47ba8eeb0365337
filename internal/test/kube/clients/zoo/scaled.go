package zoo

import (
	"context"
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
)

// scaled makes a StatefulSet for each Widget, of the size that the Widget says. The mistake: it takes the size from its cache, so that with an old one it
// scales to an old size, and back.
func scaled(wrong bool) run {
	return managed(func(mgr ctrl.Manager) error {
		c, live := mgr.GetClient(), mgr.GetAPIReader()
		reconcile := func(ctx context.Context, name client.ObjectKey) error {
			w, set := &widget{}, emptySet(name.Name)
			read := live
			if wrong {
				read = c
			}
			if err := read.Get(ctx, name, w); err != nil {
				return client.IgnoreNotFound(err)
			}
			size64, _ := strconv.ParseInt(w.Spec.Text, 10, 32)
			size := int32(size64)
			err := live.Get(ctx, name, set)
			switch {
			case apierrors.IsNotFound(err):
				set.Spec.Replicas = &size
				if err := controllerutil.SetControllerReference(w, set, c.Scheme()); err != nil {
					return err
				}
				return unlessExists(c.Create(ctx, set))
			case err != nil || *set.Spec.Replicas == size:
				return err
			}
			set.Spec.Replicas = &size
			return c.Update(ctx, set)
		}
		return ctrl.NewControllerManagedBy(mgr).For(&widget{}).Owns(&appsv1.StatefulSet{}).Complete(reconciler(reconcile))
	})
}

// emptySet returns a StatefulSet to create.
func emptySet(name string) *appsv1.StatefulSet {
	set := &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	set.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"set": name}}
	set.Spec.Template.Labels = set.Spec.Selector.MatchLabels
	set.Spec.Template.Spec.Containers = []corev1.Container{{Name: "c", Image: "i"}}
	return set
}
