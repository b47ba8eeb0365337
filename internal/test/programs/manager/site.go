package manager

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
)

// site is what crds/sites.yaml defines.
type site struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              struct {
		Text     string `json:"text"`
		Replicas int32  `json:"replicas"`
	} `json:"spec"`
	Status siteStatus `json:"status,omitempty"`
}

type siteStatus struct {
	Content   string `json:"content,omitempty"` // the name of the ConfigMap
	Available int32  `json:"available,omitempty"`
}

// DeepCopyObject implements runtime.Object.
func (s *site) DeepCopyObject() runtime.Object {
	out := *s
	out.ObjectMeta = *s.ObjectMeta.DeepCopy()
	return &out
}

type siteList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []site `json:"items"`
}

// DeepCopyObject implements runtime.Object.
func (l *siteList) DeepCopyObject() runtime.Object {
	out := *l
	out.Items = nil
	for i := range l.Items {
		out.Items = append(out.Items, *l.Items[i].DeepCopyObject().(*site))
	}
	return &out
}

// types returns a scheme with Sites and the kinds of Kubernetes.
func types() (*runtime.Scheme, error) {
	s := runtime.NewScheme()
	version := schema.GroupVersion{Group: "programs.test", Version: "v1"}
	s.AddKnownTypeWithName(version.WithKind("Site"), &site{})
	s.AddKnownTypeWithName(version.WithKind("SiteList"), &siteList{})
	metav1.AddToGroupVersion(s, version)
	return s, clientgoscheme.AddToScheme(s)
}
