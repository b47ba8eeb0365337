package validation

import (
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation"
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
	case schema.GroupKind{Kind: "ReplicationController"}, schema.GroupKind{Group: "resource.k8s.io", Kind: "DeviceClass"},
		schema.GroupKind{Group: "certificates.k8s.io", Kind: "ClusterTrustBundle"}:
		return func(string, bool) []string { return nil } // Validate has the rule
	case schema.GroupKind{Kind: "Event"}:
		return pathSegment
	}
	if gvk.Group == "rbac.authorization.k8s.io" {
		return pathSegment
	}
	return apivalidation.NameIsDNSSubdomain
}

// addressName checks the name of an IPAddress, which is the address in its canonical form.
func addressName(name string, _ bool) (messages []string) {
	for _, err := range validation.IsValidIP(nil, name) {
		messages = append(messages, err.Detail)
	}
	return messages
}
