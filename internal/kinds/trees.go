package kinds

import (
	"bytes"
	"slices"
	"strings"

	"github.com/kubecoord/kubecoord/internal/codec"
	"github.com/kubecoord/kubecoord/store/meta"
)

// This file reads and writes objects by a Serializer, and trees by a schema.

// hasProto reports whether objects have a protobuf form.
func (v *version) hasProto() bool {
	if v.serializer != nil {
		return v.serializer.HasProto()
	}
	return v.schema.HasProto()
}

// document returns an object in the shape of a version as a tree, with kind and apiVersion.
func (k *Kind) document(o Object, version int) map[string]any {
	doc, named := k.form(version).typ.ToUnstructured(o), k.TypeMeta(version)
	doc["kind"], doc["apiVersion"] = named.Kind, named.APIVersion
	return doc
}

// deserialize is decodeInto for a version with a Serializer.
func (t Target) deserialize(d *decoded, raw []byte, f Format, strict bool) error {
	if f == YAML {
		f = JSON // raw is its JSON
	}
	doc, problems, err := t.Kind.versions[t.Version].serializer.Decode(raw, f, strict)
	if err != nil {
		return err
	}
	d.strict = problems
	if f == JSON && emptiesManagers(raw) {
		d.object.GetObjectMeta().ManagedFields = []meta.ManagedFieldsEntry{}
	}
	return t.Kind.readNormal(t.Version, doc, d.object)
}

// readNormal reads a document in its normal form into an empty object, or into one with an empty list of managers.
func (k *Kind) readNormal(version int, doc map[string]any, into Object) error {
	managers := into.GetObjectMeta().ManagedFields
	_, err := k.form(version).typ.FromUnstructured(doc, into, false)
	k.form(version).typ.Normalize(into) // the Go type has only one number of each value
	if m := into.GetObjectMeta(); m.ManagedFields == nil {
		m.ManagedFields = managers
	}
	return err
}

// emptiesManagers reports whether the managedFields of a JSON document are an empty list, which resets them. A normal form
// lacks it.
func emptiesManagers(body []byte) bool {
	var o struct {
		Metadata struct {
			ManagedFields []any `json:"managedFields"`
		} `json:"metadata"`
	}
	return bytes.Contains(body, []byte("managedFields")) && codec.Unmarshal(body, &o) == nil &&
		o.Metadata.ManagedFields != nil && len(o.Metadata.ManagedFields) == 0
}

// ReadPatched reads a patched document, a tree of the types that codec.Type.ToUnstructured returns, into the shape of a
// version. It returns the problems of strict decoding, sorted by text.
func (k *Kind) ReadPatched(version int, doc map[string]any, strict bool) (Object, []error, error) {
	var more []error
	o := k.New(version)
	problems, err := k.form(version).typ.FromUnstructured(doc, o, strict)
	if err == nil && k.versions[version].serializer == nil {
		more, err = k.form(version).typ.Prune(o, strict)
	} else if err == nil {
		o, more, err = k.normal(version, o, strict)
	}
	problems = append(problems, more...)
	slices.SortFunc(problems, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
	return o, problems, err
}

// readApplied reads the result of an apply.
func (k *Kind) readApplied(version int, doc map[string]any) (Object, error) {
	o := k.New(version)
	_, err := k.form(version).typ.FromUnstructured(doc, o, false)
	if err == nil {
		o, _, err = k.normal(version, o, false)
	}
	return o, err
}

// normal returns an object of a version with a Serializer in its normal form.
func (k *Kind) normal(version int, o Object, strict bool) (Object, []error, error) {
	doc, problems, err := k.versions[version].serializer.Normal(k.document(o, version), strict)
	if err != nil {
		return nil, nil, err
	}
	out := k.New(version)
	err = k.readNormal(version, doc, out)
	*out.GetTypeMeta() = *o.GetTypeMeta()
	return out, problems, err
}

// emptyObject returns the normal form of an empty object of a version with a Serializer. If there is none, it is empty.
func (k *Kind) emptyObject(version int) Object {
	o, _, err := k.normal(version, k.New(version), false)
	if err != nil {
		return k.New(version)
	}
	return o
}

// empty returns an empty object in the stored form, which must not be changed, or nil for one without members.
func (k *Kind) empty() any {
	if k.versions[0].empty == nil {
		return nil
	}
	return k.versions[0].empty()
}

// Size returns how many bytes a real server stores for an object, or more if that is at most most. Only a Serializer knows
// how long a message is, and takes long.
func (k *Kind) Size(o Object, most int) int {
	size := k.Type().Size(o)
	if v := &k.versions[0]; size > most && v.serializer != nil && v.hasProto() {
		if message, err := k.Append(nil, o, 0, Protobuf); err == nil {
			return len(message)
		}
	}
	return size
}

// Decode decodes a JSON document into the shape of a version, as it decodes the body of a request of that kind.
func (k *Kind) Decode(version int, data []byte, strict bool) (Object, []error, error) {
	var d decoded
	err := Target{k, version}.decodeInto(&d, data, JSON, strict, nil)
	return d.object, d.strict, err
}

// normalOwn returns an object of a caller, in the own version, as a body of it would be read.
func (k *Kind) normalOwn(o Object) (Object, error) {
	if !k.info.Trees {
		return o, nil
	}
	typ := k.form(k.own).typ
	typ.Normalize(o)
	_, err := typ.Prune(o, false)
	if err == nil && k.versions[k.own].serializer != nil {
		o, _, err = k.normal(k.own, o, false)
	}
	if err != nil {
		t := Target{k, k.own}
		return nil, t.unrecognized(err, t.TypeMeta(), nil)
	}
	typ.Default(o)
	return o, nil
}
