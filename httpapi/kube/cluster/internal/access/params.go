package access

import (
	"context"
	"fmt"
	"slices"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/authentication/user"

	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/store/admission"
	"github.com/kubecoord/kubecoord/store/field"
	"github.com/kubecoord/kubecoord/store/kind"
	"github.com/kubecoord/kubecoord/store/meta"
)

// This file refuses policies and bindings with parameters that their writer may not read, which the policy would disclose (upstream:
// registry/admissionregistration, authz.go). Upstream does so at the end of validation; no plugin sees these kinds after it.

// Validate refuses a write of a policy or a binding.
func (e escalation) Validate(ctx context.Context, a *admission.Attributes) error {
	if a.Object == nil || a.Subresource != "" || a.Resource.Info().Group != admissionv1.GroupName {
		return nil
	}
	u := userOf(ctx)
	if slices.Contains(u.Groups, groupMasters) {
		return nil
	}
	p := reads{s: e.s, user: u}
	var member, refusal string
	switch info := a.Resource.Info(); info.Kind {
	case "ValidatingAdmissionPolicy", "MutatingAdmissionPolicy":
		member, refusal = "spec.paramKind", p.ofPolicy(paramKindOf(a.Object), paramKindOf(a.Old))
	case "ValidatingAdmissionPolicyBinding":
		s := &kind.ValueOf[admissionv1.ValidatingAdmissionPolicyBinding](a.Object).Spec
		member, refusal = "spec.paramRef", p.ofBinding("validatingadmissionpolicies", s.PolicyName, s.ParamRef)
	case "MutatingAdmissionPolicyBinding":
		p.swapped = true
		s := &kind.ValueOf[admissionv1.MutatingAdmissionPolicyBinding](a.Object).Spec
		member, refusal = "spec.paramRef", p.ofBinding("mutatingadmissionpolicies", s.PolicyName, s.ParamRef)
	}
	if refusal == "" {
		return nil
	}
	gk := meta.GroupKind{Group: admissionv1.GroupName, Kind: a.Resource.Info().Kind}
	return field.Errors{field.Forbidden(field.Path(member), refusal)}.Status(gk, a.Object.GetObjectMeta().Name)
}

// paramKindOf returns the kind of the parameters of a policy, or nil.
func paramKindOf(o meta.Object) *admissionv1.ParamKind {
	if o == nil {
		return nil
	}
	if p := kind.ValueOf[admissionv1.ValidatingAdmissionPolicy](o); p != nil {
		return p.Spec.ParamKind
	}
	if p := kind.ValueOf[admissionv1.MutatingAdmissionPolicy](o); p != nil {
		return p.Spec.ParamKind
	}
	return nil
}

// reads are what a user may read.
type reads struct {
	s    *Server
	user httpapi.User
	// swapped is set where upstream exchanges the user and the verb in its text.
	swapped bool
}

// shown returns the user as upstream's texts have it.
func (r reads) shown() any {
	return &user.DefaultInfo{Name: r.user.Name, UID: r.user.UID, Groups: r.user.Groups, Extra: r.user.Extra}
}

// ofPolicy returns why a policy may not have a kind of parameters, or "". The kind that the policy has already may stay.
func (r reads) ofPolicy(k, old *admissionv1.ParamKind) string {
	if k == nil || old != nil && *k == *old {
		return ""
	}
	at := httpapi.Attributes{User: r.user, Verb: "get", IsResource: true, Namespace: "*", Name: "*"}
	_, _ = r.resolve(&at, k)
	if allowed, _ := r.s.Authorize(at); allowed {
		return ""
	}
	return fmt.Sprintf(`user %v must have "get" permission on all objects of the referenced paramKind (kind=%s, apiVersion=%s)`, r.shown(), k.Kind, k.APIVersion)
}

// resolve sets the resource of a kind. What is not known must be allowed for all.
func (r reads) resolve(at *httpapi.Attributes, k *admissionv1.ParamKind) (parsed, resolved bool) {
	at.Group, at.Version, at.Resource = "*", "*", "*"
	gv, err := schema.ParseGroupVersion(k.APIVersion)
	if err != nil {
		return false, false
	}
	at.Group, at.Version = gv.Group, gv.Version
	for _, served := range r.s.api.Kinds() {
		info := served.Info()
		if info.Group == gv.Group && info.Kind == k.Kind && slices.ContainsFunc(info.Versions, func(v kind.VersionInfo) bool { return v.Name == gv.Version }) {
			at.Resource = info.Plural
			return true, true
		}
	}
	return true, false
}

// ofBinding returns why a binding may not refer to parameters, or "".
func (r reads) ofBinding(policies, name string, ref *admissionv1.ParamRef) string {
	if ref == nil {
		return ""
	}
	at := httpapi.Attributes{User: r.user, Verb: "get", IsResource: true, Namespace: ref.Namespace, Name: ref.Name, Group: "*", Version: "*", Resource: "*"}
	if ref.Name == "" {
		at.Verb = "list"
	}
	var policy meta.Object
	if all := r.s.objects(admissionv1.GroupName, policies); all != nil {
		policy = all.Get("", name)
	}
	k := paramKindOf(policy)
	parsed, resolved := true, true
	if k != nil {
		parsed, resolved = r.resolve(&at, k)
	}
	if allowed, _ := r.s.Authorize(at); allowed {
		return ""
	}
	shown := func() string { return fmt.Sprintf("&{%s %s}", k.APIVersion, k.Kind) } // as the internal type prints
	const needs = ` to determine minimum required permissions and user %v does not have "%v" permission for all groups, versions and resources`
	switch {
	case policy == nil:
		return fmt.Sprintf("unable to get policy %s"+needs, name, r.shown(), at.Verb)
	case !parsed:
		return fmt.Sprintf("unable to parse paramKind %s"+needs, shown(), r.shown(), at.Verb)
	case !resolved:
		return fmt.Sprintf("unable to resolve paramKind %s"+needs, shown(), r.shown(), at.Verb)
	case r.swapped:
		return fmt.Sprintf(`user %v does not have "%v" permission on the object referenced by paramRef`, at.Verb, r.shown())
	}
	return fmt.Sprintf(`user %v does not have "%v" permission on the object referenced by paramRef`, r.shown(), at.Verb)
}
