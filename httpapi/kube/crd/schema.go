package crd

import (
	"encoding/json"
	"maps"
	"slices"

	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	kjson "sigs.k8s.io/json"

	"github.com/kubecoord/kubecoord/store/schema"
)

// schemaFrom returns the schema for a structural schema, which it shares memory with. A version without a structural schema
// allows any object.
func schemaFrom(s *structuralschema.Structural) *schema.Schema {
	if s == nil {
		return &schema.Schema{Type: "object", PreserveUnknown: true}
	}
	out := &schema.Schema{
		Type: s.Type, Nullable: s.Nullable, Default: s.Default.Object, Description: s.Description,
		PreserveUnknown: s.XPreserveUnknownFields, Embedded: s.XEmbeddedResource, IntOrString: s.XIntOrString,
		ListMapKeys: s.XListMapKeys, Extra: extra(s),
	}
	if s.XListType != nil {
		out.ListType = *s.XListType
	}
	if s.XMapType != nil && *s.XMapType == "atomic" {
		out.Atomic = true
	} else if s.XMapType != nil {
		if out.Extra == nil {
			out.Extra = map[string]any{}
		}
		out.Extra["x-kubernetes-map-type"] = *s.XMapType // "granular", the default
	}
	if s.Items != nil {
		out.Items = schemaFrom(s.Items)
	}
	if a := s.AdditionalProperties; a != nil && a.Structural != nil {
		out.Additional = schemaFrom(a.Structural)
	} else if a != nil && a.Bool {
		out.Additional = &schema.Schema{}
	}
	var required []string
	if s.ValueValidation != nil {
		required = s.ValueValidation.Required
	}
	out.Properties = make([]schema.Property, 0, len(s.Properties))
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		p := s.Properties[name]
		out.Properties = append(out.Properties, schema.Property{
			Name: name, Schema: schemaFrom(&p), Required: slices.Contains(required, name),
		})
	}
	return out
}

// extra returns the members of a schema that are only published.
func extra(s *structuralschema.Structural) map[string]any {
	node := structuralschema.Structural{ValueValidation: s.ValueValidation, ValidationExtensions: s.ValidationExtensions}
	node.Title, node.ExternalDocs, node.Example = s.Title, s.ExternalDocs, s.Example
	node.XIntOrString = s.XIntOrString // expands to anyOf
	if isEmpty(&node) {
		return nil
	}
	text, err := json.Marshal(node.DeepCopy().Unfold().ToKubeOpenAPI())
	if err != nil {
		return nil // cannot be: it was read from JSON
	}
	var out map[string]any
	if kjson.UnmarshalCaseSensitivePreserveInts(text, &out) != nil {
		return nil
	}
	delete(out, "required")
	delete(out, "x-kubernetes-int-or-string")
	if len(out) == 0 {
		return nil
	}
	return out
}

// isEmpty reports whether a node publishes nothing, as most nodes do not.
func isEmpty(node *structuralschema.Structural) bool {
	if v := node.ValueValidation; v != nil {
		if v.Format != "" || v.Maximum != nil || v.Minimum != nil || v.MaxLength != nil || v.MinLength != nil || v.Pattern != "" ||
			v.MaxItems != nil || v.MinItems != nil || v.UniqueItems || v.MultipleOf != nil || v.Enum != nil || v.MaxProperties != nil ||
			v.MinProperties != nil || v.AllOf != nil || v.OneOf != nil || v.AnyOf != nil || v.Not != nil || v.ExclusiveMaximum || v.ExclusiveMinimum {
			return false
		}
	}
	return len(node.XValidations) == 0 && node.Title == "" && node.ExternalDocs == nil && node.Example.Object == nil && !node.XIntOrString
}
