// Package project is the suite of a controller as kubebuilder lays it out. It knows nothing of kubecoord: KUBEBUILDER_ASSETS
// says which programs envtest starts.
package project

import (
	"context"
	"fmt"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

// options returns the options of a manager without metrics. Version 0.16 moved the field.
func options() (o ctrl.Options) {
	v := reflect.ValueOf(&o).Elem()
	if old := v.FieldByName("MetricsBindAddress"); old.IsValid() {
		old.SetString("0")
	} else {
		v.FieldByName("Metrics").FieldByName("BindAddress").SetString("0")
	}
	return o
}

// limit is the longest time of the suite, which waits for events only.
const limit = time.Minute

// widget returns a custom resource, or an empty one to read into.
func widget(name string, size int64) *unstructured.Unstructured {
	u := &unstructured.Unstructured{Object: map[string]any{}}
	u.SetGroupVersionKind(schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Widget"})
	u.SetNamespace("default")
	u.SetName(name)
	if size != 0 {
		_ = unstructured.SetNestedField(u.Object, size, "spec", "size")
	}
	return u
}

// refuseThirteen is a validating webhook.
func refuseThirteen() []*admissionv1.ValidatingWebhookConfiguration {
	fail, none, path := admissionv1.Fail, admissionv1.SideEffectClassNone, "/validate"
	return []*admissionv1.ValidatingWebhookConfiguration{{
		ObjectMeta: metav1.ObjectMeta{Name: "widgets"},
		Webhooks: []admissionv1.ValidatingWebhook{{
			Name: "widgets.example.com", FailurePolicy: &fail, SideEffects: &none, AdmissionReviewVersions: []string{"v1"},
			ClientConfig: admissionv1.WebhookClientConfig{Service: &admissionv1.ServiceReference{Name: "webhook", Namespace: "default", Path: &path}},
			Rules: []admissionv1.RuleWithOperations{{
				Operations: []admissionv1.OperationType{admissionv1.Create},
				Rule:       admissionv1.Rule{APIGroups: []string{"example.com"}, APIVersions: []string{"v1"}, Resources: []string{"widgets"}},
			}},
		}},
	}}
}

// validate is the handler of the webhook.
func validate(_ context.Context, req admission.Request) admission.Response {
	if strings.Contains(string(req.Object.Raw), `"size":13`) {
		return admission.Denied("thirteen is unlucky")
	}
	return admission.Allowed("")
}

// reconciler marks widgets as ready.
type reconciler struct{ client.Client }

func (r reconciler) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	w := widget("", 0)
	if err := r.Get(ctx, req.NamespacedName, w); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	if err := unstructured.SetNestedField(w.Object, true, "status", "ready"); err != nil {
		return reconcile.Result{}, err
	}
	return reconcile.Result{}, r.Status().Update(ctx, w)
}

func TestSuite(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	env := &envtest.Environment{
		CRDDirectoryPaths: []string{"testdata"}, ErrorIfCRDPathMissing: true,
		WebhookInstallOptions: envtest.WebhookInstallOptions{ValidatingWebhooks: refuseThirteen()},
	}
	cfg, err := env.Start()
	must(t, err)
	t.Run("reconciles and validates", func(t *testing.T) { reconciles(ctx, t, env, cfg) })
	t.Run("has users with rights", func(t *testing.T) { hasUsers(ctx, t, env, cfg) })
	must(t, env.Stop())
	t.Run("starts again, empty", func(t *testing.T) { startsAgain(ctx, t) })
}

// reconciles runs a manager.
func reconciles(ctx context.Context, t *testing.T, env *envtest.Environment, cfg *rest.Config) {
	o := env.WebhookInstallOptions
	opts := options()
	opts.WebhookServer = webhook.NewServer(webhook.Options{Host: o.LocalServingHost, Port: o.LocalServingPort, CertDir: o.LocalServingCertDir})
	mgr, err := ctrl.NewManager(cfg, opts)
	must(t, err)
	mgr.GetWebhookServer().Register("/validate", &webhook.Admission{Handler: admission.HandlerFunc(validate)})
	must(t, ctrl.NewControllerManagedBy(mgr).Named("widget").For(widget("", 0)).Complete(reconciler{mgr.GetClient()}))
	ctx, stop := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- mgr.Start(ctx) }()
	started := mgr.GetWebhookServer().StartedChecker()
	for started(&http.Request{}) != nil {
		pause(ctx, t)
	}
	c, err := client.New(cfg, client.Options{})
	must(t, err)

	if err := c.Create(ctx, widget("unlucky", 13)); err == nil || !strings.Contains(err.Error(), `admission webhook "widgets.example.com" denied the request: thirteen is unlucky`) {
		t.Errorf("got %v, want the webhook's refusal", err)
	}
	if err := c.Create(ctx, widget("negative", -1)); !apierrors.IsInvalid(err) {
		t.Errorf("got %v, want the refusal by the schema", err)
	}
	w := widget("a", 0)
	must(t, c.Create(ctx, w))
	for ready := false; !ready; pause(ctx, t) {
		must(t, c.Get(ctx, client.ObjectKeyFromObject(w), w))
		ready, _, _ = unstructured.NestedBool(w.Object, "status", "ready")
	}
	must(t, c.Delete(ctx, w))
	stop()
	must(t, <-ended)
}

// hasUsers adds a user without rights.
func hasUsers(ctx context.Context, t *testing.T, env *envtest.Environment, cfg *rest.Config) {
	user, err := env.AddUser(envtest.User{Name: "alice", Groups: []string{"developers"}}, nil)
	if err != nil { // versions before 0.16 want a configuration
		user, err = env.AddUser(envtest.User{Name: "alice", Groups: []string{"developers"}}, cfg)
	}
	must(t, err)
	alice, err := client.New(user.Config(), client.Options{})
	must(t, err)
	if err := alice.List(ctx, &corev1.SecretList{}); !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), `User "alice" cannot list resource "secrets"`) {
		t.Errorf("got %v, want Forbidden", err)
	}
	kubectl, err := user.Kubectl()
	must(t, err)
	if _, stderr, err := kubectl.Run("version"); err != nil {
		t.Errorf("kubectl: %v: %v", err, stderr)
	}
}

// startsAgain starts a second environment, with a namespace of its own.
func startsAgain(ctx context.Context, t *testing.T) {
	env := &envtest.Environment{}
	cfg, err := env.Start()
	must(t, err)
	c, err := client.New(cfg, client.Options{})
	must(t, err)
	if err := c.Get(ctx, client.ObjectKey{Namespace: "default", Name: "a"}, widget("", 0)); err == nil {
		t.Error("got a widget, want no kind")
	}
	must(t, c.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "team"}}))
	must(t, c.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "a"}}))
	if err := c.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "none", Name: "a"}}); !apierrors.IsNotFound(err) {
		t.Errorf("got %v, want namespaces \"none\" not found", err)
	}
	must(t, env.Stop())
}

// pause waits a moment, as suites that look again do.
func pause(ctx context.Context, t *testing.T) {
	select {
	case <-ctx.Done():
		t.Fatal(fmt.Errorf("the suite took more than %s", limit))
	case <-time.After(10 * time.Millisecond):
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
