package access

import (
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubecoord/kubecoord/internal/registry"
	"github.com/kubecoord/kubecoord/store/kind"
	"github.com/kubecoord/kubecoord/store/kube/cluster/internal/typed"
)

// collection returns the objects of a kind of RBAC, as they are stored.
func collection[T any, P interface {
	*T
	runtime.Object
}](s *Server, plural string) *typed.Collection[P] {
	return &typed.Collection[P]{Find: func() (*registry.Resource, func(*registry.Item) (P, bool)) {
		return s.resource(rbacv1.GroupName, plural), func(it *registry.Item) (P, bool) {
			v := kind.ValueOf[T](it.Stored())
			return v, v != nil
		}
	}}
}
