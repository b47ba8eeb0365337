package explorereal

import (
	"context"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubecoord/kubecoord/httpapi/apitest"
	"github.com/kubecoord/kubecoord/httpapi/apitest/explore"
	"github.com/kubecoord/kubecoord/httpapi/kube/envtest"
	"github.com/kubecoord/kubecoord/httpapi/kube/explorekube"
)

// Main is the TestMain of each package.
func Main(m *testing.M) {
	// The second handler sleeps after an error. In a bubble it would sleep for decades.
	utilruntime.ErrorHandlers = utilruntime.ErrorHandlers[:1]
	klog.SetLogger(logr.Discard())
	ctrl.SetLogger(logr.Discard())
	os.Exit(m.Run())
}

// Namespace is where users work.
const Namespace = "default"

// Serve returns an API with the built-in kinds, a garbage collector, and the CustomResourceDefinitions of files.
func Serve(t *testing.T, definitions ...string) *apitest.API {
	env := &envtest.Environment{InProcess: true, TB: t, GarbageCollection: true, ErrorIfCRDPathMissing: true, CRDDirectoryPaths: definitions}
	_, err := env.Start()
	require.NoError(t, err)
	return env.API()
}

// FileOf returns the path of a file of a module.
func FileOf(t *testing.T, module string, path ...string) string {
	cmd := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}", module)
	cmd.Env = append(os.Environ(), "GOWORK=off")
	out, err := cmd.Output()
	require.NoError(t, err)
	return filepath.Join(append([]string{strings.TrimSpace(string(out))}, path...)...)
}

// Config returns what a client of a part needs.
func Config(c explore.Conn) *rest.Config {
	return &rest.Config{Host: c.Host, Transport: c.Transport, QPS: -1, WarningHandler: rest.NoWarnings{}}
}

// Informed runs what setUp returns, with informers that start after setUp, as kube-controller-manager does.
func Informed(setUp func(ctx context.Context, k kubernetes.Interface, f informers.SharedInformerFactory) (func(context.Context), error)) func(context.Context, explore.Conn) error {
	return func(ctx context.Context, c explore.Conn) error {
		k, err := kubernetes.NewForConfig(Config(c))
		if err != nil {
			return err
		}
		f := informers.NewSharedInformerFactory(k, 0)
		loop, err := setUp(ctx, k, f)
		if err != nil {
			return err
		}
		defer f.Shutdown()
		f.StartWithContext(ctx)
		loop(ctx)
		return nil
	}
}

// Managed runs a manager.
func Managed(types *runtime.Scheme, setUp func(ctx context.Context, mgr ctrl.Manager) error) func(context.Context, explore.Conn) error {
	return func(ctx context.Context, c explore.Conn) error {
		o := ctrl.Options{
			Scheme:         types,
			MapperProvider: func(*rest.Config, *http.Client) (meta.RESTMapper, error) { return explorekube.RESTMapper(c) },
		}
		o.Metrics.BindAddress = "0"
		o.Controller.SkipNameValidation = new(true) // there are many managers in this process
		mgr, err := ctrl.NewManager(Config(c), o)
		if err != nil {
			return err
		}
		if err := setUp(ctx, mgr); err != nil {
			return err
		}
		return mgr.Start(ctx)
	}
}

// User makes the steps of a user, whose client knows Types.
type User struct{ Types *runtime.Scheme }

func (u User) step(name string, do func(ctx context.Context, c client.Client) error) explore.Step {
	return explore.Step{Name: name, Do: func(ctx context.Context, conn explore.Conn) error {
		mapper, err := explorekube.RESTMapper(conn)
		if err != nil {
			return err
		}
		c, err := client.New(Config(conn), client.Options{Scheme: u.Types, Mapper: mapper})
		if err != nil {
			return err
		}
		return do(ctx, c)
	}}
}

// BuiltIn returns the User whose client knows the built-in kinds.
func BuiltIn() User { return User{scheme.Scheme} }

// Create creates an object.
func (u User) Create(o client.Object) explore.Step {
	return u.step("create "+o.GetName(), func(ctx context.Context, c client.Client) error {
		return c.Create(ctx, o.DeepCopyObject().(client.Object))
	})
}

// Delete deletes an object. Its children are deleted after it.
func (u User) Delete(o client.Object) explore.Step {
	return u.step("delete "+o.GetName(), func(ctx context.Context, c client.Client) error {
		return c.Delete(ctx, o.DeepCopyObject().(client.Object), client.PropagationPolicy("Background"))
	})
}

// Patch merges text into an object.
func (u User) Patch(what string, o client.Object, text string) explore.Step {
	return u.step(what+" "+o.GetName(), func(ctx context.Context, c client.Client) error {
		return c.Patch(ctx, o.DeepCopyObject().(client.Object), client.RawPatch("application/merge-patch+json", []byte(text)))
	})
}

// Judged is a finding that README.md judges: a part of its text or of its details, and how one of its plans begins.
type Judged struct{ Text, Plan string }

// Explore explores a scenario, and fails for findings that nobody has judged.
func Explore(t *testing.T, s explore.Scenario, o explore.Options, known ...Judged) {
	o.Budget = 2 * time.Minute // the flag -explore.budget takes precedence
	r, err := explore.Explore(t, s, o)
	require.NoError(t, err)
	t.Logf("%d requests; %s", r.Requests, r.Summary())
	t.Logf("classes: %s; masked: %q; could judge nothing: %q", r.Covered, r.Masked, r.Blind)
	for _, f := range r.Findings {
		if slices.ContainsFunc(known, func(j Judged) bool { return j.is(f) }) {
			t.Logf("judged: %s (%d of %d by %s, of %d plans)", f.Text, f.Again, f.Of, f.Plans[0], len(f.Plans))
		} else {
			t.Errorf("%s", f)
		}
	}
	for _, f := range r.Once {
		t.Logf("seen once: %s by %s", f.Text, f.Plans[0])
	}
}

func (j Judged) is(f *explore.Finding) bool {
	says := strings.Contains(f.Text+"\n"+strings.Join(f.Details, "\n"), j.Text)
	return says && slices.ContainsFunc(f.Plans, func(p string) bool { return strings.HasPrefix(p, j.Plan) })
}

// Named returns the metadata of an object of a user.
func Named(name string) metav1.ObjectMeta { return metav1.ObjectMeta{Namespace: Namespace, Name: name} }

// PodsOf returns a selector of Pods, and what they are made of.
func PodsOf(app string) (*metav1.LabelSelector, corev1.PodTemplateSpec) {
	labels := map[string]string{"app": app}
	return &metav1.LabelSelector{MatchLabels: labels}, corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: labels},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "one"}}},
	}
}
