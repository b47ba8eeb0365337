package controlplane

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/httpapi/kube/cluster"
)

// Rules are the flags that say who may do what, and which admission plugins run.
type Rules struct {
	// Modes are --authorization-mode. None is AlwaysAllow.
	Modes []string
	// Enabled and Disabled are --enable-admission-plugins and --disable-admission-plugins.
	Enabled, Disabled []string
	// NotReadySeconds and UnreachableSeconds are --default-not-ready-toleration-seconds and --default-unreachable-toleration-seconds.
	NotReadySeconds, UnreachableSeconds int64
}

// Check refuses values that a kube-apiserver refuses, by its texts, and modes that this server does not have.
func (r Rules) Check() error {
	for i, mode := range r.Modes {
		switch {
		case !slices.Contains([]string{"AlwaysAllow", "AlwaysDeny", "ABAC", "Webhook", "RBAC", "Node"}, mode):
			return fmt.Errorf("authorization-mode %q is not a valid mode", mode)
		case slices.Contains(r.Modes[:i], mode):
			return fmt.Errorf("authorization-mode %q has mode specified more than once", r.Modes)
		case mode == "ABAC" || mode == "Webhook":
			return fmt.Errorf("authorization-mode %q is not served here: want RBAC, Node, AlwaysAllow or AlwaysDeny", mode)
		}
	}
	for _, name := range slices.Concat(r.Enabled, r.Disabled) {
		if !slices.Contains(plugins(), name) {
			flag := "enable"
			if !slices.Contains(r.Enabled, name) {
				flag = "disable"
			}
			return fmt.Errorf("%s-admission-plugins plugin %q is unknown", flag, name)
		}
	}
	both := slices.DeleteFunc(slices.Clone(r.Enabled), func(name string) bool { return !slices.Contains(r.Disabled, name) })
	if len(both) > 0 {
		return fmt.Errorf("%v in enable-admission-plugins and disable-admission-plugins overlapped", both)
	}
	return nil
}

// Cluster adds what the flags turn on to o, and what a kube-apiserver does without a flag.
func (r Rules) Cluster(o cluster.Options) cluster.Options {
	o.Plugins, o.NotReadySeconds, o.UnreachableSeconds = r.Running(), &r.NotReadySeconds, &r.UnreachableSeconds
	o.Namespaces = r.runs("NamespaceLifecycle")
	o.Service, o.Objects, o.Disruptions, o.Reviews = true, true, true, true
	o.RBAC = !r.AllowsAll() && slices.Contains(r.Modes, "RBAC")
	return o
}

// AllowsAll reports whether everybody may do everything.
func (r Rules) AllowsAll() bool { return len(r.Modes) == 0 || slices.Contains(r.Modes, "AlwaysAllow") }

// Anonymous reports whether requests without credentials have the user system:anonymous. asked is --anonymous-auth, which the mode
// AlwaysAllow resets with a warning (upstream: kubeapiserver/options, ApplyAuthorization).
func (r Rules) Anonymous(asked bool, warn func(string)) bool {
	if asked && r.AllowsAll() {
		warn("AnonymousAuth is not allowed with the AlwaysAllow authorizer. Resetting AnonymousAuth to false. You should use a different authorizer")
		return false
	}
	return asked
}

// Authorizer returns the Authorizer beside RBAC, or nil. The modes Node and AlwaysDeny allow only what administrators do: there are
// no kubelets.
func (r Rules) Authorizer() httpapi.Authorizer {
	if r.AllowsAll() || slices.Contains(r.Modes, "RBAC") {
		return nil
	}
	return func(a httpapi.Attributes) (bool, string) {
		return slices.Contains(a.User.Groups, "system:masters"), "Everything is forbidden."
	}
}

// Idle returns the enabled plugins that this server does not have.
func (r Rules) Idle() []string {
	return slices.DeleteFunc(slices.Clone(r.Enabled), func(name string) bool { return slices.Contains(r.served(), name) })
}

// Running returns the plugins that run.
func (r Rules) Running() []string {
	return slices.DeleteFunc(r.served(), func(name string) bool { return !r.runs(name) })
}

// runs reports whether an admission plugin of this server is on.
func (r Rules) runs(name string) bool { return !slices.Contains(r.Disabled, name) }

// served returns the admission plugins of this server that run unless they are turned off, in the order in which they are asked.
func (r Rules) served() (all []string) {
	for _, name := range cluster.DefaultPlugins() {
		all = append(all, name)
		if name == "LimitRanger" {
			all = append(all, "ServiceAccount")
			if slices.Contains(r.Enabled, "NodeRestriction") {
				all = append(all, "NodeRestriction")
			}
		}
	}
	return all
}

// plugins returns the names of all admission plugins of kube-apiserver.
func plugins() []string {
	return strings.Fields(`
		AlwaysAdmit AlwaysDeny AlwaysPullImages CertificateApproval CertificateSigning CertificateSubjectRestriction
		ClusterTrustBundleAttest DefaultIngressClass DefaultStorageClass DefaultTolerationSeconds
		DenyServiceExternalIPs EventRateLimit ExtendedResourceToleration ImagePolicyWebhook
		LimitPodHardAntiAffinityTopology LimitRanger MutatingAdmissionPolicy MutatingAdmissionWebhook
		NamespaceAutoProvision NamespaceExists NamespaceLifecycle NodeDeclaredFeatureValidator NodeRestriction
		OwnerReferencesPermissionEnforcement PersistentVolumeClaimResize PodGroupProtection
		PodNodeSelector PodResizeValidator PodSecurity PodTolerationRestriction PodTopologyLabels Priority
		ResourceQuota RuntimeClass ServiceAccount StorageObjectInUseProtection TaintNodesByCondition
		ValidatingAdmissionPolicy ValidatingAdmissionWebhook`)
}
