package kinds

import (
	"bytes"
	"context"
	"fmt"
	"maps"

	"github.com/kubecoord/kubecoord/internal/codec"
	"github.com/kubecoord/kubecoord/store/kind"
	"github.com/kubecoord/kubecoord/store/meta"
)

// Format is a wire format.
type Format uint8

// The formats.
const (
	JSON Format = iota
	Protobuf
	YAML // only of request bodies
)

// form is one shape of a kind on the wire. Versions with the same shape share the form, and so the cached bytes.
type form struct {
	typ     *codec.Type
	newWire func() Object
	convert kind.Conversion // nil if all members keep their names
}

// Type returns the compiled type of the stored form.
func (k *Kind) Type() *codec.Type { return k.forms[0].typ }

// Schema returns the compiled type of one version, by its index.
func (k *Kind) Schema(version int) *codec.Type { return k.versions[version].schema }

// Document returns the type that documents describe for one version, by its index.
func (k *Kind) Document(version int) *codec.Type { return k.versions[version].document() }

// Form returns the number of the form of a version. Versions with the same shape have one form.
func (k *Kind) Form(version int) int { return k.versions[version].form }

func (k *Kind) form(version int) *form { return &k.forms[k.versions[version].form] }

// TypeMeta returns the kind and apiVersion of a version.
func (k *Kind) TypeMeta(version int) meta.TypeMeta { return k.versions[version].named }

// Copy returns a deep copy of an object in the stored form.
func (k *Kind) Copy(o Object) Object { return k.Type().Copy(o).(Object) }

// New returns an empty object in the shape of one version.
func (k *Kind) New(version int) Object { return k.form(version).newWire() }

// FromWire turns an object in the shape of one version into the stored form,
// with defaults filled in. It takes ownership of the object.
func (k *Kind) FromWire(ctx context.Context, version int, o Object) (_ Object, err error) {
	*o.GetTypeMeta() = meta.TypeMeta{}
	markManagersReset(o.GetObjectMeta(), o.GetObjectMeta().ManagedFields)
	f := k.form(version)
	f.typ.Default(o)
	if o, err = f.converted(ctx, o, true, kind.Remembered); err == nil {
		k.of.Strategy.Default(o)
	}
	return o, err
}

// ConformStored removes from an object in the stored form the members that only another version has, and fills in defaults.
func (k *Kind) ConformStored(o Object) {
	k.Type().Normalize(o)
	if len(k.forms) > 1 {
		k.forms[0].prune(o)
		k.Type().Default(o)
	}
}

// Wire returns a deep copy of an object in the shape of a version, with kind and apiVersion.
func (k *Kind) Wire(ctx context.Context, o Object, version int) (_ Object, err error) {
	if k.form(version) == k.form(k.versionOf(o)) {
		o = k.Copy(o)
	} else if o, err = k.Convert(ctx, o, 0, version, kind.Remembered); err != nil {
		return nil, err
	}
	*o.GetTypeMeta() = k.TypeMeta(version)
	return o, nil
}

func (f *form) converted(ctx context.Context, o Object, toStored bool, reuse kind.Reuse) (Object, error) {
	if f.convert == nil {
		return o, nil
	}
	return f.convert(ctx, o, toStored, reuse)
}

// Remembers reports whether results of conversions to a version may be remembered, so that kind.Anew makes a difference.
func (k *Kind) Remembers(version int) bool {
	return k.native.KeepsVersion && k.form(version).convert != nil
}

// prune removes members that another version of an object has.
func (f *form) prune(o Object) { _, _ = f.typ.Prune(o, false) } // fails only for metadata that was refused before

// Append appends a stored object in the shape of a version, without kind and apiVersion. Many requests may share the bytes, so the
// end of one stops no conversion.
func (k *Kind) Append(dst []byte, o Object, version int, format Format) ([]byte, error) {
	o, err := k.Convert(context.Background(), o, 0, version, kind.Remembered)
	if err != nil {
		return dst, err
	}
	return appendAs(dst, k.form(version).typ, o, format)
}

// AppendMetadata appends the encoded metadata of an object without its FieldAnnotations.
func (k *Kind) AppendMetadata(dst []byte, m *meta.ObjectMeta, format Format) ([]byte, error) {
	for _, name := range k.native.FieldAnnotations {
		if _, ok := m.Annotations[name]; ok {
			m = new(*m)
			m.Annotations = maps.Clone(m.Annotations)
			delete(m.Annotations, name)
		}
	}
	return appendAs(dst, k.Type().Field("metadata").Type, m, format)
}

func appendAs(dst []byte, typ *codec.Type, o any, format Format) ([]byte, error) {
	if format == Protobuf {
		return typ.AppendProto(dst, o), nil
	}
	return typ.AppendJSON(dst, o)
}

// Encode returns the bytes of Append in memory of their size. Room left over would be remembered too.
func (k *Kind) Encode(o Object, version int, format Format) ([]byte, error) {
	return k.scratch.Bytes(func(dst []byte) ([]byte, error) { return k.Append(dst, o, version, format) })
}

// DecodeJSON decodes the JSON of Append into the shape of the version.
func (k *Kind) DecodeJSON(version int, data []byte) (Object, error) {
	o := k.New(version)
	_, err := k.form(version).typ.DecodeJSON(data, o, false)
	return o, err
}

// Own returns a copy of a caller's object, which has the form that Shown returns, in the stored form, with defaults filled in. current is
// the state that it replaces, or nil; the copy may share unchanged parts with it. The error is a 400.
func (k *Kind) Own(ctx context.Context, o, current Object) (Object, error) {
	managers := o.GetObjectMeta().ManagedFields
	if current != nil && k.pure {
		o = k.form(k.own).typ.CopyOnto(o, current.GetObjectMeta()).(Object)
	} else {
		o = k.Object(o, k.own)
	}
	*o.GetTypeMeta() = meta.TypeMeta{}
	markManagersReset(o.GetObjectMeta(), managers)
	o, err := k.normalOwn(o)
	if err != nil {
		return nil, err
	}
	if o, err = k.form(k.own).converted(ctx, o, true, kind.Remembered); err == nil {
		k.of.Strategy.Default(o)
	}
	return o, err
}

// StoredValue returns the value of an object in a Backend: in the storage version and in a protobuf envelope, or in
// JSON for kinds without a protobuf form (upstream: apiserver, registry/generic and storage/etcd3). The object loses
// its resourceVersion, which is the version of the key.
func (k *Kind) StoredValue(o Object) ([]byte, error) {
	o.GetObjectMeta().ResourceVersion = ""
	named, typ := k.TypeMeta(0), k.Type()
	if k.Type().HasProto() {
		*o.GetTypeMeta() = meta.TypeMeta{}
		raw, err := k.Append(nil, o, 0, Protobuf)
		return codec.AppendEnvelope(nil, named.APIVersion, named.Kind, raw), err
	}
	*o.GetTypeMeta() = named
	defer func() { *o.GetTypeMeta() = meta.TypeMeta{} }()
	data, err := typ.AppendJSON(nil, o)
	return append(data, '\n'), err
}

// DecodeStored decodes a value of a Backend, in any version of the kind.
func (k *Kind) DecodeStored(data []byte) (Object, error) {
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
	for i := range k.versions {
		t := Target{k, i}
		if t.TypeMeta() != named {
			continue
		}
		if err := t.decodeInto(&body, raw, f, false, nil); err != nil {
			return nil, err
		}
		if m := body.object.GetObjectMeta(); len(m.ManagedFields) == 0 {
			m.ManagedFields = nil // an empty list would reset them
		}
		o, err := k.FromWire(context.Background(), i, body.object) // all requests share what is read
		if err != nil {
			return nil, err
		}
		k.ConformStored(o)
		k.Type().Settle(o)
		return o, nil
	}
	return nil, fmt.Errorf("got kind %q of %q, want %q of %q", body.named.Kind, body.named.APIVersion, k.info.Kind, k.TypeMeta(0).APIVersion)
}

// AppendWireJSON appends an object of a caller as a client sends it: in JSON, with kind and apiVersion. It does not change the
// object.
func (k *Kind) AppendWireJSON(dst []byte, o Object) ([]byte, error) {
	managers := o.GetObjectMeta().ManagedFields
	named, typ := k.TypeMeta(k.own), k.form(k.own).typ
	o = typ.Copy(o).(Object)
	*o.GetTypeMeta() = named
	markManagersReset(o.GetObjectMeta(), managers)
	return typ.AppendJSON(dst, o)
}

// ReadWireJSON reads an object that a server sent, into the form of AppendWireJSON and without kind and apiVersion. Both may be
// missing, as in the items of a list. Members that the kind does not have are ignored: the server may be newer.
func (k *Kind) ReadWireJSON(data []byte) (Object, error) {
	o, err := k.DecodeJSON(k.own, data)
	if err != nil {
		return nil, err
	}
	named, want := o.GetTypeMeta(), k.TypeMeta(k.own)
	if *named != want && *named != (meta.TypeMeta{}) {
		return nil, fmt.Errorf("got kind %q of %q, want %q of %q", named.Kind, named.APIVersion, want.Kind, want.APIVersion)
	}
	*named = meta.TypeMeta{}
	return o, nil
}
