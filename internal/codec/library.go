package codec

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"sync"
	"unsafe"

	"github.com/kubecoord/kubecoord/store/meta"
	"github.com/kubecoord/kubecoord/store/schema"
)

// Library is the Go types of another library, such as k8s.io/api, whose objects are handled as they are. The types are compiled
// once for all its objects. It must not be changed after its first use, and may then be used from any goroutine.
type Library struct {
	// Same has for a type of the library the type of this module that has its members and its memory.
	Same map[reflect.Type]reflect.Type
	// Custom has the types with JSON methods of their own that need more than these.
	Custom map[reflect.Type]*Custom

	mu    sync.Mutex // guards types and whatever a compilation changes
	types map[described]*Type
}

// described is a Go type, and what a schema says about it where it is used.
type described struct {
	goType reflect.Type
	schema *schema.Schema
}

// Custom is what a Library says about a type with JSON methods of its own.
type Custom struct {
	kind   Kind
	detach func(p unsafe.Pointer) // nil if a copy of the memory is a copy of the value
	tree   func(p unsafe.Pointer) any
	equal  func(p, q unsafe.Pointer) bool
	settle func(p unsafe.Pointer)
}

// NewCustom returns the Custom for a Scalar, Opaque or Untyped T with these functions; package store/kind documents them. A nil
// function stands for what the JSON of the type says.
func NewCustom[T any](kind Kind, clone func(v *T) T, tree func(v *T) any, equal func(v, w *T) bool, settle func(v *T)) *Custom {
	c := &Custom{kind: kind}
	if clone != nil {
		c.detach = func(p unsafe.Pointer) { v := (*T)(p); *v = clone(v) }
	}
	if tree != nil {
		c.tree = func(p unsafe.Pointer) any { return tree((*T)(p)) }
	}
	if equal != nil {
		c.equal = func(p, q unsafe.Pointer) bool { return equal((*T)(p), (*T)(q)) }
	}
	if settle != nil {
		c.settle = func(p unsafe.Pointer) { settle((*T)(p)) }
	}
	return c
}

// Compile returns the plan for a struct of the library that embeds its types with the memory of meta.TypeMeta and
// meta.ObjectMeta. s says what tags of the library's types do not: which lists and maps are atomic, the keys of lists, and defaults.
// The error names the first field that cannot be handled.
func (l *Library) Compile(t reflect.Type, s *schema.Schema) (*Type, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.types == nil {
		l.types = map[described]*Type{}
	}
	b, err := l.boxed(t)
	if err != nil {
		return nil, err
	}
	c := &compiler{names: &names{}, lib: l, path: []string{t.Name()}}
	out := c.compile(t, s)
	if c.err != nil || out.boxed != nil {
		return out, c.err
	}
	out.boxed, out.readable, out.zero = b, true, reflect.New(t).UnsafePointer()
	out.jsonOnly = !out.ptrType.Implements(reflect.TypeFor[message]())
	for part := range reachable(out) {
		out.readable = out.readable && len(part.Fields) <= 64
		out.fallible = out.fallible || part.Custom && (part.custom == nil || part.custom.tree == nil) || part.shape == shapeFloat64
	}
	return out, nil
}

// reachable returns a type and all types in it.
func reachable(t *Type) map[*Type]bool {
	found := map[*Type]bool{}
	var walk func(t *Type)
	walk = func(t *Type) {
		if t == nil || found[t] {
			return
		}
		found[t] = true
		walk(t.Elem)
		for _, f := range t.all {
			walk(f.Type)
		}
	}
	walk(t)
	return found
}

// compileOf is compile for a type of a Library.
func (c *compiler) compileOf(t reflect.Type, s *schema.Schema) *Type {
	if same := c.lib.Same[t]; same != nil {
		if err := sameLayout(t, same); err != nil {
			c.failHere("%v", err)
		}
		t, s = same, nil
	}
	if t.Kind() != reflect.Struct && t.Kind() != reflect.Slice && t.Kind() != reflect.Map {
		s = nil // says nothing about it
	}
	key := described{t, s}
	if have := c.lib.types[key]; have != nil {
		return have
	}
	out := &Type{Name: t.Name(), goType: t, names: c.names}
	c.lib.types[key] = out
	c.compileInto(out, s)
	if s != nil && (out.Kind == Struct || out.Kind == Map) {
		out.Atomic = s.Atomic
	}
	return out
}

// describe adds to a field of a Library what its schema says.
func (c *compiler) describe(f *Field, p schema.Property) {
	f.keepsEmpty = c.lib != nil
	if p.Schema == nil {
		return
	}
	f.Default = p.Default
	if f.Default == nil {
		f.Default = p.Schema.Default
	}
	f.Default = copyTree(f.Default)
	if f.Type.Kind != List {
		return
	}
	s := p.Schema
	f.ListType, f.ListMapKeys = cmp.Or(s.ListType, "atomic"), s.ListMapKeys
	f.followPatchStrategy(s.ListType)
}

// propertyNamed returns the property of a member, which is empty if s does not have it.
func propertyNamed(s *schema.Schema, name string) schema.Property {
	for _, p := range s.Properties {
		if p.Name == name {
			return p
		}
	}
	return schema.Property{}
}

// sameLayout returns an error unless values of both types have the same memory: members of the same kinds at the same offsets.
func sameLayout(a, b reflect.Type) error {
	seen := map[[2]reflect.Type]bool{}
	var same func(a, b reflect.Type) bool
	same = func(a, b reflect.Type) bool {
		if a == b || seen[[2]reflect.Type{a, b}] {
			return true
		}
		seen[[2]reflect.Type{a, b}] = true
		if a.Kind() != b.Kind() || a.Size() != b.Size() || a.Align() != b.Align() {
			return false
		}
		switch a.Kind() {
		case reflect.Struct:
			x, y := membersOf(a), membersOf(b)
			return slices.EqualFunc(x, y, func(f, g reflect.StructField) bool {
				return f.Name == g.Name && f.Offset == g.Offset && same(f.Type, g.Type)
			})
		case reflect.Map:
			return same(a.Key(), b.Key()) && same(a.Elem(), b.Elem())
		case reflect.Pointer, reflect.Slice, reflect.Array:
			return same(a.Elem(), b.Elem())
		}
		return true
	}
	if !same(a, b) {
		return fmt.Errorf("got %v, want a type with the memory of %v", a, b)
	}
	return nil
}

// membersOf returns the fields of a struct that take memory.
func membersOf(t reflect.Type) (out []reflect.StructField) {
	for f := range t.Fields() {
		if f.Type.Size() > 0 {
			out = append(out, f)
		}
	}
	return out
}

// boxed is where the objects of a Library have their type and metadata.
type boxed struct{ named, metadata uintptr }

// boxed returns where objects of type t have their type and metadata.
func (l *Library) boxed(t reflect.Type) (*boxed, error) {
	b, found := &boxed{}, 0
	if t.Kind() != reflect.Struct {
		return nil, fmt.Errorf("got %v, want a struct", t)
	}
	for f := range t.Fields() {
		switch l.Same[f.Type] {
		case reflect.TypeFor[meta.TypeMeta]():
			b.named = f.Offset
			found++
		case reflect.TypeFor[meta.ObjectMeta]():
			b.metadata = f.Offset
			found++
		}
	}
	if found != 2 {
		return nil, fmt.Errorf("got %v, want a struct with the type and the metadata of an object", t)
	}
	return b, nil
}
