package access

import (
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/kind"
	"github.com/kubecoord/kubecoord/store/kube/cluster/internal/typed"
	"github.com/kubecoord/kubecoord/store/meta"
)

// collection returns the objects of a kind of RBAC, as they are stored.
func collection[T any, P interface {
	*T
	runtime.Object
}](s *Server, plural string) *typed.Collection[P] {
	return &typed.Collection[P]{Find: func() (*store.Objects, func(meta.Object) (P, bool)) {
		return s.objects(rbacv1.GroupName, plural), func(o meta.Object) (P, bool) {
			v := kind.ValueOf[T](o)
			return v, v != nil
		}
	}}
}
