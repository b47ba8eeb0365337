// Package controller has the controller of Websites.
package controller

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	webv1 "github.com/kubecoord/kubecoord/examples/kube/controller/api/v1"
)

// WebsiteReconciler makes a Deployment of each Website, and keeps the hosts of a namespace in a ConfigMap.
type WebsiteReconciler struct {
	client.Client
	// Live reads past the cache. An old copy of a Website that is gone would claim its host again, and would give its Deployment an owner that
	// is gone.
	Live     client.Reader
	Scheme   *runtime.Scheme
	Recorder events.EventRecorder
}

// HostsName is the ConfigMap with the hosts of a namespace: the name of the Website by its host.
const HostsName = "website-hosts"

// +kubebuilder:rbac:groups=web.example.com,resources=websites,verbs=get;list;watch;update;patch
// +kubebuilder:rbac:groups=web.example.com,resources=websites/status,verbs=get;update;patch
// +kubebuilder:rbac:groups=apps,resources=deployments,verbs=get;list;watch;create;update;patch
// +kubebuilder:rbac:groups="",resources=configmaps,verbs=get;list;watch;create;update;patch
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create;patch

// Reconcile makes the cluster what a Website asks for.
func (r *WebsiteReconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	site := &webv1.Website{}
	if err := r.Live.Get(ctx, req.NamespacedName, site); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if !site.DeletionTimestamp.IsZero() {
		return ctrl.Result{}, r.release(ctx, site)
	}
	if controllerutil.AddFinalizer(site, webv1.Finalizer) {
		if err := r.Update(ctx, site); err != nil {
			return ctrl.Result{}, err
		}
	}
	if err := r.claim(ctx, site); err != nil {
		return ctrl.Result{}, err
	}
	deployment, err := r.deploy(ctx, site)
	if err != nil {
		return ctrl.Result{}, err
	}
	return ctrl.Result{}, r.report(ctx, site, deployment)
}

// claim writes the host of a Website into the ConfigMap of the namespace.
func (r *WebsiteReconciler) claim(ctx context.Context, site *webv1.Website) error {
	hosts := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: site.Namespace, Name: HostsName}}
	_, err := controllerutil.CreateOrUpdate(ctx, r.Client, hosts, func() error {
		if other, taken := hosts.Data[site.Spec.Host]; taken && other != site.Name {
			r.Recorder.Eventf(site, hosts, corev1.EventTypeWarning, "HostTaken", "Claim", "host %s belongs to Website %s", site.Spec.Host, other)
			return fmt.Errorf("host %s belongs to Website %s", site.Spec.Host, other)
		}
		if hosts.Data == nil {
			hosts.Data = map[string]string{}
		}
		hosts.Data[site.Spec.Host] = site.Name
		return nil
	})
	return err
}

// release frees the host of a Website that is deleted, and lets it go.
func (r *WebsiteReconciler) release(ctx context.Context, site *webv1.Website) error {
	if !controllerutil.ContainsFinalizer(site, webv1.Finalizer) {
		return nil
	}
	hosts := &corev1.ConfigMap{}
	err := r.Get(ctx, client.ObjectKey{Namespace: site.Namespace, Name: HostsName}, hosts)
	if err == nil && hosts.Data[site.Spec.Host] == site.Name {
		delete(hosts.Data, site.Spec.Host)
		err = r.Update(ctx, hosts)
	}
	if err != nil && !apierrors.IsNotFound(err) {
		return err
	}
	controllerutil.RemoveFinalizer(site, webv1.Finalizer)
	return r.Update(ctx, site)
}

// deploy makes the Deployment of a Website, which the Website owns.
func (r *WebsiteReconciler) deploy(ctx context.Context, site *webv1.Website) (*appsv1.Deployment, error) {
	d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: site.Namespace, Name: site.Name}}
	result, err := controllerutil.CreateOrUpdate(ctx, r.Client, d, func() error {
		labels := map[string]string{"website": site.Name}
		d.Spec.Replicas = site.Spec.Replicas
		d.Spec.Selector = &metav1.LabelSelector{MatchLabels: labels}
		d.Spec.Template.Labels = labels
		if len(d.Spec.Template.Spec.Containers) == 0 {
			d.Spec.Template.Spec.Containers = []corev1.Container{{Name: "web"}}
		}
		d.Spec.Template.Spec.Containers[0].Image = site.Spec.Image
		return controllerutil.SetControllerReference(site, d, r.Scheme)
	})
	if err == nil && result == controllerutil.OperationResultCreated {
		r.Recorder.Eventf(site, d, corev1.EventTypeNormal, "Created", "Deploy", "created Deployment %s", d.Name)
	}
	return d, err
}

// report writes the status of a Website, if it has changed.
func (r *WebsiteReconciler) report(ctx context.Context, site *webv1.Website, d *appsv1.Deployment) error {
	before := site.DeepCopy()
	site.Status.ObservedGeneration, site.Status.ReadyReplicas = site.Generation, d.Status.ReadyReplicas
	available := metav1.Condition{
		Type: webv1.ConditionAvailable, Status: metav1.ConditionFalse, ObservedGeneration: site.Generation,
		Reason: "Waiting", Message: fmt.Sprintf("%d of %d replicas are ready", d.Status.ReadyReplicas, *site.Spec.Replicas),
	}
	if d.Status.ReadyReplicas >= *site.Spec.Replicas {
		available.Status, available.Reason = metav1.ConditionTrue, "Ready"
	}
	meta.SetStatusCondition(&site.Status.Conditions, available)
	return r.Status().Patch(ctx, site, client.MergeFrom(before))
}

// SetupWithManager adds the controller to a manager. A change of the status of a Website alone does not start it.
func (r *WebsiteReconciler) SetupWithManager(mgr ctrl.Manager) error {
	return ctrl.NewControllerManagedBy(mgr).
		For(&webv1.Website{}, builder.WithPredicates(predicate.GenerationChangedPredicate{})).
		Owns(&appsv1.Deployment{}).
		Named("website").
		Complete(r)
}
