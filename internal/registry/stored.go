package registry

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/kubecoord/kubecoord/internal/backend"
	"github.com/kubecoord/kubecoord/internal/codec"
	"github.com/kubecoord/kubecoord/store/meta"
)

// Keys and values are those of a real API server (upstream: apiserver, registry/generic and
// storage/etcd3): the storage prefix of the kind, namespace and name; the object in its storage
// version, in a protobuf envelope or, for kinds without a protobuf form, in JSON. The
// resourceVersion is not in the value. It is the version of the key.

// storedKey returns the key of an object.
func (r *Resource) storedKey(k key) string {
	if r.kind.info.ClusterScoped {
		return r.kind.info.StoragePrefix + "/" + k.name
	}
	return r.kind.info.StoragePrefix + "/" + k.namespace + "/" + k.name
}

// find returns the resource and the object that a key is of. It returns nil for the keys of
// others.
func (e *engine) find(stored string) (*Resource, key) {
	rest, name := cutLast(stored)
	if r := e.prefixes[rest]; r != nil && r.kind.info.ClusterScoped {
		return r, key{"", name}
	}
	prefix, namespace := cutLast(rest)
	if r := e.prefixes[prefix]; r != nil && !r.kind.info.ClusterScoped {
		return r, key{namespace, name}
	}
	return nil, key{}
}

// cutLast cuts a path before its last element.
func cutLast(p string) (rest, last string) {
	i := strings.LastIndexByte(p, '/')
	return p[:max(i, 0)], p[i+1:]
}

// storedValue returns the value of an object, which loses its resourceVersion.
func (d *Kind) storedValue(o Object) ([]byte, error) {
	o.GetObjectMeta().ResourceVersion = ""
	named, f := d.versions[0].named, d.forms[0]
	if f.typ.HasProto() {
		*o.GetTypeMeta() = meta.TypeMeta{}
		return codec.AppendEnvelope(nil, named.APIVersion, named.Kind, f.typ.AppendProto(nil, o)), nil
	}
	*o.GetTypeMeta() = named
	defer func() { *o.GetTypeMeta() = meta.TypeMeta{} }()
	data, err := f.typ.AppendJSON(nil, o)
	return append(data, '\n'), err
}

// unreadable is a value that cannot be decoded. Reads that would have to return it fail, as
// on a real server; for watches the object is deleted.
type unreadable struct {
	r *Resource
	key
	version uint64
	until   uint64 // the version of its next change, or 0
	err     error
}

// decode returns the object of a value. The error names the key and the reason.
func (r *Resource) decode(k key, s backend.Stored) (*Item, error) {
	o, err := r.kind.decodeStored(s.Value)
	if err == nil {
		if m := o.GetObjectMeta(); m.Name != k.name || m.Namespace != k.namespace {
			err = fmt.Errorf("the object is %q, of namespace %q", m.Name, m.Namespace)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("cannot decode the value of the key %q at version %d: %w", s.Key, s.Version, err)
	}
	setResourceVersion(o, s.Version)
	it := newItem(r.kind, o, s.Version)
	it.size = uint32(r.kind.forms[0].typ.Size(o))
	return it, nil
}

// decodeStored decodes a value, in any version of the kind.
func (d *Kind) decodeStored(data []byte) (Object, error) {
	f := JSON
	if !bytes.HasPrefix(bytes.TrimLeft(data, " \t\r\n"), []byte("{")) {
		f = Protobuf
	}
	var body decoded
	raw, err := body.recognize(data, f)
	if err != nil {
		return nil, err
	}
	named := readable(body.named)
	for i := range d.versions {
		t := Target{d, i}
		if t.typeMeta() != named {
			continue
		}
		if err := t.decodeInto(&body, raw, f, false, nil); err != nil {
			return nil, err
		}
		if m := body.object.GetObjectMeta(); len(m.ManagedFields) == 0 {
			m.ManagedFields = nil // an empty list would reset them
		}
		return d.fromWire(i, body.object), nil
	}
	return nil, fmt.Errorf("got kind %q of %q, want %q of %q", body.named.Kind, body.named.APIVersion, d.info.Kind, d.versions[0].named.APIVersion)
}

// AppendWireJSON appends an object in the stored form as a client sends it: in JSON, in the
// preferred version, with kind and apiVersion. It does not change the object.
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
