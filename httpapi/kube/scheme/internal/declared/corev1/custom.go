// Package corev1 has the rules of k8s.io/api/core/v1.
package corev1

import (
	"context"
	"strings"

	"k8s.io/apimachinery/pkg/api/operation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// ValidateCustom_EvictionResponder_Name refuses the domains of Kubernetes. The generator prescribes the names of these functions.
func ValidateCustom_EvictionResponder_Name(_ context.Context, _ operation.Operation, p *field.Path, name, _ *string) field.ErrorList {
	if name == nil {
		return nil
	}
	domain, _, _ := strings.Cut(*name, "/")
	domain = "." + strings.TrimRight(strings.TrimSpace(strings.ToLower(domain)), ".")
	if strings.HasSuffix(domain, ".k8s.io") || strings.HasSuffix(domain, ".kubernetes.io") {
		return field.ErrorList{field.Invalid(p, *name, "domain names *.k8s.io, *.kubernetes.io are reserved")}
	}
	return nil
}

// ValidateCustom_EvictionResponder_Priority refuses the priorities of Kubernetes' own responders.
func ValidateCustom_EvictionResponder_Priority(_ context.Context, _ operation.Operation, p *field.Path, priority, _ *int32) field.ErrorList {
	if priority == nil || *priority < 0 || *priority >= 1000 {
		return nil
	}
	return field.ErrorList{field.Invalid(p, *priority, "priorities 0-999 are reserved for responders with *.k8s.io suffix")}
}
