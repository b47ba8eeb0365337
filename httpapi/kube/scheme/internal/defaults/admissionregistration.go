package defaults

import (
	admissionv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func addAdmission(r rules) {
	on(r, func(w *admissionv1.ValidatingWebhook) {
		pointer(&w.FailurePolicy, admissionv1.Fail)
		selectors(&w.MatchPolicy, &w.NamespaceSelector, &w.ObjectSelector)
		pointer(&w.TimeoutSeconds, 10)
	})
	on(r, func(w *admissionv1.MutatingWebhook) {
		pointer(&w.FailurePolicy, admissionv1.Fail)
		selectors(&w.MatchPolicy, &w.NamespaceSelector, &w.ObjectSelector)
		pointer(&w.TimeoutSeconds, 10)
		pointer(&w.ReinvocationPolicy, admissionv1.NeverReinvocationPolicy)
	})
	on(r, func(rule *admissionv1.Rule) { pointer(&rule.Scope, admissionv1.AllScopes) })
	on(r, func(ref *admissionv1.ServiceReference) { pointer(&ref.Port, 443) })
	on(r, func(s *admissionv1.ValidatingAdmissionPolicySpec) { pointer(&s.FailurePolicy, admissionv1.Fail) })
	on(r, func(s *admissionv1.MutatingAdmissionPolicySpec) { pointer(&s.FailurePolicy, admissionv1.Fail) })
	on(r, func(m *admissionv1.MatchResources) {
		selectors(&m.MatchPolicy, &m.NamespaceSelector, &m.ObjectSelector)
	})
}

func selectors(policy **admissionv1.MatchPolicyType, namespaces, objects **metav1.LabelSelector) {
	pointer(policy, admissionv1.Equivalent)
	pointer(namespaces, metav1.LabelSelector{})
	pointer(objects, metav1.LabelSelector{})
}
