// Command cmd runs the controller of Websites: an example of a controller in kubebuilder's layout, with a
// CustomResourceDefinition, a Deployment that it owns, conditions, a finalizer, a predicate, events, a validating webhook and
// leader election. Its suites, in internal/controller and internal/webhook/v1, run with httpapi/kube/envtest, and by one import line
// with controller-runtime's envtest.
//
//	go test ./...    # in memory
//	kubectl apply -f config/crd/bases
//	go run ./cmd -kubeconfig $KUBECONFIG -webhooks=false -namespace default
//	kubectl apply -f config/samples
package main

import (
	"flag"
	"fmt"
	"os"

	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"

	webv1 "github.com/kubecoord/kubecoord/examples/kube/controller/api/v1"
	"github.com/kubecoord/kubecoord/examples/kube/controller/internal/controller"
	webhookv1 "github.com/kubecoord/kubecoord/examples/kube/controller/internal/webhook/v1"
)

func main() {
	webhooks := flag.Bool("webhooks", true, "serve the webhook, with the certificate that controller-runtime expects")
	namespace := flag.String("namespace", "", "hold the election in this `namespace`; outside of a cluster it must be set")
	metrics := flag.String("metrics-bind-address", "0", "serve metrics at this `address`; 0 serves none")
	flag.Parse()
	ctrl.SetLogger(zap.New())
	if err := run(*webhooks, *namespace, *metrics); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(webhooks bool, namespace, metrics string) error {
	s := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, webv1.AddToScheme} {
		if err := add(s); err != nil {
			return err
		}
	}
	config, err := ctrl.GetConfig()
	if err != nil {
		return err
	}
	mgr, err := ctrl.NewManager(config, ctrl.Options{
		Scheme: s, Metrics: server.Options{BindAddress: metrics},
		LeaderElection: true, LeaderElectionID: "website.web.example.com", LeaderElectionNamespace: namespace, LeaderElectionReleaseOnCancel: true,
	})
	if err != nil {
		return err
	}
	r := &controller.WebsiteReconciler{
		Client: mgr.GetClient(), Live: mgr.GetAPIReader(), Scheme: s, Recorder: mgr.GetEventRecorder("website-controller"),
	}
	if err := r.SetupWithManager(mgr); err != nil {
		return err
	}
	if webhooks {
		if err := webhookv1.SetupWebsiteWebhookWithManager(mgr); err != nil {
			return err
		}
	}
	return mgr.Start(ctrl.SetupSignalHandler())
}
