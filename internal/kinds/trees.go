package kinds

import (
	"slices"
	"strings"
)

// This file reads and writes objects as trees.

// Tree implements kind.Kind. The tree has kind and apiVersion.
func (k *Kind) Tree(o Object, version int) map[string]any {
	doc, named := k.form(version).typ.ToUnstructured(o), k.TypeMeta(version)
	doc["kind"], doc["apiVersion"] = named.Kind, named.APIVersion
	return doc
}

// ReadPatched reads a patched document, a tree of the types that codec.Type.ToUnstructured returns, into the shape of a
// version. It returns the problems of strict decoding, sorted by text.
func (k *Kind) ReadPatched(version int, doc map[string]any, strict bool) (Object, []error, error) {
	var more []error
	o := k.New(version)
	problems, err := k.form(version).typ.FromUnstructured(doc, o, strict)
	if err == nil {
		more, err = k.form(version).typ.Prune(o, strict)
	}
	problems = append(problems, more...)
	slices.SortFunc(problems, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
	return o, problems, err
}

// Decode decodes a JSON document into the shape of a version, as it decodes the body of a request of that kind.
func (k *Kind) Decode(version int, data []byte, strict bool) (Object, []error, error) {
	var d decoded
	err := Target{k, version}.decodeInto(&d, data, JSON, strict, nil)
	return d.object, d.strict, err
}

// normalOwn returns an object of a caller, in the own version, as a body of it would be read.
func (k *Kind) normalOwn(o Object) (Object, error) {
	if !k.info.Trees {
		return o, nil
	}
	typ := k.form(k.own).typ
	typ.Normalize(o)
	_, err := typ.Prune(o, false)
	if err != nil {
		t := Target{k, k.own}
		return nil, t.unrecognized(err, t.TypeMeta(), nil)
	}
	typ.Default(o)
	return o, nil
}
