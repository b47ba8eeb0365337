package warnings

import (
	"slices"
	"strconv"
	"strings"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	nodev1 "k8s.io/api/node/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// quoted returns a text as %q prints it.
func quoted(s string) string { return strconv.Quote(s) }

// ofAdmission adds the warnings about names that files of a server have, and about rules without an effect.
func ofAdmission(l *list, obj, old runtime.Object) bool {
	switch obj.(type) {
	case *admissionv1.ValidatingWebhookConfiguration, *admissionv1.MutatingWebhookConfiguration,
		*admissionv1.ValidatingAdmissionPolicy, *admissionv1.ValidatingAdmissionPolicyBinding,
		*admissionv1.MutatingAdmissionPolicy, *admissionv1.MutatingAdmissionPolicyBinding:
	default:
		return false
	}
	const suffix = ".static.k8s.io" // which a new object must not have
	if old != nil && strings.HasSuffix(obj.(metav1.ObjectMetaAccessor).GetObjectMeta().GetName(), suffix) {
		l.add("metadata.name: names ending with " + quoted(suffix) + " are reserved for static manifest-based configurations and cannot be managed via the API")
	}
	p := field.NewPath("webhooks")
	switch o := obj.(type) {
	case *admissionv1.ValidatingWebhookConfiguration:
		for i, w := range o.Webhooks {
			l.reviews(p.Index(i).Child("rules"), w.Rules)
		}
	case *admissionv1.MutatingWebhookConfiguration:
		for i, w := range o.Webhooks {
			l.reviews(p.Index(i).Child("rules"), w.Rules)
		}
	}
	return true
}

// reviews warns about rules that name reviews, about which no webhook is asked. A rule with a * may mean others.
func (l *list) reviews(p *field.Path, rules []admissionv1.RuleWithOperations) {
	resources := map[string][]string{
		"authentication.k8s.io": {"selfsubjectreviews", "tokenreviews"},
		"authorization.k8s.io":  {"localsubjectaccessreviews", "selfsubjectaccessreviews", "selfsubjectrulesreviews", "subjectaccessreviews"},
	}
	for i, r := range rules {
		if slices.Contains(r.APIGroups, "*") || slices.Contains(r.Resources, "*") {
			continue
		}
		named := map[string]bool{}
		for _, group := range r.APIGroups {
			for _, resource := range r.Resources {
				if text := resource + "." + group; slices.Contains(resources[group], resource) && !named[text] {
					named[text] = true
					l.at(p.Index(i), text+" is excluded from admission webhooks; this rule will have no effect")
				}
			}
		}
	}
}

func ofResource(l *list, obj, _ runtime.Object) bool {
	switch o := obj.(type) {
	case *nodev1.RuntimeClass:
		if o.Scheduling == nil {
			break
		}
		for _, key := range sorted(o.Scheduling.NodeSelector) {
			if text := oldLabel(key); text != "" {
				l.at(field.NewPath("scheduling", "nodeSelector"), text)
			}
		}
	case *resourcev1.ResourceSlice:
		if d := o.Spec.Driver; d != strings.ToLower(d) {
			l.at(field.NewPath("spec", "driver"), "driver names should be lowercase; "+quoted(d)+" contains uppercase characters")
		}
	default:
		return false
	}
	return true
}
