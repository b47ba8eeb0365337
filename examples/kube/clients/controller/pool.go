package main

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// groupVersion is the API version of Pools.
var groupVersion = schema.GroupVersion{Group: "pools.kubecoord.example", Version: "v1"}

// addressAnnotation is the IP of a member, on its Lease.
const addressAnnotation = "pools.kubecoord.example/address"

// available is the condition that enough members are alive.
const available = "Available"

// Pool publishes its live members.
type Pool struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              PoolSpec   `json:"spec"`
	Status            PoolStatus `json:"status,omitzero"`
}

// PoolSpec is the desired state.
type PoolSpec struct {
	// Members are the labels of the Leases that belong to the Pool.
	Members map[string]string `json:"members"`
	// Port is the port of each member.
	Port int32 `json:"port"`
	// MinReady is the number of live members that makes the Pool available.
	MinReady int32 `json:"minReady,omitempty"`
}

// PoolStatus is the observed state.
type PoolStatus struct {
	// ObservedGeneration is the generation of the Pool that the status describes.
	ObservedGeneration int64              `json:"observedGeneration,omitempty"`
	Members            int32              `json:"members"`
	Ready              int32              `json:"ready"`
	Conditions         []metav1.Condition `json:"conditions,omitempty"`
}

// PoolList is a list of Pools.
type PoolList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Pool `json:"items"`
}

// DeepCopyObject implements runtime.Object.
func (p *Pool) DeepCopyObject() runtime.Object { return p.copy() }

func (p *Pool) copy() *Pool {
	out := *p
	out.ObjectMeta = *p.ObjectMeta.DeepCopy()
	if p.Spec.Members != nil {
		out.Spec.Members = make(map[string]string, len(p.Spec.Members))
		for k, v := range p.Spec.Members {
			out.Spec.Members[k] = v
		}
	}
	out.Status.Conditions = slices.Clone(p.Status.Conditions) // which hold no pointers
	return &out
}

// DeepCopyObject implements runtime.Object.
func (l *PoolList) DeepCopyObject() runtime.Object {
	out := *l
	out.ListMeta = *l.ListMeta.DeepCopy()
	out.Items = make([]Pool, len(l.Items))
	for i := range l.Items {
		out.Items[i] = *l.Items[i].copy()
	}
	return &out
}

// addToScheme registers Pool for clients.
func addToScheme(s *runtime.Scheme) error {
	s.AddKnownTypes(groupVersion, &Pool{}, &PoolList{})
	metav1.AddToGroupVersion(s, groupVersion)
	return nil
}
