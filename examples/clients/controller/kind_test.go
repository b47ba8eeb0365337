package main

import (
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/field"
	"github.com/kubecoord/kubecoord/store/meta"
)

// What follows tells the server of Pools, as a CustomResourceDefinition tells a
// real one.

type storedPool struct {
	meta.TypeMeta   `json:",inline"`
	meta.ObjectMeta `json:"metadata"`
	Spec            storedSpec   `json:"spec"`
	Status          storedStatus `json:"status,omitzero"`
}

type storedSpec struct {
	Members  map[string]string `json:"members"`
	Port     int32             `json:"port"`
	MinReady int32             `json:"minReady,omitempty"`
}

type storedStatus struct {
	ObservedGeneration int64             `json:"observedGeneration,omitempty"`
	Members            int32             `json:"members"`
	Ready              int32             `json:"ready"`
	Conditions         []storedCondition `json:"conditions,omitempty" listType:"map" listMapKey:"type"`
}

type storedCondition struct {
	Type               string    `json:"type"`
	Status             string    `json:"status"`
	ObservedGeneration int64     `json:"observedGeneration,omitempty"`
	LastTransitionTime meta.Time `json:"lastTransitionTime"`
	Reason             string    `json:"reason"`
	Message            string    `json:"message"`
}

func poolKind() store.Descriptor {
	return &store.Kind[storedPool]{
		Group: groupVersion.Group, Name: "Pool", Plural: "pools",
		Versions: []store.Version[storedPool]{{Name: groupVersion.Version}},
		Status:   true,
		Validate: func(p, _ *storedPool) (errs field.Errors) {
			if p.Spec.Port < 1 || p.Spec.Port > 65535 {
				errs = append(errs, field.Invalid("spec.port", p.Spec.Port, "must be between 1 and 65535"))
			}
			return errs
		},
	}
}
