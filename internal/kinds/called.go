package kinds

import (
	"strings"

	"github.com/kubecoord/kubecoord/store/kind"
)

// IsNameOf reports whether resource is the plural, the singular or the Kind of a kind, with or without its group, in any case: "leases",
// "Lease", "leases.coordination.k8s.io".
func IsNameOf(resource string, k *kind.Info) bool {
	name, group, qualified := strings.Cut(strings.ToLower(resource), ".")
	return (name == k.Plural || name == k.Singular || name == strings.ToLower(k.Kind)) && (!qualified || group == k.Group)
}
