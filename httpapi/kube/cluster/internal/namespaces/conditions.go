package namespaces

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// remains is what is left in a namespace.
type remains struct {
	objects    map[string]int // by resource, as "configmaps."
	finalizers map[string]int
	errs       []error
	estimate   int64 // seconds until it may be gone
	timed      bool  // only time ends it
}

// conditions returns the conditions of a namespace (upstream: deletion/status_condition_utils.go). If counted is not set, they
// say nothing of what is left, as upstream while there are pods.
func (r *remains) conditions(counted bool) []corev1.NamespaceCondition {
	out := []corev1.NamespaceCondition{
		{Type: corev1.NamespaceDeletionDiscoveryFailure, Reason: "ResourcesDiscovered", Message: "All resources successfully discovered"},
		{Type: corev1.NamespaceDeletionGVParsingFailure, Reason: "ParsedGroupVersions", Message: "All legacy kube types successfully parsed"},
		{Type: corev1.NamespaceDeletionContentFailure, Reason: "ContentDeleted", Message: "All content successfully deleted, may be waiting on finalization"},
		{Type: corev1.NamespaceContentRemaining, Reason: "ContentRemoved", Message: "All content successfully removed"},
		{Type: corev1.NamespaceFinalizersRemaining, Reason: "ContentHasNoFinalizers", Message: "All content-preserving finalizers finished"},
	}
	for i := range out {
		out[i].Status = corev1.ConditionFalse
	}
	fails := func(i int, reason, message string) {
		out[i].Status, out[i].Reason, out[i].Message = corev1.ConditionTrue, reason, message
	}
	if len(r.errs) > 0 {
		var texts []string
		for _, err := range r.errs {
			texts = append(texts, err.Error())
		}
		slices.Sort(texts)
		fails(2, "ContentDeletionFailed", fmt.Sprintf("Failed to delete all resource types, %d remaining: %s", len(texts), strings.Join(texts, ", ")))
	}
	if counted && len(r.objects) > 0 {
		fails(3, "SomeResourcesRemain", "Some resources are remaining: "+counts(r.objects, "%s has %d resource instances"))
	}
	if counted && len(r.finalizers) > 0 {
		fails(4, "SomeFinalizersRemain", "Some content in the namespace has finalizers remaining: "+counts(r.finalizers, "%s in %d resource instances"))
	}
	return out
}

func counts(m map[string]int, format string) string {
	var texts []string
	for _, name := range slices.Sorted(maps.Keys(m)) {
		texts = append(texts, fmt.Sprintf(format, name, m[name]))
	}
	slices.Sort(texts)
	return strings.Join(texts, ", ")
}

// setConditions sets conditions in a status, and reports whether it has changed.
func setConditions(status *corev1.NamespaceStatus, all []corev1.NamespaceCondition, now time.Time) (changed bool) {
	for _, c := range all {
		c.LastTransitionTime = metav1.NewTime(now)
		i := slices.IndexFunc(status.Conditions, func(have corev1.NamespaceCondition) bool { return have.Type == c.Type })
		if i < 0 {
			status.Conditions = append(status.Conditions, c)
			changed = true
			continue
		}
		have := &status.Conditions[i]
		if have.Status == c.Status && have.Reason == c.Reason && have.Message == c.Message {
			continue
		}
		if have.Status == c.Status {
			c.LastTransitionTime = have.LastTransitionTime
		}
		*have, changed = c, true
	}
	return changed
}
