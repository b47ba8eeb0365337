package zoo

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// requeue makes a Service for each Widget, unless its cache has one, and if there is one already it looks again after a second. The mistake: it takes the next
// name instead.
func requeue(wrong bool) run {
	return managed(func(mgr ctrl.Manager) error {
		c, live := mgr.GetClient(), mgr.GetAPIReader()
		sync := func(ctx context.Context, r ctrl.Request) (ctrl.Result, error) {
			w := &widget{}
			if err := live.Get(ctx, r.NamespacedName, w); err != nil {
				return ctrl.Result{}, client.IgnoreNotFound(err)
			}
			have := &corev1.ServiceList{}
			if err := c.List(ctx, have, client.InNamespace(r.Namespace), client.MatchingLabels{"widget": r.Name}); err != nil || len(have.Items) > 0 {
				return ctrl.Result{}, err
			}
			for n := range 9 {
				s := &corev1.Service{Spec: corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 80}}}}
				s.Namespace, s.Name, s.Labels = r.Namespace, r.Name, map[string]string{"widget": r.Name}
				if n > 0 {
					s.Name = fmt.Sprint(r.Name, "-", n)
				}
				if err := controllerutil.SetControllerReference(w, s, c.Scheme()); err != nil {
					return ctrl.Result{}, err
				}
				if err := c.Create(ctx, s); !apierrors.IsAlreadyExists(err) {
					return ctrl.Result{}, err
				}
				if !wrong {
					break
				}
			}
			return ctrl.Result{RequeueAfter: time.Second}, nil
		}
		return ctrl.NewControllerManagedBy(mgr).For(&widget{}).Owns(&corev1.Service{}).Complete(reconcile.Func(sync))
	})
}
