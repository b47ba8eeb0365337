package kind

import (
	"reflect"

	"github.com/kubecoord/kubecoord/internal/codec"
	"github.com/kubecoord/kubecoord/store/meta"
	"github.com/kubecoord/kubecoord/store/schema"
)

// Library handles the Go types of another library, such as k8s.io/api. Their objects stay values of these types, from the body of a
// request to the watcher. A Library may be used from any goroutine.
type Library struct{ types codec.Library }

// NewLibrary returns a Library. same maps types of the library to types of this module with the same members and memory layout, such as
// metav1.ObjectMeta to meta.ObjectMeta: the store then works on the metadata of an object in place. custom has functions for types whose
// JSON methods are not enough. The maps must not be changed afterwards.
func NewLibrary(same map[reflect.Type]reflect.Type, custom map[reflect.Type]Custom) *Library {
	of := make(map[reflect.Type]*codec.Custom, len(custom))
	for t, c := range custom {
		of[t] = c.custom()
	}
	return &Library{codec.Library{Same: same, Custom: of}}
}

// Type is a Go type of a Library; [Library.Compile] returns one. Its methods take and return the objects that the functions of a
// Descriptor[meta.Object] get; see [ValueOf]. They may be called from any goroutine.
type Type interface {
	// New returns an empty object.
	New() any
	// Copy returns a deep copy of an object.
	Copy(obj any) any
	// CopyMember sets a member of dst to a copy of the same member of src. If src is nil, it removes the member. name is the
	// name of the member in JSON.
	CopyMember(dst, src any, name string)
	// EqualMember reports whether two objects have the same value in a member. name is its name in JSON.
	EqualMember(a, b any, name string) bool
}

// Compile returns the Type for a struct of the library. The struct embeds the types of the library that have the memory layout of
// meta.TypeMeta and meta.ObjectMeta. s says what the struct tags do not: which lists and maps are atomic, the keys of lists, and
// defaults. Each type in a struct is compiled once. The error names the first field that cannot be handled, or the part of the metadata
// that has another layout.
func (l *Library) Compile(t reflect.Type, s *schema.Schema) (Type, error) {
	typ, err := l.types.Compile(t, s)
	if err != nil {
		return nil, err
	}
	return typ, nil
}

// Custom has the functions that a Library uses for a type with JSON methods of its own: [CustomFuncs] of the type.
type Custom interface{ custom() *codec.Custom }

// Shape is what the JSON of a type with JSON methods may be.
type Shape int

// The values of Shape.
const (
	// Scalar is a string, a number or a boolean.
	Scalar Shape = iota
	// Opaque is any value, with one owner: its members have no owners of their own.
	Opaque
	// Untyped is any value, in which each member may have an owner of its own.
	Untyped
)

// kind returns the Shape as package codec has it.
func (s Shape) kind() codec.Kind {
	switch s {
	case Opaque:
		return codec.Opaque
	case Untyped:
		return codec.Untyped
	}
	return codec.Scalar
}

// CustomFuncs are the functions of a Custom. Only Settle may change its argument. The functions may be called from any goroutine. A nil
// Tree or Equal is replaced by what the JSON methods of the type say.
type CustomFuncs[T any] struct {
	// Shape is what the JSON of a value may be.
	Shape Shape
	// Copy returns a deep copy of a value. Nil: an assignment makes a deep copy.
	Copy func(v *T) T
	// Tree returns what the JSON of a value decodes to.
	Tree func(v *T) any
	// Equal reports whether two values have the same JSON.
	Equal func(v, w *T) bool
	// Settle makes a value safe to share, for a type whose methods write into the value: afterwards they only read it. Settle requires
	// Copy. Nil: values are safe to share as they are.
	Settle func(v *T)
}

func (f CustomFuncs[T]) custom() *codec.Custom {
	return codec.NewCustom(f.Shape.kind(), f.Copy, f.Tree, f.Equal, f.Settle)
}

// ValueOf returns an object as a *T, or nil if it has another Go type. For an object of a Library, T is the type of the library. The
// result shares memory with the object; do not change the result for a stored object.
func ValueOf[T any](o meta.Object) *T {
	t, _ := Value(o).(*T)
	return t
}

// Member returns a member of an object of a Library as its JSON decodes, or nil if the object does not have it. path has the names in JSON
// of the members that lead to it. For other objects it returns nil.
func Member(o meta.Object, path ...string) any {
	if b, ok := o.(*codec.Box); ok {
		return b.Member(path...).Tree()
	}
	return nil
}

// Value returns an object as a pointer to its Go type: for an object of a Library a pointer to the library's type, else o itself. Value of
// nil is nil.
func Value(o meta.Object) any {
	if b, ok := o.(*codec.Box); ok {
		return b.Value()
	}
	return o
}
