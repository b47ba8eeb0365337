package managedfields

import (
	"fmt"

	"github.com/kubecoord/kubecoord/internal/codec"
)

// document is an object in one version, without kind, apiVersion and managedFields: a Go object, or
// a Value, which has nothing that is not on the wire.
type document struct {
	kind    *FieldManager
	version int
	obj     Object      // nil for a Value
	form    codec.Value // none for an object
}

// of returns an object as a document.
func (k *FieldManager) of(version int, o Object) document {
	return document{kind: k, version: version, obj: o}
}

func (d document) value() codec.Value {
	if d.obj != nil {
		return d.kind.Versions[d.version].Type.Value(d.obj)
	}
	return d.form
}

func (d document) schema() schema { return d.kind.schema(d.version) }

// with returns another document of the same version.
func (d document) with(form codec.Value) document {
	return document{kind: d.kind, version: d.version, form: form}
}

func (d document) fields() *set { return fieldsOf(d.schema(), d.value()) }

func (d document) object() (Object, error) {
	if d.obj != nil {
		return d.obj, nil
	}
	o := d.kind.empty(d.version)
	if _, err := d.kind.Versions[d.version].Type.FromUnstructured(members(d.form.Tree()), o, false); err != nil {
		return nil, fmt.Errorf("unable to convert unstructured object to %s: %w", d.kind.typeText(d.version), err)
	}
	return o, nil
}

// inVersion returns the document in another version, or errNoVersion if the kind has no
// such version.
func (d document) inVersion(apiVersion string) (document, error) {
	to, err := d.kind.version(apiVersion)
	if err != nil {
		return document{}, err
	}
	if to == d.version {
		return d, nil
	}
	if d.kind.Convert == nil && d.kind.Versions[d.version].Type.Rest != nil {
		// As upstream: without a Go type, the conversion keeps nulls.
		d.version = to
		return d, d.schema().validate(d.value()).err()
	}
	o, err := d.object()
	if err != nil {
		return document{}, err
	}
	if d.kind.Convert != nil {
		if d.obj != nil {
			// A copy loses fields that are not on the wire.
			o = d.kind.Versions[d.version].Type.Copy(o).(Object)
		}
		if o, err = d.kind.Convert(o, d.version, to); err != nil {
			return document{}, err
		}
	}
	out := d.kind.of(to, o)
	if d.obj == nil {
		t := d.kind.Versions[to].Type
		out = d.kind.of(to, nil).with(t.Value(t.Copy(o)))
	}
	return out, out.schema().validate(out.value()).err()
}
