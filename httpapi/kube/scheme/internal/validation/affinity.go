package validation

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
)

func affinity(e *errs, p loc, a *corev1.Affinity) {
	if a == nil {
		return
	}
	const required, preferred = "requiredDuringSchedulingIgnoredDuringExecution", "preferredDuringSchedulingIgnoredDuringExecution"
	if n, p := a.NodeAffinity, p.Child("nodeAffinity"); n != nil {
		if n.RequiredDuringSchedulingIgnoredDuringExecution != nil {
			nodeSelector(e, p.Child(required), n.RequiredDuringSchedulingIgnoredDuringExecution)
		}
		for i, term := range n.PreferredDuringSchedulingIgnoredDuringExecution {
			p := p.Child(preferred).Index(i)
			weight(e, p, term.Weight)
			nodeSelectorTerm(e, p.Child("preference"), &term.Preference, false)
		}
	}
	pods := func(p loc, terms []corev1.PodAffinityTerm, weighted []corev1.WeightedPodAffinityTerm) {
		for i := range terms {
			podAffinityTerm(e, p.Child(required).Index(i), &terms[i])
		}
		for i := range weighted {
			p := p.Child(preferred).Index(i)
			weight(e, p, weighted[i].Weight)
			podAffinityTerm(e, p.Child("podAffinityTerm"), &weighted[i].PodAffinityTerm)
		}
	}
	if a := a.PodAffinity; a != nil {
		pods(p.Child("podAffinity"), a.RequiredDuringSchedulingIgnoredDuringExecution, a.PreferredDuringSchedulingIgnoredDuringExecution)
	}
	if a := a.PodAntiAffinity; a != nil {
		pods(p.Child("podAntiAffinity"), a.RequiredDuringSchedulingIgnoredDuringExecution, a.PreferredDuringSchedulingIgnoredDuringExecution)
	}
}

func weight(e *errs, p loc, n int32) {
	if n <= 0 || n > 100 {
		e.invalid(p.Child("weight"), n, "must be in the range 1-100")
	}
}

func nodeSelector(e *errs, p loc, s *corev1.NodeSelector) {
	p = p.Child("nodeSelectorTerms")
	if len(s.NodeSelectorTerms) == 0 {
		e.required(p, "must have at least one node selector term")
	}
	for i := range s.NodeSelectorTerms {
		nodeSelectorTerm(e, p.Index(i), &s.NodeSelectorTerms[i], true)
	}
}

// nodeSelectorTerm checks a term; the values of a preferred one may be no labels' values.
func nodeSelectorTerm(e *errs, p loc, term *corev1.NodeSelectorTerm, strict bool) {
	for i, r := range term.MatchExpressions {
		p := p.Child("matchExpressions").Index(i)
		values := p.Child("values")
		switch r.Operator {
		case corev1.NodeSelectorOpIn, corev1.NodeSelectorOpNotIn:
			if len(r.Values) == 0 {
				e.required(values, "must be specified when `operator` is 'In' or 'NotIn'")
			}
		case corev1.NodeSelectorOpExists, corev1.NodeSelectorOpDoesNotExist:
			if len(r.Values) > 0 {
				e.forbidden(values, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'")
			}
		case corev1.NodeSelectorOpGt, corev1.NodeSelectorOpLt:
			if len(r.Values) != 1 {
				e.required(values, "must be specified single value when `operator` is 'Lt' or 'Gt'")
			}
		default:
			e.invalid(p.Child("operator"), r.Operator, "not a valid selector operator")
		}
		e.labelName(p.Child("key"), r.Key)
		for j, value := range r.Values {
			if strict {
				e.ratchet("labels of nodes", func(e *errs) { e.invalids(values.Index(j), value, validation.IsValidLabelValue(value)) })
			}
		}
	}
	for i, r := range term.MatchFields {
		p := p.Child("matchFields").Index(i)
		if r.Operator != corev1.NodeSelectorOpIn && r.Operator != corev1.NodeSelectorOpNotIn {
			e.invalid(p.Child("operator"), r.Operator, "not a valid selector operator")
		} else if len(r.Values) != 1 {
			e.required(p.Child("values"), "must be only one value when `operator` is 'In' or 'NotIn' for node field selector")
		}
		if r.Key != metav1.ObjectNameField {
			e.invalid(p.Child("key"), r.Key, "not a valid field selector key")
			continue
		}
		for j, value := range r.Values {
			e.invalids(p.Child("values").Index(j), value, apivalidation.NameIsDNSSubdomain(value, false))
		}
	}
}

func podAffinityTerm(e *errs, p loc, term *corev1.PodAffinityTerm) {
	e.selector(p.Child("labelSelector"), term.LabelSelector)
	e.selector(p.Child("namespaceSelector"), term.NamespaceSelector)
	for _, name := range term.Namespaces {
		e.invalids(p.Child("namespace"), name, apivalidation.ValidateNamespaceName(name, false))
	}
	matchLabelKeys(e, p, term.MatchLabelKeys, term.MismatchLabelKeys, term.LabelSelector)
	if term.TopologyKey == "" {
		e.required(p.Child("topologyKey"), "can not be empty")
	}
	e.labelName(p.Child("topologyKey"), term.TopologyKey)
}

// matchLabelKeys checks the keys by which a pod's own labels are merged into a selector.
func matchLabelKeys(e *errs, p loc, match, mismatch []string, selector *metav1.LabelSelector) {
	for _, list := range []struct {
		name string
		keys []string
	}{{"matchLabelKeys", match}, {"mismatchLabelKeys", mismatch}} {
		p := p.Child(list.name)
		if len(list.keys) > 0 && selector == nil {
			e.forbidden(p, "must not be specified when labelSelector is not set")
			continue
		}
		for i, key := range list.keys {
			e.labelName(p.Index(i), key)
		}
	}
	if selector != nil {
		seen := map[string]bool{}
		for key := range selector.MatchLabels {
			seen[key] = true
		}
		for _, r := range selector.MatchExpressions {
			if i := slices.Index(match, r.Key); i >= 0 && seen[r.Key] {
				e.invalid(p.Index(i), r.Key, "exists in both matchLabelKeys and labelSelector")
			}
			seen[r.Key] = true
		}
	}
	for i, key := range match {
		if slices.Contains(mismatch, key) {
			e.invalid(p.Child("matchLabelKeys").Index(i), key, "exists in both matchLabelKeys and mismatchLabelKeys")
		}
	}
}

func topologySpread(e *errs, p loc, constraints []corev1.TopologySpreadConstraint) {
	for i, c := range constraints {
		p := p.Index(i)
		e.positive(p.Child("maxSkew"), int64(c.MaxSkew))
		if c.TopologyKey == "" {
			e.required(p.Child("topologyKey"), "can not be empty")
		}
		oneOf(e, p.Child("whenUnsatisfiable"), c.WhenUnsatisfiable, corev1.DoNotSchedule, corev1.ScheduleAnyway)
		if slices.ContainsFunc(constraints[i+1:], func(o corev1.TopologySpreadConstraint) bool {
			return o.TopologyKey == c.TopologyKey && o.WhenUnsatisfiable == c.WhenUnsatisfiable
		}) {
			e.duplicate(p.Child("{topologyKey, whenUnsatisfiable}"), fmt.Sprintf("{%v, %v}", c.TopologyKey, c.WhenUnsatisfiable))
		}
		if c.MinDomains != nil {
			e.positive(p.Child("minDomains"), int64(*c.MinDomains))
			if c.WhenUnsatisfiable != corev1.DoNotSchedule {
				e.invalid(p.Child("minDomains"), c.MinDomains, fmt.Sprintf("can only use minDomains if whenUnsatisfiable=%s, not %s", corev1.DoNotSchedule, c.WhenUnsatisfiable))
			}
		}
		optionalOneOf(e, p.Child("nodeAffinityPolicy"), c.NodeAffinityPolicy, corev1.NodeInclusionPolicyHonor, corev1.NodeInclusionPolicyIgnore)
		optionalOneOf(e, p.Child("nodeTaintsPolicy"), c.NodeTaintsPolicy, corev1.NodeInclusionPolicyHonor, corev1.NodeInclusionPolicyIgnore)
		e.ratchet("keys of spread constraints", func(e *errs) { matchLabelKeys(e, p, c.MatchLabelKeys, nil, c.LabelSelector) })
		e.ratchet("selectors of spread constraints", func(e *errs) { e.selector(p.Child("labelSelector"), c.LabelSelector) })
	}
}

func tolerations(e *errs, p loc, list []corev1.Toleration) {
	for i, t := range list {
		p := p.Index(i)
		operator := p.Child("operator")
		if t.Key != "" {
			e.labelName(p.Child("key"), t.Key)
		} else if t.Operator != corev1.TolerationOpExists {
			e.invalid(operator, t.Operator, "operator must be Exists when `key` is empty, which means \"match all values and all keys\"")
		}
		if t.TolerationSeconds != nil && t.Effect != corev1.TaintEffectNoExecute {
			e.invalid(p.Child("effect"), t.Effect, "effect must be 'NoExecute' when `tolerationSeconds` is set")
		}
		switch t.Operator {
		case corev1.TolerationOpEqual, "":
			if messages := validation.IsValidLabelValue(t.Value); len(messages) > 0 {
				e.invalid(operator, t.Value, strings.Join(messages, ";"))
			}
		case corev1.TolerationOpExists:
			if t.Value != "" {
				e.invalid(operator, t.Value, "value must be empty when `operator` is 'Exists'")
			}
		case corev1.TolerationOpLt, corev1.TolerationOpGt:
			unsupported(e, operator, t.Operator, corev1.TolerationOpEqual, corev1.TolerationOpExists, corev1.TolerationOpLt, corev1.TolerationOpGt)
		default:
			unsupported(e, operator, t.Operator, corev1.TolerationOpEqual, corev1.TolerationOpExists)
		}
		if t.Effect != "" {
			taintEffect(e, p.Child("effect"), t.Effect)
		}
	}
}

func taintEffect(e *errs, p loc, effect corev1.TaintEffect) {
	requiredOneOf(e, p, effect, corev1.TaintEffectNoSchedule, corev1.TaintEffectPreferNoSchedule, corev1.TaintEffectNoExecute)
}

// taints checks the taints of a node.
func taints(e *errs, p loc, list []corev1.Taint) {
	type key struct {
		effect corev1.TaintEffect
		key    string
	}
	seen := map[key]bool{}
	for i, t := range list {
		p := p.Index(i)
		e.labelName(p.Child("key"), t.Key)
		if messages := validation.IsValidLabelValue(t.Value); len(messages) > 0 {
			e.invalid(p.Child("value"), t.Value, strings.Join(messages, ";"))
		}
		taintEffect(e, p.Child("effect"), t.Effect)
		k := key{t.Effect, t.Key}
		if seen[k] {
			e.duplicate(p, internal{t})
			e.ErrorList[len(e.ErrorList)-1].Detail = "taints must be unique by key and effect pair"
		}
		seen[k] = true
	}
}
