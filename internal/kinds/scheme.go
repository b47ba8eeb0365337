package kinds

import (
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/kubecoord/kubecoord/internal/codec"
	"github.com/kubecoord/kubecoord/internal/patch"
	"github.com/kubecoord/kubecoord/internal/yaml"
	"github.com/kubecoord/kubecoord/store/meta"
)

// Scheme decodes objects of a set of kinds (upstream: apimachinery, runtime.Scheme and runtime/serializer).
type Scheme struct {
	kinds []*Kind
}

// NewScheme returns a Scheme of these kinds.
func NewScheme(kinds ...*Kind) *Scheme { return &Scheme{kinds} }

// Target is the expected type of a body: a kind in one of its versions.
type Target struct {
	Kind    *Kind
	Version int
}

// TypeMeta returns the kind and apiVersion of the target.
func (t Target) TypeMeta() meta.TypeMeta { return t.Kind.TypeMeta(t.Version) }

// Schema returns the compiled type of the version.
func (t Target) Schema() *codec.Type { return t.Kind.Schema(t.Version) }

// Document returns the type that documents describe for the version.
func (t Target) Document() *codec.Type { return t.Kind.Document(t.Version) }

func (t Target) version() string { return t.Kind.info.Versions[t.Version].Name }

// decoded is the result of decoding a body.
type decoded struct {
	object     Object        // in the shape of its version
	duplicates []error       // duplicate keys of a YAML body
	strict     []error       // other errors of strict decoding
	named      meta.TypeMeta // the type that the body names
}

// DecodeBody decodes the object of a create or update into the stored form, with defaults filled in. live is nil or
// an object that is stored, such as the one to replace; equal values share its memory.
func (s *Scheme) DecodeBody(ctx context.Context, t Target, data []byte, f Format, v patch.Validation, live Object, warn func(string)) (Object, error) {
	if o := t.decodeOwn(data, f, v != patch.Ignore, live); o != nil {
		return t.Kind.Received(ctx, o, t.Version)
	}
	d, err := s.decodeAny(t, data, f, v != patch.Ignore, live)
	if err == nil && v == patch.Strict && len(d.duplicates)+len(d.strict) > 0 {
		return nil, t.refused(&d, data)
	}
	if err != nil {
		return nil, t.unrecognized(err, d.named, data)
	}
	for _, problem := range append(d.duplicates, d.strict...) {
		warn(problem.Error())
	}
	if want := t.TypeMeta().APIVersion; d.named.APIVersion != want && !t.Kind.accepts(d.named) {
		return nil, meta.NewBadRequest("the API version in the data (%s) does not match the expected API version (%s)", d.named.APIVersion, want)
	}
	return t.Kind.Received(ctx, d.object, t.Version)
}

// accepts reports whether a body may have a type other than the type of its path.
func (k *Kind) accepts(t meta.TypeMeta) bool {
	if len(k.native.BodyVersions) == 0 || t.Kind != k.info.Kind {
		return false
	}
	gv, ok := meta.ParseGroupVersion(t.APIVersion)
	return ok && gv.Group == k.info.Group && slices.Contains(k.native.BodyVersions, gv.Version)
}

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

// decodeAny decodes any body that decodeOwn does not. The target's kind and apiVersion are the defaults.
func (s *Scheme) decodeAny(t Target, data []byte, f Format, strict bool, live Object) (d decoded, err error) {
	text := data
	if f == YAML {
		if text, d.duplicates, err = yaml.ToJSON(data); err != nil {
			return d, err
		}
		if !strict {
			d.duplicates = nil
		}
	}
	raw, err := d.recognize(text, f)
	if err != nil {
		return d, err
	}
	if !t.Kind.info.Native {
		return d, t.decodeCustom(&d, raw, data, f, strict)
	}
	if err := d.complete(t.TypeMeta(), data, f); err != nil {
		return d, err
	}
	have := t
	if d.named != t.TypeMeta() && !t.Kind.accepts(d.named) {
		if have, err = s.find(d.named); err != nil {
			return d, err
		}
	}
	if have.Kind == nil {
		return d, d.unconvertible(raw, f, t.InternalType())
	}
	if have.Kind != t.Kind {
		live = nil
	}
	err = have.decodeInto(&d, raw, f, strict, live)
	if err == nil && have.Kind.Origin() != t.Kind.Origin() {
		err = unconvertible(d.named, t.InternalType())
	}
	return d, err
}

// decodeInto reads the object of a body that has the type of the target. live is as in DecodeBody.
func (t Target) decodeInto(d *decoded, raw []byte, f Format, strict bool, live Object) (err error) {
	d.object = t.Kind.New(t.Version)
	if f == Protobuf {
		return t.Schema().DecodeProtoLike(raw, d.object, t.like(live))
	}
	d.strict, err = t.Schema().DecodeJSON(raw, d.object, strict)
	return err
}

// like returns live if it has the shape of the target.
func (t Target) like(live Object) any {
	if live == nil || t.Kind.Form(t.Version) != 0 {
		return nil
	}
	return live
}

// decodeOwn reads a JSON object that names the target's type and has no problem, or returns nil.
// Nearly all bodies are like that, and need not be searched for their type first.
func (t Target) decodeOwn(data []byte, f Format, strict bool, live Object) Object {
	if f != JSON || !strict || t.Kind.info.Trees {
		return nil
	}
	v := &t.Kind.versions[t.Version]
	o := t.Kind.forms[v.form].newWire()
	like := codec.Like{Type: v.named, Shares: t.Kind.pure && !t.Kind.PreparesWrites() && len(t.Kind.forms) == 1}
	if live != nil && v.form == 0 {
		like.Object = live
	}
	problems, err := v.schema.DecodeJSONLike(data, o, like, true)
	if err != nil || len(problems) > 0 || *o.GetTypeMeta() != like.Type {
		return nil
	}
	return o
}

// recognize returns the bytes of the object, and stores the type that the body names.
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

// complete fills in the missing parts of the type of the body data from want. In
// JSON a group without a version is completed only if it is the group of want.
func (d *decoded) complete(want meta.TypeMeta, data []byte, f Format) error {
	if d.named == want {
		return nil
	}
	d.named.Kind = cmp.Or(d.named.Kind, want.Kind)
	gv, _ := meta.ParseGroupVersion(d.named.APIVersion)
	switch {
	case gv.Version != "":
		d.named.APIVersion = gv.String()
	case f == Protobuf || lacksVersion(d.named.APIVersion, want.APIVersion):
		d.named.APIVersion = want.APIVersion
	default:
		return fmt.Errorf("Object 'apiVersion' is missing in '%s'", data)
	}
	return nil
}

// lacksVersion reports whether an apiVersion has no version, and either no group or the group of want.
func lacksVersion(apiVersion, want string) bool {
	gv, _ := meta.ParseGroupVersion(apiVersion)
	return gv.Version == "" && (gv.Group == "" || strings.HasPrefix(want, gv.Group+"/"))
}

// find returns the kind and version of a type in the scheme of a real server, which does not contain custom
// resources. It returns no kind for a type of the scheme that is not served, and an error for any other type.
func (s *Scheme) find(named meta.TypeMeta) (Target, error) {
	named = readable(named)
	known := isUnversioned(named.Kind)
	for _, k := range s.kinds {
		if !k.info.Native {
			continue
		}
		for v := range k.versions {
			t := Target{k, v}
			if have := t.TypeMeta(); have == named && (k.origin == nil || v == k.own) {
				return t, nil
			} else if have.APIVersion == named.APIVersion {
				known = known || named.Kind == k.info.ListKind || isOptions(named.Kind)
			}
		}
	}
	if !known && !isBuiltIn(named) { // reads a long table
		return Target{}, unregistered(named)
	}
	return Target{}, nil
}

// refused returns the error of strict decoding. A custom resource has been read by then, and is the type that upstream asks for its
// kind (upstream: apiserver, endpoints/handlers/rest.go, transformDecodeError, and apiextensions-apiserver, crdserverscheme).
func (t Target) refused(d *decoded, data []byte) error {
	err := d.strictError()
	if t.Kind.info.Native {
		return t.unrecognized(err, d.named, data)
	}
	if versionOf(d.named) == "" {
		return meta.NewBadRequest("Object 'apiVersion' is missing in 'object has no apiVersion field'")
	}
	return meta.NewBadRequest("%s in version %q cannot be handled as a %s: %v", d.named.Kind, versionOf(d.named), d.named.Kind, err)
}

// unrecognized returns the error of a body that cannot be decoded, with the type that the
// body names, or with its first bytes.
func (t Target) unrecognized(err error, named meta.TypeMeta, data []byte) error {
	if named.Kind != "" {
		return meta.NewBadRequest("%s in version %q cannot be handled as a %s: %v", named.Kind, versionOf(named), t.Kind.info.Kind, err)
	}
	return meta.NewBadRequest("the object provided is unrecognized (must be of type %s): %v (%s)", t.Kind.info.Kind, err, summary(data))
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

// decodeCustom reads a custom resource, which must name its kind (upstream: apimachinery, meta/v1/unstructured). The
// type is checked later. raw is the object in the body data.
func (t Target) decodeCustom(d *decoded, raw, data []byte, f Format, strict bool) error {
	if d.named.Kind == "" {
		if !strict { // the decoder of upstream then takes the type of the path
			d.named = meta.TypeMeta{Kind: t.Kind.info.Kind, APIVersion: cmp.Or(d.named.APIVersion, t.TypeMeta().APIVersion)}
		}
		return fmt.Errorf("Object 'Kind' is missing in '%s'", data)
	}
	err := t.decodeInto(d, raw, f, strict, nil)
	if gv, _ := meta.ParseGroupVersion(d.named.APIVersion); gv.Group != t.Kind.info.Group || d.named.Kind != t.Kind.info.Kind {
		d.strict = slices.DeleteFunc(d.strict, func(problem error) bool { // upstream prunes nothing but the metadata then
			name, unknown := strings.CutPrefix(problem.Error(), `unknown field "`)
			return unknown && !strings.HasPrefix(name, "metadata.")
		})
	}
	*d.object.GetTypeMeta() = d.named // in protobuf it is outside the object
	if m := d.object.GetObjectMeta(); len(m.ManagedFields) == 0 {
		m.ManagedFields = nil // an empty list has no effect; a list of one empty entry resets
	}
	return err
}

// deleteOptionsType is compiled once per process.
var deleteOptionsType = sync.OnceValue(func() *codec.Type { return codec.MustCompile(reflect.TypeFor[DeleteOptions](), "v1") })

// StatusType is compiled once per process.
var StatusType = sync.OnceValue(func() *codec.Type { return codec.MustCompile(reflect.TypeFor[meta.Status](), "v1") })

// DecodeDeleteOptions decodes the body of a deletion. The body may name any group, and is never decoded strictly.
func DecodeDeleteOptions(body []byte, f Format) (o DeleteOptions, err error) {
	defer func() {
		if err != nil {
			err = meta.NewBadRequest("%s", err)
		}
	}()
	data := body
	if f == YAML {
		if data, _, err = yaml.ToJSON(body); err != nil {
			return o, err
		}
	}
	var d decoded
	raw, err := d.recognize(data, f)
	if err != nil {
		return o, err
	}
	if err := d.complete(meta.TypeMeta{Kind: "DeleteOptions", APIVersion: "meta.k8s.io/v1"}, body, f); err != nil {
		return o, err
	}
	switch {
	case d.named.Kind == "DeleteOptions":
	case isUnversioned(d.named.Kind) || isMetaType(d.named):
		return o, d.unconvertible(raw, f, "v1.DeleteOptions")
	default:
		return o, unregistered(d.named)
	}
	err = decodeAs(deleteOptionsType(), raw, f, &o)
	return o, err
}

func decodeAs(typ *codec.Type, raw []byte, f Format, o any) error {
	if f == Protobuf {
		return typ.DecodeProto(raw, o)
	}
	_, err := typ.DecodeJSON(raw, o, false)
	return err
}
