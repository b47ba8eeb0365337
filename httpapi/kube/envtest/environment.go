package envtest

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/kubecoord/kubecoord/httpapi/apitest"
	"github.com/kubecoord/kubecoord/httpapi/kube/cluster"
)

// StartTimeout and StopTimeout are the timeouts, in seconds, of suites that name them. They have no effect here.
const (
	StartTimeout = 60
	StopTimeout  = 60
)

// Environment is an API server for a test suite. The zero value is ready for Start. Its fields may be changed before Start
// only. Environments are independent of each other, and may run in parallel. Start and Stop of one Environment must not be called at the
// same time.
type Environment struct {
	// ControlPlane has the API server and its flags.
	ControlPlane ControlPlane
	// Scheme says which CustomResourceDefinitions get the conversion webhook: each whose types in the scheme implement
	// conversion.Hub and conversion.Convertible of controller-runtime. Start sets it to client-go's scheme if it is nil.
	Scheme *runtime.Scheme
	// Config is the configuration of clients with all rights. Start sets it. With UseExistingCluster it may be set before.
	Config *rest.Config
	// KubeConfig is the content of a kubeconfig file for Config. Start sets it, unless it is set or InProcess is.
	KubeConfig []byte
	// CRDInstallOptions are the CustomResourceDefinitions that Start installs, with CRDs and CRDDirectoryPaths.
	CRDInstallOptions CRDInstallOptions
	// WebhookInstallOptions are the webhooks that Start installs. Start sets the host, the port and the directory with the
	// certificate for the server of the webhooks.
	WebhookInstallOptions WebhookInstallOptions
	// ErrorIfCRDPathMissing makes it an error if one of the paths does not exist.
	ErrorIfCRDPathMissing bool
	// CRDs are definitions to install. After Start they are all that were installed. Their schemas may be shared with other
	// environments, and must not be changed.
	CRDs []*apiextensionsv1.CustomResourceDefinition
	// CRDDirectoryPaths are files, and directories of files, with definitions to install.
	CRDDirectoryPaths []string
	// DownloadBinaryAssets, DownloadBinaryAssetsVersion, DownloadBinaryAssetsIndexURL and BinaryAssetsDirectory have no
	// effect: there is nothing to download. But kubectl is looked for in BinaryAssetsDirectory.
	DownloadBinaryAssets         bool
	DownloadBinaryAssetsVersion  string
	DownloadBinaryAssetsIndexURL string
	BinaryAssetsDirectory        string
	// UseExistingCluster makes Start connect to the cluster of Config, or of the flag -kubeconfig, the environment variable
	// KUBECONFIG, the Pod, or the user's kubeconfig file. If nil, the environment variable USE_EXISTING_CLUSTER decides.
	UseExistingCluster *bool
	// ControlPlaneStartTimeout and ControlPlaneStopTimeout have no effect: there is no process to wait for.
	ControlPlaneStartTimeout time.Duration
	ControlPlaneStopTimeout  time.Duration
	// AttachControlPlaneOutput writes a line to standard error about each flag of the API server that has no effect. The
	// environment variable KUBEBUILDER_ATTACH_CONTROL_PLANE_OUTPUT=true sets it.
	AttachControlPlaneOutput bool

	// The fields below are not in controller-runtime's Environment.

	// InProcess serves without a socket: Config has a transport to the API. It works in a testing/synctest bubble, if Start
	// is called there. The first Start with InProcess removes the handler from the ErrorHandlers of Kubernetes' package
	// util/runtime that limits the rate of errors: in a bubble it would sleep for decades.
	InProcess bool
	// TB is the test of the environment. It gets what a fault or a verdict reports as a failure, and the API is closed at its end unless
	// Stop was called before. If TB is nil, Stop returns the failures. A *testing.T and ginkgo.GinkgoT() are such a TB.
	TB apitest.TB
	// Options configures the API behind the environment: a clock, fixtures, kinds, middleware, Verify. Fixtures are loaded
	// after the definitions were installed. If Authenticate is nil or does not know the credentials, the user is the user of
	// the client certificate.
	Options apitest.Options

	// GarbageCollection deletes objects whose owners are gone, as the garbage collector of kube-controller-manager does. A real
	// environment of envtest does not.
	GarbageCollection bool
	// NamespaceDeletion deletes what is in a deleted namespace, and then the namespace, as the namespace controller of
	// kube-controller-manager does. A real environment of envtest does not: the namespace stays in phase Terminating.
	NamespaceDeletion bool

	// WebhookHandler, if not nil, answers all calls of admission and conversion webhooks, in place of a server at their address. No
	// socket is opened, so that webhooks work in a testing/synctest bubble. The method WebhookMux of controller-runtime's
	// webhook.DefaultServer returns one.
	WebhookHandler http.Handler

	ownKubeConfig bool   // KubeConfig was set by Start
	endWebhooks   func() // ends WebhookHandler, or is nil
}

// API returns the API behind the environment, with its faults, requests, forks and verdicts. It is nil before Start, after Stop,
// and with UseExistingCluster. A fork has the users of the environment: a request by its Transport without credentials
// may do everything.
func (te *Environment) API() *apitest.API {
	if te.ControlPlane.APIServer == nil || te.ControlPlane.APIServer.running == nil {
		return nil
	}
	return te.ControlPlane.APIServer.running.api
}

// Start starts the API server, installs the definitions and the webhooks, and returns the configuration for clients with all
// rights. If it fails, Stop must still be called.
func (te *Environment) Start() (*rest.Config, error) {
	o := &te.CRDInstallOptions
	o.CRDs = merged(o.CRDs, te.CRDs)
	o.Paths = slices.Compact(slices.Sorted(slices.Values(slices.Concat(o.Paths, te.CRDDirectoryPaths))))
	o.ErrorIfPathMissing = te.ErrorIfCRDPathMissing
	var found reading
	defer found.done.Wait()
	if te.useExistingCluster() {
		if te.Config == nil {
			cfg, err := existingConfig()
			if err != nil {
				return nil, fmt.Errorf("unable to get configuration for existing cluster: %w", err)
			}
			te.Config = cfg
		}
	} else {
		found.begin(*o)
		if err := te.startControlPlane(); err != nil {
			return nil, fmt.Errorf("unable to start control plane itself: %w", err)
		}
	}
	if te.ownKubeConfig || len(te.KubeConfig) == 0 && !te.InProcess {
		content, err := kubeconfigOf(te.Config)
		if err != nil {
			return nil, fmt.Errorf("unable to set KubeConfig field: %w", err)
		}
		te.KubeConfig, te.ownKubeConfig = content, true
	}
	if te.Scheme == nil {
		te.Scheme = clientgoscheme.Scheme
	}
	return te.install(&found)
}

// startControlPlane starts the API server and sets Config.
func (te *Environment) startControlPlane() error {
	server := te.ControlPlane.GetAPIServer()
	server.door = door{
		inProcess: te.InProcess, tb: te.TB, options: te.Options,
		controllers: cluster.Options{GarbageCollection: te.GarbageCollection, NamespaceDeletion: te.NamespaceDeletion},
	}
	if te.WebhookHandler != nil {
		var p *pipes
		p, te.endWebhooks = servePipes(te.WebhookHandler, func() string { return te.WebhookInstallOptions.LocalServingCertDir })
		server.door.controllers.Dial = p.dial
	}
	if te.AttachControlPlaneOutput || os.Getenv("KUBEBUILDER_ATTACH_CONTROL_PLANE_OUTPUT") == "true" {
		te.AttachControlPlaneOutput = true
		if server.Err == nil {
			server.Err = os.Stderr
		}
	}
	if te.ControlPlane.KubectlPath == "" {
		te.ControlPlane.KubectlPath = binary("kubectl", te.BinaryAssetsDirectory)
	}
	if te.InProcess {
		sleepless()
	}
	if err := te.ControlPlane.Start(); err != nil {
		return err
	}
	// The limits of controller-runtime's envtest.
	admin, err := te.AddUser(User{Name: "admin", Groups: []string{systemMasters}}, &rest.Config{QPS: 1000, Burst: 2000})
	if err != nil {
		return err
	}
	te.Config = admin.Config()
	return nil
}

// install installs definitions, webhooks and fixtures.
func (te *Environment) install(found *reading) (*rest.Config, error) {
	// The certificate for the webhooks is a part of the definitions with a conversion webhook.
	if err := te.WebhookInstallOptions.PrepWithoutInstalling(); err != nil {
		return nil, err
	}
	o := &te.CRDInstallOptions
	if o.Scheme == nil {
		o.Scheme = te.Scheme
	}
	o.WebhookOptions = te.WebhookInstallOptions
	installed := false
	if api := te.API(); api != nil {
		te.CRDs, installed = installAtOnce(api.Handler(), *o, found)
	}
	if !installed {
		crds, err := InstallCRDs(te.Config, *o)
		if err != nil {
			return te.Config, fmt.Errorf("unable to install CRDs onto control plane: %w", err)
		}
		te.CRDs = crds
	}
	if err := te.WebhookInstallOptions.Install(te.Config); err != nil {
		return nil, fmt.Errorf("unable to install webhooks onto control plane: %w", err)
	}
	if api := te.API(); api != nil {
		if len(te.Options.Fixtures) > 0 {
			if err := api.Handler().Load(context.Background(), te.Options.Fixtures...); err != nil {
				return nil, fmt.Errorf("unable to load fixtures: %w", err)
			}
		}
		api.ForgetRequests()
	}
	return te.Config, nil
}

// merged returns copies of definitions, the second of two with the same name.
func merged(all ...[]*apiextensionsv1.CustomResourceDefinition) (out []*apiextensionsv1.CustomResourceDefinition) {
	byName := map[string]*apiextensionsv1.CustomResourceDefinition{}
	for _, crd := range slices.Concat(all...) {
		byName[crd.Name] = crd
	}
	for _, name := range slices.Sorted(maps.Keys(byName)) {
		out = append(out, byName[name].DeepCopy())
	}
	return out
}

// Stop stops the server, or deletes the definitions from an existing cluster if CRDInstallOptions.CleanUpAfterUse is set. All
// connections and watches have ended when it returns. The error has what faults and verdicts report, if there is no TB.
func (te *Environment) Stop() error {
	if te.CRDInstallOptions.CleanUpAfterUse {
		if err := UninstallCRDs(te.Config, te.CRDInstallOptions); err != nil {
			return err
		}
	}
	err := te.WebhookInstallOptions.Cleanup()
	if te.useExistingCluster() {
		return err
	}
	err = errors.Join(err, te.ControlPlane.Stop())
	if te.endWebhooks != nil {
		te.endWebhooks()
	}
	return err
}

// AddUser adds a user; see ControlPlane.AddUser.
func (te *Environment) AddUser(user User, baseConfig *rest.Config) (*AuthenticatedUser, error) {
	return te.ControlPlane.AddUser(user, baseConfig)
}

func (te *Environment) useExistingCluster() bool {
	if te.UseExistingCluster == nil {
		return strings.EqualFold(os.Getenv("USE_EXISTING_CLUSTER"), "true")
	}
	return *te.UseExistingCluster
}

// existingConfig returns the configuration of a cluster as controller-runtime finds it.
func existingConfig() (*rest.Config, error) {
	cfg, err := loadConfig()
	if err == nil && cfg.QPS == 0 {
		cfg.QPS = -1 // the server limits its clients
	}
	return cfg, err
}

func loadConfig() (*rest.Config, error) {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	if f := flag.Lookup("kubeconfig"); f != nil && f.Value.String() != "" {
		rules = &clientcmd.ClientConfigLoadingRules{ExplicitPath: f.Value.String()}
	} else if os.Getenv(clientcmd.RecommendedConfigPathEnvVar) == "" {
		if cfg, err := rest.InClusterConfig(); err == nil {
			return cfg, nil
		}
	}
	return clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, &clientcmd.ConfigOverrides{}).ClientConfig()
}

// sleepless removes the handler of errors that sleeps.
var sleepless = sync.OnceFunc(func() {
	utilruntime.ErrorHandlers = slices.DeleteFunc(slices.Clone(utilruntime.ErrorHandlers), func(h utilruntime.ErrorHandler) bool {
		name := functionName(h) // in older versions it is a method of the type
		return strings.Contains(name, "backoffError") || strings.Contains(name, "rudimentaryErrorBackoff")
	})
})
