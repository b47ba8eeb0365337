package openapi

import (
	"cmp"
	"slices"

	"github.com/kubecoord/kubecoord/store/meta"
)

// object is a JSON object. Its members are object, []object, string, []string, bool and
// int.
type object map[string]any

// definition is a schema, independent of the version of OpenAPI.
type definition struct {
	description string
	// format is the format of a string, or "" for an object.
	format string
	fields []property
	atomic bool // whether it has one owner as a whole
	open   bool // whether other members are allowed
	// kinds are the API types with this schema.
	kinds []groupVersionKind
	// inEveryGroupVersion is a kind that has this schema in every group version, or "".
	inEveryGroupVersion string
}

// property is one member of a definition.
type property struct {
	value
	name        string
	description string
	required    bool
	zero        any // the default, or nil
	enum        []string

	listType                     string
	listMapKeys                  []string
	patchStrategy, patchMergeKey string
}

// value is the type of a member or an item.
type value struct {
	typ, format string
	ref         string      // the name of a definition
	elem        *value      // of the items of an array, or the values of an object
	inline      *definition // the definition of a Go struct without a name
}

// dialect is a version of OpenAPI for one document.
type dialect struct {
	refs     string // prefix of references to definitions
	v3       bool
	versions []meta.GroupVersion // of the document
	shared   object              // in version 2: the parameters that operations refer to by name
}

func (d dialect) ref(name string) object { return object{"$ref": d.refs + name} }

func (d dialect) definition(def *definition) object {
	if def.format != "" {
		return described(object{"type": "string", "format": def.format}, def.description)
	}
	o := described(object{"type": "object"}, def.description)
	var required []string
	properties := object{}
	fields := def.fields
	if def.open && !d.v3 {
		fields = nil // as for custom resources, so that clients do not validate them
	}
	for _, p := range fields {
		properties[p.name] = d.property(p)
		if p.required {
			required = append(required, p.name)
		}
	}
	if len(properties) > 0 {
		o["properties"] = properties
	}
	if required != nil {
		o["required"] = required
	}
	if def.open && d.v3 {
		o["x-kubernetes-preserve-unknown-fields"] = true
	}
	if def.atomic {
		o["x-kubernetes-map-type"] = "atomic"
	}
	if kinds := d.kinds(def); kinds != nil {
		o["x-kubernetes-group-version-kind"] = kinds
	}
	return o
}

// kinds returns the API types of a definition, sorted.
func (d dialect) kinds(def *definition) (out []object) {
	kinds := slices.Clone(def.kinds)
	if def.inEveryGroupVersion != "" {
		for _, gv := range append([]meta.GroupVersion{{Version: "v1"}}, d.versions...) {
			kinds = append(kinds, groupVersionKind{gv, def.inEveryGroupVersion})
		}
	}
	slices.SortFunc(kinds, func(a, b groupVersionKind) int {
		return cmp.Or(cmp.Compare(a.Group, b.Group), cmp.Compare(a.Version, b.Version), cmp.Compare(a.kind, b.kind))
	})
	for _, k := range slices.Compact(kinds) {
		out = append(out, k.tree())
	}
	return out
}

func (d dialect) property(p property) object {
	o := d.value(p.value)
	if d.v3 {
		if p.ref != "" {
			// In version 3 a reference has no other members.
			o = object{"allOf": []object{o}}
		}
		if p.zero != nil {
			o["default"] = p.zero
		}
	}
	described(o, p.description)
	if p.enum != nil {
		o["enum"] = p.enum
	}
	for name, text := range map[string]string{
		"x-kubernetes-list-type":       p.listType,
		"x-kubernetes-patch-strategy":  p.patchStrategy,
		"x-kubernetes-patch-merge-key": p.patchMergeKey,
	} {
		if text != "" {
			o[name] = text
		}
	}
	if p.listMapKeys != nil {
		o["x-kubernetes-list-map-keys"] = p.listMapKeys
	}
	return o
}

func (d dialect) value(v value) object {
	switch {
	case v.ref != "":
		return d.ref(v.ref)
	case v.inline != nil:
		return d.definition(v.inline)
	case v.typ == "array":
		return object{"type": "array", "items": d.value(*v.elem)}
	case v.elem != nil:
		return object{"type": "object", "additionalProperties": d.value(*v.elem)}
	case v.format != "":
		return object{"type": v.typ, "format": v.format}
	case v.typ == "" && d.v3: // JSON of any form
		return object{"x-kubernetes-preserve-unknown-fields": true}
	case v.typ == "":
		return object{}
	}
	return object{"type": v.typ}
}

func described(o object, text string) object {
	if text != "" {
		o["description"] = text
	}
	return o
}
