package access

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	"k8s.io/component-helpers/auth/rbac/validation"

	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/store/admission"
	"github.com/kubecoord/kubecoord/store/kind"
	"github.com/kubecoord/kubecoord/store/meta"
)

// Admission refuses roles and bindings that give their writer permissions that the writer does not have (upstream: registry/rbac,
// policybased), and policies whose parameters the writer may not read (params.go). It is nil without RBAC. It must run after all plugins
// that may change objects: a real server asks it after these, and before it validates.
func (s *Server) Admission() admission.Interface {
	if s.rbac == nil {
		return nil
	}
	return escalation{s}
}

type escalation struct{ s *Server }

// Admit refuses a write. A user of the group system:masters may write all.
func (e escalation) Admit(ctx context.Context, a *admission.Attributes) error {
	gr := a.Resource.GroupResource()
	if gr.Group != rbacv1.GroupName || a.Operation == admission.Delete || a.Object == nil {
		return nil
	}
	u := userOf(ctx)
	if slices.Contains(u.Groups, groupMasters) || onlyCollected(a.Object, a.Old) {
		return nil
	}
	name := a.Object.GetObjectMeta().Name
	ask := func(verb, resource, name string) bool {
		allowed, _ := e.s.Authorize(httpapi.Attributes{User: u, Verb: verb, IsResource: true, Group: rbacv1.GroupName, Version: "*",
			Resource: resource, Namespace: a.Namespace, Name: name})
		return allowed
	}
	switch gr.Resource {
	case "roles", "clusterroles":
		named := name
		if a.Operation == admission.Create {
			named = "" // as in the path
		}
		if ask("escalate", gr.Resource, named) {
			return nil
		}
		return e.checkRole(u, a, gr)
	case "rolebindings", "clusterrolebindings":
		var ref rbacv1.RoleRef
		if b := kind.ValueOf[rbacv1.ClusterRoleBinding](a.Object); b != nil {
			ref = b.RoleRef
		} else if b := kind.ValueOf[rbacv1.RoleBinding](a.Object); b != nil {
			ref = b.RoleRef
		}
		if plural := strings.ToLower(ref.Kind) + "s"; ask("bind", plural, ref.Name) {
			return nil
		}
		rules, err := e.s.rbac.rulesOf(ref, a.Namespace)
		if err != nil {
			return notFound(gr, err)
		}
		if err := e.covers(gr, u, a.Namespace, rules); err != nil {
			return forbidden(gr, name, err)
		}
	}
	return nil
}

// notFound returns the error about a role that is missing. Upstream's registry names the resource of the request in it.
func notFound(gr meta.GroupResource, err error) error {
	var m *missingRole
	if errors.As(err, &m) {
		return meta.NewNotFound(gr, m.name)
	}
	return err
}

// fullAuthority is what an aggregationRule needs.
func fullAuthority() []rbacv1.PolicyRule {
	all := []string{"*"}
	return []rbacv1.PolicyRule{{Verbs: all, APIGroups: all, Resources: all}, {Verbs: all, NonResourceURLs: all}}
}

func (e escalation) checkRole(u httpapi.User, a *admission.Attributes, gr meta.GroupResource) error {
	name := a.Object.GetObjectMeta().Name
	if err := e.covers(gr, u, a.Namespace, rulesIn(a.Object)); err != nil {
		return forbidden(gr, name, err)
	}
	if aggregates(a.Object) || a.Old != nil && aggregates(a.Old) {
		if e.covers(gr, u, a.Namespace, fullAuthority()) != nil {
			return forbidden(gr, name, errors.New("must have cluster-admin privileges to use the aggregationRule"))
		}
	}
	return nil
}

// rulesIn returns the rules of a Role or ClusterRole.
func rulesIn(o meta.Object) []rbacv1.PolicyRule {
	if r := kind.ValueOf[rbacv1.Role](o); r != nil {
		return r.Rules
	}
	if r := kind.ValueOf[rbacv1.ClusterRole](o); r != nil {
		return r.Rules
	}
	return nil
}

// aggregates reports whether an object is a ClusterRole whose rules are the rules of others.
func aggregates(o meta.Object) bool {
	r := kind.ValueOf[rbacv1.ClusterRole](o)
	return r != nil && r.AggregationRule != nil && len(r.AggregationRule.ClusterRoleSelectors) > 0
}

// covers returns an error unless a user has all permissions of the rules.
func (e escalation) covers(gr meta.GroupResource, u httpapi.User, namespace string, rules []rbacv1.PolicyRule) error {
	if err := checkSize(rules); err != nil {
		return err
	}
	own, errs := e.s.rbac.rules(u, namespace)
	covered, missing := validation.Covers(own, rules)
	if covered {
		return nil
	}
	var lines []string
	for _, r := range compact(missing) {
		lines = append(lines, describeRule(r))
	}
	slices.Sort(lines)
	text := fmt.Sprintf("user %q (groups=%q) is attempting to grant RBAC permissions not currently held:\n%s",
		u.Name, u.Groups, strings.Join(slices.Compact(lines), "\n"))
	if len(errs) > 0 {
		for i, err := range errs {
			errs[i] = notFound(gr, err)
		}
		text += fmt.Sprintf("; resolution errors: %v", []error{utilerrors.NewAggregate(errs)})
	}
	return errors.New(text)
}

// compact joins the rules that differ by their verbs only.
func compact(rules []rbacv1.PolicyRule) (out []rbacv1.PolicyRule) {
	type simple struct{ group, resource, name string }
	seen := map[simple]int{}
	for _, r := range rules {
		if len(r.APIGroups) != 1 || len(r.Resources) != 1 || len(r.ResourceNames) > 1 || len(r.NonResourceURLs) > 0 {
			out = append(out, r)
			continue
		}
		key := simple{r.APIGroups[0], r.Resources[0], strings.Join(r.ResourceNames, "")}
		if i, ok := seen[key]; ok && len(out[i].ResourceNames) == len(r.ResourceNames) {
			out[i].Verbs = append(slices.Clip(out[i].Verbs), r.Verbs...)
			continue
		}
		seen[key] = len(out)
		out = append(out, r)
	}
	return out
}

// describeRule returns a rule as upstream's errors show it.
func describeRule(r rbacv1.PolicyRule) string {
	var parts []string
	for _, m := range []struct {
		name   string
		values []string
	}{
		{"APIGroups", r.APIGroups}, {"Resources", r.Resources}, {"NonResourceURLs", r.NonResourceURLs},
		{"ResourceNames", r.ResourceNames}, {"Verbs", r.Verbs},
	} {
		if len(m.values) > 0 {
			parts = append(parts, fmt.Sprintf("%s:%q", m.name, m.values))
		}
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

// onlyCollected reports whether an update changes no more than a garbage collector does: owners and finalizers.
func onlyCollected(o, old meta.Object) bool {
	if old == nil {
		return false
	}
	now, before := *o.GetObjectMeta(), *old.GetObjectMeta()
	for _, m := range []*meta.ObjectMeta{&now, &before} {
		m.OwnerReferences, m.Finalizers, m.ManagedFields, m.SelfLink = nil, nil, nil, ""
	}
	return reflect.DeepEqual(now, before) && equality.Semantic.DeepEqual(content(o), content(old))
}

// content returns an object without its metadata.
func content(o meta.Object) any {
	v := reflect.ValueOf(kind.Value(o)).Elem()
	out := reflect.New(v.Type()).Elem()
	out.Set(v)
	out.FieldByName("TypeMeta").SetZero()
	out.FieldByName("ObjectMeta").SetZero()
	return out.Interface()
}

// forbidden is the error of a write that is not allowed.
func forbidden(gr meta.GroupResource, name string, why error) error {
	return meta.NewStatusError(http.StatusForbidden, meta.ReasonForbidden, &meta.StatusDetails{Name: name, Group: gr.Group, Kind: gr.Resource},
		fmt.Sprintf("%s %q is forbidden: %s", gr, name, why))
}
