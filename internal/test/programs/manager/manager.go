// Package manager is a manager of controller-runtime with one controller, of Sites: it keeps a ConfigMap and a Deployment for each, and counts in its
// status. The ConfigMap has no owner: a finalizer lets it go. The modules go022 and go024 build it with other versions.
//
// $MISTAKE puts a mistake in:
//
//   - leak: the ConfigMap has a generated name, which is kept in the status only. After a crash between the two there is another one, and nobody deletes
//     the first.
//   - stale: the Site is read from the cache. After a restart with an old state the Deployment goes back to old replicas.
package manager

import (
	"context"
	"fmt"
	"os"
	"reflect"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// Main runs the manager until it gets a signal.
func Main() {
	ctrl.SetLogger(klog.Background())
	if err := run(ctrl.SetupSignalHandler()); err != nil {
		fmt.Fprintln(os.Stderr, "Error:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	config, err := ctrl.GetConfig()
	if err != nil {
		return err
	}
	scheme, err := types()
	if err != nil {
		return err
	}
	mgr, err := ctrl.NewManager(config, ctrl.Options{Scheme: scheme, Metrics: server.Options{BindAddress: "0"}})
	if err != nil {
		return err
	}
	mistake := os.Getenv("MISTAKE")
	s := &sites{Client: mgr.GetClient(), live: mgr.GetAPIReader(), leak: mistake == "leak", stale: mistake == "stale"}
	err = ctrl.NewControllerManagedBy(mgr).For(&site{}).Owns(&appsv1.Deployment{}).Complete(reconcile.Func(s.reconcile))
	if err != nil {
		return err
	}
	return mgr.Start(ctx)
}

// sites is the controller. What it decides by it reads from the server.
type sites struct {
	client.Client
	live        client.Reader
	leak, stale bool
}

const finalizer = "programs.test/content"

func (c *sites) reconcile(ctx context.Context, r ctrl.Request) (ctrl.Result, error) {
	s := &site{}
	read := c.live
	if c.stale {
		read = c.Client
	}
	if err := read.Get(ctx, r.NamespacedName, s); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if s.DeletionTimestamp != nil {
		return ctrl.Result{}, c.finalize(ctx, s)
	}
	if controllerutil.AddFinalizer(s, finalizer) {
		if err := c.Update(ctx, s); err != nil {
			return ctrl.Result{}, err
		}
	}
	content, err := c.content(ctx, s)
	if err != nil {
		return ctrl.Result{}, err
	}
	d, err := c.deployment(ctx, s)
	if err != nil {
		return ctrl.Result{}, err
	}
	if status := (siteStatus{content, d.Status.AvailableReplicas}); s.Status != status {
		s.Status = status
		return ctrl.Result{}, c.Status().Update(ctx, s)
	}
	return ctrl.Result{}, nil
}

// finalize deletes the ConfigMap of a Site and lets the Site go.
func (c *sites) finalize(ctx context.Context, s *site) error {
	if !controllerutil.ContainsFinalizer(s, finalizer) {
		return nil
	}
	name := s.Name
	if c.leak {
		name = s.Status.Content
	}
	if name != "" {
		content := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: s.Namespace, Name: name}}
		if err := c.Delete(ctx, content); client.IgnoreNotFound(err) != nil {
			return err
		}
	}
	controllerutil.RemoveFinalizer(s, finalizer)
	return c.Update(ctx, s)
}

// content keeps the ConfigMap of a Site, and returns its name.
func (c *sites) content(ctx context.Context, s *site) (string, error) {
	want := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: s.Namespace, Name: s.Name}, Data: map[string]string{"text": s.Spec.Text}}
	if c.leak {
		if want.Name = s.Status.Content; want.Name == "" {
			want.GenerateName = s.Name + "-"
			err := c.Create(ctx, want)
			return want.Name, err
		}
	}
	have := &corev1.ConfigMap{}
	err := c.live.Get(ctx, client.ObjectKeyFromObject(want), have)
	switch {
	case apierrors.IsNotFound(err):
		return want.Name, c.Create(ctx, want)
	case err == nil && !reflect.DeepEqual(have.Data, want.Data):
		have.Data = want.Data
		return want.Name, c.Update(ctx, have)
	}
	return want.Name, err
}

// deployment keeps the Deployment of a Site, and returns it.
func (c *sites) deployment(ctx context.Context, s *site) (*appsv1.Deployment, error) {
	labels := map[string]string{"site": s.Name}
	want := &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.Namespace, Name: s.Name},
		Spec: appsv1.DeploymentSpec{
			Replicas: &s.Spec.Replicas,
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "site", Image: "nginx:1.29"}}},
			},
		},
	}
	if err := controllerutil.SetControllerReference(s, want, c.Scheme()); err != nil {
		return nil, err
	}
	have := &appsv1.Deployment{}
	err := c.live.Get(ctx, client.ObjectKeyFromObject(want), have)
	switch {
	case apierrors.IsNotFound(err):
		return want, c.Create(ctx, want)
	case err != nil:
		return nil, err
	case !metav1.IsControlledBy(have, s):
		return nil, fmt.Errorf("the Deployment %s belongs to something else", have.Name)
	case *have.Spec.Replicas != s.Spec.Replicas:
		have.Spec.Replicas = &s.Spec.Replicas
		return have, c.Update(ctx, have)
	}
	return have, nil
}
