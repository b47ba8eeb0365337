package controller_test

import (
	"context"
	"net/http"
	"path/filepath"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrlconfig "sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/kubecoord/kubecoord/httpapi/apitest/explore"
	"github.com/kubecoord/kubecoord/httpapi/kube/envtest"
	"github.com/kubecoord/kubecoord/httpapi/kube/explorekube"

	webv1 "github.com/kubecoord/kubecoord/examples/kube/controller/api/v1"
	"github.com/kubecoord/kubecoord/examples/kube/controller/internal/controller"
)

// TestWebsitesWhenThingsGoWrong runs the controller some hundred times, each time with another crash, lost answer, old state or late event. Each
// run must come to the same end.
func TestWebsitesWhenThingsGoWrong(t *testing.T) {
	env := &envtest.Environment{
		InProcess: true, TB: t, GarbageCollection: true, ErrorIfCRDPathMissing: true,
		CRDDirectoryPaths: []string{filepath.Join("..", "..", "config", "crd", "bases")},
	}
	if _, err := env.Start(); err != nil {
		t.Fatal(err)
	}
	types, err := typesOfWebsites() // once, since it takes longer than a run
	if err != nil {
		t.Fatal(err)
	}
	shop := website("default", "shop")
	explore.Run(t, explore.Scenario{
		API:         env.API(),
		Controllers: []explore.Controller{{Name: "websites", Run: runWebsites(types)}},
		World:       explore.Workloads, // the Deployments become available
		Steps: []explore.Step{
			{Name: "create shop", Do: withClient(types, func(ctx context.Context, c client.Client) error { return c.Create(ctx, shop.DeepCopy()) })},
			{Name: "scale shop", Do: withClient(types, func(ctx context.Context, c client.Client) error {
				return c.Patch(ctx, shop.DeepCopy(), client.RawPatch("application/merge-patch+json", []byte(`{"spec":{"replicas":3}}`)))
			})},
			{Name: "delete shop", Do: withClient(types, func(ctx context.Context, c client.Client) error { return c.Delete(ctx, shop.DeepCopy()) })},
			{Name: "create shop again", Do: withClient(types, func(ctx context.Context, c client.Client) error { return c.Create(ctx, shop.DeepCopy()) })},
		},
	}, explore.Options{Budget: 10 * time.Second})
}

// runWebsites returns a function that runs a manager with the controller until ctx ends.
func runWebsites(types *runtime.Scheme) func(context.Context, explore.Conn) error {
	return func(ctx context.Context, c explore.Conn) error {
		mgr, err := ctrl.NewManager(&rest.Config{Host: c.Host, Transport: c.Transport, QPS: -1}, ctrl.Options{
			Scheme: types, Metrics: server.Options{BindAddress: "0"},
			MapperProvider: func(*rest.Config, *http.Client) (meta.RESTMapper, error) { return explorekube.RESTMapper(c) },
			Controller:     ctrlconfig.Controller{SkipNameValidation: new(true)}, // there are many managers in this process
		})
		if err != nil {
			return err
		}
		r := &controller.WebsiteReconciler{
			Client: mgr.GetClient(), Live: mgr.GetAPIReader(), Scheme: types, Recorder: mgr.GetEventRecorder("website-controller"),
		}
		if err := r.SetupWithManager(mgr); err != nil {
			return err
		}
		return mgr.Start(ctx)
	}
}

// withClient gives a step the client of a user.
func withClient(types *runtime.Scheme, do func(ctx context.Context, c client.Client) error) func(context.Context, explore.Conn) error {
	return func(ctx context.Context, conn explore.Conn) error {
		mapper, err := explorekube.RESTMapper(conn)
		if err != nil {
			return err
		}
		c, err := client.New(&rest.Config{Host: conn.Host, Transport: conn.Transport}, client.Options{Scheme: types, Mapper: mapper})
		if err != nil {
			return err
		}
		return do(ctx, c)
	}
}

func typesOfWebsites() (*runtime.Scheme, error) {
	types := runtime.NewScheme()
	if err := clientgoscheme.AddToScheme(types); err != nil {
		return nil, err
	}
	return types, webv1.AddToScheme(types)
}
