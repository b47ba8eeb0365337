package kube

import (
	"fmt"
	"reflect"
	"sync"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubecoord/kubecoord/internal/codec"
	"github.com/kubecoord/kubecoord/store"
)

// The two halves of a conversion meet in the tree that the JSON of an object decodes to.

// tree is the type of untyped objects, compiled once per process.
var tree = sync.OnceValue(func() *codec.Type { return codec.MustCompile(reflect.TypeFor[store.Unstructured](), "v1") })

// untyped returns an object of a Go type as an untyped one, which shares no memory with it.
func untyped[T any](obj *T) (*store.Unstructured, error) {
	doc, err := runtime.DefaultUnstructuredConverter.ToUnstructured(obj)
	u := &store.Unstructured{}
	if err == nil {
		_, err = tree().FromUnstructured(doc, u, false)
	}
	if err != nil {
		return nil, fmt.Errorf("kube: %T: %w", *obj, err)
	}
	return u, nil
}

// typed returns an untyped object as one of a Go type. It takes the results of a call, and returns its error.
func typed[T any](u *store.Unstructured, err error) (*T, error) {
	if err != nil || u == nil {
		return nil, err
	}
	obj := new(T)
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(tree().ToUnstructured(u), obj); err != nil {
		return nil, fmt.Errorf("kube: %T: %w", *obj, err)
	}
	return obj, nil
}
