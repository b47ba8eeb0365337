package patch

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"strings"

	kjson "sigs.k8s.io/json"

	"github.com/kubecoord/kubecoord/internal/codec"
	"github.com/kubecoord/kubecoord/store/field"
	"github.com/kubecoord/kubecoord/store/meta"
)

// Validation is how a patch treats unknown and duplicate fields.
type Validation int

// The levels of fieldValidation.
const (
	Ignore Validation = iota // drop them silently
	Warn                     // drop them, each with a warning
	Strict                   // refuse the request
)

// Object is the object that a patch is applied to, in one API version.
type Object struct {
	// Type is the schema of that version.
	Type *codec.Type
	// Current points to the live object in that version, with kind and apiVersion. A
	// patch does not change it.
	Current any
	Reader
}

// Reader reads patched objects of one kind and version. If strict is set, strictErrs reports unknown and duplicate fields.
type Reader interface {
	// Decode reads a document like the body of a request.
	Decode(doc []byte, strict bool) (obj any, strictErrs []error, err error)
	// Read reads a tree of the types that codec.Type.ToUnstructured returns.
	Read(doc map[string]any, strict bool) (obj any, strictErrs []error, err error)
}

// edit applies a patch to the text of the object. into is the Go type of the patch, prefix
// begins the texts of its unknown and duplicate fields. Faults of the patch are reported
// before faults of the document.
func (o Object) edit(body []byte, v Validation, into any, prefix string, apply func(current, patch []byte) ([]byte, error)) (obj any, warnings []string, err error) {
	patch, faults, err := read(body, into, v)
	if err != nil {
		return nil, nil, err
	}
	current, err := o.Type.AppendJSON(nil, o.Current)
	if err != nil {
		return nil, nil, err
	}
	doc, err := apply(current, patch)
	if err != nil {
		return nil, nil, err
	}
	for i, fault := range faults {
		faults[i] = errors.New(prefix + fault.Error())
	}
	obj, strictErrs, err := o.Decode(doc, v != Ignore)
	return v.finish(obj, append(faults, strictErrs...), err, func() string { return string(doc) })
}

// read returns a patch without space between its tokens, and its unknown and duplicate fields as a
// value of the type of into. The error is a 400.
func read(body []byte, into any, v Validation) (text []byte, faults []error, err error) {
	var out bytes.Buffer
	out.Grow(len(body))
	if err := json.Compact(&out, body); err != nil {
		return nil, nil, meta.NewBadRequest("invalid JSON patch")
	}
	if v == Ignore {
		return out.Bytes(), nil, nil
	}
	if faults, err = kjson.UnmarshalStrict(out.Bytes(), into); err != nil {
		// Upstream's type lives in another package.
		text := strings.Replace(err.Error(), "patch.jsonPatchOp", "handlers.jsonPatchOp", 1)
		return nil, nil, meta.NewBadRequest("error decoding patch: %s", text)
	}
	return out.Bytes(), faults, nil
}

// finish returns a patched object with its unknown and duplicate fields as warnings, or an error.
// err is the error of decoding the object. shown returns the document for the text of an error.
func (v Validation) finish(obj any, faults []error, err error, shown func() string) (_ any, warnings []string, _ error) {
	switch {
	case err != nil:
		return nil, nil, invalid(shown(), err.Error())
	case v == Ignore || len(faults) == 0:
		return obj, nil, nil
	}
	for _, fault := range faults {
		warnings = append(warnings, fault.Error())
	}
	if v == Strict {
		return nil, nil, invalid(shown(), "strict decoding error: "+strings.Join(warnings, ", "))
	}
	return obj, warnings, nil
}

// invalid returns the 422 of a patch whose result cannot be decoded.
func invalid(shown, detail string) error {
	return field.Errors{field.Invalid("patch", shown, detail)}.Status(meta.GroupKind{}, "")
}

// rejected returns the 422 of a patch that does not fit the object. As upstream, it does not say why.
func rejected() error {
	return meta.NewStatusError(http.StatusUnprocessableEntity, meta.ReasonInvalid, &meta.StatusDetails{},
		"the server rejected our request due to an error in our request")
}
