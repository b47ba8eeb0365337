package openapi

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"
)

// The protobuf forms are defined in github.com/google/gnostic-models. formV2 and
// formV3 list the messages of a document with the field numbers of OpenAPIv2.proto and
// OpenAPIv3.proto.

// message holds the encoded fields of a message.
type message []byte

// form encodes a value of a tree as one kind of message: it appends the fields to m.
type form func(m *message, v any)

// field is the protobuf field that a member of an object is encoded as.
type field struct {
	name   string
	number protowire.Number
	form   form // of a field that is a message; nil for other fields
}

// members returns the form of an object with the given members. They are encoded in this
// order. Other members must be extensions, which are encoded as pairs in the field with
// the number extensions.
func members(extensions protowire.Number, fields ...field) form {
	return func(m *message, v any) {
		rest := maps.Clone(v.(object))
		for _, f := range fields {
			if v, ok := rest[f.name]; ok {
				m.field(f.number, v, f.form)
				delete(rest, f.name)
			}
		}
		for name, v := range rest {
			if !strings.HasPrefix(name, "x-") || extensions == 0 {
				panic(fmt.Sprintf("openapi: no field for %q (%T)", name, v)) // trees are only built by this package
			}
		}
		pairs(extensions, anyForm)(m, rest)
	}
}

// pairs returns the form of an object whose members are encoded as pairs of a name and
// a message, in the order of the names.
func pairs(number protowire.Number, value form) form {
	return func(m *message, v any) {
		o := v.(object)
		for _, name := range slices.Sorted(maps.Keys(o)) {
			m.message(number, o[name], func(pair *message, v any) {
				pair.field(1, name, nil)
				pair.message(2, v, value)
			})
		}
	}
}

// wrap returns the form of a message with a single field. inner is the form of that
// field.
func wrap(number protowire.Number, inner form) form {
	return func(m *message, v any) { m.field(number, v, inner) }
}

// either returns the form of a message with one of two fields: own for an object, or
// reference for a reference.
func either(own protowire.Number, inner form, reference protowire.Number) form {
	return func(m *message, v any) {
		if ref, ok := v.(object)["$ref"]; ok {
			m.message(reference, ref, wrap(1, nil))
		} else {
			m.message(own, v, inner)
		}
	}
}

// anyForm is the form of an Any, which holds a value as YAML. JSON is valid YAML.
func anyForm(m *message, v any) { m.field(2, string(encode(v)), nil) }

// message appends a field that is a message.
func (m *message) message(number protowire.Number, v any, inner form) {
	var fields message
	inner(&fields, v)
	*m = protowire.AppendTag(*m, number, protowire.BytesType)
	*m = protowire.AppendBytes(*m, fields)
}

// field appends a field, once for each item of a list.
func (m *message) field(number protowire.Number, v any, inner form) {
	switch v := v.(type) {
	case []object:
		for _, item := range v {
			m.field(number, item, inner)
		}
		return
	case []string:
		for _, item := range v {
			m.field(number, item, inner)
		}
		return
	}
	if inner != nil {
		m.message(number, v, inner)
		return
	}
	switch v := v.(type) {
	case string:
		*m = protowire.AppendTag(*m, number, protowire.BytesType)
		*m = protowire.AppendString(*m, v)
	case bool:
		*m = protowire.AppendTag(*m, number, protowire.VarintType)
		*m = protowire.AppendVarint(*m, protowire.EncodeBool(v))
	case int: // a double of OpenAPI
		*m = protowire.AppendTag(*m, number, protowire.Fixed64Type)
		*m = protowire.AppendFixed64(*m, math.Float64bits(float64(v)))
	default:
		panic(fmt.Sprintf("openapi: no form for a %T", v)) // trees are only built by this package
	}
}

// formV2 returns the form of a Document of OpenAPIv2.proto. Members are in the
// order of their names, as in JSON.
func formV2() form {
	var schema form
	inner := func(m *message, v any) { schema(m, v) } // for schemas in a schema
	schema = members(31,
		field{"$ref", 1, nil},
		field{"additionalProperties", 21, wrap(1, inner)},
		field{"description", 4, nil},
		field{"enum", 20, anyForm},
		field{"format", 2, nil},
		field{"items", 23, wrap(1, inner)},
		field{"properties", 25, pairs(1, inner)},
		field{"required", 19, nil},
		field{"type", 22, wrap(1, nil)},
	)
	parameter := parameterV2(schema)
	parameters := either(1, parameter, 2)
	operation := members(13,
		field{"consumes", 7, nil},
		field{"description", 3, nil},
		field{"operationId", 5, nil},
		field{"parameters", 8, parameters},
		field{"produces", 6, nil},
		field{"responses", 9, pairs(1, wrap(1, members(0,
			field{"description", 1, nil},
			field{"schema", 2, wrap(1, schema)},
		)))},
		field{"schemes", 10, nil},
		field{"tags", 1, nil},
	)
	pathItem := members(10,
		field{"delete", 5, operation},
		field{"get", 2, operation},
		field{"parameters", 9, parameters},
		field{"patch", 8, operation},
		field{"post", 4, operation},
		field{"put", 3, operation},
	)
	return members(16,
		field{"definitions", 9, pairs(1, schema)},
		field{"info", 2, members(0, field{"title", 1, nil}, field{"version", 2, nil})},
		field{"parameters", 10, pairs(1, parameter)},
		field{"paths", 8, pairs(2, pathItem)},
		field{"swagger", 1, nil},
	)
}

// parameterV2 returns the form of a Parameter. It depends on the parameter's member "in".
func parameterV2(schema form) form {
	body := members(6,
		field{"description", 1, nil},
		field{"in", 3, nil},
		field{"name", 2, nil},
		field{"required", 4, nil},
		field{"schema", 5, schema},
	)
	head := []field{{"description", 3, nil}, {"in", 2, nil}, {"name", 4, nil}, {"required", 1, nil}}
	query := members(0, append(head[:4:4], field{"type", 6, nil}, field{"uniqueItems", 20, nil})...)
	path := members(0, append(head[:4:4], field{"type", 5, nil}, field{"uniqueItems", 19, nil})...)
	return func(m *message, v any) {
		switch in := v.(object)["in"]; in {
		case "body":
			m.message(1, v, body)
		case "query":
			m.message(2, v, wrap(3, query))
		case "path":
			m.message(2, v, wrap(4, path))
		default:
			panic(fmt.Sprintf("openapi: no form for a parameter in %q", in)) // trees are only built by this package
		}
	}
}

// formV3 returns the form of a Document of OpenAPIv3.proto. Members are in the
// order of their names, as in JSON, except those of a response.
func formV3() form {
	var schema form
	// schemas is the form of a schema or a reference to one.
	schemas := either(1, func(m *message, v any) { schema(m, v) }, 2)
	schema = members(36,
		field{"additionalProperties", 32, wrap(1, schemas)},
		field{"allOf", 26, schemas},
		field{"default", 33, defaultV3},
		field{"description", 34, nil},
		field{"enum", 24, anyForm},
		field{"format", 35, nil},
		field{"items", 30, wrap(1, schemas)},
		field{"properties", 31, pairs(1, schemas)},
		field{"required", 23, nil},
		field{"type", 25, nil},
		field{"uniqueItems", 20, nil},
	)
	content := pairs(1, members(0, field{"schema", 1, schemas}))
	parameters := wrap(1, members(14,
		field{"description", 3, nil},
		field{"in", 2, nil},
		field{"name", 1, nil},
		field{"required", 4, nil},
		field{"schema", 10, schemas},
	))
	operation := members(13,
		field{"description", 3, nil},
		field{"operationId", 5, nil},
		field{"parameters", 6, parameters},
		field{"requestBody", 7, wrap(1, members(4, field{"content", 2, content}, field{"required", 3, nil}))},
		field{"responses", 8, pairs(2, wrap(1, members(0, field{"description", 1, nil}, field{"content", 3, content})))},
		field{"tags", 1, nil},
	)
	pathItem := members(14,
		field{"delete", 7, operation},
		field{"get", 4, operation},
		field{"parameters", 13, parameters},
		field{"patch", 10, operation},
		field{"post", 6, operation},
		field{"put", 5, operation},
	)
	return members(9,
		field{"components", 5, members(0, field{"schemas", 1, pairs(1, schemas)})},
		field{"info", 2, members(0, field{"title", 1, nil}, field{"version", 6, nil})},
		field{"openapi", 1, nil},
		field{"paths", 4, pairs(1, pathItem)},
	)
}

// defaultV3 is the form of a DefaultType. Like gnostic it encodes {} as an empty message.
func defaultV3(m *message, v any) {
	switch v.(type) {
	case int:
		m.field(1, v, nil)
	case bool:
		m.field(2, v, nil)
	case string:
		m.field(3, v, nil)
	}
}
