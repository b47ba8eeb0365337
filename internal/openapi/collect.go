package openapi

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/kubecoord/kubecoord/internal/codec"
	"github.com/kubecoord/kubecoord/internal/registry"
	"github.com/kubecoord/kubecoord/store/meta"
)

// collector makes definitions from Go types.
type collector struct {
	definitions map[string]*definition
	names       map[placedType]string // of definitions
	taken       map[string]bool       // names of definitions
	words       map[string]*definition
}

// placedType is a Go type in one group version. If two group versions share a Go type,
// each has its own definition.
type placedType struct {
	meta.GroupVersion
	goType reflect.Type
}

// collect returns the definitions of an API by their names.
func collect(a API) map[string]*definition {
	c := &collector{
		definitions: map[string]*definition{},
		names:       map[placedType]string{},
		taken:       map[string]bool{},
		words:       words(),
	}
	for name, def := range c.words {
		if def.isComplete() {
			c.definitions[name] = def
		}
	}
	c.definitions[metaPrefix+"WatchEvent"].inEveryGroupVersion = "WatchEvent"
	c.meta(reflect.TypeFor[meta.Status]()).kinds = unversioned("Status")
	c.meta(reflect.TypeFor[registry.DeleteOptions]()).inEveryGroupVersion = "DeleteOptions"
	c.meta(reflect.TypeFor[meta.ListMeta]())
	for _, gv := range a.GroupVersions {
		// Kinds get their names before other types.
		for _, r := range gv.Resources {
			for _, name := range []string{gv.definition(r.Kind), gv.definition(r.Kind + "List")} {
				c.taken[name] = true
			}
			c.names[placedType{gv.GroupVersion, r.Type.GoType()}] = gv.definition(r.Kind)
		}
		for _, r := range gv.Resources {
			// If two kinds share a Go type, each has its own definition.
			name := gv.definition(r.Kind)
			c.defineAs(name, r.Type, gv)
			c.definitions[name].kinds = append(c.definitions[name].kinds, groupVersionKind{gv.GroupVersion, r.Kind})
			c.definitions[gv.definition(r.Kind+"List")] = c.list(gv, r, name)
		}
	}
	return c.definitions
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

// name returns the name of the definition of a Go type.
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

// define returns the name of the definition of a struct type. If there is no definition
// yet, it makes one.
func (c *collector) define(t *codec.Type, gv GroupVersion) string {
	name := c.name(t.GoType(), gv)
	c.defineAs(name, t, gv)
	return name
}

func (c *collector) defineAs(name string, t *codec.Type, gv GroupVersion) {
	if c.definitions[name] != nil {
		return
	}
	def := &definition{}
	c.definitions[name] = def // set before its fields are, as their types may refer to it
	c.fill(def, t, gv, cmp.Or(c.words[name], &definition{}))
}

// meta returns the definition of a type of package meta. If there is none yet, it makes
// one.
func (c *collector) meta(goType reflect.Type) *definition {
	return c.definitions[c.define(codec.MustCompile(goType, "v1"), GroupVersion{})]
}

func (c *collector) fill(def *definition, t *codec.Type, gv GroupVersion, words *definition) {
	def.description, def.atomic, def.open = words.description, t.Atomic, t.Rest != nil
	for _, f := range t.Fields {
		def.fields = append(def.fields, c.property(f, gv, words.member(f.Name)))
	}
}

// property returns the property for a member. A member that is always encoded is
// required, unless it is a struct.
func (c *collector) property(f *codec.Field, gv GroupVersion, words property) property {
	isStruct := f.Type.Kind == codec.Struct && !f.Pointer
	p := property{
		name: f.Name, value: c.value(f.Type, gv),
		description: words.description, enum: words.enum,
		required: words.required || !f.Optional() && !isStruct,
		listType: f.ListType, listMapKeys: f.ListMapKeys,
		patchStrategy: f.PatchStrategy, patchMergeKey: f.PatchMergeKey,
	}
	if f.Pointer {
		return p
	}
	p.description = cmp.Or(p.description, commonNote(f.Name, f.Type.GoType()))
	switch {
	case isStruct:
		p.zero = object{}
	case !f.Optional() && !f.Type.Custom:
		p.zero = zero(p.value)
	}
	return p
}

// zero returns the default of a required member.
func zero(v value) any {
	switch v.typ {
	case "string":
		return ""
	case "integer", "number":
		return 0
	case "boolean":
		return false
	}
	return nil
}

func (c *collector) value(t *codec.Type, gv GroupVersion) value {
	switch goType := t.GoType(); {
	case t.Kind == codec.Struct && goType.Name() == "":
		def := &definition{}
		c.fill(def, t, gv, &definition{})
		return value{inline: def}
	case t.Kind == codec.Struct:
		return value{ref: c.define(t, gv)}
	case t.Kind == codec.List:
		return value{typ: "array", elem: new(c.value(t.Elem, gv))}
	case t.Kind == codec.Map:
		return value{typ: "object", elem: new(c.value(t.Elem, gv))}
	case isMeta(goType) && goType.Kind() == reflect.Struct: // Time, MicroTime, FieldsV1
		return value{ref: metaPrefix + goType.Name()}
	case t.Kind == codec.Untyped:
		return value{}
	case t.Custom:
		return value{typ: "string"}
	}
	switch t.GoType().Kind() {
	case reflect.Bool:
		return value{typ: "boolean"}
	case reflect.Int32:
		return value{typ: "integer", format: "int32"}
	case reflect.Int, reflect.Int64:
		return value{typ: "integer", format: "int64"}
	case reflect.Float64:
		return value{typ: "number", format: "double"}
	case reflect.Slice:
		return value{typ: "string", format: "byte"}
	}
	return value{typ: "string"}
}

// list returns the definition of the list of a kind. Lists have no Go type in this
// module.
func (c *collector) list(gv GroupVersion, r Resource, item string) *definition {
	return &definition{
		description: "A list of " + r.Kind + " objects.",
		kinds:       []groupVersionKind{{gv.GroupVersion, r.Kind + "List"}},
		fields: []property{
			text("apiVersion"),
			{
				name: "items", value: value{typ: "array", elem: &value{ref: item}}, required: true,
				description: "The objects, in the order of namespace and name.",
			},
			text("kind"),
			{
				name: "metadata", value: value{ref: metaPrefix + "ListMeta"}, zero: object{},
				description: "The resourceVersion at which the list was true, and how to get the rest of it.",
			},
		},
	}
}
