package registry

import (
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"github.com/kubecoord/kubecoord/internal/codec"
	"github.com/kubecoord/kubecoord/internal/patch"
	"github.com/kubecoord/kubecoord/internal/yaml"
	"github.com/kubecoord/kubecoord/store/field"
	"github.com/kubecoord/kubecoord/store/meta"
)

// Scheme decodes objects of a set of kinds (upstream: apimachinery,
// runtime.Scheme and runtime/serializer).
type Scheme struct {
	kinds []*Kind
}

// NewScheme returns the scheme of some kinds.
func NewScheme(kinds ...*Kind) *Scheme { return &Scheme{kinds} }

// Target is the type that a body must have: a kind in one of its versions.
type Target struct {
	Kind    *Kind
	Version int
}

func (t Target) typeMeta() meta.TypeMeta { return t.Kind.typeMeta(t.Version) }
func (t Target) schema() *codec.Type     { return t.Kind.versions[t.Version].schema }
func (t Target) version() string         { return t.Kind.versions[t.Version].name }

// decoded is what was read of a body.
type decoded struct {
	object     Object        // in the shape of its version
	duplicates []error       // keys that stand twice in a YAML body
	strict     []error       // other problems that strict decoding found
	named      meta.TypeMeta // the type that the body names
}

// DecodeBody reads the object of a create or update and returns it in the stored
// form, with defaults filled in.
func (s *Scheme) DecodeBody(t Target, data []byte, f Format, v patch.Validation, warn func(string)) (Object, error) {
	d, err := s.decode(t, data, f, v != patch.Ignore)
	if err == nil && v == patch.Strict && len(d.duplicates)+len(d.strict) > 0 {
		err = d.strictError()
	}
	if err != nil {
		return nil, t.unrecognized(err, d.named, data)
	}
	for _, problem := range append(d.duplicates, d.strict...) {
		warn(problem.Error())
	}
	if want := t.typeMeta().APIVersion; d.named.APIVersion != want {
		return nil, meta.NewBadRequest("the API version in the data (%s) does not match the expected API version (%s)", d.named.APIVersion, want)
	}
	if err := t.checkType(d.object); err != nil {
		return nil, err
	}
	return t.Kind.fromWire(t.Version, d.object), nil
}

// strictError joins what strict decoding found.
func (d *decoded) strictError() error {
	var texts []string
	if len(d.duplicates) > 0 {
		texts = append(texts, yaml.StrictError(d.duplicates).Error())
	}
	for _, p := range d.strict {
		texts = append(texts, p.Error())
	}
	return errors.New("strict decoding error: " + strings.Join(texts, ", "))
}

// decode reads an object. If the body leaves out kind or apiVersion, they are
// those of the target.
func (s *Scheme) decode(t Target, data []byte, f Format, strict bool) (d decoded, err error) {
	if d, ok := t.decodeOwn(data, f, strict); ok {
		return d, nil
	}
	text := data
	if f == YAML {
		if text, d.duplicates, err = yaml.ToJSON(data); err != nil {
			return d, err
		}
		if !strict {
			d.duplicates = nil
		}
	}
	if t.Kind.unstructured() {
		return d, t.decodeUnstructured(&d, text, data, strict)
	}
	raw, err := d.recognize(text, f)
	if err != nil {
		return d, err
	}
	t.complete(&d.named)
	have, err := s.find(d.named)
	if err != nil {
		return d, err
	}
	if have == nil {
		return d, unconvertible(d.named, t.InternalType())
	}
	d.object = have.Kind.forms[have.Kind.versions[have.Version].form].newWire()
	if f == Protobuf {
		err = have.schema().DecodeProto(raw, d.object)
	} else {
		d.strict, err = have.schema().DecodeJSON(raw, d.object, strict)
	}
	if err == nil && have.Kind != t.Kind {
		err = unconvertible(d.named, t.InternalType())
	}
	return d, err
}

// decodeOwn reads a JSON object that names the target's type and has no problem.
// Nearly all bodies are like that, and need not be searched for their type first.
func (t Target) decodeOwn(data []byte, f Format, strict bool) (d decoded, ok bool) {
	if f != JSON || !strict || t.Kind.unstructured() {
		return d, false
	}
	d.object = t.Kind.newWire(t.Version)
	problems, err := t.schema().DecodeJSON(data, d.object, true)
	d.named = *d.object.GetTypeMeta()
	return d, err == nil && len(problems) == 0 && d.named == t.typeMeta()
}

// recognize finds the type that a body names, and the bytes of the object.
func (d *decoded) recognize(data []byte, f Format) (raw []byte, err error) {
	if f != Protobuf {
		d.named.Kind, d.named.APIVersion, err = codec.RecognizeJSON(data)
		return data, err
	}
	envelope, err := codec.OpenEnvelope(data)
	if err != nil {
		return nil, err
	}
	d.named = meta.TypeMeta{Kind: envelope.Kind, APIVersion: envelope.APIVersion}
	return envelope.Raw, nil
}

// complete fills in what a body leaves out of its type.
func (t Target) complete(named *meta.TypeMeta) {
	want := t.typeMeta()
	if named.Kind == "" {
		named.Kind = want.Kind
	}
	gv, ok := meta.ParseGroupVersion(named.APIVersion)
	switch {
	case !ok:
	case gv.Version == "" && (gv.Group == "" || gv.Group == t.Kind.group):
		named.APIVersion = want.APIVersion
	default:
		named.APIVersion = gv.String()
	}
}

// find returns the kind and version of a type. It returns nil for a type that a
// real server knows and this one does not serve, and an error for other types.
func (s *Scheme) find(named meta.TypeMeta) (*Target, error) {
	named = readable(named)
	known := isUnversioned(named.Kind)
	for _, k := range s.kinds {
		for v := range k.versions {
			t := Target{k, v}
			if have := t.typeMeta(); have == named {
				return &t, nil
			} else if have.APIVersion == named.APIVersion {
				known = known || named.Kind == have.Kind+"List" || isKnown(named)
			}
		}
	}
	if !known {
		return nil, unregistered(named)
	}
	return nil, nil
}

// unrecognized words the error of a decoder for a body: with the type that the
// body names, or with its first bytes.
func (t Target) unrecognized(err error, named meta.TypeMeta, data []byte) error {
	if named.Kind != "" {
		return meta.NewBadRequest("%s in version %q cannot be handled as a %s: %v", named.Kind, versionOf(named), t.Kind.name, err)
	}
	return meta.NewBadRequest("the object provided is unrecognized (must be of type %s): %v (%s)", t.Kind.name, err, summary(data))
}

// summary returns the first bytes of a body, as text if it looks like JSON.
func summary(data []byte) string {
	const most = 30
	more := ""
	if len(data) > most {
		more = " ..."
	}
	head := data[:min(len(data), most)]
	switch {
	case len(data) == 0:
		return "<empty>"
	case data[0] == '{':
		return string(head) + more
	}
	return hex.EncodeToString(head) + more
}

// decodeUnstructured reads an object of any form, which must name its type
// (upstream: apimachinery, meta/v1/unstructured). The type is checked later. text
// is the JSON of the body data.
func (t Target) decodeUnstructured(d *decoded, text, data []byte, strict bool) (err error) {
	if d.named.Kind, d.named.APIVersion, err = codec.RecognizeJSON(text); err != nil {
		return err
	}
	if d.named.Kind == "" {
		return fmt.Errorf("Object 'Kind' is missing in '%s'", data)
	}
	d.object = t.Kind.newWire(t.Version)
	d.strict, err = t.schema().DecodeJSON(text, d.object, strict)
	if m := d.object.GetObjectMeta(); len(m.ManagedFields) == 0 {
		m.ManagedFields = nil // an empty list is as good as none; one empty entry resets
	}
	return err
}

// checkType refuses an object of any form that names another type than the
// target's (upstream: apiextensions-apiserver, apiserver).
func (t Target) checkType(o Object) error {
	if !t.Kind.unstructured() {
		return nil
	}
	wrong := func(member field.Path, got, want string) error {
		gv, _ := meta.ParseGroupVersion(o.GetTypeMeta().APIVersion)
		return field.Errors{field.Invalid(member, got, "must be "+want)}.
			Status(meta.GroupKind{Group: gv.Group, Kind: o.GetTypeMeta().Kind}, o.GetObjectMeta().Name)
	}
	switch have, want := *o.GetTypeMeta(), t.typeMeta(); {
	case have.APIVersion == "":
		return meta.NewInternalError(errors.New("Object 'apiVersion' is missing in 'object has no apiVersion field'"))
	case have.Kind != want.Kind:
		return wrong("kind", have.Kind, want.Kind)
	case have.APIVersion != want.APIVersion:
		return wrong("apiVersion", have.APIVersion, want.APIVersion)
	}
	return nil
}
