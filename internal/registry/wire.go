package registry

import (
	"fmt"

	"github.com/kubecoord/kubecoord/store/meta"
)

// This file has the form of objects that a client sends to a server and receives from it: JSON
// in the preferred version of the kind.

// AppendWireJSON appends an object in the stored form as a client sends it, with kind and
// apiVersion. It does not change the object.
func (d *Kind) AppendWireJSON(dst []byte, o Object) ([]byte, error) {
	fields := o.GetObjectMeta().ManagedFields
	o = d.copy(o)
	if fields != nil && len(fields) == 0 {
		o.GetObjectMeta().ManagedFields = []meta.ManagedFieldsEntry{{}} // see markManagersReset
	}
	f := d.forms[d.versions[0].form]
	if f.to != nil {
		o = f.to(o)
	}
	*o.GetTypeMeta() = d.typeMeta(0)
	return f.typ.AppendJSON(dst, o)
}

// ReadWireJSON reads an object that a server sent, into the stored form and without kind and
// apiVersion. Both may be missing, as in the items of a list. Members that the kind does not
// have are ignored: the server may be newer.
func (d *Kind) ReadWireJSON(data []byte) (Object, error) {
	o, f := d.newWire(0), d.forms[d.versions[0].form]
	if _, err := f.typ.DecodeJSON(data, o, false); err != nil {
		return nil, err
	}
	named, want := o.GetTypeMeta(), d.typeMeta(0)
	if *named != want && *named != (meta.TypeMeta{}) {
		return nil, fmt.Errorf("got kind %q of %q, want %q of %q", named.Kind, named.APIVersion, want.Kind, want.APIVersion)
	}
	*named = meta.TypeMeta{}
	if f.from != nil {
		o = f.from(o)
	}
	return o, nil
}

// Copy returns a deep copy of an object in the stored form.
func (d *Kind) Copy(o Object) Object { return d.copy(o) }
