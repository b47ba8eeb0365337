package validation

import (
	"net/netip"

	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/api/validation/path"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// NameRule returns the rule for the names of a kind: a function that returns what is wrong with a name, or with a generateName
// if prefix is true.
func NameRule(gvk schema.GroupVersionKind) func(name string, prefix bool) []string {
	switch gvk.GroupKind() {
	case schema.GroupKind{Kind: "Namespace"}:
		return apivalidation.ValidateNamespaceName
	case schema.GroupKind{Kind: "Service"}, schema.GroupKind{Group: "apps", Kind: "StatefulSet"}:
		return apivalidation.NameIsDNSLabel
	case schema.GroupKind{Group: "networking.k8s.io", Kind: "IPAddress"}:
		return addressName
	case schema.GroupKind{Kind: "Event"}:
		return path.ValidatePathSegmentName
	}
	if gvk.Group == "rbac.authorization.k8s.io" {
		return path.ValidatePathSegmentName
	}
	return apivalidation.NameIsDNSSubdomain
}

// addressName checks the name of an IPAddress, which is the address in its canonical form.
func addressName(name string, _ bool) []string {
	ip, err := netip.ParseAddr(name)
	if err != nil {
		return []string{err.Error()}
	}
	if canonical := ip.String(); canonical != name {
		return []string{"must be a valid IP address in canonical form"}
	}
	return nil
}
