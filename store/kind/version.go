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
	// Form is the form of the version on the wire, if it differs from the stored form by more than Schema says.
	Form Form
	// Schema describes the members of objects if P is *store.Unstructured; nil allows any members. The schema of the first version also
	// describes stored objects. With a Type, the schema only describes it in OpenAPI documents.
	Schema *schema.Schema
	// Type is the type of the objects if they have a Go type of another library, or nil.
	Type Type
	// Validate, if not nil, replaces Strategy.Validate in writes through this version. ValidateStatus, if not nil, replaces both in writes
	// of the status.
	Validate, ValidateStatus func(obj, old P) field.Errors
	// Table replaces the Table of the kind if it has Columns. Its functions get an object in the form of the version.
	Table Table[P]
	// Native has what versions of the kinds of a real server need beside this, or is nil.
	Native *NativeVersion
}

// Form is the form of objects in a version where it differs from the stored form; [FormOf] makes one from two Go types.
type Form struct {
	// New returns an empty object in the form of the version. Nil: it is an object of Version.Type, or of the Go type of stored objects.
	New func() meta.Object
	// Convert converts between the two forms. It is required if the version has a Go type of its own. Otherwise nil means that all
	// members keep their names.
	Convert Conversion
}

// Conversion converts an object from the stored form to the form of a version, or back if toStored is set. It may change the object, and
// the result may share memory with it. It may be called from any goroutine. An error is the error of the request.
type Conversion func(ctx context.Context, obj meta.Object, toStored bool, reuse Reuse) (meta.Object, error)

// Reuse says whether a Conversion that remembers its results, such as a conversion by a webhook, may return one of these.
type Reuse bool

// The values of Reuse.
const (
	// Remembered allows the result of an earlier conversion, as for a read from a watch cache.
	Remembered Reuse = true
	// Anew requires a new conversion, as for a read from storage or for a body.
	Anew Reuse = false
)

// ConvertBy returns a Conversion that calls toWire or toStored and never fails.
func ConvertBy(toWire, toStored func(meta.Object) meta.Object) Conversion {
	return func(_ context.Context, o meta.Object, back bool, _ Reuse) (meta.Object, error) {
		if back {
			return toStored(o), nil
		}
		return toWire(o), nil
	}
}

// FormOf returns the Form of a version whose objects have the Go type W, for a kind whose stored objects have the Go type T. The result of
// to and of from may share memory with the argument, which is not used again. Both functions are required.
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
