package warnings

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// oldLabel returns what to use in place of a label of nodes, "" if the label is current.
func oldLabel(key string) string {
	switch key {
	case "beta.kubernetes.io/arch":
		return `deprecated since v1.14; use "kubernetes.io/arch" instead`
	case "beta.kubernetes.io/os":
		return `deprecated since v1.14; use "kubernetes.io/os" instead`
	case "failure-domain.beta.kubernetes.io/region":
		return `deprecated since v1.17; use "topology.kubernetes.io/region" instead`
	case "failure-domain.beta.kubernetes.io/zone":
		return `deprecated since v1.17; use "topology.kubernetes.io/zone" instead`
	case "beta.kubernetes.io/instance-type":
		return `deprecated since v1.17; use "node.kubernetes.io/instance-type" instead`
	case "app.kubernetes.io/created-by":
		return "deprecated since v1.9"
	case "scheduler.alpha.kubernetes.io/preferAvoidPods":
		return "deprecated since v1.22; use Taints and Tolerations instead"
	case "node-role.kubernetes.io/master":
		return `use "node-role.kubernetes.io/control-plane" instead`
	}
	return ""
}

// isOld warns about a key that a member names.
func (l *list) isOld(p *field.Path, key string) {
	if text := oldLabel(key); text != "" {
		l.at(p, key+" is "+text)
	}
}

// term warns about a term of a node selector. Values that no label can have are valid only in a term that is preferred.
func (l *list) term(p *field.Path, t corev1.NodeSelectorTerm, preferred bool) {
	for i, e := range t.MatchExpressions {
		at := p.Child("matchExpressions").Index(i)
		l.isOld(at.Child("key"), e.Key)
		if !preferred {
			continue
		}
		for j, value := range e.Values {
			for _, problem := range validation.IsValidLabelValue(value) {
				l.at(at.Child("values").Index(j), value+" is invalid, "+problem)
			}
		}
	}
}

// selector warns about a label selector of nodes.
func (l *list) selector(p *field.Path, s *metav1.LabelSelector) {
	if s == nil {
		return
	}
	for i, e := range s.MatchExpressions {
		l.isOld(p.Child("matchExpressions").Index(i).Child("key"), e.Key)
	}
	for _, key := range sorted(s.MatchLabels) {
		if text := oldLabel(key); text != "" {
			l.at(p.Child("matchLabels").Child(key), text)
		}
	}
}
