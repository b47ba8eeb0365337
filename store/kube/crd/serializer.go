package crd

import (
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	kjson "sigs.k8s.io/json"

	"github.com/kubecoord/kubecoord/internal/codec"
	"github.com/kubecoord/kubecoord/internal/kinds"
	"github.com/kubecoord/kubecoord/store"
)

// serializer reads and writes definitions by their Go type.
type serializer struct{}

// Decode implements kinds.Serializer.
func (serializer) Decode(data []byte, f kinds.Format, strict bool) (doc map[string]any, strictErrs []error, err error) {
	var crd apiextensionsv1.CustomResourceDefinition
	switch {
	case f == kinds.Protobuf:
		err = crd.Unmarshal(data)
	case strict:
		strictErrs, err = kjson.UnmarshalStrict(data, &crd)
	default:
		err = kjson.UnmarshalCaseSensitivePreserveInts(data, &crd)
	}
	if err != nil {
		return nil, nil, err
	}
	doc, err = tree(&crd)
	return doc, strictErrs, err
}

// Normal implements kinds.Serializer.
func (serializer) Normal(doc map[string]any, strict bool) (normal map[string]any, strictErrs []error, err error) {
	var crd apiextensionsv1.CustomResourceDefinition
	err = runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(doc, &crd, strict)
	if problems, ok := runtime.AsStrictDecodingError(err); ok {
		strictErrs, err = problems.Errors(), nil
	}
	if err != nil {
		return nil, nil, err
	}
	normal, err = tree(&crd)
	return normal, strictErrs, err
}

// AppendProto implements kinds.Serializer. The kind and apiVersion are in the envelope.
func (serializer) AppendProto(dst []byte, doc map[string]any) ([]byte, error) {
	var crd apiextensionsv1.CustomResourceDefinition
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(doc, &crd); err != nil {
		return dst, err
	}
	message, err := crd.Marshal()
	return append(dst, message...), err
}

// HasProto implements kinds.Serializer.
func (serializer) HasProto() bool { return true }

// tree returns a definition as a document. The floats of its Go type that have the value of an integer are integers, as in a body.
func tree(crd *apiextensionsv1.CustomResourceDefinition) (map[string]any, error) {
	crd.TypeMeta = metav1.TypeMeta{Kind: definitionKind, APIVersion: definitionVersion}
	doc, err := runtime.DefaultUnstructuredConverter.ToUnstructured(crd)
	codec.NormalTree(doc)
	return doc, err
}

// definitionOf returns a stored definition as a value of its Go type, without managedFields.
func definitionOf(o kinds.Object) (*apiextensionsv1.CustomResourceDefinition, error) {
	var crd apiextensionsv1.CustomResourceDefinition
	err := runtime.DefaultUnstructuredConverter.FromUnstructured(document(o.(*store.Unstructured)), &crd)
	return &crd, err
}

// internalOf returns a stored definition in the form that upstream validates.
func internalOf(o kinds.Object) (*apiextensions.CustomResourceDefinition, error) {
	crd, err := definitionOf(o)
	if err != nil {
		return nil, err
	}
	var internal apiextensions.CustomResourceDefinition
	err = apiextensionsv1.Convert_v1_CustomResourceDefinition_To_apiextensions_CustomResourceDefinition(crd, &internal, nil)
	return &internal, err
}

// change calls f with an object as a value of its Go type, and stores the spec and status that f leaves. An object that does
// not have the form of the type stays as it is; its validation reports it.
func change(o kinds.Object, f func(*apiextensionsv1.CustomResourceDefinition)) {
	crd, err := definitionOf(o)
	if err != nil {
		return
	}
	f(crd)
	doc, err := tree(crd)
	if err != nil {
		return
	}
	for _, member := range []string{"apiVersion", "kind", "metadata"} {
		delete(doc, member)
	}
	o.(*store.Unstructured).Content = doc
}
