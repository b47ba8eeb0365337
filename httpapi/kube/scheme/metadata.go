package scheme

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubecoord/kubecoord/store/field"
	"github.com/kubecoord/kubecoord/store/meta"
)

// checksFinalizers reports whether a write of a kind, by way of a subresource or of the object itself, applies the rule for finalizers.
// Upstream each kind calls it itself, or not (the ValidateUpdate of each strategy below registry, and apis, validation).
func checksFinalizers(r served, subresource string) bool {
	switch r.kind {
	case "APIService", "PodDisruptionBudget", "RuntimeClass":
		return false
	case "Event":
		return r.group != ""
	case "CronJob":
		return subresource != "status"
	}
	return !strings.HasPrefix(r.group, "admissionregistration.")
}

// validateFinalizers is the rule of nearly all groups: a finalizer must have a domain, except for three that are older than the
// rule (upstream: apis/core/validation, validateKubeFinalizerName).
func validateFinalizers(finalizers []string) (errs field.Errors) {
	standard := []string{string(corev1.FinalizerKubernetes), meta.FinalizerOrphanDependents, meta.FinalizerDeleteDependents}
	for i, f := range finalizers {
		if !strings.Contains(f, "/") && !slices.Contains(standard, f) {
			errs = append(errs, field.Invalid(field.Path("metadata.finalizers").Index(i), f, "name is neither a standard finalizer name nor is it fully qualified"))
		}
	}
	return errs
}
