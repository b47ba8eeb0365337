package printers

import (
	"strings"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	certificatesv1 "k8s.io/api/certificates/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/duration"
)

// bindingCells returns the cells of a RoleBinding or ClusterRoleBinding.
func bindingCells(name string, role rbacv1.RoleRef, age string, subjects []rbacv1.Subject) []any {
	var users, groups, accounts []string
	for _, s := range subjects {
		switch s.Kind {
		case rbacv1.UserKind:
			users = append(users, s.Name)
		case rbacv1.GroupKind:
			groups = append(groups, s.Name)
		case rbacv1.ServiceAccountKind:
			accounts = append(accounts, s.Namespace+"/"+s.Name)
		}
	}
	list := func(l []string) string { return strings.Join(l, ", ") }
	return []any{name, role.Kind + "/" + role.Name, age, list(users), list(groups), list(accounts)}
}

func signingRequestCells(o *certificatesv1.CertificateSigningRequest, c clock) []any {
	lifetime := none
	if s := o.Spec.ExpirationSeconds; s != nil {
		lifetime = duration.HumanDuration(time.Duration(*s) * time.Second)
	}
	return []any{o.Name, c.age(o), orWord(o.Spec.SignerName, none), o.Spec.Username, lifetime, signingRequestStatus(o)}
}

// signingRequestStatus looks at the types of the conditions, whatever their status: upstream admits only True.
func signingRequestStatus(o *certificatesv1.CertificateSigningRequest) string {
	has := map[certificatesv1.RequestConditionType]bool{}
	for _, cond := range o.Status.Conditions {
		has[cond.Type] = true
	}
	status := "Pending"
	switch {
	case has[certificatesv1.CertificateDenied]:
		status = "Denied"
	case has[certificatesv1.CertificateApproved]:
		status = "Approved"
	}
	if has[certificatesv1.CertificateFailed] {
		status += ",Failed"
	}
	if len(o.Status.Certificate) > 0 {
		status += ",Issued"
	}
	return status
}

// trustCells returns the cells of the kinds by which pods get certificates.
func trustCells(obj runtime.Object) []any {
	switch o := obj.(type) {
	case *certificatesv1.ClusterTrustBundle:
		return []any{o.Name, orWord(o.Spec.SignerName, none)}
	case *certificatesv1.PodCertificateRequest:
		state := "Pending"
		for _, cond := range o.Status.Conditions {
			switch cond.Type {
			case certificatesv1.PodCertificateRequestConditionTypeIssued, certificatesv1.PodCertificateRequestConditionTypeDenied, certificatesv1.PodCertificateRequestConditionTypeFailed:
				state = cond.Type
			}
		}
		s := o.Spec
		return []any{o.Name, s.PodName, s.ServiceAccountName, string(s.NodeName), s.SignerName, state, formatLabels(s.UnverifiedUserAnnotations)}
	}
	return nil
}

// admissionCells returns the cells of kinds of the group admissionregistration.k8s.io.
func admissionCells(obj runtime.Object, c clock) []any {
	switch o := obj.(type) {
	case *admissionv1.MutatingWebhookConfiguration:
		return []any{o.Name, int64(len(o.Webhooks)), c.age(o)}
	case *admissionv1.ValidatingWebhookConfiguration:
		return []any{o.Name, int64(len(o.Webhooks)), c.age(o)}
	case *admissionv1.ValidatingAdmissionPolicy:
		return []any{o.Name, int64(len(o.Spec.Validations)), formatParamKind(o.Spec.ParamKind), c.age(o)}
	case *admissionv1.MutatingAdmissionPolicy:
		return []any{o.Name, int64(len(o.Spec.Mutations)), formatParamKind(o.Spec.ParamKind), c.age(o)}
	case *admissionv1.ValidatingAdmissionPolicyBinding:
		ref := deref(o.Spec.ParamRef)
		return []any{o.Name, o.Spec.PolicyName, formatParam(ref.Namespace, ref.Name, ref.Selector), c.age(o)}
	case *admissionv1.MutatingAdmissionPolicyBinding:
		ref := deref(o.Spec.ParamRef)
		return []any{o.Name, o.Spec.PolicyName, formatParam(ref.Namespace, ref.Name, ref.Selector), c.age(o)}
	}
	return nil
}

func formatParamKind(k *admissionv1.ParamKind) string {
	if k == nil {
		return unset
	}
	return k.APIVersion + "/" + k.Kind
}

// formatParam returns the parameters that a binding names or selects. A "*" stands for the namespace that is not named.
func formatParam(namespace, name string, selector *metav1.LabelSelector) string {
	switch {
	case name != "":
		return orWord(namespace, "*") + "/" + name
	case selector != nil:
		return selector.String()
	}
	return unset
}
