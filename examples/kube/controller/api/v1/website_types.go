package v1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// The conditions of a Website.
const (
	// ConditionAvailable says whether all replicas of the Website are ready.
	ConditionAvailable = "Available"
)

// Finalizer keeps a Website until its host is free again.
const Finalizer = "web.example.com/host"

// WebsiteSpec is what a user wants.
type WebsiteSpec struct {
	// Host is the name under which the Website is reached. It cannot be changed.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="host is immutable"
	Host string `json:"host"`
	// Image is the image of the containers. It must name a tag or a digest.
	// +kubebuilder:validation:MinLength=1
	Image string `json:"image"`
	// Replicas is how many containers run.
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=10
	// +optional
	Replicas *int32 `json:"replicas,omitempty"`
}

// WebsiteStatus is what the controller has seen.
type WebsiteStatus struct {
	// ObservedGeneration is the generation that the rest of the status is about.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	// ReadyReplicas is how many containers are ready.
	// +optional
	ReadyReplicas int32 `json:"readyReplicas,omitempty"`
	// Conditions has the condition Available.
	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// Website is a web server at a host.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:subresource:scale:specpath=.spec.replicas,statuspath=.status.readyReplicas
// +kubebuilder:printcolumn:name="Host",type=string,JSONPath=`.spec.host`
// +kubebuilder:printcolumn:name="Available",type=string,JSONPath=`.status.conditions[?(@.type=="Available")].status`
type Website struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// +required
	Spec WebsiteSpec `json:"spec"`
	// +optional
	Status WebsiteStatus `json:"status,omitempty"`
}

// WebsiteList is a list of Websites.
//
// +kubebuilder:object:root=true
type WebsiteList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []Website `json:"items"`
}
