package kind

import (
	"reflect"

	"github.com/kubecoord/kubecoord/internal/codec"
	"github.com/kubecoord/kubecoord/store/meta"
	"github.com/kubecoord/kubecoord/store/schema"
)

// Library is the Go types of another library, such as k8s.io/api, whose objects are handled as they are, from the body of a request to the
// watcher. It may be used from any goroutine.
type Library struct{ types codec.Library }

// NewLibrary returns a Library. same has for a type of the library the type of this module that has its members and its memory: its metadata
// has the memory of meta.ObjectMeta, so that an object lends it. custom has the types with JSON methods of their own that need more than
// these. The maps must not be changed afterwards.
func NewLibrary(same map[reflect.Type]reflect.Type, custom map[reflect.Type]*Custom) *Library {
	return &Library{codec.Library{Same: same, Custom: custom}}
}

// Type is a Go type of a Library. Its arguments and results are the objects that functions of a [Descriptor] of [meta.Object] get; see
// [ValueOf].
type Type interface {
	// New returns an empty object.
	New() any
	// Copy returns a deep copy of an object.
	Copy(obj any) any
	// CopyMember makes a member of dst a copy of the member of src, or removes it if src is nil.
	CopyMember(dst, src any, name string)
	// EqualMember reports whether a member of two objects is equal.
	EqualMember(a, b any, name string) bool
}

// Compile returns the type for a struct of the library that embeds its types with the memory of meta.TypeMeta and meta.ObjectMeta. s says
// what tags of the library's types do not: which lists and maps are atomic, the keys of lists, and defaults. Types are compiled once. The
// error names the first field that cannot be handled, or the part of the metadata that has another memory.
func (l *Library) Compile(t reflect.Type, s *schema.Schema) (Type, error) {
	typ, err := l.types.Compile(t, s)
	if err != nil {
		return nil, err
	}
	return typ, nil
}

// Custom is what a Library says about a type with JSON methods of its own. [NewCustom] makes one.
type Custom = codec.Custom

// Shape is what the JSON of a Custom may be.
type Shape codec.Kind

// The shapes.
const (
	// Scalar is a string, a number or a boolean.
	Scalar = Shape(codec.Scalar)
	// Opaque is a value whose members have no owners and no patch reaches.
	Opaque = Shape(codec.Opaque)
	// Untyped is any value.
	Untyped = Shape(codec.Untyped)
)

// CustomFuncs are the functions of a Custom. They must not change a value besides the one that they are told to change, and may be
// called from any goroutine. A nil function stands for what the JSON of the type says.
type CustomFuncs[T any] struct {
	Shape Shape
	// Copy returns a deep copy of a value. Nil means that an assignment is one.
	Copy func(v *T) T
	// Tree returns what the JSON of a value decodes to.
	Tree func(v *T) any
	// Equal reports whether two values have the same JSON.
	Equal func(v, w *T) bool
	// Settle makes a value ready to be shared: afterwards its methods only read it. Such a type has Copy, too.
	Settle func(v *T)
}

// NewCustom returns the Custom with these functions.
func NewCustom[T any](f CustomFuncs[T]) *Custom {
	return codec.NewCustom(codec.CustomFuncs[T]{Kind: codec.Kind(f.Shape), Copy: f.Copy, Tree: f.Tree, Equal: f.Equal, Settle: f.Settle})
}

// ValueOf returns an object as a *T, or nil if it has another Go type. For an object of a Library, T is its type; a stored object must not
// be changed.
func ValueOf[T any](o meta.Object) *T {
	t, _ := Value(o).(*T)
	return t
}

// Member returns the value of a member of an object of a Library as its JSON decodes, or nil. path has the names of the members that lead to it.
func Member(o meta.Object, path ...string) any {
	if b, ok := o.(*codec.Box); ok {
		return b.Member(path...).Tree()
	}
	return nil
}

// Value returns an object as a pointer to its Go type: o itself, or the value of a Library behind it. It is nil for nil.
func Value(o meta.Object) any {
	if b, ok := o.(*codec.Box); ok {
		return b.Value()
	}
	return o
}
