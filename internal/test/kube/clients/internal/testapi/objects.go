package testapi

import (
	coordinationv1 "k8s.io/api/coordination/v1"
	coordinationv1beta1 "k8s.io/api/coordination/v1beta1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Namespace is the namespace of the objects of this package.
const Namespace = "test"

// Lease returns a lease that can be created.
func Lease(name string) *coordinationv1.Lease {
	return &coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{Namespace: Namespace, Name: name},
		Spec: coordinationv1.LeaseSpec{
			HolderIdentity: new("a"), LeaseDurationSeconds: new(int32(15)), LeaseTransitions: new(int32(0)),
		},
	}
}

// Candidate returns a LeaseCandidate that can be created.
func Candidate(name string) *coordinationv1beta1.LeaseCandidate {
	return &coordinationv1beta1.LeaseCandidate{
		ObjectMeta: metav1.ObjectMeta{Namespace: Namespace, Name: name},
		Spec: coordinationv1beta1.LeaseCandidateSpec{
			LeaseName: "leader", BinaryVersion: "1.37.2", EmulationVersion: "1.36.0",
			Strategy: "OldestEmulationVersion",
		},
	}
}

// Endpoints returns Endpoints with one ready address and one port.
func Endpoints(name string) *corev1.Endpoints {
	return &corev1.Endpoints{
		ObjectMeta: metav1.ObjectMeta{Namespace: Namespace, Name: name},
		Subsets: []corev1.EndpointSubset{{
			Addresses: []corev1.EndpointAddress{{IP: "10.0.0.1"}},
			Ports:     []corev1.EndpointPort{{Port: 80, Protocol: corev1.ProtocolTCP}},
		}},
	}
}
