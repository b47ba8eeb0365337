package access

import (
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubecoord/kubecoord/internal/kinds"
	"github.com/kubecoord/kubecoord/internal/registry"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/kube/cluster/internal/typed"
)

// collection returns the objects of a kind of RBAC. Of the metadata they have only the name and the namespace.
func collection[T any, P interface {
	*T
	metav1.Object
}](s *Server, plural string) *typed.Collection[P] {
	return &typed.Collection[P]{Find: func() (*registry.Resource, func(*registry.Item) (P, bool)) {
		return s.resource(rbacv1.GroupName, plural), func(it *registry.Item) (P, bool) {
			v := P(new(T))
			ok := convert(it.Stored(), v)
			v.SetName(it.Name())
			v.SetNamespace(it.Namespace())
			return v, ok
		}
	}}
}

// convert reads the members of an object of package scheme except its metadata.
func convert(o kinds.Object, into any) bool {
	u, ok := o.(*store.Unstructured)
	return ok && runtime.DefaultUnstructuredConverter.FromUnstructured(u.Content, into) == nil
}
