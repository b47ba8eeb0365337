package kind

import (
	"context"

	"github.com/kubecoord/kubecoord/store/field"
	"github.com/kubecoord/kubecoord/store/meta"
	"github.com/kubecoord/kubecoord/store/schema"
)

// Version is one API version of a kind.
type Version[P any] struct {
	// Name is the version, such as "v1".
	Name string
	// Deprecated is the text of the warning on every answer, or "".
	Deprecated string
	// Unserved is for a version that objects are only stored or owned in.
	Unserved bool
	// Form is the shape of the version on the wire if it differs from the stored form.
	Form Form
	// Schema is the form of the objects if P is *store.Unstructured, or nil for any form. The schema of the first version is also the
	// form of stored objects. For a Type, the schema only describes it in documents.
	Schema *schema.Schema
	// Type is the form of the objects if they have a Go type of another library, or nil.
	Type Type
	// Validate replaces Strategy.Validate in writes through this version, ValidateStatus replaces both in writes of the status.
	Validate, ValidateStatus func(obj, old P) field.Errors
	// Table replaces the Table of the kind if it has Columns. Its functions get an object in the shape of the version.
	Table Table[P]
}

// Form is the shape of a version that differs from the stored form; see [FormOf].
type Form struct {
	// New returns an empty object in the shape of the version. Nil: of the Go type of the stored form, or of Version.Type.
	New func() meta.Object
	// Convert converts between the two forms. It is required for a Go type of its own, and otherwise nil if all members keep their names.
	Convert Conversion
}

// Conversion converts an object of the stored form to the shape of a version, or back if toStored is set. It may change the object, and
// the result may share memory with it.
type Conversion func(ctx context.Context, obj meta.Object, toStored bool, reuse Reuse) (meta.Object, error)

// Reuse says which results a Conversion may return that remembers results, such as one by a webhook.
type Reuse bool

// The values of Reuse.
const (
	// Remembered is the result of an earlier conversion, if there is one, as for a read from a watch cache.
	Remembered Reuse = true
	// Anew is the result of this conversion, as for a read from storage or of a body.
	Anew Reuse = false
)

// ConvertBy returns the Conversion by two functions, which cannot fail.
func ConvertBy(toWire, toStored func(meta.Object) meta.Object) Conversion {
	return func(_ context.Context, o meta.Object, back bool, _ Reuse) (meta.Object, error) {
		if back {
			return toStored(o), nil
		}
		return toWire(o), nil
	}
}

// FormOf returns the Form of a version with the Go type W of a kind whose stored objects have the Go type T. The result of each function
// may share memory with the argument, which is not used again.
func FormOf[T, W any, P interface {
	*T
	meta.Object
}, Q interface {
	*W
	meta.Object
}](to func(*T) *W, from func(*W) *T) Form {
	f := Form{New: func() meta.Object { return Q(new(W)) }}
	if to != nil && from != nil {
		f.Convert = ConvertBy(
			func(o meta.Object) meta.Object { return Q(to(any(o).(*T))) }, func(o meta.Object) meta.Object { return P(from(any(o).(*W))) },
		)
	}
	return f
}
