package namespaces

import (
	"fmt"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/httpapi/kube"
	"github.com/kubecoord/kubecoord/store"
)

// collection returns the objects of a kind that an API serves.
func collection[T any, P interface {
	*T
	runtime.Object
}](a *httpapi.API, group, kind string) (*store.Collection[T], error) {
	for _, k := range a.Kinds() {
		if info := k.Info(); info.Group == group && info.Kind == kind {
			return kube.In[T, P](k, a.Store())
		}
	}
	return nil, fmt.Errorf("namespaces: the kind %s is not served", kind)
}
