// Package kinds has the flags by which the servers among the examples take kinds of Kubernetes.
package kinds

import (
	"flag"
	"fmt"
	"os"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/httpapi/kube/cluster"
	"github.com/kubecoord/kubecoord/httpapi/kube/crd"
	"github.com/kubecoord/kubecoord/store/fixture"
	"github.com/kubecoord/kubecoord/store/kind"
)

// Flags are the flags -kinds, -crds and -cluster.
type Flags struct {
	of      string
	crds    string
	cluster bool
}

// Register adds the flags. of is the default of -kinds.
func (f *Flags) Register(set *flag.FlagSet, of string) {
	set.StringVar(&f.of, "kinds", of, "serve `client-go`, which is all kinds of its scheme, or nothing but Leases, LeaseCandidates and Endpoints")
	set.StringVar(&f.crds, "crds", "", "begin with the CustomResourceDefinitions in this `directory`")
}

// RegisterCluster adds the flag -cluster.
func (f *Flags) RegisterCluster(set *flag.FlagSet) {
	set.BoolVar(&f.cluster, "cluster", false, "do what a kube-apiserver does, such as namespaces and webhooks, and the controllers of garbage, namespaces, quotas and policies")
}

// API adds the kinds of the flags to the options of an API, CustomResourceDefinition among them, and what the flag -cluster asks for.
func (f *Flags) API(opts httpapi.Options) (httpapi.Options, error) {
	var does cluster.Options
	if f.cluster {
		does = cluster.KubeAPIServer().WithControllers()
	}
	does.LeaseCandidates = true
	switch f.of {
	case "":
		does.Serves = func(r schema.GroupVersionResource) bool { return r.Group == "apiextensions.k8s.io" }
	case "client-go":
	default:
		return opts, fmt.Errorf("-kinds: got %q, want client-go or nothing", f.of)
	}
	return does.API(opts)
}

// Fixed is like API for a store that lasts: without the flags it adds nothing, and with -crds the kinds of the definitions in the
// directory, which are not objects of the store. A definition in a group of built-in kinds has no effect, as on a real server.
func (f *Flags) Fixed(opts httpapi.Options) (httpapi.Options, error) {
	if f.of == "" && f.crds == "" {
		return opts, nil
	}
	opts, err := f.API(opts)
	if err != nil || f.crds == "" {
		return opts, err
	}
	of, err := crd.Read(os.DirFS(f.crds))
	if err != nil {
		return opts, fmt.Errorf("-crds: %w", err)
	}
	builtIn := append(httpapi.Kinds(), opts.Kinds...)
	opts.Kinds = append(opts.Kinds, slices.DeleteFunc(of, func(k kind.Kind) bool {
		return slices.ContainsFunc(builtIn, func(b kind.Kind) bool {
			return b.Info().Native && b.Info().Group == k.Info().Group
		})
	})...)
	return opts, nil
}

// Definitions returns the files of -crds.
func (f *Flags) Definitions() []fixture.Source {
	if f.crds == "" {
		return nil
	}
	return []fixture.Source{fixture.SkipUnknown(fixture.FS(os.DirFS(f.crds)))}
}
