package zoo

import (
	"context"
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
)

// oneshot runs a Job for each generation of a Widget, says in the status that it has ended, and deletes it. The mistake: it looks for the Job of the present
// generation only, so that the Job of a generation that it has not seen the end of stays.
func oneshot(wrong bool) run {
	return managed(func(mgr ctrl.Manager) error {
		o := &oneshots{mgr.GetClient(), mgr.GetAPIReader(), wrong}
		return ctrl.NewControllerManagedBy(mgr).For(&widget{}).Owns(&batchv1.Job{}).Complete(reconciler(o.reconcile))
	})
}

type oneshots struct {
	client.Client
	server client.Reader
	wrong  bool
}

func (o *oneshots) reconcile(ctx context.Context, name client.ObjectKey) error {
	w := &widget{}
	if err := o.server.Get(ctx, name, w); err != nil || !w.DeletionTimestamp.IsZero() {
		return client.IgnoreNotFound(err)
	}
	want := job(fmt.Sprintf("%s-%d", w.Name, w.Generation))
	ended := w.Status.ObservedGeneration == w.Generation
	all := &batchv1.JobList{}
	if err := o.server.List(ctx, all, client.InNamespace(namespace)); err != nil {
		return err
	}
	exists := false
	for _, j := range all.Items {
		isWanted := j.Name == want.Name
		switch {
		case !metav1.IsControlledBy(&j, w):
		case isWanted && ended, !isWanted && !o.wrong:
			if err := o.Delete(ctx, &j, client.PropagationPolicy(metav1.DeletePropagationBackground)); client.IgnoreNotFound(err) != nil {
				return err
			}
		case isWanted && j.Status.Succeeded > 0:
			w.Status.Child, w.Status.ObservedGeneration = j.Name, w.Generation
			return o.Status().Update(ctx, w) // its event deletes the Job
		case isWanted:
			exists = true
		}
	}
	if ended || exists {
		return nil
	}
	if err := controllerutil.SetControllerReference(w, want, o.Scheme()); err != nil {
		return err
	}
	return o.Create(ctx, want)
}
