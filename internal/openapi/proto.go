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

// The protobuf forms are those of github.com/google/gnostic-models. There is
// one function for each of its messages that a document can hold, named after
// it, which appends the fields of the message to a buffer. Its numbers are
// from OpenAPIv2.proto and OpenAPIv3.proto.

// message is the fields of a message that have been encoded so far.
type message []byte

// each calls field for the members of an object in the order of their names.
func each(o object, field func(name string, v any)) {
	for _, name := range slices.Sorted(maps.Keys(o)) {
		field(name, o[name])
	}
}

// unknown panics for a member without a protobuf form: trees are only built by
// this package.
func unknown(in, name string, v any) {
	panic(fmt.Sprintf("openapi: %s has no field for %q (%T)", in, name, v))
}

func (m *message) text(number protowire.Number, v any) {
	*m = protowire.AppendTag(*m, number, protowire.BytesType)
	*m = protowire.AppendString(*m, v.(string))
}

func (m *message) texts(number protowire.Number, v any) {
	for _, s := range v.([]string) {
		m.text(number, s)
	}
}

func (m *message) flag(number protowire.Number, v any) {
	*m = protowire.AppendTag(*m, number, protowire.VarintType)
	*m = protowire.AppendVarint(*m, protowire.EncodeBool(v.(bool)))
}

func (m *message) double(number protowire.Number, v any) {
	*m = protowire.AppendTag(*m, number, protowire.Fixed64Type)
	*m = protowire.AppendFixed64(*m, math.Float64bits(float64(v.(int))))
}

// message appends a field that is a message of its own.
func (m *message) message(number protowire.Number, fill func(*message)) {
	var inner message
	fill(&inner)
	*m = protowire.AppendTag(*m, number, protowire.BytesType)
	*m = protowire.AppendBytes(*m, inner)
}

// object appends a field that is the form of an object.
func (m *message) object(number protowire.Number, v any, form func(*message, object)) {
	m.message(number, func(inner *message) { form(inner, v.(object)) })
}

// objects appends a repeated field.
func (m *message) objects(number protowire.Number, v any, form func(*message, object)) {
	for _, o := range v.([]object) {
		m.object(number, o, form)
	}
}

// named appends the members of a map as a repeated field of pairs.
func (m *message) named(number protowire.Number, v any, form func(*message, object)) {
	each(v.(object), func(name string, v any) {
		m.message(number, func(pair *message) {
			pair.text(1, name)
			pair.object(2, v, form)
		})
	})
}

// any appends a field of type Any: a value as a text of YAML, which JSON is.
func (m *message) any(number protowire.Number, v any) {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err) // trees hold nothing that could fail
	}
	m.message(number, func(inner *message) { inner.text(2, string(data)) })
}

// extension appends a member that OpenAPI does not know, of the message in.
func (m *message) extension(in string, number protowire.Number, name string, v any) {
	if !strings.HasPrefix(name, "x-") {
		unknown(in, name, v)
	}
	m.message(number, func(pair *message) {
		pair.text(1, name)
		pair.any(2, v)
	})
}

// wrap returns the form of a message whose only field is the given one.
func wrap(number protowire.Number, form func(*message, object)) func(*message, object) {
	return func(m *message, o object) { m.object(number, o, form) }
}

// either returns the form of a message that holds a reference or an object of
// its own.
func either(own protowire.Number, form func(*message, object), reference protowire.Number) func(*message, object) {
	return func(m *message, o object) {
		if ref, ok := o["$ref"]; ok {
			m.message(reference, func(inner *message) { inner.text(1, ref) })
			return
		}
		m.object(own, o, form)
	}
}
