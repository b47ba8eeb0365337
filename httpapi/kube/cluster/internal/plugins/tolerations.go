package plugins

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
)

// mergeTolerations returns the tolerations of both lists without the ones that another one covers (upstream: util/tolerations).
func mergeTolerations(first, second []corev1.Toleration) (merged []corev1.Toleration) {
	all := slices.Concat(first, second)
	for i := range all {
		t := &all[i]
		covered := slices.ContainsFunc(merged, func(other corev1.Toleration) bool { return covers(&other, t) }) ||
			slices.ContainsFunc(all[i+1:], func(other corev1.Toleration) bool {
				return !apiequality.Semantic.DeepEqual(t, &other) && covers(&other, t)
			})
		if !covered {
			merged = append(merged, *t)
		}
	}
	return merged
}

// covers reports whether wide tolerates all that t tolerates.
func covers(wide, t *corev1.Toleration) bool {
	switch {
	case apiequality.Semantic.DeepEqual(t, wide):
		return true
	case t.Key != wide.Key && (wide.Key != "" || wide.Operator != corev1.TolerationOpExists),
		t.Effect != wide.Effect && wide.Effect != "":
		return false
	}
	if limit := wide.TolerationSeconds; wide.Effect == corev1.TaintEffectNoExecute && limit != nil {
		if t.TolerationSeconds == nil || *t.TolerationSeconds > *limit {
			return false
		}
	}
	if wide.Operator == corev1.TolerationOpExists {
		return true
	}
	return (wide.Operator == corev1.TolerationOpEqual || wide.Operator == "") && t.Operator == corev1.TolerationOpEqual && t.Value == wide.Value
}
