package openapi

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/kubecoord/kubecoord/internal/codec"
	"github.com/kubecoord/kubecoord/store/meta"
)

// object is a JSON object. Its members are object, []object, string, []string, bool and int, and what the Extra of a schema
// has: int64, float64, []any and nil.
type object map[string]any

// The beginnings of references to definitions.
const (
	refsV2 = "#/definitions/"
	refsV3 = "#/components/schemas/"
)

// Extensions of schemas.
const (
	kindsExtension       = "x-kubernetes-group-version-kind"
	openExtension        = "x-kubernetes-preserve-unknown-fields"
	intOrStringExtension = "x-kubernetes-int-or-string"
)

// collector makes definitions from Go types. A definition is a schema of version 3.
type collector struct {
	definitions map[string]object
	names       map[placedType]string // of definitions
	taken       map[string]bool       // names of definitions
	words       map[string]object
	kinds       map[string]func() // that define the kinds with a schema, by the names of the definitions
}

// placedType is a Go type in one group version, which has its own definition of it.
type placedType struct {
	meta.GroupVersion
	goType reflect.Type
}

// collect returns the definitions of group versions by their names. all has the kinds that they may refer to, as a StatefulSet
// does to PersistentVolumeClaim.
func collect(versions, all []GroupVersion) map[string]object {
	c := &collector{map[string]object{}, map[placedType]string{}, map[string]bool{}, words(), map[string]func(){}}
	for _, gv := range all {
		for _, r := range gv.Resources {
			if r.schema() != nil {
				c.kinds[r.definition(gv)] = func() { c.defineKind(gv, r) }
			}
		}
	}
	for name, def := range c.words {
		if isComplete(def) {
			c.definitions[name] = def
		}
	}
	var none GroupVersion
	for _, goType := range []reflect.Type{reflect.TypeFor[meta.Status](), reflect.TypeFor[meta.DeleteOptions](), reflect.TypeFor[meta.ListMeta]()} {
		c.define(c.name(goType, none), codec.MustCompile(goType, "v1"), none)
	}
	c.definitions[metaPrefix+"Status"].setKind(meta.GroupVersion{Version: "v1"}, "Status")
	for _, gv := range versions {
		// Kinds get their names before other types.
		for _, r := range gv.Resources {
			name := r.definition(gv)
			c.taken[name], c.taken[r.listDefinition(gv)] = true, true
			c.names[placedType{gv.GroupVersion, r.Type.GoType()}] = name
			if r.schema() != nil {
				c.schema(r.Type.Field("metadata").Type, gv) // from the Go type, as a schema may have one of the same name
			}
		}
		for _, r := range gv.Resources {
			// If two kinds share a Go type, each has its own definition.
			name := c.defineKind(gv, r)
			c.definitions[r.listDefinition(gv)] = list(gv, r, name)
			c.defineBodies(r)
		}
	}
	return c.definitions
}

func (c *collector) defineKind(gv GroupVersion, r Resource) (name string) {
	name = r.definition(gv)
	if r.schema() == nil {
		c.define(name, r.Type, gv)
	} else {
		c.defineTree(name, r, gv)
	}
	c.definitions[name].setKind(gv.GroupVersion, r.Kind)
	return name
}

// defineBodies adds the kinds of the bodies of subresources.
func (c *collector) defineBodies(r Resource) {
	for _, s := range r.Subresources {
		gv := GroupVersion{GroupVersion: s.GroupVersion}
		if s.Body == nil || c.definitions[s.Body.definition(gv)] != nil {
			continue
		}
		c.taken[s.Body.definition(gv)] = true
		c.defineKind(gv, *s.Body)
	}
}

// definition returns the name of a definition in the group version. It begins with the
// package of k8s.io/api, or for groups of other projects with the reversed group.
func (gv GroupVersion) definition(name string) string {
	if gv.Group == "" || strings.HasSuffix(gv.Group, ".k8s.io") {
		first, _, _ := strings.Cut(cmp.Or(gv.Group, "core"), ".")
		return "io.k8s.api." + first + "." + gv.Version + "." + name
	}
	parts := strings.Split(gv.Group, ".")
	slices.Reverse(parts)
	return strings.Join(parts, ".") + "." + gv.Version + "." + name
}

func (c *collector) name(goType reflect.Type, gv GroupVersion) string {
	if isMeta(goType) {
		return metaPrefix + goType.Name()
	}
	place := placedType{gv.GroupVersion, goType}
	if known := c.names[place]; known != "" {
		return known
	}
	full := strings.NewReplacer("[", "_", "]", "_", ",", "_", ".", "_", "/", "_", "*", "_", " ", "_").Replace(goType.Name())
	// The name of a Go type may end with the version, which the definition's does not.
	short := strings.TrimSuffix(full, strings.ToUpper(gv.Version[:1])+gv.Version[1:])
	name := gv.definition(cmp.Or(short, full))
	for i := 1; c.taken[name]; i++ {
		name = gv.definition(full)
		if i > 1 {
			name += fmt.Sprintf("_%d", i)
		}
	}
	c.taken[name], c.names[place] = true, name
	return name
}

// define makes the definition of a struct type, unless there is one.
func (c *collector) define(name string, t *codec.Type, gv GroupVersion) {
	if c.definitions[name] == nil {
		def := object{}
		c.definitions[name] = def // set before its members are, as their types may refer to it
		c.fill(def, t, gv, c.words[name])
	}
}

// fill sets the members of the schema of a struct type. A member that is always encoded is
// required, unless it is a struct.
func (c *collector) fill(def object, t *codec.Type, gv GroupVersion, words object) {
	def["type"] = "object"
	def.describe(cmp.Or(words.description(), t.Description))
	def.set(openExtension, true, t.Rest != nil)
	def.set("x-kubernetes-map-type", "atomic", t.Atomic)
	required, _ := words["required"].([]string)
	for _, f := range t.Fields {
		isStruct := f.Type.Kind == codec.Struct && !f.Pointer
		def.add(f.Name, c.member(f, gv, words.property(f.Name)), slices.Contains(required, f.Name) || !f.Optional() && !isStruct)
	}
}

func (c *collector) member(f *codec.Field, gv GroupVersion, words object) object {
	o := member(c.schema(f.Type, gv))
	maps.Copy(o, words)
	o.set("x-kubernetes-list-type", f.ListType, f.ListType != "")
	o.set("x-kubernetes-list-map-keys", f.ListMapKeys, f.ListMapKeys != nil)
	o.set("x-kubernetes-patch-strategy", f.PatchStrategy, f.PatchStrategy != "")
	o.set("x-kubernetes-patch-merge-key", f.PatchMergeKey, f.PatchMergeKey != "")
	o.describe(cmp.Or(words.description(), f.Description))
	if f.Pointer {
		return o
	}
	o.describe(cmp.Or(o.description(), commonNote(f.Name, f.Type.GoType())))
	switch {
	case f.Type.Kind == codec.Struct:
		o["default"] = object{}
	case !f.Optional() && !f.Type.Custom:
		o.setZero()
	}
	return o
}

func (c *collector) schema(t *codec.Type, gv GroupVersion) object {
	switch goType := t.GoType(); {
	case t.Kind == codec.Struct && goType.Name() == "":
		def := object{}
		c.fill(def, t, gv, nil)
		return def
	case t.Kind == codec.Struct:
		name := c.name(goType, gv)
		c.define(name, t, gv)
		return ref(name)
	case t.Kind == codec.List:
		return object{"type": "array", "items": c.schema(t.Elem, gv)}
	case t.Kind == codec.Map:
		return object{"type": "object", "additionalProperties": c.schema(t.Elem, gv)}
	case isMeta(goType) && goType.Kind() == reflect.Struct: // Time, MicroTime, FieldsV1
		return ref(metaPrefix + goType.Name())
	case t.Kind == codec.Untyped: // JSON of any form
		return object{openExtension: true}
	case t.Custom:
		return object{"type": "string"}
	}
	switch t.GoType().Kind() {
	case reflect.Bool:
		return object{"type": "boolean"}
	case reflect.Int32:
		return object{"type": "integer", "format": "int32"}
	case reflect.Int, reflect.Int64:
		return object{"type": "integer", "format": "int64"}
	case reflect.Float64:
		return object{"type": "number", "format": "double"}
	case reflect.Slice:
		return object{"type": "string", "format": "byte"}
	}
	return object{"type": "string"}
}

// list returns the definition of the list of a kind, which has no Go type.
func list(gv GroupVersion, r Resource, item string) object {
	metadata := member(ref(metaPrefix + "ListMeta"))
	metadata.describe("The resourceVersion at which the list was true, and how to get the rest of it.")
	if r.schema() == nil || r.Native {
		metadata["default"] = object{}
	}
	def := object{"type": "object", "description": "A list of " + r.Kind + " objects."}
	def.addTypeMeta()
	def.add("items", object{
		"type": "array", "items": ref(item), "description": "The objects, in the order of namespace and name.",
	}, true)
	def.add("metadata", metadata, false)
	def.setKind(gv.GroupVersion, r.ListKind)
	return def
}

func ref(name string) object { return object{"$ref": refsV3 + name} }

// member returns a schema for a member. In version 3 a reference has no other members.
func member(schema object) object {
	if schema["$ref"] != nil {
		return object{"allOf": []object{schema}}
	}
	return schema
}

func (o object) add(name string, schema object, required bool) {
	properties, ok := o["properties"].(object)
	if !ok {
		properties = object{}
		o["properties"] = properties
	}
	properties[name] = schema
	if required {
		names, _ := o["required"].([]string)
		o["required"] = append(names, name)
	}
}

func (o object) addTypeMeta() {
	for _, name := range []string{"apiVersion", "kind"} {
		o.add(name, object{"type": "string", "description": commonNote(name, reflect.TypeFor[string]())}, false)
	}
}

// property returns the schema of a member, or nil.
func (o object) property(name string) object {
	properties, _ := o["properties"].(object)
	p, _ := properties[name].(object)
	return p
}

func (o object) description() string {
	text, _ := o["description"].(string)
	return text
}

func (o object) describe(text string) { o.set("description", text, text != "") }

func (o object) set(name string, v any, ok bool) {
	if ok {
		o[name] = v
	}
}

// setZero sets the default of a required member.
func (o object) setZero() {
	zero, ok := map[any]any{"string": "", "integer": 0, "number": 0, "boolean": false}[o["type"]]
	o.set("default", zero, ok)
}

func (o object) setKind(gv meta.GroupVersion, kind string) {
	o[kindsExtension] = []object{kindIn(gv, kind)}
}

// v2 returns a schema for version 2. It has no defaults and no alternatives; a type is the last of its alternatives.
func (o object) v2() object {
	out := object{}
	for name, v := range o {
		switch name {
		case "$ref":
			out[name] = refsV2 + strings.TrimPrefix(v.(string), refsV3)
		case "allOf":
			if refs, ok := v.([]object); ok && refs[0]["$ref"] != nil {
				maps.Copy(out, refs[0].v2())
			}
		case "items", "additionalProperties":
			out[name] = v.(object).v2Tree()
		case "properties":
			properties := object{}
			for member, schema := range v.(object) {
				properties[member] = schema.(object).v2Tree()
			}
			out[name] = properties
		case "required":
			names := o.requiredV2()
			out.set(name, names, len(names) > 0)
		case "oneOf":
			if o["type"] == nil && o["properties"] == nil && o[intOrStringExtension] == nil {
				out["type"] = "string" // of a quantity, and of what may be a number too
			}
		case "default", "nullable", "anyOf", "not", openExtension:
		default:
			out[name] = v
		}
	}
	return out
}

// v2Definition is v2 for a definition. If an object may have any members, none are listed, as for custom resources, so that
// clients do not validate them.
func (o object) v2Definition() object {
	out := o.v2()
	if o[openExtension] != nil {
		delete(out, "properties")
		delete(out, "required")
	}
	return out
}
