package codec

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"unsafe"
)

// This file does what apiextensions-apiserver does to the objects of a schema that it reads (apiserver/schema: pruning,
// defaulting and objectmeta).

// Prune removes the members that the schema does not describe, and each null that it does not allow, unless there is a
// default for it. obj is a non-nil pointer to the compiled struct. If strict is set, strictErrs reports unknown members. The
// error is about the metadata of an embedded object.
func (t *Type) Prune(obj any, strict bool) (strictErrs []error, err error) {
	return t.prune(t.check(obj), strict)
}

func (t *Type) prune(p unsafe.Pointer, strict bool) (strictErrs []error, err error) {
	if t.tree == nil {
		return nil, nil
	}
	w := &pruner{strict: strict}
	w.value(t.Undeclared(), *t.rest(p), false)
	slices.Sort(w.unknown)
	slices.Sort(w.metadata)
	for _, path := range append(w.unknown, w.metadata...) {
		strictErrs = append(strictErrs, errors.New(`unknown field "`+path+`"`))
	}
	return strictErrs, w.err
}

// pruner prunes one object.
type pruner struct {
	strict            bool
	path              []byte // of the current value, with a dot before each member
	place             []byte // the path as upstream's field.Path: [key] in a map
	unknown, metadata []string
	err               error // the first one
}

// value prunes a value. t is nil if nothing describes the value. kept reports whether its unknown members stay in any case.
func (w *pruner) value(t *Type, v any, kept bool) {
	kept = kept || t.preserves()
	n, at := len(w.path), len(w.place)
	switch v := v.(type) {
	case map[string]any:
		for name, member := range v {
			w.path = append(append(w.path, '.'), name...)
			f, elem := t.described(name)
			if f == nil && elem != nil {
				w.place = append(append(append(w.place, '['), name...), ']')
			} else {
				w.place = append(append(w.place, '.'), name...)
			}
			w.member(f, elem, v, name, member, kept)
			w.path, w.place = w.path[:n], w.place[:at]
		}
	case []any:
		elem := t.items()
		for i, item := range v {
			if elem == nil && kept {
				break
			}
			w.path = append(strconv.AppendInt(append(w.path, '['), int64(i), 10), ']')
			w.place = append(w.place, w.path[n:]...)
			w.value(elem, item, kept)
			w.path, w.place = w.path[:n], w.place[:at]
		}
	}
}

// member prunes a member of an object, with what the schema says about it.
func (w *pruner) member(f *Field, elem *Type, object map[string]any, name string, v any, kept bool) {
	switch {
	case f != nil && f.Property == nil:
		w.embedded(f, object, v)
	case elem != nil && v == nil && elem.Schema != nil && elem.Schema.Default == nil && !elem.Schema.Nullable:
		delete(object, name)
	case elem != nil:
		w.value(elem, v, false)
	case !kept:
		delete(object, name)
		if w.strict {
			w.unknown = append(w.unknown, string(w.path[1:]))
		}
	}
}

// embedded replaces a member that every API object has by its normal form.
func (w *pruner) embedded(f *Field, object map[string]any, v any) {
	if f.Name != "metadata" {
		if _, ok := v.(string); !ok && w.err == nil {
			w.err = w.invalid(v, "must be a string")
		}
		return
	}
	if v == nil {
		object[f.Name] = map[string]any{}
		return
	}
	into := reflect.New(f.Type.goType)
	text, err := json.Marshal(v)
	var unknown []error
	if err == nil {
		unknown, err = unmarshal(text, into.Interface(), w.strict)
	}
	if err != nil {
		if w.err == nil {
			w.err = w.invalid(v, err.Error())
		}
		return
	}
	for _, problem := range unknown {
		var name string
		if _, err := fmt.Sscanf(problem.Error(), "unknown field %q", &name); err == nil {
			w.metadata = append(w.metadata, string(w.place[1:])+"."+name)
		}
	}
	object[f.Name] = f.Type.structToTree(into.UnsafePointer(), true)
}

func (w *pruner) invalid(v any, detail string) error {
	text, _ := json.Marshal(v) // nothing for a value without JSON
	return fmt.Errorf("%s: Invalid value: %s: %s", w.place[1:], text, detail)
}

// preserves reports whether members that the schema does not describe stay.
func (t *Type) preserves() bool {
	return t != nil && t.Schema != nil && (t.Schema.PreserveUnknown || t.Schema.Type == "" && !t.Schema.IntOrString)
}

// described returns what the schema says about a member: the field, if there is one, and the type.
func (t *Type) described(name string) (*Field, *Type) {
	if t == nil || t.Schema == nil {
		return nil, nil
	}
	if f := t.Field(name); f != nil {
		return f, f.Type
	}
	if t.Schema.Additional != nil {
		return nil, t.Elem
	}
	return nil, nil
}

// items returns the type of the items of a list.
func (t *Type) items() *Type {
	if t == nil || t.Kind != List || t.Schema.Items == nil {
		return nil
	}
	return t.Elem
}

// Default fills in the defaults of the schema, also for nulls that it does not allow, and reports whether there were any to fill
// in. obj is a non-nil pointer to the compiled struct.
func (t *Type) Default(obj any) (filled bool) {
	if t.tree == nil {
		return false
	}
	rest := t.rest(t.check(obj))
	if *rest == nil {
		*rest = map[string]any{}
	}
	return t.Undeclared().setDefaults(*rest)
}

func (t *Type) setDefaults(v any) (filled bool) {
	switch v := v.(type) {
	case map[string]any:
		for _, f := range t.Fields {
			if have, ok := v[f.Name]; f.Default != nil && (!ok || have == nil && !f.Type.Schema.Nullable) {
				v[f.Name], filled = copyTree(f.Default), true
			}
		}
		for name, member := range v {
			if f, elem := t.described(name); elem != nil {
				v[name], filled = elem.defaulted(member, f != nil, filled)
			}
		}
	case []any:
		if elem := t.items(); elem != nil {
			for i, item := range v {
				v[i], filled = elem.defaulted(item, false, filled)
			}
		}
	}
	return filled
}

// defaulted returns a value with its defaults, and whether there were any to fill in, or before. declared reports whether it is the
// value of a field.
func (t *Type) defaulted(v any, declared, before bool) (_ any, filled bool) {
	if t.Schema == nil {
		return v, before
	}
	if v == nil && !declared && !t.Schema.Nullable && t.Schema.Default != nil {
		v, before = copyTree(t.Schema.Default), true
	}
	return v, t.setDefaults(v) || before
}
