package openapi

import (
	"maps"
	"slices"
	"strings"

	"github.com/kubecoord/kubecoord/store/schema"
)

// This file makes definitions from schemas. Built-in kinds publish what upstream's generator finds in their Go types, so the
// extensions of custom resources are left out.

func (r Resource) definition(gv GroupVersion) string {
	if s := r.schema(); s != nil && s.Name != "" {
		return s.Name
	}
	return gv.definition(r.Kind)
}

// listDefinition is definition for lists.
func (r Resource) listDefinition(gv GroupVersion) string {
	return strings.TrimSuffix(r.definition(gv), r.Kind) + r.ListKind
}

// schema returns the schema of the objects, or nil for a Go type and for objects of any form.
func (r Resource) schema() *schema.Schema { return r.Type.TreeSchema() }

// defineTree makes the definition of a kind with a schema. The members that all kinds have come from the Go type, and only
// their descriptions from the schema.
func (c *collector) defineTree(name string, r Resource, gv GroupVersion) {
	s := r.schema()
	properties := slices.Clone(s.Properties)
	own := *s
	own.Properties = slices.DeleteFunc(properties, func(p schema.Property) bool { return r.Type.Field(p.Name) != nil })
	c.definitions[name] = object{}
	def := c.tree(&own, r.Native)
	def.addTypeMeta()
	metadata := c.member(r.Type.Field("metadata"), gv, nil)
	if !r.Native {
		delete(metadata, "default")
	}
	isRequired := slices.ContainsFunc(s.Properties, func(p schema.Property) bool { return p.Name == "metadata" && p.Required })
	def.add("metadata", metadata, isRequired)
	for _, p := range s.Properties {
		if r.Type.Field(p.Name) != nil {
			def.property(p.Name).describe(p.Description)
		}
	}
	maps.Copy(c.definitions[name], def)
}

// use returns the schema of a value: a reference to the definition, if there is one.
func (c *collector) use(s *schema.Schema, native bool) object {
	switch {
	case s == nil:
		return object{}
	case s.Name == "":
		return c.tree(s, native)
	case c.definitions[s.Name] != nil:
	case c.kinds[s.Name] != nil:
		c.kinds[s.Name]()
	default:
		c.definitions[s.Name] = object{} // set before its members are, as they may refer to it
		maps.Copy(c.definitions[s.Name], c.tree(s, native))
	}
	return ref(s.Name)
}

func (c *collector) tree(s *schema.Schema, native bool) object {
	o := object{}
	for name, v := range s.Extra {
		if name != "$ref" && name != "items" && name != "properties" && name != "additionalProperties" && name != "required" {
			o[name] = published(v)
		}
	}
	o.describe(s.Description)
	o.set("type", s.Type, s.Type != "")
	o.set("default", published(s.Default), s.Default != nil)
	o.set("nullable", true, s.Nullable && !native)
	o.set(openExtension, true, s.PreserveUnknown && !native)
	o.set(intOrStringExtension, true, s.IntOrString && !native)
	o.set("x-kubernetes-embedded-resource", true, s.Embedded)
	o.set("x-kubernetes-map-type", "atomic", s.Atomic && s.Type != "")
	o.set("x-kubernetes-list-type", s.ListType, s.ListType != "")
	o.set("x-kubernetes-list-map-keys", s.ListMapKeys, len(s.ListMapKeys) > 0)
	if s.IntOrString && native {
		o["format"], o["oneOf"] = "int-or-string", []object{{"type": "integer"}, {"type": "string"}}
	}
	if s.Items != nil {
		o["items"] = c.use(s.Items, native)
	}
	if s.Additional != nil {
		o["additionalProperties"] = c.use(s.Additional, native)
	}
	for _, p := range s.Properties {
		o.add(p.Name, c.property(p, native), p.Required)
	}
	if s.Embedded {
		o.addTypeMeta()
		o.add("metadata", member(ref(metaPrefix+"ObjectMeta")), false)
		required, _ := o["required"].([]string)
		missing := slices.DeleteFunc([]string{"kind", "apiVersion"}, func(name string) bool { return slices.Contains(required, name) })
		o["required"] = append(required, missing...)
	}
	return o
}

func (c *collector) property(p schema.Property, native bool) object {
	use := c.use(p.Schema, native)
	o := member(use)
	o.describe(p.Description)
	o.set("x-kubernetes-patch-strategy", p.PatchStrategy, p.PatchStrategy != "")
	o.set("x-kubernetes-patch-merge-key", p.PatchMergeKey, p.PatchMergeKey != "")
	o.set("default", published(p.Default), p.Default != nil)
	if use["$ref"] != nil && len(o) == 1 {
		return use // nothing is beside the reference
	}
	return o
}

// published returns a tree with objects as the documents have them.
func published(v any) any {
	switch v := v.(type) {
	case map[string]any:
		o := object{}
		for name, member := range v {
			o[name] = published(member)
		}
		return o
	case []any:
		items := make([]any, len(v))
		for i, item := range v {
			items[i] = published(item)
		}
		return items
	}
	return v
}

// v2Tree is v2 for the schema of a member or a value. As in custom resources, a client must not check what version 2 cannot
// say: a value that may be null has any form, and so has an object with members of any name (upstream:
// apiextensions-apiserver, controller/openapi/v2).
func (o object) v2Tree() object {
	out := o.v2()
	isNullable, isOpen := o["nullable"] == true, o[openExtension] == true
	if isOpen {
		out[openExtension] = true
	}
	if isNullable || isOpen {
		delete(out, "items")
		delete(out, "properties")
	}
	if isNullable || isOpen && o["type"] == "object" || o["type"] == "array" && out["items"] == nil {
		delete(out, "type")
	}
	return out
}

// requiredV2 returns the required members that may not be null.
func (o object) requiredV2() []string {
	names, _ := o["required"].([]string)
	values, _ := o["additionalProperties"].(object)
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool {
		return values["nullable"] == true || o.property(name)["nullable"] == true
	})
}
