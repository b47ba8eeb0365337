package scheme

import (
	"errors"

	"k8s.io/apimachinery/pkg/runtime"
	kjson "sigs.k8s.io/json"

	"github.com/kubecoord/kubecoord/internal/kinds"
)

// Decode implements kinds.Serializer by the decoders that the codecs of apimachinery use (runtime/serializer/json and
// protobuf).
func (t *objectType) Decode(data []byte, f kinds.Format, strict bool) (doc map[string]any, strictErrs []error, err error) {
	obj := t.new()
	switch {
	case f == kinds.Protobuf:
		err = obj.(message).Unmarshal(data)
	case strict:
		strictErrs, err = kjson.UnmarshalStrict(data, obj)
	default:
		err = kjson.UnmarshalCaseSensitivePreserveInts(data, obj)
	}
	if err != nil {
		return nil, nil, err
	}
	doc, err = t.document(obj)
	return doc, strictErrs, err
}

// Normal implements kinds.Serializer.
func (t *objectType) Normal(doc map[string]any, strict bool) (normal map[string]any, strictErrs []error, err error) {
	obj := t.new()
	err = runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(doc, obj, strict)
	if problems, ok := runtime.AsStrictDecodingError(err); ok {
		strictErrs, err = problems.Errors(), nil
	}
	if err != nil {
		return nil, nil, err
	}
	normal, err = t.document(obj)
	return normal, strictErrs, err
}

// document returns an object as a tree with the type of the version.
func (t *objectType) document(obj runtime.Object) (map[string]any, error) {
	obj.GetObjectKind().SetGroupVersionKind(t.gvk)
	return treeOf(obj)
}

// message is the part of the types of k8s.io/api that reads and writes protobuf.
type message interface {
	Unmarshal([]byte) error
	Size() int
	MarshalToSizedBuffer([]byte) (int, error)
}

// AppendProto implements kinds.Serializer. As upstream's, the message has neither kind nor apiVersion, which are in the
// envelope.
func (t *objectType) AppendProto(dst []byte, doc map[string]any) ([]byte, error) {
	obj := t.new()
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(doc, obj); err != nil {
		return dst, err
	}
	m := obj.(message)
	size := m.Size()
	out := append(dst, make([]byte, size)...)
	n, err := m.MarshalToSizedBuffer(out[len(dst):])
	if err == nil && n != size {
		err = errors.New("the message is shorter than its size")
	}
	return out, err
}

// HasProto implements kinds.Serializer.
func (t *objectType) HasProto() bool {
	_, ok := t.new().(message)
	return ok
}
