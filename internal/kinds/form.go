package kinds

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/kubecoord/kubecoord/internal/codec"
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
	to      func(Object) Object // nil if all members keep their names
	from    func(Object) Object
	check   func(o Object, from, anew bool) error
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

// KeepsVersion reports whether a write is in the version of its request until it is stored.
func (k *Kind) KeepsVersion() bool { return k.of.KeepsVersion }

// versionOf returns the version that an object is in: the stored one, or for a kind that KeepsVersion the one that it names.
func (k *Kind) versionOf(o Object) int {
	if named := *o.GetTypeMeta(); k.of.KeepsVersion && named != (meta.TypeMeta{}) {
		return max(slices.IndexFunc(k.versions, func(v version) bool { return v.named == named }), 0)
	}
	return 0
}

// received returns an object in the shape of one version, with defaults filled in, as the steps of a write get it: in the stored
// form, or as it is if the kind KeepsVersion. It takes ownership of the object.
func (k *Kind) received(version int, o Object) Object {
	if !k.of.KeepsVersion || version == 0 {
		return k.FromWire(version, o)
	}
	*o.GetTypeMeta() = k.TypeMeta(version)
	markManagersReset(o.GetObjectMeta())
	k.form(version).typ.Default(o)
	return o
}

// Settle returns a valid object as a read from storage returns it: in the stored form, without the members that it does not have,
// and with defaults, also in a status that a create has emptied (upstream: apiextensions-apiserver,
// customresource_handler.go, crdConversionRESTOptionsGetter). It reports whether the object shows defaults that are not in storage.
// It takes ownership of the object.
func (k *Kind) Settle(o Object) (_ Object, filled bool, err error) {
	if v := k.versionOf(o); v != 0 {
		if err := k.checkWire(o, 0, true); err != nil {
			return nil, false, err
		}
		o = k.Convert(o, v, 0)
	}
	*o.GetTypeMeta() = meta.TypeMeta{}
	k.forms[0].prune(o)
	filled = k.Type().Default(o)
	k.Type().Normalize(o)
	k.Type().Settle(o)
	return o, filled, nil
}

// FromWire turns an object in the shape of one version into the stored form,
// with defaults filled in. It takes ownership of the object.
func (k *Kind) FromWire(version int, o Object) Object {
	*o.GetTypeMeta() = meta.TypeMeta{}
	markManagersReset(o.GetObjectMeta())
	f := k.form(version)
	f.typ.Default(o)
	if f.from != nil {
		o = f.from(o)
	}
	k.of.Default(o)
	return o
}

// Conform removes from an object in the stored form the members that only another version has, and fills in defaults. As
// upstream, it comes after field management, which sees what the request had.
func (k *Kind) Conform(o Object) {
	k.Type().Normalize(o)
	if len(k.forms) > 1 {
		k.forms[0].prune(o)
		k.Type().Default(o)
	}
}

// Wire returns a deep copy of an object in the shape of a version, with kind and apiVersion.
func (k *Kind) Wire(o Object, version int) Object {
	if k.form(version) == k.form(k.versionOf(o)) {
		o = k.Copy(o)
	} else {
		o = k.Convert(o, 0, version)
	}
	*o.GetTypeMeta() = k.TypeMeta(version)
	return o
}

// Convert returns an object in the shape of one version in the shape of another. From 0, which stands for the stored form, it
// also takes an object that is kept in the version of its request. The result may share memory with the object.
func (k *Kind) Convert(o Object, from, to int) Object {
	if from == 0 {
		from = k.versionOf(o)
	}
	f, t := k.form(from), k.form(to)
	if f == t {
		return o
	}
	o = f.typ.Copy(o).(Object)
	if f.from != nil {
		o = f.from(o)
	}
	if t.to != nil {
		o = t.to(o)
	}
	if t.prune(o); k.of.KeepsVersion {
		*o.GetTypeMeta() = k.TypeMeta(to)
	}
	return o
}

// CheckWire returns the error of the conversion of a stored object to the shape of a version.
func (k *Kind) CheckWire(o Object, version int) error { return k.checkWire(o, version, false) }

// CheckWireAnew is CheckWire for an object that was read from storage: no result of an earlier conversion is used.
func (k *Kind) CheckWireAnew(o Object, version int) error { return k.checkWire(o, version, true) }

// CheckUpdate returns the error of the conversions that an update makes of the state before it: to the version of the request, for
// which the result of an earlier one will do, and back (upstream: apiserver, storage/etcd3, getStateFromObject).
func (k *Kind) CheckUpdate(o Object, version int) error {
	if err := k.CheckWire(o, version); err != nil || !k.MayFail(version) {
		return err
	}
	return k.checkWire(k.Convert(o, 0, version), 0, true)
}

// MayFail reports whether the conversion of a stored object to the shape of a version may fail.
func (k *Kind) MayFail(version int) bool { return k.form(version).check != nil }

func (k *Kind) checkWire(o Object, version int, anew bool) error {
	from := k.versionOf(o)
	if from == version {
		return nil
	}
	if f := k.form(from); f.check != nil {
		if err := f.check(o, true, anew); err != nil {
			return err
		}
		o = k.Convert(o, from, 0)
	}
	if f := k.form(version); f.check != nil {
		return f.check(o, false, anew)
	}
	return nil
}

// prune removes members that another version of an object has.
func (f *form) prune(o Object) { _, _ = f.typ.Prune(o, false) } // fails only for metadata that was refused before

// Append appends a stored object in the shape of a version, without kind and apiVersion.
func (k *Kind) Append(dst []byte, o Object, version int, format Format) ([]byte, error) {
	if err := k.CheckWire(o, version); err != nil {
		return dst, err
	}
	o = k.Convert(o, 0, version)
	return appendAs(dst, k.form(version).typ, o, format)
}

// AppendMetadata appends the encoded metadata of an object.
func (k *Kind) AppendMetadata(dst []byte, m *meta.ObjectMeta, format Format) ([]byte, error) {
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
func (k *Kind) Own(o, current Object) (Object, error) {
	fields := o.GetObjectMeta().ManagedFields
	if current != nil && k.pure {
		o = k.form(k.own).typ.CopyOnto(o, current.GetObjectMeta()).(Object)
	} else {
		o = k.CopyGiven(o)
	}
	*o.GetTypeMeta() = meta.TypeMeta{}
	if fields != nil && len(fields) == 0 {
		o.GetObjectMeta().ManagedFields = fields
	}
	markManagersReset(o.GetObjectMeta())
	o, err := k.normalOwn(o)
	if err != nil {
		return nil, err
	}
	if f := k.form(k.own); f.from != nil {
		o = f.from(o)
	}
	k.of.Default(o)
	return o, nil
}

// Configuration returns an object of a caller as the document of a server-side apply.
func (k *Kind) Configuration(o Object) map[string]any { return k.document(o, k.own) }

// markManagersReset turns an empty list of managers, which resets them, into a form that survives a copy.
func markManagersReset(m *meta.ObjectMeta) {
	if m.ManagedFields != nil && len(m.ManagedFields) == 0 {
		m.ManagedFields = []meta.ManagedFieldsEntry{{}}
	}
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
		o := k.FromWire(i, body.object)
		k.Conform(o)
		k.Type().Settle(o)
		return o, nil
	}
	return nil, fmt.Errorf("got kind %q of %q, want %q of %q", body.named.Kind, body.named.APIVersion, k.info.Kind, k.TypeMeta(0).APIVersion)
}

// AppendWireJSON appends an object of a caller as a client sends it: in JSON, with kind and apiVersion. It does not change the
// object.
func (k *Kind) AppendWireJSON(dst []byte, o Object) ([]byte, error) {
	resets := o.GetObjectMeta().ManagedFields
	named, typ := k.TypeMeta(k.own), k.form(k.own).typ
	o = typ.Copy(o).(Object)
	*o.GetTypeMeta() = named
	if resets != nil && len(resets) == 0 {
		o.GetObjectMeta().ManagedFields = []meta.ManagedFieldsEntry{{}} // see markManagersReset
	}
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
