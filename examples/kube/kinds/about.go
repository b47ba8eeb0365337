package kinds

import (
	"fmt"
	"strings"

	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/store/kind"
)

// About returns lines about a server with these kinds: what it serves, and the flags of most use.
func (f *Flags) About(served []kind.Kind) string {
	named := ""
	if f.of == "" {
		var names []string
		for _, k := range served {
			names = append(names, k.Info().Kind)
		}
		named = ": " + strings.Join(names, ", ")
	}
	defined := ""
	if f.crds != "" {
		defined = ", and the kinds of the definitions in " + f.crds
	}
	return fmt.Sprintf("Kubernetes %s in memory: %d kinds%s%s\n"+
		"flags: -crds DIR (your CustomResourceDefinitions), -load DIR (objects), -cluster (namespaces, webhooks, garbage collection), -debug (faults, forks, a page), -h (all)\n",
		strings.TrimPrefix(httpapi.Version, "v"), len(served), named, defined)
}

// Try returns the arguments of commands of kubectl for a first try.
func (f *Flags) Try() []string {
	if f.of == "" {
		return []string{"api-resources", "get customresourcedefinitions", "get leases --all-namespaces"}
	}
	return []string{"create configmap hello --from-literal=greeting=hi", "get configmaps --all-namespaces", "api-resources"}
}
