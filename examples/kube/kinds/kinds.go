// Package kinds has the flags by which the servers among the examples take kinds of Kubernetes.
package kinds

import (
	"flag"
	"fmt"
	"os"
	"slices"

	clientgoscheme "k8s.io/client-go/kubernetes/scheme"

	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/fixture"
	"github.com/kubecoord/kubecoord/store/kube/cluster"
	"github.com/kubecoord/kubecoord/store/kube/crd"
	"github.com/kubecoord/kubecoord/store/kube/scheme"
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

// Kinds returns the kinds to serve beside httpapi.Kinds, CustomResourceDefinition among them. crd.Run serves what its objects
// define.
func (f *Flags) Kinds() (all []store.AnyKind, err error) {
	switch f.of {
	case "":
	case "client-go":
		if all, err = scheme.Kinds(clientgoscheme.Scheme, scheme.Options{}); err != nil {
			return nil, fmt.Errorf("-kinds: %w", err)
		}
	default:
		return nil, fmt.Errorf("-kinds: got %q, want client-go or nothing", f.of)
	}
	return append(all, crd.Definitions()), nil
}

// RegisterCluster adds the flag -cluster.
func (f *Flags) RegisterCluster(set *flag.FlagSet) {
	set.BoolVar(&f.cluster, "cluster", false, "do what a kube-apiserver, the garbage collector and the namespace controller do, such as namespaces and webhooks")
}

// Apply adds what the flag -cluster asks for to the options of an API.
func (f *Flags) Apply(api *httpapi.Options) error {
	if !f.cluster {
		return nil
	}
	o := cluster.Bare()
	o.GarbageCollection, o.NamespaceDeletion = true, true
	return o.Apply(api)
}

// Fixed returns the kinds to serve from the first moment on a store that lasts: those of Kinds if one of the flags is set, and those
// of the definitions in the directory, which are not objects of the store. A definition in a group of built-in kinds has no effect, as
// on a real server.
func (f *Flags) Fixed() (all []store.AnyKind, err error) {
	if f.of == "" && f.crds == "" {
		return nil, nil
	}
	if all, err = f.Kinds(); err != nil || f.crds == "" {
		return all, err
	}
	of, err := crd.Read(os.DirFS(f.crds))
	if err != nil {
		return nil, fmt.Errorf("-crds: %w", err)
	}
	builtIn := append(httpapi.Kinds(), all...)
	return append(all, slices.DeleteFunc(of, func(k store.AnyKind) bool {
		return slices.ContainsFunc(builtIn, func(b store.AnyKind) bool {
			return b.Registered().Info().Native && b.Registered().Info().Group == k.Registered().Info().Group
		})
	})...), nil
}

// Definitions returns the files of -crds.
func (f *Flags) Definitions() []fixture.Source {
	if f.crds == "" {
		return nil
	}
	return []fixture.Source{fixture.SkipUnknown(fixture.FS(os.DirFS(f.crds)))}
}
