package zoo

import (
	"context"
	"net/http"
	"sync"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubecoord/kubecoord/httpapi/apitest/explore"
	"github.com/kubecoord/kubecoord/httpapi/kube/explorekube"
)

// The namespaces of the controllers. The garbage collector cannot reach from one into the other.
const (
	namespace = "default"
	vault     = "vault"
)

// run is the Run of an explore.Controller.
type run = func(ctx context.Context, c explore.Conn) error

func config(c explore.Conn) *rest.Config {
	return &rest.Config{Host: c.Host, Transport: c.Transport, QPS: -1, WarningHandler: rest.NoWarnings{}}
}

// looped returns a controller that calls reconcile every 20 seconds. An error is tried again at the next call.
func looped(reconcile func(ctx context.Context, k kubernetes.Interface) error) run {
	return func(ctx context.Context, c explore.Conn) error {
		k, err := kubernetes.NewForConfig(config(c))
		if err != nil {
			return err
		}
		for ctx.Err() == nil {
			_ = reconcile(ctx, k)
			wait(ctx, 20*time.Second)
		}
		return nil
	}
}

// wait waits for d, unless ctx ends before.
func wait(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// informed is a controller with informers and a queue of names.
type informed struct {
	kubernetes.Interface
	informers.SharedInformerFactory
	queue workqueue.TypedRateLimitingInterface[string]
}

// queued returns a controller that calls sync for the name of each object that the informers report. setUp calls queueNames, and
// returns sync.
func queued(setUp func(i *informed) (sync func(ctx context.Context, name string) error, err error)) run {
	return func(ctx context.Context, c explore.Conn) error {
		k, err := kubernetes.NewForConfig(config(c))
		if err != nil {
			return err
		}
		return runQueue(ctx, k, setUp)
	}
}

func runQueue(ctx context.Context, k kubernetes.Interface, setUp func(i *informed) (func(context.Context, string) error, error)) error {
	queue := workqueue.NewTypedRateLimitingQueue(workqueue.NewTypedItemExponentialFailureRateLimiter[string](time.Second, 10*time.Second))
	i := &informed{k, informers.NewSharedInformerFactory(k, 0), queue}
	sync, err := setUp(i)
	if err != nil {
		return err
	}
	defer i.Shutdown()
	defer queue.ShutDown()
	i.StartWithContext(ctx)
	i.WaitForCacheSyncWithContext(ctx)
	context.AfterFunc(ctx, queue.ShutDown)
	for {
		name, ended := queue.Get()
		if ended {
			return nil
		}
		if sync(ctx, name) != nil {
			queue.AddRateLimited(name)
		} else {
			queue.Forget(name)
		}
		queue.Done(name)
	}
}

// queueNames queues the names of the objects of informers at each event.
func (i *informed) queueNames(all ...cache.SharedIndexInformer) error {
	add := func(o any) {
		if gone, ok := o.(cache.DeletedFinalStateUnknown); ok {
			o = gone.Obj
		}
		i.queue.Add(o.(metav1.Object).GetName())
	}
	for _, informer := range all {
		_, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: add, UpdateFunc: func(_, o any) { add(o) }, DeleteFunc: add})
		if err != nil {
			return err
		}
	}
	return nil
}

// queueLabel returns a handler that queues the value of a label.
func (i *informed) queueLabel(name string) cache.ResourceEventHandler {
	add := func(o any) {
		if gone, ok := o.(cache.DeletedFinalStateUnknown); ok {
			o = gone.Obj
		}
		if value := o.(metav1.Object).GetLabels()[name]; value != "" {
			i.queue.Add(value)
		}
	}
	return cache.ResourceEventHandlerFuncs{AddFunc: add, UpdateFunc: func(_, o any) { add(o) }, DeleteFunc: add}
}

// managed returns a controller that is a manager.
func managed(setUp func(mgr ctrl.Manager) error) run { return managedWith(ctrl.Options{}, setUp) }

// elected returns a controller that is a manager, and works only while it leads.
func elected(setUp func(mgr ctrl.Manager) error) run {
	return managedWith(ctrl.Options{LeaderElection: true, LeaderElectionID: "zoo", LeaderElectionNamespace: namespace}, setUp)
}

func managedWith(o ctrl.Options, setUp func(mgr ctrl.Manager) error) run {
	once := sync.OnceValues(scheme)
	return func(ctx context.Context, c explore.Conn) error {
		types, err := once()
		if err != nil {
			return err
		}
		o := o
		o.Scheme, o.MapperProvider = types, func(*rest.Config, *http.Client) (meta.RESTMapper, error) { return explorekube.RESTMapper(c) }
		o.Metrics.BindAddress = "0"
		o.Controller.SkipNameValidation = new(true) // the names in use are global to the process
		mgr, err := ctrl.NewManager(config(c), o)
		if err != nil {
			return err
		}
		if err := setUp(mgr); err != nil {
			return err
		}
		return mgr.Start(ctx)
	}
}

// reconciler makes a function a reconciler.
type reconciler func(ctx context.Context, name client.ObjectKey) error

// Reconcile calls the function.
func (f reconciler) Reconcile(ctx context.Context, r ctrl.Request) (ctrl.Result, error) {
	return ctrl.Result{}, f(ctx, r.NamespacedName)
}

// unlessExists returns nil for the error of a creation of what exists.
func unlessExists(err error) error {
	if apierrors.IsAlreadyExists(err) {
		return nil
	}
	return err
}

// unlessGone returns nil for the error of a deletion of what does not exist.
func unlessGone(err error) error {
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

// configMap returns a ConfigMap to create.
func configMap(ns, name string, labels map[string]string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: name, Labels: labels}}
}

// secret returns a Secret to create.
func secret(ns, name string, labels map[string]string) *corev1.Secret {
	return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: name, Labels: labels}}
}

// template returns what the Pods of a controller are made of.
func template(labels map[string]string) corev1.PodTemplateSpec {
	return corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: labels},
		Spec:       corev1.PodSpec{RestartPolicy: corev1.RestartPolicyAlways, Containers: []corev1.Container{{Name: "c", Image: "i"}}},
	}
}

// job returns a Job to create.
func job(name string) *batchv1.Job {
	t := template(nil)
	t.Spec.RestartPolicy = corev1.RestartPolicyNever
	return &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}, Spec: batchv1.JobSpec{Template: t}}
}
