package httpapi

import (
	"encoding/hex"
	"errors"
	"net/http"
	"slices"
	"strings"

	"github.com/kubecoord/kubecoord/internal/codec"
	"github.com/kubecoord/kubecoord/internal/patch"
	"github.com/kubecoord/kubecoord/internal/yaml"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/meta"
)

// schemeName stands where a real server prints the source position of its type
// registry.
const schemeName = "kubecoord"

// validation returns the level of fieldValidation. Options have been validated
// before.
func validation(text string) patch.Validation {
	switch text {
	case "Ignore":
		return patch.Ignore
	case "Strict":
		return patch.Strict
	}
	return patch.Warn
}

// decoded is what came of a body: the object in the shape of its version, the
// problems that strict decoding found, and the type it said to be.
type decoded struct {
	object     store.Object
	duplicates []error // keys that stand twice in a YAML body
	strict     []error
	named      meta.TypeMeta
}

// decodeBody reads the object of a create or update into the stored form.
func (c *call) decodeBody(data []byte, f format, v patch.Validation) (store.Object, error) {
	d, err := c.endpoint.decode(c.api, data, f, v != patch.Ignore)
	if err == nil && v == patch.Strict && len(d.duplicates)+len(d.strict) > 0 {
		err = strictError(d)
	}
	if err != nil {
		return nil, c.endpoint.unrecognized(err, d.named, data)
	}
	for _, problem := range slices.Concat(d.duplicates, d.strict) {
		c.warn(problem.Error())
	}
	if gv := c.endpoint.gv.String(); d.named.APIVersion != gv {
		return nil, meta.NewBadRequest("the API version in the data (%s) does not match the expected API version (%s)", d.named.APIVersion, gv)
	}
	if err := c.endpoint.checkType(d.object); err != nil {
		return nil, err
	}
	return c.endpoint.res.FromWire(c.endpoint.version, d.object), nil
}

// strictError joins what strict decoding found.
func strictError(d decoded) error {
	var texts []string
	if len(d.duplicates) > 0 {
		texts = append(texts, yaml.StrictError(d.duplicates).Error())
	}
	for _, p := range d.strict {
		texts = append(texts, p.Error())
	}
	return errors.New("strict decoding error: " + strings.Join(texts, ", "))
}

// decode reads an object of the endpoint's kind. What the body leaves out of
// kind and apiVersion is taken from the endpoint.
func (e *endpoint) decode(a *API, data []byte, f format, strict bool) (d decoded, err error) {
	if e.info.Unstructured {
		return e.decodeUnstructured(data, f, strict)
	}
	if d, ok := e.decodeOwn(data, f, strict); ok {
		return d, nil
	}
	if f == formatYAML {
		if data, d.duplicates, err = yaml.ToJSON(data); err != nil {
			return d, err
		}
		if !strict {
			d.duplicates = nil
		}
	}
	var raw []byte
	if f == formatProtobuf {
		envelope, err := codec.OpenEnvelope(data)
		if err != nil {
			return d, err
		}
		d.named, raw = meta.TypeMeta{Kind: envelope.Kind, APIVersion: envelope.APIVersion}, envelope.Raw
	} else {
		if d.named.Kind, d.named.APIVersion, err = codec.RecognizeJSON(data); err != nil {
			return d, err
		}
		raw = data
	}
	e.fillType(&d.named)
	target, err := a.endpointOf(d.named)
	if err != nil {
		return d, err
	}
	if target == nil {
		return d, unconvertible(d.named, e.internalType())
	}
	d.object = target.res.New(target.version)
	schema := target.res.Schema(target.version)
	if f == formatProtobuf {
		err = schema.DecodeProto(raw, d.object)
	} else {
		d.strict, err = schema.DecodeJSON(raw, d.object, strict)
	}
	if err == nil && target.res != e.res {
		err = unconvertible(d.named, e.internalType())
	}
	return d, err
}

// decodeOwn reads a JSON object that names the endpoint's own type and has
// nothing to complain of, as nearly all do: they need not be looked through for
// their type first.
func (e *endpoint) decodeOwn(data []byte, f format, strict bool) (d decoded, ok bool) {
	if f != formatJSON || !strict {
		return d, false
	}
	d.object = e.res.New(e.version)
	problems, err := e.res.Schema(e.version).DecodeJSON(data, d.object, true)
	d.named = *d.object.GetTypeMeta()
	return d, err == nil && len(problems) == 0 && d.named.Kind == e.info.Kind && d.named.APIVersion == e.gv.String()
}

// fillType completes the type that a body names by that of the endpoint.
func (e *endpoint) fillType(t *meta.TypeMeta) {
	if t.Kind == "" {
		t.Kind = e.info.Kind
	}
	gv, ok := meta.ParseGroupVersion(t.APIVersion)
	switch {
	case !ok:
	case gv.Version == "" && (gv.Group == "" || gv.Group == e.gv.Group):
		t.APIVersion = e.gv.String()
	default:
		t.APIVersion = gv.String()
	}
}

// endpointOf returns the endpoint that serves a type.
func (a *API) endpointOf(t meta.TypeMeta) (*endpoint, error) {
	t = known(t)
	v := a.servedVersion(t.APIVersion)
	if v != nil {
		for _, e := range v.endpoints {
			if e.info.Kind == t.Kind {
				return e, nil
			}
		}
	}
	if !isUnversioned(t.Kind) && (v == nil || !v.knows(t.Kind)) {
		return nil, unregistered(t)
	}
	return nil, nil
}

func (a *API) servedVersion(apiVersion string) *groupVersion {
	for _, g := range a.groups {
		for _, v := range g.versions {
			if v.String() == apiVersion {
				return v
			}
		}
	}
	return nil
}

// unrecognized puts the error of a decoder into the words for a body: with the
// type it names, or with its first bytes where it does not even have one.
func (e *endpoint) unrecognized(err error, named meta.TypeMeta, data []byte) error {
	if named.Kind != "" {
		return meta.NewBadRequest("%s in version %q cannot be handled as a %s: %v", named.Kind, versionOf(named), e.info.Kind, err)
	}
	return meta.NewBadRequest("the object provided is unrecognized (must be of type %s): %v (%s)", e.info.Kind, err, summary(data))
}

// summary returns the first bytes of a body, as text where it looks like JSON.
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

// decodeDeleteOptions reads the body of a deletion. It may name any group this
// API serves, and is never decoded strictly.
func (c *call) decodeDeleteOptions(data []byte, f format) (o store.DeleteOptions, err error) {
	if f == formatYAML {
		if data, _, err = yaml.ToJSON(data); err != nil {
			return o, meta.NewBadRequest("%s", err)
		}
	}
	named := meta.TypeMeta{}
	raw := data
	if f == formatProtobuf {
		envelope, err := codec.OpenEnvelope(data)
		if err != nil {
			return o, meta.NewBadRequest("%s", err)
		}
		named, raw = meta.TypeMeta{Kind: envelope.Kind, APIVersion: envelope.APIVersion}, envelope.Raw
	} else if named.Kind, named.APIVersion, err = codec.RecognizeJSON(data); err != nil {
		return o, meta.NewBadRequest("%s", err)
	}
	if named.Kind == "" {
		named.Kind = "DeleteOptions"
	}
	if named.APIVersion == "" {
		named.APIVersion = "meta.k8s.io/v1"
	}
	// The version does not matter, whatever group it is of.
	if named.Kind != "DeleteOptions" {
		if !isUnversioned(named.Kind) && !isMetaOptions(named.Kind) {
			return o, meta.NewBadRequest("%s", unregistered(named))
		}
		return o, meta.NewBadRequest("%s", unconvertible(named, "v1.DeleteOptions"))
	}
	if f == formatProtobuf {
		err = c.api.delete.DecodeProto(raw, &o)
	} else {
		_, err = c.api.delete.DecodeJSON(raw, &o, false)
	}
	if err != nil {
		return o, meta.NewBadRequest("%s", err)
	}
	return o, nil
}

// exportGone refuses a parameter that old clients still send.
func exportGone() error {
	return meta.NewBadRequest("the export parameter, deprecated since v1.14, is no longer supported")
}

// managerOf returns who a write is ascribed to: the fieldManager, or the
// program named by the User-Agent.
func managerOf(fieldManager string, r *http.Request) string {
	if fieldManager != "" {
		return fieldManager
	}
	name, _, _ := strings.Cut(r.UserAgent(), "/")
	var b strings.Builder
	for _, ch := range name {
		if meta.Printable(ch) {
			b.WriteRune(ch)
		}
	}
	if name = b.String(); len(name) > meta.MaxFieldManager {
		name = name[:meta.MaxFieldManager]
	}
	if name == "" {
		return "unknown"
	}
	return name
}
