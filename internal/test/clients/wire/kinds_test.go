package wire

import (
	"fmt"
	"strings"

	coordinationv1 "k8s.io/api/coordination/v1"
	coordinationv1alpha2 "k8s.io/api/coordination/v1alpha2"
	coordinationv1beta1 "k8s.io/api/coordination/v1beta1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubecoord/kubecoord/internal/test/clients/internal/testapi"
)

type object interface {
	metav1.Object
	runtime.Object
}

// kind is one resource in one version.
type kind struct {
	schema.GroupVersionKind
	resource string
	new      func(name string) object
	// list puts objects into a list.
	list func(m metav1.ListMeta, items []object) runtime.Object
}

// path returns the path of the collection, or of one object.
func (k kind) path(name string) string {
	root := "/apis/" + k.Group
	if k.Group == "" {
		root = "/api"
	}
	p := root + "/" + k.Version + "/namespaces/" + namespace + "/" + k.resource
	if name != "" {
		p += "/" + name
	}
	return p
}

var kinds = []kind{leases, candidates, candidatesV1alpha2, endpoints}

var leases = kind{
	coordinationv1.SchemeGroupVersion.WithKind("Lease"), "leases",
	func(name string) object { return testapi.Lease(name) },
	func(m metav1.ListMeta, items []object) runtime.Object {
		return &coordinationv1.LeaseList{ListMeta: m, Items: values[coordinationv1.Lease](items)}
	},
}

var candidates = kind{
	coordinationv1beta1.SchemeGroupVersion.WithKind("LeaseCandidate"), "leasecandidates",
	func(name string) object { return testapi.Candidate(name) },
	func(m metav1.ListMeta, items []object) runtime.Object {
		return &coordinationv1beta1.LeaseCandidateList{ListMeta: m, Items: values[coordinationv1beta1.LeaseCandidate](items)}
	},
}

var candidatesV1alpha2 = kind{
	coordinationv1alpha2.SchemeGroupVersion.WithKind("LeaseCandidate"), "leasecandidates",
	func(name string) object { return testapi.CandidateV1alpha2(name) },
	func(m metav1.ListMeta, items []object) runtime.Object {
		return &coordinationv1alpha2.LeaseCandidateList{ListMeta: m, Items: values[coordinationv1alpha2.LeaseCandidate](items)}
	},
}

var endpoints = kind{
	corev1.SchemeGroupVersion.WithKind("Endpoints"), "endpoints",
	func(name string) object { return testapi.Endpoints(name) },
	func(m metav1.ListMeta, items []object) runtime.Object {
		return &corev1.EndpointsList{ListMeta: m, Items: values[corev1.Endpoints](items)}
	},
}

func values[T any](items []object) []T {
	out := make([]T, len(items))
	for i, o := range items {
		out[i] = *any(o).(*T)
	}
	return out
}

// count is the number of objects of a kind that a test uses.
const count = 20

// object returns an object with a name that sorts by its number. The lengths of the texts
// are those around which the encoding of a length changes.
func (k kind) object(number int, text string) object {
	o := k.new(fmt.Sprintf("o%06d", number))
	o.SetAnnotations(map[string]string{"example.com/text": text + strings.Repeat("é<\u2028😀", number)})
	o.SetLabels(map[string]string{"a": text, "b": ""})
	return o
}
