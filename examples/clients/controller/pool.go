package main

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// groupVersion is that of Pools.
var groupVersion = schema.GroupVersion{Group: "pools.kubecoord.example", Version: "v1"}

// addressAnnotation stands on the Lease of a member: the IP it is reached at.
const addressAnnotation = "pools.kubecoord.example/address"

// available is the condition that tells whether enough members are alive.
const available = "Available"

// Pool publishes which of its members are alive.
type Pool struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              PoolSpec   `json:"spec"`
	Status            PoolStatus `json:"status,omitzero"`
}

// PoolSpec says what is wanted.
type PoolSpec struct {
	// Members are the labels of the Leases that belong to the Pool.
	Members map[string]string `json:"members"`
	// Port is where each member is reached.
	Port int32 `json:"port"`
	// MinReady is how many must be alive for the Pool to be available.
	MinReady int32 `json:"minReady,omitempty"`
}

// PoolStatus says what there is.
type PoolStatus struct {
	// ObservedGeneration is the generation that all else is about.
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

// DeepCopyObject returns a copy, as clients want it.
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

// DeepCopyObject returns a copy, as clients want it.
func (l *PoolList) DeepCopyObject() runtime.Object {
	out := *l
	out.ListMeta = *l.ListMeta.DeepCopy()
	out.Items = make([]Pool, len(l.Items))
	for i := range l.Items {
		out.Items[i] = *l.Items[i].copy()
	}
	return &out
}

// addToScheme makes Pools known to clients.
func addToScheme(s *runtime.Scheme) error {
	s.AddKnownTypes(groupVersion, &Pool{}, &PoolList{})
	metav1.AddToGroupVersion(s, groupVersion)
	return nil
}
