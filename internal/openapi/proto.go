package openapi

import (
	_ "embed" // for protoText
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"
)

// protoText lists the messages of OpenAPIv2.proto and OpenAPIv3.proto in
// github.com/google/gnostic-models, with the fields that documents use. A line is
//
//	version.message extensions field=number:form …
//
// The fields are encoded in this order: by name, as in JSON, except in v3.response. Other
// members of the object must be extensions. They are encoded as pairs in the field with the
// number extensions; 0 means that there are none. See [forms.form] for the forms.
//
//go:embed proto.txt
var protoText string

// message holds the encoded fields of a message.
type message []byte

// form encodes a value of a tree as one kind of message: it appends the fields to m.
type form func(m *message, v any)

// field is the protobuf field that a member of an object is encoded as.
type field struct {
	name   string
	number protowire.Number
	form   form // of a field that is a message; nil for other fields
	// integer fields are varints; other numbers are doubles.
	integer bool
}

// forms are the forms of the messages of one version of OpenAPI, by their names.
type forms map[string]form

func newForms(version string) forms {
	all := forms{"any": anyForm, "default": defaultV3}
	for line := range strings.Lines(protoText) {
		words := strings.Fields(line)
		message, ok := strings.CutPrefix(words[0], version+".")
		if !ok {
			continue
		}
		var fields []field
		for _, word := range words[2:] {
			name, rest, _ := strings.Cut(word, "=")
			n, form, _ := strings.Cut(rest, ":")
			f := field{name: name, number: number(n), integer: form == "integer"}
			if !f.integer {
				f.form = all.form(form)
			}
			fields = append(fields, f)
		}
		all[message] = members(number(words[1]), fields)
	}
	if version == "v2" {
		all["parameter"] = all.parameterV2
	}
	return all
}

func number(text string) protowire.Number {
	n, err := strconv.Atoi(text)
	if err != nil {
		panic(err) // protoText has only numbers
	}
	return protowire.Number(n)
}

// form returns the form that a text describes:
//
//	""        no message
//	"name"    the message of this name
//	"1>form"  a message with a single field 1 of the form
//	"*1>form" an object whose members are pairs in the field 1, of a name and the form
//	"1|2>form" a message with one of two fields: 1 of the form, or 2 for a reference
func (all forms) form(text string) form {
	if text == "" {
		return nil
	}
	step, rest, more := strings.Cut(text, ">")
	if !more {
		return func(m *message, v any) { all[text](m, v) } // a message may contain itself
	}
	inner := all.form(rest)
	if n, ok := strings.CutPrefix(step, "*"); ok {
		return pairs(number(n), inner)
	}
	first, second, hasReference := strings.Cut(step, "|")
	own := number(first)
	if !hasReference {
		return func(m *message, v any) { m.field(own, v, inner) }
	}
	reference := number(second)
	return func(m *message, v any) {
		o, _ := v.(object)
		if ref, ok := o["$ref"]; ok {
			m.message(reference, ref, func(m *message, v any) { m.field(1, v, nil) })
		} else {
			m.message(own, v, inner)
		}
	}
}

// parameterV2 is the form of a Parameter. It depends on the parameter's member "in".
func (all forms) parameterV2(m *message, v any) {
	in := v.(object)["in"].(string)
	steps := map[string]string{"body": "1>", "query": "2>3>", "path": "2>4>"}
	all.form(steps[in]+"parameter."+in)(m, v)
}

func members(extensions protowire.Number, fields []field) form {
	return func(m *message, v any) {
		o, _ := v.(object)
		rest := maps.Clone(o)
		for _, f := range fields {
			v, ok := rest[f.name]
			if n, isInteger := v.(int64); ok && f.integer && isInteger {
				*m = protowire.AppendVarint(protowire.AppendTag(*m, f.number, protowire.VarintType), uint64(n))
			} else if ok && !f.integer {
				m.field(f.number, v, f.form)
			}
			delete(rest, f.name)
		}
		// The Extra of a schema may have members without a field.
		maps.DeleteFunc(rest, func(name string, _ any) bool { return !strings.HasPrefix(name, "x-") || extensions == 0 })
		pairs(extensions, anyForm)(m, rest)
	}
}

// pairs returns the form of an object whose members are pairs of a name and a message, in order.
func pairs(number protowire.Number, value form) form {
	return func(m *message, v any) {
		o, _ := v.(object)
		for _, name := range slices.Sorted(maps.Keys(o)) {
			m.message(number, o[name], func(pair *message, v any) {
				pair.field(1, name, nil)
				pair.message(2, v, value)
			})
		}
	}
}

// anyForm is the form of an Any, which holds a value as YAML. JSON is valid YAML.
func anyForm(m *message, v any) { m.field(2, string(encode(v)), nil) }

// defaultV3 is the form of a DefaultType. Like gnostic it encodes {} as an empty message.
func defaultV3(m *message, v any) {
	switch v.(type) {
	case int, int64, float64:
		m.field(1, v, nil)
	case bool:
		m.field(2, v, nil)
	case string:
		m.field(3, v, nil)
	}
}

func (m *message) message(number protowire.Number, v any, inner form) {
	var fields message
	inner(&fields, v)
	*m = protowire.AppendTag(*m, number, protowire.BytesType)
	*m = protowire.AppendBytes(*m, fields)
}

// field appends a field, once for each item of a list.
func (m *message) field(number protowire.Number, v any, inner form) {
	if list := reflect.ValueOf(v); list.Kind() == reflect.Slice {
		for i := range list.Len() {
			m.field(number, list.Index(i).Interface(), inner)
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
	case int, int64, float64: // a double of OpenAPI
		double := reflect.ValueOf(v).Convert(reflect.TypeFor[float64]()).Float()
		*m = protowire.AppendTag(*m, number, protowire.Fixed64Type)
		*m = protowire.AppendFixed64(*m, math.Float64bits(double))
	}
}
