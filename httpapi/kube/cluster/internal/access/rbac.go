package access

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/types"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	"k8s.io/apiserver/pkg/authentication/serviceaccount"

	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/httpapi/kube/cluster/internal/typed"
	"github.com/kubecoord/kubecoord/store/meta"
)

// policy authorizes by the Roles, ClusterRoles and bindings of a store (upstream: plugin/pkg/auth/authorizer/rbac and
// registry/rbac/validation).
type policy struct {
	roles           *typed.Collection[*rbacv1.Role]
	roleBindings    *typed.Collection[*rbacv1.RoleBinding]
	clusterRoles    *typed.Collection[*rbacv1.ClusterRole]
	clusterBindings *typed.Collection[*rbacv1.ClusterRoleBinding]
}

func newPolicy(s *Server) *policy {
	of := func(plural string) meta.GroupResource {
		return meta.GroupResource{Group: rbacv1.GroupName, Resource: plural}
	}
	return &policy{
		roles:           typed.Values[rbacv1.Role](s.api, of("roles")),
		roleBindings:    typed.Values[rbacv1.RoleBinding](s.api, of("rolebindings")),
		clusterRoles:    typed.Values[rbacv1.ClusterRole](s.api, of("clusterroles")),
		clusterBindings: typed.Values[rbacv1.ClusterRoleBinding](s.api, of("clusterrolebindings")),
	}
}

// allows reports whether a request is allowed, and by which binding, or which roles are missing.
func (p *policy) allows(a httpapi.Attributes) (allowed bool, reason string) {
	if slices.Contains(a.User.Groups, groupMasters) {
		return true, ""
	}
	var errs []error
	p.visit(a.User, a.Namespace, func(source func() string, rule *rbacv1.PolicyRule, err error) bool {
		if err != nil {
			errs = append(errs, err)
			return true
		}
		if allowed = ruleAllows(rule, a); allowed {
			reason = "RBAC: allowed by " + source()
		}
		return !allowed
	})
	if !allowed && len(errs) > 0 {
		// The authorizer names itself, and so does what joins authorizers, if none allows (upstream: apiserver, authorization/union).
		reason = fmt.Sprintf("rbac: RBAC: %v", utilerrors.NewAggregate(errs))
	}
	return allowed, reason
}

// rules returns the rules of a user in a namespace, and the errors about roles that are missing.
func (p *policy) rules(u httpapi.User, namespace string) (rules []rbacv1.PolicyRule, errs []error) {
	p.visit(u, namespace, func(_ func() string, rule *rbacv1.PolicyRule, err error) bool {
		if err != nil {
			errs = append(errs, err)
		} else {
			rules = append(rules, *rule)
		}
		return true
	})
	return rules, errs
}

// visit calls f with each rule of a user in a namespace, and with each error, until f returns false. source describes the
// binding.
func (p *policy) visit(u httpapi.User, namespace string, f func(source func() string, rule *rbacv1.PolicyRule, err error) bool) {
	each := func(subjects []rbacv1.Subject, ref rbacv1.RoleRef, namespace string, describe func(subject string) string) bool {
		i := slices.IndexFunc(subjects, func(s rbacv1.Subject) bool { return applies(s, u, namespace) })
		if i < 0 {
			return true
		}
		rules, err := p.rulesOf(ref, namespace)
		if err != nil {
			return f(nil, nil, err)
		}
		for j := range rules {
			if !f(func() string { return describe(describeSubject(subjects[i], namespace)) }, &rules[j], nil) {
				return false
			}
		}
		return true
	}
	for _, b := range p.clusterBindings.Read(nil).ByNamespace[""] {
		if !each(b.Subjects, b.RoleRef, "", func(subject string) string {
			return fmt.Sprintf("ClusterRoleBinding %q of %s %q to %s", b.Name, b.RoleRef.Kind, b.RoleRef.Name, subject)
		}) {
			return
		}
	}
	if namespace == "" {
		return
	}
	for _, b := range p.roleBindings.Read(nil).ByNamespace[namespace] {
		if !each(b.Subjects, b.RoleRef, namespace, func(subject string) string {
			return fmt.Sprintf("RoleBinding %q of %s %q to %s", b.Name+"/"+b.Namespace, b.RoleRef.Kind, b.RoleRef.Name, subject)
		}) {
			return
		}
	}
}

// rulesOf returns the rules of the role of a binding.
func (p *policy) rulesOf(ref rbacv1.RoleRef, namespace string) ([]rbacv1.PolicyRule, error) {
	switch ref.Kind {
	case "Role":
		if r := p.roles.Read(nil).ByName[types.NamespacedName{Namespace: namespace, Name: ref.Name}]; r != nil {
			return r.Rules, nil
		}
		return nil, &missingRole{"role", ref.Name}
	case "ClusterRole":
		if r := p.clusterRoles.Read(nil).ByName[types.NamespacedName{Name: ref.Name}]; r != nil {
			return r.Rules, nil
		}
		return nil, &missingRole{"clusterrole", ref.Name}
	}
	return nil, fmt.Errorf("unsupported role reference kind: %q", ref.Kind)
}

// missingRole is the error of a binding to a role that does not exist.
type missingRole struct{ resource, name string }

// Error returns the text of upstream's lister.
func (m *missingRole) Error() string {
	return fmt.Sprintf("%s.%s %q not found", m.resource, rbacv1.GroupName, m.name)
}

// applies reports whether a subject of a binding in a namespace, "" for the cluster, is the user.
func applies(s rbacv1.Subject, u httpapi.User, namespace string) bool {
	switch s.Kind {
	case rbacv1.UserKind:
		return u.Name == s.Name
	case rbacv1.GroupKind:
		return slices.Contains(u.Groups, s.Name)
	case rbacv1.ServiceAccountKind:
		if s.Namespace != "" {
			namespace = s.Namespace
		}
		return namespace != "" && serviceaccount.MatchesUsername(namespace, s.Name, u.Name)
	}
	return false
}

// describeSubject returns the subject in a reason. As upstream, the name of a ServiceAccount comes before its namespace.
func describeSubject(s rbacv1.Subject, namespace string) string {
	name := s.Name
	if s.Kind == rbacv1.ServiceAccountKind {
		if s.Namespace != "" {
			namespace = s.Namespace
		}
		name += "/" + namespace
	}
	return fmt.Sprintf("%s %q", s.Kind, name)
}

// ruleAllows reports whether a rule allows a request.
func ruleAllows(r *rbacv1.PolicyRule, a httpapi.Attributes) bool {
	has := func(list []string, value string) bool {
		return slices.Contains(list, "*") || slices.Contains(list, value)
	}
	if !has(r.Verbs, a.Verb) {
		return false
	}
	if !a.IsResource {
		return slices.ContainsFunc(r.NonResourceURLs, func(url string) bool {
			return url == "*" || url == a.Path || strings.HasSuffix(url, "*") && strings.HasPrefix(a.Path, strings.TrimRight(url, "*"))
		})
	}
	resource := a.Resource
	if a.Subresource != "" {
		resource += "/" + a.Subresource
	}
	return has(r.APIGroups, a.Group) &&
		(has(r.Resources, resource) || a.Subresource != "" && slices.Contains(r.Resources, "*/"+a.Subresource)) &&
		(len(r.ResourceNames) == 0 || slices.Contains(r.ResourceNames, a.Name))
}

// errTooManyRules refuses a role whose rules, taken apart, need too much memory. A real server has no such limit.
var errTooManyRules = errors.New("the rules have too many combinations of groups, resources, names and verbs to compare")

// maxSimpleRules limits the simple rules into which the rules of a role are taken apart.
const maxSimpleRules = 1 << 18

// checkSize refuses rules with too many combinations.
func checkSize(rules []rbacv1.PolicyRule) error {
	total := 0
	for _, r := range rules {
		n := max(len(r.APIGroups), 1)
		for _, factor := range []int{len(r.Resources), len(r.ResourceNames), len(r.Verbs)} {
			if n *= max(factor, 1); n > maxSimpleRules {
				return errTooManyRules
			}
		}
		if total += n + len(r.NonResourceURLs)*len(r.Verbs); total > maxSimpleRules {
			return errTooManyRules
		}
	}
	return nil
}
