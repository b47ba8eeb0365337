package cluster

import (
	"fmt"
	"slices"

	"github.com/kubecoord/kubecoord/httpapi/kube/cluster/internal/plugins"
)

// DefaultPlugins returns the names of the admission plugins that a kube-apiserver runs by default, in the order in which it asks them,
// without ServiceAccount, which envtest turns off. Options.Plugins may also have ServiceAccount and NodeRestriction.
func DefaultPlugins() []string { return plugins.Names() }

// checkPlugins refuses the names of plugins that a server does not have.
func (o Options) checkPlugins() error {
	for _, name := range o.Plugins {
		if !slices.Contains(slices.Concat(plugins.Names(), plugins.Optional()), name) {
			return fmt.Errorf("there is no admission plugin %q", name)
		}
	}
	return nil
}

// runs reports whether an admission plugin runs.
func (o Options) runs(name string) bool {
	switch {
	case slices.Contains(o.Plugins, name):
		return true
	case name == "NamespaceLifecycle":
		return o.Namespaces
	case name == "MutatingAdmissionPolicy" || name == "ValidatingAdmissionPolicy":
		return o.Policies
	case name == "MutatingAdmissionWebhook" || name == "ValidatingAdmissionWebhook":
		return o.Webhooks
	}
	return false
}
