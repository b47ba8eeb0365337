package store

import (
	"fmt"

	"github.com/kubecoord/kubecoord/internal/kinds"
	"github.com/kubecoord/kubecoord/store/kind"
	"github.com/kubecoord/kubecoord/store/meta"
)

// Kind is one kind of object of the Go type T, ready for use. It never changes; any number of stores may share it.
type Kind[T any] struct {
	kind.Kind
}

// NewKind checks a descriptor and makes it a Kind. The error names the member that is wrong and the expected value.
func NewKind[T any](d kind.Descriptor[*T]) (*Kind[T], error) {
	k, err := Compile(d)
	if err != nil {
		return nil, err
	}
	return &Kind[T]{k}, nil
}

// MustKind is like NewKind, but panics with the error.
func MustKind[T any](d kind.Descriptor[*T]) *Kind[T] {
	k, err := NewKind(d)
	if err != nil {
		panic(err)
	}
	return k
}

// Compile is like NewKind for a kind whose functions get objects of any type, such as meta.Object. See As.
func Compile[P any](d kind.Descriptor[P]) (kind.Kind, error) {
	k, err := kinds.Compile(d)
	if err != nil {
		return nil, fmt.Errorf("store: %w", err)
	}
	return k, nil
}

// As returns a kind of another package, such as one of httpapi/kube, as a Kind of its type. The error is for a kind whose stored
// objects are not of type T.
func As[T any](k kind.Kind) (*Kind[T], error) {
	if o := kinds.Of(k).New(k.OwnVersion()); as[T](o) == nil {
		return nil, fmt.Errorf("store: kind %s: got objects of type %T, want %T", k.Info().Kind, kind.Value(o), (*T)(nil))
	}
	return &Kind[T]{k.Untyped()}, nil
}

// In returns the collection of the kind in a store. It panics if the store already has a different Kind of the same
// group and plural, and if Open opened the store without the kind.
func (k *Kind[T]) In(st *Store) *Collection[T] {
	return newLocal[T](st.registry().Resource(kinds.Of(k)), false)
}

// as returns the typed pointer behind o, and nil for the nil object.
func as[T any](o meta.Object) *T { return kind.ValueOf[T](o) }
