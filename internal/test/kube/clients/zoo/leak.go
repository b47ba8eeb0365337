package zoo

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
)

// leak makes a ConfigMap for each Widget, and names it in the status. The mistake: the name is generated, so that after a crash between the
// create and the write of the status it makes another one.
func leak(wrong bool) run {
	return managed(leakIn(wrong))
}

// leakWhileLeading is leak in replicas of which one leads, and lets go the Lease at its end.
func leakWhileLeading(wrong bool) run {
	return managedWith(ctrl.Options{
		LeaderElection: true, LeaderElectionID: "leak", LeaderElectionNamespace: namespace, LeaderElectionReleaseOnCancel: true,
	}, leakIn(wrong))
}

func leakIn(wrong bool) func(mgr ctrl.Manager) error {
	return func(mgr ctrl.Manager) error {
		l := &leaking{mgr.GetClient(), mgr.GetAPIReader(), wrong}
		return ctrl.NewControllerManagedBy(mgr).For(&widget{}).Complete(reconciler(l.reconcile))
	}
}

type leaking struct {
	client.Client
	live  client.Reader
	wrong bool
}

func (l *leaking) reconcile(ctx context.Context, name client.ObjectKey) error {
	w := &widget{}
	read := l.live // a child is never made for a Widget that is gone
	if l.wrong {
		read = l.Client
	}
	if err := read.Get(ctx, name, w); err != nil || w.Status.Child != "" {
		return client.IgnoreNotFound(err)
	}
	child := configMap(w.Namespace, w.Name, nil)
	if l.wrong {
		child.Name, child.GenerateName = "", w.Name+"-"
	}
	if err := controllerutil.SetControllerReference(w, child, l.Scheme()); err != nil {
		return err
	}
	if err := unlessExists(l.Create(ctx, child)); err != nil {
		return err
	}
	if !l.wrong {
		have := &corev1.ConfigMap{}
		if err := l.live.Get(ctx, name, have); err != nil {
			return err
		}
		if !metav1.IsControlledBy(have, w) {
			return fmt.Errorf("ConfigMap %s belongs to something else", have.Name)
		}
	}
	w.Status.Child = child.Name
	return l.Status().Update(ctx, w)
}
