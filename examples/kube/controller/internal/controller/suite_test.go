package controller_test

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrlconfig "sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/kubecoord/kubecoord/httpapi/kube/envtest"

	webv1 "github.com/kubecoord/kubecoord/examples/kube/controller/api/v1"
	"github.com/kubecoord/kubecoord/examples/kube/controller/internal/controller"
	webhookv1 "github.com/kubecoord/kubecoord/examples/kube/controller/internal/webhook/v1"
)

var (
	testEnv *envtest.Environment
	config  *rest.Config
	scheme  *runtime.Scheme
	c       client.Client
	stop    context.CancelFunc
	stopped chan error
)

func TestWebsites(t *testing.T) {
	RegisterFailHandler(Fail)
	SetDefaultEventuallyTimeout(time.Minute)
	RunSpecs(t, "Websites")
}

var _ = BeforeSuite(setUp)

// setUp starts the API server and a manager.
func setUp() {
	testEnv = &envtest.Environment{
		CRDDirectoryPaths:     []string{filepath.Join("..", "..", "config", "crd", "bases")},
		ErrorIfCRDPathMissing: true,
		WebhookInstallOptions: envtest.WebhookInstallOptions{Paths: []string{filepath.Join("..", "..", "config", "webhook")}},
	}
	var err error
	config, err = testEnv.Start()
	Expect(err).NotTo(HaveOccurred())

	scheme = runtime.NewScheme()
	Expect(clientgoscheme.AddToScheme(scheme)).To(Succeed())
	Expect(webv1.AddToScheme(scheme)).To(Succeed())
	c, err = client.New(config, client.Options{Scheme: scheme})
	Expect(err).NotTo(HaveOccurred())

	var ctx context.Context
	ctx, stop = context.WithCancel(context.Background())
	stopped = make(chan error, 1)
	mgr := newManager()
	go func() { stopped <- mgr.Start(ctx) }()
	Eventually(mgr.Elected()).Should(BeClosed())
	Eventually(func() error { return mgr.GetWebhookServer().StartedChecker()(nil) }).Should(Succeed())
}

var _ = AfterSuite(tearDown)

// tearDown stops both.
func tearDown() {
	if stop != nil {
		stop()
		Eventually(stopped).Should(Receive(BeNil()))
	}
	Expect(testEnv.Stop()).To(Succeed())
}

// newManager returns a manager with the controller and the webhook, which takes part in the election.
func newManager() ctrl.Manager {
	opts := ctrl.Options{
		Scheme: scheme, LeaderElection: true, LeaderElectionID: "website.web.example.com",
		LeaderElectionNamespace: "default", LeaderElectionReleaseOnCancel: true,
		Metrics: server.Options{BindAddress: "0"}, WebhookServer: webhookServer(),
		Controller: ctrlconfig.Controller{SkipNameValidation: new(true)}, // there are two managers in this process
	}
	mgr, err := ctrl.NewManager(config, opts)
	Expect(err).NotTo(HaveOccurred())
	r := &controller.WebsiteReconciler{
		Client: mgr.GetClient(), Live: mgr.GetAPIReader(), Scheme: scheme, Recorder: mgr.GetEventRecorder("website-controller"),
	}
	Expect(r.SetupWithManager(mgr)).To(Succeed())
	Expect(webhookv1.SetupWebsiteWebhookWithManager(mgr)).To(Succeed())
	return mgr
}
