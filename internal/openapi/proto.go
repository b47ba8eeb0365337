package openapi

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"
)

// The protobuf forms are those of github.com/google/gnostic-models. formV2 and
// formV3 list the messages that a document can hold, with the numbers from
// OpenAPIv2.proto and OpenAPIv3.proto. This file encodes a tree by such a list.

// message is the fields of a message that have been encoded so far.
type message []byte

// form appends the fields of one kind of message, made of a value of a tree.
type form func(m *message, v any)

// field is a member of an object and the field that it becomes.
type field struct {
	name   string
	number protowire.Number
	form   form // of a member that becomes a message, nil for others
}

// members returns the form of an object with the given members, in the order of
// the fields. Any other member must be an extension, which becomes a pair in the
// field with the number extensions.
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

// pairs returns the form of an object whose members become pairs of a name and a
// message, in the order of their names.
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

// wrap returns the form of a message with a single field, whose form is inner.
func wrap(number protowire.Number, inner form) form {
	return func(m *message, v any) { m.field(number, v, inner) }
}

// either returns the form of a message that holds an object or a reference.
func either(own protowire.Number, inner form, reference protowire.Number) form {
	return func(m *message, v any) {
		if ref, ok := v.(object)["$ref"]; ok {
			m.message(reference, ref, wrap(1, nil))
		} else {
			m.message(own, v, inner)
		}
	}
}

// anyForm is the form of an Any: a value as a text of YAML, which JSON is.
func anyForm(m *message, v any) {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err) // trees hold nothing that could fail
	}
	m.field(2, string(data), nil)
}

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
