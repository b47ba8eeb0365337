// Package schema describes the form of objects that have no Go type. A Schema has the part of OpenAPI v3 that the API
// server's rules depend on: members, kinds of lists, keys of merges, defaults. What a schema only publishes, such as a
// description or a pattern, is in Extra; the rules of validation belong to the kind.
package schema

// Schema describes a value (API reference, "JSONSchemaProps"). It must not change after it was given to a kind, and may be
// shared by any number of kinds. The zero Schema allows any value.
type Schema struct {
	// Name is the name of the definition that documents and errors refer to, such as "io.k8s.api.core.v1.PodSpec", or "" for
	// a schema that is written where it is used. A schema with a name may contain itself.
	Name string
	// Type is "object", "array", "string", "integer", "number" or "boolean", or "" for a value of any type.
	Type string
	// Nullable values may be null.
	Nullable bool
	// Default is the value of a member that a writer left out, or nil: a tree of map[string]any, []any, string, int64, float64
	// and bool.
	Default any

	// Properties are the members of an object. Their order is the order in the JSON of a built-in kind; members of custom
	// resources are in the order of their names.
	Properties []Property
	// Additional is the schema of all other members of an object, or nil. An object has Properties or Additional.
	Additional *Schema
	// PreserveUnknown keeps the members that no property describes. Other objects lose them, or refuse them if a request
	// asks for strict validation.
	PreserveUnknown bool
	// Embedded objects are whole API objects with apiVersion, kind and metadata.
	Embedded bool
	// Atomic objects have one owner as a whole.
	Atomic bool

	// Items is the schema of the items of an array.
	Items *Schema
	// ListType is "atomic", "set" or "map" for arrays; "" is "atomic".
	ListType string
	// ListMapKeys are the members that identify an item of a "map".
	ListMapKeys []string

	// IntOrString values are integers or strings. Type is "".
	IntOrString bool

	// Description is the text for kubectl explain.
	Description string
	// Extra has all other members of the schema in OpenAPI documents, such as "format", "pattern" or "enum".
	Extra map[string]any
}

// Property is a member of an object.
type Property struct {
	Name   string
	Schema *Schema
	// Required members are listed as required in OpenAPI documents.
	Required bool
	// Description and Default replace the description and the default of a Schema that has a Name.
	Description string
	Default     any
	// PatchStrategy is "merge", "retainKeys" or both with a comma, and PatchMergeKey identifies the items of a list, in
	// strategic merge patches of built-in kinds.
	PatchStrategy, PatchMergeKey string
}
