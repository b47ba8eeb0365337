package crd

import (
	"reflect"
	"strings"

	"k8s.io/apiextensions-apiserver/pkg/generated/openapi"
	"k8s.io/kube-openapi/pkg/common"
	"k8s.io/kube-openapi/pkg/validation/spec"

	"github.com/kubecoord/kubecoord/store/schema"
)

// published makes the schemas of Go types from the OpenAPI definitions that a real server publishes. The definitions do not
// have the order of the members, which the Go types have.
type published struct {
	definitions map[string]common.OpenAPIDefinition
	schemas     map[string]*schema.Schema
}

// publishedSchema returns the schema of the Go type of a definition.
func publishedSchema(name string, goType reflect.Type) *schema.Schema {
	p := &published{schemas: map[string]*schema.Schema{}}
	p.definitions = openapi.GetOpenAPIDefinitions(func(name string) spec.Ref { return spec.MustCreateRef("#/" + name) })
	return p.named(name, goType)
}

// named returns the schema of a definition.
func (p *published) named(name string, goType reflect.Type) *schema.Schema {
	if s := p.schemas[name]; s != nil {
		return s
	}
	s := &schema.Schema{Name: name}
	p.schemas[name] = s // set before its members are, which may refer to it
	def := p.definitions[name].Schema
	p.fill(s, &def, goType)
	return s
}

// of returns the schema of a value, with the description of the member.
func (p *published) of(of *spec.Schema, goType reflect.Type) *schema.Schema {
	if ref := of.Ref.String(); ref != "" {
		s := p.named(strings.TrimPrefix(ref, "#/"), goType)
		if of.Default != nil { // a struct, which cannot contain itself
			s = new(*s)
			s.Default = of.Default
		}
		return s
	}
	s := new(schema.Schema)
	p.fill(s, of, goType)
	return s
}

// fill sets the members of a schema.
func (p *published) fill(s *schema.Schema, of *spec.Schema, goType reflect.Type) {
	for goType.Kind() == reflect.Pointer {
		goType = goType.Elem()
	}
	s.Description, s.Nullable, s.Default = of.Description, of.Nullable, of.Default
	if len(of.Type) > 0 {
		s.Type = of.Type[0]
	}
	if of.Format != "" {
		s.Extra = map[string]any{"format": of.Format}
	}
	s.ListType, _ = of.Extensions.GetString("x-kubernetes-list-type")
	s.ListMapKeys, _ = of.Extensions.GetStringSlice("x-kubernetes-list-map-keys")
	mapType, _ := of.Extensions.GetString("x-kubernetes-map-type")
	s.Atomic = mapType == "atomic"
	switch {
	case of.Items != nil:
		s.Items = p.of(of.Items.Schema, goType.Elem())
	case of.AdditionalProperties != nil:
		s.Additional = p.of(of.AdditionalProperties.Schema, goType.Elem())
	case goType.Kind() == reflect.Struct:
		p.members(s, of, goType)
	}
}

// members adds the members of a struct in the order of its fields.
func (p *published) members(s *schema.Schema, of *spec.Schema, goType reflect.Type) {
	for f := range goType.Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "" && f.Anonymous {
			p.members(s, of, f.Type)
			continue
		}
		member, ok := of.Properties[name]
		if !ok {
			continue
		}
		property := schema.Property{Name: name, Schema: p.of(&member, f.Type)}
		if property.Schema.Name != "" {
			property.Description = member.Description
		}
		for _, r := range of.Required {
			property.Required = property.Required || r == name
		}
		s.Properties = append(s.Properties, property)
	}
}
