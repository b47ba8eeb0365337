package zoo

import (
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
)

const group = "zoo.example.com"

// widget is the parent of some controllers. A CustomResourceDefinition defines it.
type widget struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Spec              struct {
		Text string `json:"text,omitempty"`
	} `json:"spec"`
	Status struct {
		Child              string             `json:"child,omitempty"`
		Ready              bool               `json:"ready,omitempty"`
		ObservedGeneration int64              `json:"observedGeneration,omitempty"`
		Conditions         []metav1.Condition `json:"conditions,omitempty"`
	} `json:"status"`
}

type widgetList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata"`
	Items           []widget `json:"items"`
}

func (w *widget) copy() *widget {
	out := *w
	w.ObjectMeta.DeepCopyInto(&out.ObjectMeta)
	out.Status.Conditions = slices.Clone(w.Status.Conditions)
	return &out
}

// DeepCopyObject implements runtime.Object.
func (w *widget) DeepCopyObject() runtime.Object { return w.copy() }

// DeepCopyObject implements runtime.Object.
func (l *widgetList) DeepCopyObject() runtime.Object {
	out := *l
	out.Items = nil
	for i := range l.Items {
		out.Items = append(out.Items, *l.Items[i].copy())
	}
	return &out
}

// definition returns the CustomResourceDefinition of Widgets.
func definition() *apiextensionsv1.CustomResourceDefinition {
	anything := apiextensionsv1.JSONSchemaProps{Type: "object", XPreserveUnknownFields: new(true)}
	return &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: "widgets." + group},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: group, Scope: apiextensionsv1.NamespaceScoped,
			Names: apiextensionsv1.CustomResourceDefinitionNames{Plural: "widgets", Kind: "Widget"},
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{
				Name: "v1", Served: true, Storage: true, Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &anything},
				Subresources: &apiextensionsv1.CustomResourceSubresources{Status: &apiextensionsv1.CustomResourceSubresourceStatus{}},
			}},
		},
	}
}

// scheme returns the types of client-go and Widgets.
func scheme() (*runtime.Scheme, error) {
	types := runtime.NewScheme()
	if err := clientgoscheme.AddToScheme(types); err != nil {
		return nil, err
	}
	version := schema.GroupVersion{Group: group, Version: "v1"}
	types.AddKnownTypeWithName(version.WithKind("Widget"), &widget{})
	types.AddKnownTypeWithName(version.WithKind("WidgetList"), &widgetList{})
	metav1.AddToGroupVersion(types, version)
	return types, nil
}
