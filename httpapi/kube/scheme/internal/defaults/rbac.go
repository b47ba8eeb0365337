package defaults

import rbacv1 "k8s.io/api/rbac/v1"

func addRBAC(r rules) {
	on(r, func(ref *rbacv1.RoleRef) { value(&ref.APIGroup, rbacv1.GroupName) })
	on(r, func(s *rbacv1.Subject) {
		if s.Kind == rbacv1.UserKind || s.Kind == rbacv1.GroupKind {
			value(&s.APIGroup, rbacv1.GroupName)
		}
	})
}
