package codec

import (
	"encoding/json"
	"errors"
	"reflect"

	kjson "sigs.k8s.io/json"
)

// DecodeJSON reads a JSON document into obj, a pointer to the compiled struct.
// Member names are case-sensitive; unknown members are passed over, and of
// members given twice the last wins. When strict is set, strictErrs tells of
// both in the order of the document, at most 100 of them. The texts of all
// errors are those of the API server, which names types by API version.
func (t *Type) DecodeJSON(data []byte, obj any, strict bool) (strictErrs []error, err error) {
	p := t.check(obj)
	if t.Rest != nil {
		strictErrs, err = t.decodeOpen(data, p, strict)
	} else if strict {
		strictErrs, err = kjson.UnmarshalStrict(data, obj)
	} else {
		err = kjson.UnmarshalCaseSensitivePreserveInts(data, obj)
	}
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		err = &typeError{wrong, t.labelOf(wrong.Type)}
	}
	return strictErrs, err
}

// typeError is an error about a JSON value of the wrong type that names the
// type by its label.
type typeError struct {
	*json.UnmarshalTypeError
	label string
}

// Error returns what the embedded error says but for the name of the type.
func (e *typeError) Error() string {
	if e.Struct != "" || e.Field != "" {
		return "json: cannot unmarshal " + e.Value + " into Go struct field " + e.Struct + "." + e.Field + " of type " + e.label
	}
	return "json: cannot unmarshal " + e.Value + " into Go value of type " + e.label
}

// Unwrap returns the error of the JSON package.
func (e *typeError) Unwrap() error { return e.UnmarshalTypeError }

// labelOf returns how error texts name a Go type that t is made of.
func (t *Type) labelOf(goType reflect.Type) string {
	if label, ok := t.labels[goType]; ok {
		return label
	}
	return goType.String()
}
