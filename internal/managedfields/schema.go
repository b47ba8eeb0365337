package managedfields

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/kubecoord/kubecoord/internal/codec"
)

// schema is the type of a value, and for a list how its items are identified. The
// zero schema is for values that no type declares.
type schema struct {
	typ *codec.Type
	// list is the field that holds a list. It is nil for a list of Go values that is an item of
	// a list or map. Such a list is atomic.
	list *codec.Field
}

func schemaOf(f *codec.Field) schema { return schema{f.Type, f} }

// schemaIn returns the schema of values in a list or map.
func schemaIn(t *codec.Type) schema {
	if t == nil {
		return schema{}
	}
	return schema{t, t.AsField}
}

// member returns the schema of a member. declared reports whether it is a field of a
// struct.
func (s schema) member(name string) (_ schema, declared bool) {
	switch {
	case s.typ == nil:
	case s.typ.Kind == codec.Struct:
		f, elem := s.typ.Member(name)
		if f != nil {
			return schemaOf(f), true
		}
		return schemaIn(elem), false
	case s.typ.Kind == codec.Untyped:
		return s, false
	case s.typ.Kind == codec.Map:
		return schemaIn(s.typ.Elem), false
	}
	return schema{}, false
}

// below returns the schema of a member, which f declares, if it is not nil.
func (s schema) below(name string, f *codec.Field) schema {
	if f != nil {
		return schemaOf(f)
	}
	out, _ := s.member(name)
	return out
}

func (s schema) item() schema { return schemaIn(s.typ.Elem) }

func (s schema) atStep(st step) schema {
	if s.typ != nil && s.typ.Kind == codec.List {
		return s.item()
	}
	below, _ := s.member(st.name)
	return below
}

func (s schema) isList() bool { return s.typ != nil && s.typ.Kind == codec.List }

// isObject reports whether values are objects, or null.
func (s schema) isObject() bool {
	return s.typ != nil && s.typ.Kind != codec.List && s.typ.Kind != codec.Scalar
}

// atomic reports whether values are owned as a whole.
func (s schema) atomic() bool {
	switch {
	case s.typ == nil:
		return true
	case s.typ.Kind == codec.List:
		return s.list == nil || s.list.ListType == "atomic"
	case s.typ.Kind == codec.Struct, s.typ.Kind == codec.Map:
		return s.typ.Atomic
	}
	return s.typ.Kind != codec.Untyped
}

// untyped reports whether values may have any form. Objects in them are not atomic;
// all other values are.
func (s schema) untyped() bool { return s.typ != nil && s.typ.Kind == codec.Untyped }

// isMap reports whether values are objects with members of one type, such that a Go value has no others.
func (s schema) isMap() bool { return s.typ != nil && s.typ.Kind == codec.Map && s.typ.Schema == nil }

// isLeaf reports whether two values of the schema are compared as a whole: they are
// atomic, or both are empty. Either may be none.
func (s schema) isLeaf(l, r codec.Value) bool {
	return s.atomic() || l.IsEmpty() && r.IsEmpty()
}

// members returns v if it is an object, and nil otherwise.
func members(v any) map[string]any {
	object, _ := v.(map[string]any)
	return object
}

// isObject reports whether a value that is not atomic is an object.
func isObject(v codec.Value) bool { return !v.IsTree() || members(v.Tree()) != nil }

// isObjectOrNull reports whether a value, which may be absent, is an object or
// null.
func isObjectOrNull(v any) bool {
	_, isObject := v.(map[string]any)
	return isObject || v == nil
}

// step returns the step that identifies an item of a list that is not atomic.
func (s schema) step(v codec.Value) (step, error) {
	if s.list.ListType == "map" {
		return s.keyStep(v)
	}
	item := v.Tree()
	switch item.(type) {
	case map[string]any:
		return step{}, errors.New("associative list without keys has an element that's a map type")
	case []any:
		return step{}, errors.New("not supported: associative list with lists as elements")
	case nil:
		return step{}, errors.New("associative list without keys has an element that's an explicit null")
	}
	return step{kind: valueStep, value: item}, nil
}

func (s schema) keyStep(item codec.Value) (step, error) {
	switch {
	case !item.IsTree():
	case item.Tree() == nil:
		return step{}, errors.New("associative list with keys may not have a null element")
	case members(item.Tree()) == nil:
		return step{}, errors.New("associative list with keys may not have non-map elements")
	}
	ks := make(keys, 0, len(s.list.ListMapKeys))
	for _, name := range s.list.ListMapKeys {
		member := item.Member(name)
		value, ok := member.Tree(), member.Exists()
		if !ok {
			value, ok = s.defaultKey(name)
		}
		if ok {
			ks = append(ks, key{name, value})
		}
	}
	if len(ks) == 0 {
		return step{}, fmt.Errorf("associative list with keys has an element that omits all key fields %q (and doesn't have default values for any key fields)", s.list.ListMapKeys)
	}
	slices.SortFunc(ks, func(a, b key) int { return strings.Compare(a.name, b.name) })
	return step{kind: keyStep, value: ks}, nil
}

// defaultKey returns the value of a key that an item does not have: the default, or the
// zero value of a Go field that is always written.
func (s schema) defaultKey(name string) (any, bool) {
	f := s.typ.Elem.Field(name)
	if f != nil && f.Default != nil {
		return f.Default, true
	}
	if f == nil || f.Pointer || f.OmitEmpty || f.Type.Kind != codec.Scalar {
		return nil, false
	}
	switch f.Type.ScalarKind() {
	case codec.String:
		return "", true
	case codec.Numeric:
		return int64(0), true
	case codec.Boolean:
		return false, true
	}
	return nil, false
}

// identifiesItems reports whether each item of a list has a step in every Go object. In a tree it may have none.
func (s schema) identifiesItems() bool {
	return s.typ.Schema == nil && (s.typ.Elem.Kind == codec.Scalar || slices.ContainsFunc(s.list.ListMapKeys, func(name string) bool {
		_, ok := s.defaultKey(name)
		return ok
	}))
}

// listItem is an item of a list that is not atomic, and its step.
type listItem struct {
	step  step
	value codec.Value
}

// items returns the items of a list.
func (s schema) items(list codec.Value) ([]listItem, error) {
	items := make([]listItem, list.Len())
	for i := range items {
		v := list.Item(i)
		st, err := s.step(v)
		if err != nil {
			return nil, fmt.Errorf("element %d: %w", i, err)
		}
		items[i] = listItem{st, v}
	}
	return items, nil
}

// sortedItems is items in the order of their steps.
func (s schema) sortedItems(list codec.Value) ([]listItem, error) {
	items, err := s.items(list)
	slices.SortStableFunc(items, func(a, b listItem) int { return compareSteps(&a.step, &b.step) })
	return items, err
}

// cutStep divides sorted items into the items that begin the list and have a step, and the others.
func cutStep(items []listItem, st step) (with, others []listItem) {
	n := 0
	for n < len(items) && compareSteps(&items[n].step, &st) == 0 {
		n++
	}
	return items[:n], items[n:]
}
