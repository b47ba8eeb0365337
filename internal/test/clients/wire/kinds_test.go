package wire

import (
	"fmt"

	coordinationv1 "k8s.io/api/coordination/v1"
	coordinationv1alpha2 "k8s.io/api/coordination/v1alpha2"
	coordinationv1beta1 "k8s.io/api/coordination/v1beta1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

type object interface {
	metav1.Object
	runtime.Object
}

// kind is one resource in one version.
type kind struct {
	schema.GroupVersionKind
	resource string
	random   func(r random, number int) object
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
	func(r random, number int) object { return randomLease(r, number) },
	func(m metav1.ListMeta, items []object) runtime.Object {
		return &coordinationv1.LeaseList{ListMeta: m, Items: values[coordinationv1.Lease](items)}
	},
}

var candidates = kind{
	coordinationv1beta1.SchemeGroupVersion.WithKind("LeaseCandidate"), "leasecandidates",
	func(r random, number int) object { return randomCandidate(r, number) },
	func(m metav1.ListMeta, items []object) runtime.Object {
		return &coordinationv1beta1.LeaseCandidateList{ListMeta: m, Items: values[coordinationv1beta1.LeaseCandidate](items)}
	},
}

var candidatesV1alpha2 = kind{
	coordinationv1alpha2.SchemeGroupVersion.WithKind("LeaseCandidate"), "leasecandidates",
	func(r random, number int) object {
		c := randomCandidate(r, number)
		return &coordinationv1alpha2.LeaseCandidate{ObjectMeta: c.ObjectMeta, Spec: coordinationv1alpha2.LeaseCandidateSpec(c.Spec)}
	},
	func(m metav1.ListMeta, items []object) runtime.Object {
		return &coordinationv1alpha2.LeaseCandidateList{ListMeta: m, Items: values[coordinationv1alpha2.LeaseCandidate](items)}
	},
}

var endpoints = kind{
	corev1.SchemeGroupVersion.WithKind("Endpoints"), "endpoints",
	func(r random, number int) object { return randomEndpoints(r, number) },
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

func randomStrategy(r random) coordinationv1.CoordinatedLeaseStrategy {
	return pick(r, coordinationv1.OldestEmulationVersion, coordinationv1.CoordinatedLeaseStrategy(r.word()+".io/"+r.word()))
}

func randomLease(r random, number int) *coordinationv1.Lease {
	s := coordinationv1.LeaseSpec{
		HolderIdentity:       maybe(r, r.text),
		LeaseDurationSeconds: maybe(r, func() int32 { return pick[int32](r, 1, 15, 1<<31-1) }),
		AcquireTime:          maybe(r, r.microTime),
		RenewTime:            maybe(r, r.microTime),
		LeaseTransitions:     maybe(r, func() int32 { return pick[int32](r, 0, 1, 127, 128, 1<<31-1) }),
		Strategy:             maybe(r, func() coordinationv1.CoordinatedLeaseStrategy { return randomStrategy(r) }),
	}
	if s.Strategy != nil {
		s.PreferredHolder = maybe(r, r.text)
	}
	return &coordinationv1.Lease{ObjectMeta: r.metadata(number), Spec: s}
}

func randomCandidate(r random, number int) *coordinationv1beta1.LeaseCandidate {
	s := coordinationv1beta1.LeaseCandidateSpec{
		LeaseName: r.word(), PingTime: maybe(r, r.microTime), RenewTime: maybe(r, r.microTime),
		BinaryVersion: fmt.Sprintf("2.%d.%d", r.IntN(100), r.IntN(1000)) + pick(r, "", "+build.7", "-rc.1+x-y"),
		Strategy:      randomStrategy(r),
	}
	if s.Strategy == coordinationv1.OldestEmulationVersion || r.odds(2) {
		s.EmulationVersion = fmt.Sprintf("1.%d.%d", r.IntN(100), r.IntN(1000)) + pick(r, "", "-alpha.0")
	}
	return &coordinationv1beta1.LeaseCandidate{ObjectMeta: r.metadata(number), Spec: s}
}

func randomEndpoints(r random, number int) *corev1.Endpoints {
	e := &corev1.Endpoints{ObjectMeta: r.metadata(number)}
	r.list(3, func() {
		s := corev1.EndpointSubset{}
		r.list(3, func() { s.Addresses = append(s.Addresses, randomAddress(r)) })
		r.list(2, func() { s.NotReadyAddresses = append(s.NotReadyAddresses, randomAddress(r)) })
		if len(s.Addresses)+len(s.NotReadyAddresses) == 0 {
			s.NotReadyAddresses = append(s.NotReadyAddresses, randomAddress(r))
		}
		r.list(3, func() {
			s.Ports = append(s.Ports, corev1.EndpointPort{
				Name: r.word(), Port: pick[int32](r, 1, 80, 127, 128, 65535), AppProtocol: maybe(r, r.qualified),
				Protocol: pick(r, corev1.ProtocolTCP, corev1.ProtocolUDP, corev1.ProtocolSCTP),
			})
		})
		e.Subsets = append(e.Subsets, s)
	})
	return e
}

func randomAddress(r random) corev1.EndpointAddress {
	a := corev1.EndpointAddress{
		IP:       pick(r, fmt.Sprintf("10.%d.%d.%d", r.IntN(256), r.IntN(256), r.IntN(256)), fmt.Sprintf("2001:db8::%x", 1+r.IntN(65535))),
		Hostname: pick(r, "", r.word()),
		NodeName: maybe(r, r.word),
	}
	if r.odds(2) {
		a.TargetRef = &corev1.ObjectReference{
			Kind: r.text(), Namespace: r.text(), Name: r.text(), APIVersion: r.text(),
			ResourceVersion: r.text(), FieldPath: r.text(),
		}
	}
	return a
}
