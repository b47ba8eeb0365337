package kube

import (
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubecoord/kubecoord/httpapi/client"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/kind"
)

// In returns the objects of a kind in a store, or on the server of a client, as values of T, a Go type of Kubernetes' modules or of a
// controller:
//
//	configMaps, err := kube.In[corev1.ConfigMap](kind, st)
//
// Objects are in the preferred version of the kind, so T must be of that version. Reading an object and writing it
// loses the members that T does not have, as with every typed client. Apply owns all fields of T that its JSON does not omit.
//
// The store keeps the objects of a built-in kind of package scheme as values of T. It converts the objects of a kind without a Go type,
// such as a kind that a CustomResourceDefinition defines. In fails if the objects of the kind have another Go type, as Leases have: for
// these use store.Kind.In.
func In[T any, P interface {
	*T
	runtime.Object
}, D *store.Store | *client.Client](kind kind.Kind, door D) (*store.Collection[T], error) {
	k, err := store.As[T](kind)
	if err == nil {
		return in(k, door), nil
	}
	u, isOpen := store.As[store.Unstructured](kind)
	if isOpen != nil {
		return nil, err
	}
	return store.CollectionOf(converted[T]{in(u, door)}), nil
}

// in returns the collection of a kind in a store or on a server.
func in[T any, D *store.Store | *client.Client](k *store.Kind[T], door D) *store.Collection[T] {
	if st, ok := any(door).(*store.Store); ok {
		return k.In(st)
	}
	return client.In(any(door).(*client.Client), k)
}
