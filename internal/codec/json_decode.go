package codec

import (
	"encoding/json"
	"errors"
	"fmt"

	kjson "sigs.k8s.io/json"

	"github.com/kubecoord/kubecoord/store/meta"
)

// DecodeJSON reads a JSON document into obj, a pointer to the compiled struct. Member names are
// case-sensitive. It ignores unknown members, and uses the last of duplicate members. If strict is
// set, strictErrs reports both, in the order of the document and at most 100 in all. Error texts
// are the API server's, which name types by their API version.
func (t *Type) DecodeJSON(data []byte, obj any, strict bool) (strictErrs []error, err error) {
	return t.DecodeJSONLike(data, obj, Like{}, strict)
}

// Like is what an object that is decoded is likely to have, so that it needs no memory for that.
type Like struct {
	// Type is the type that the document names.
	Type meta.TypeMeta
	// Object is nil or an object that never changes. Equal strings share its memory.
	Object any
	// Shares promises that the new object never changes either, but for the members of its own struct. All equal values are the
	// ones of Object.
	Shares bool
}

// DecodeJSONLike is DecodeJSON for an object that is like another one.
func (t *Type) DecodeJSONLike(data []byte, obj any, like Like, strict bool) (strictErrs []error, err error) {
	p := t.check(obj)
	if t.readJSON(data, p, like) {
		return nil, nil
	}
	if t.Rest != nil {
		strictErrs, err = t.decodeWithRest(data, p, strict)
	} else {
		strictErrs, err = unmarshal(data, t.value(p).Addr().Interface(), strict)
	}
	if typeErr, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		err = &typeError{typeErr, t.names.of(typeErr.Type)}
	}
	return strictErrs, err
}

// unmarshal reads a JSON document with the library.
func unmarshal(data []byte, into any, strict bool) (strictErrs []error, err error) {
	if strict {
		return kjson.UnmarshalStrict(data, into)
	}
	return nil, kjson.UnmarshalCaseSensitivePreserveInts(data, into)
}

// typeError reports a JSON value of the wrong type, and names the type by its label.
type typeError struct {
	*json.UnmarshalTypeError
	label string
}

// Error returns the text of the embedded error with the label of the type.
func (e *typeError) Error() string {
	if e.Struct != "" || e.Field != "" {
		return "json: cannot unmarshal " + e.Value + " into Go struct field " + e.Struct + "." + e.Field + " of type " + e.label
	}
	return "json: cannot unmarshal " + e.Value + " into Go value of type " + e.label
}

// Unwrap returns the error of the JSON package.
func (e *typeError) Unwrap() error { return e.UnmarshalTypeError }

// RecognizeJSON returns the kind and apiVersion in a JSON document. It returns an error if the
// document is neither an object nor null, if one of the two is not a string, or if apiVersion has
// two slashes. Unlike DecodeJSON it ignores the case of the two names (upstream: apimachinery,
// serializer/json/meta.go).
func RecognizeJSON(data []byte) (kind, apiVersion string, err error) {
	var found struct { // error texts contain this type
		APIVersion string `json:"apiVersion,omitempty"`
		Kind       string `json:"kind,omitempty"`
	}
	if err := Unmarshal(data, &found); err != nil {
		return "", "", fmt.Errorf("couldn't get version/kind; json parse error: %w", err)
	}
	if _, ok := meta.ParseGroupVersion(found.APIVersion); !ok {
		return "", "", fmt.Errorf("unexpected GroupVersion string: %s", found.APIVersion)
	}
	return found.Kind, found.APIVersion, nil
}
