package registry

import (
	"errors"
	"fmt"
	"strings"

	"github.com/kubecoord/kubecoord/internal/codec"
	"github.com/kubecoord/kubecoord/internal/patch"
	"github.com/kubecoord/kubecoord/store/meta"
)

// PatchType is the media type of a patch.
type PatchType string

// The patch types.
const (
	JSONPatch           PatchType = "application/json-patch+json"
	MergePatch          PatchType = "application/merge-patch+json"
	StrategicMergePatch PatchType = "application/strategic-merge-patch+json"
	ApplyPatch          PatchType = "application/apply-patch+yaml"
)

// Patch applies a JSON patch, merge patch or strategic merge patch to the object in
// the version of the request.
type Patch struct {
	Type PatchType
	Data []byte
	// Validation is the level of fieldValidation.
	Validation patch.Validation
	// Scheme reads the patched document.
	Scheme *Scheme
}

func (c Patch) plan(r *Resource, current *Item, req Request) (w write, err error) {
	if current == nil {
		return w, r.NotFound(req.Name)
	}
	t := Target{r.kind, req.Version}
	o, ok := c.mergeOrdinary(t, current)
	if !ok {
		if o, err = c.document(t, current, &req); err != nil {
			return w, err
		}
	}
	if err := r.MatchNames(o.GetObjectMeta(), req); err != nil {
		return w, err
	}
	if !r.kind.info.Native && o.GetTypeMeta().APIVersion == "" {
		return w, meta.NewInternalError(errors.New("Object 'apiVersion' is missing in 'object has no apiVersion field'"))
	}
	o = t.fromWire(o)
	r.updateManagers(o, current, &req, r.st.now())
	r.dedupOwners(o.GetObjectMeta(), &req, afterAdmission)
	return r.replace(current, o, &req, false)
}

// object describes the object to the functions of package patch.
func (c Patch) object(t Target, current *Item) patch.Object {
	return patch.Object{
		Type:    t.schema(),
		Current: current.Wire(t.Version),
		Decode: func(doc []byte, strict bool) (any, []error, error) {
			d, err := c.Scheme.decodePatched(t, doc, strict)
			return d.object, d.strict, err
		},
	}
}

// mergeOrdinary applies a merge patch to the fields of the object, with the result of
// [patch.Merge]. It returns false for a patch that needs the document: to report a problem, or
// because it has something unusual.
func (c Patch) mergeOrdinary(t Target, current *Item) (Object, bool) {
	// For a custom resource, Ignore changes more than the answer to a problem: see decodeCustom.
	if c.Type != MergePatch || t.Kind.info.Unstructured || c.Validation == patch.Ignore && !t.Kind.info.Native {
		return nil, false
	}
	o := t.decoded(current)
	if o == nil {
		return nil, false
	}
	*o.GetTypeMeta() = t.typeMeta()
	return o, t.schema().MergeJSON(c.Data, o) && *o.GetTypeMeta() == t.typeMeta()
}

// decoded returns what decoding the JSON of an item returns, or nil if that is not simple.
// It may share memory with the item.
func (t Target) decoded(current *Item) Object {
	if t.stored(current) != nil && t.schema().RoundTrips(current.obj) {
		if t.Kind.pure {
			return t.schema().CopyStruct(current.obj).(Object) // the patch replaces what it changes
		}
		return t.Kind.copy(current.obj)
	}
	live, err := current.Encoded(t.Version, JSON)
	if err != nil {
		return nil
	}
	o := t.Kind.newWire(t.Version)
	if _, err := t.schema().DecodeJSON(live, o, false); err != nil {
		return nil
	}
	return o
}

// stored returns the stored object of an item if it has the shape of the target, or nil.
func (t Target) stored(it *Item) any {
	if it == nil || it.kind != t.Kind || t.Kind.versions[t.Version].form != 0 {
		return nil
	}
	return it.obj
}

// document applies a patch to the JSON of the object.
func (c Patch) document(t Target, current *Item, req *Request) (Object, error) {
	apply := patch.JSON
	switch c.Type {
	case MergePatch:
		apply = patch.Merge
	case StrategicMergePatch:
		apply = patch.Strategic
	}
	patched, warnings, err := apply(c.object(t, current), c.Data, c.Validation)
	if err != nil {
		return nil, err
	}
	for _, text := range warnings {
		req.warn(text)
	}
	return patched.(Object), nil
}

// decodePatched decodes a patched document. If a patch has removed the apiVersion of a built-in
// kind, it decodes as the internal type, unlike a request body.
func (s *Scheme) decodePatched(t Target, doc []byte, strict bool) (decoded, error) {
	if d, ok := t.decodeOwn(doc, JSON, strict, nil); ok {
		return d, nil
	}
	if t.Kind.info.Native {
		if kind, apiVersion, err := codec.RecognizeJSON(doc); err == nil && lacksVersion(apiVersion, t.typeMeta().APIVersion) {
			return t.decodeInternal(kind, doc, strict)
		}
	}
	return s.decodeAny(t, doc, JSON, strict, nil)
}

// decodeInternal decodes a document without an apiVersion. A real server reads it as the
// internal Go type of the kind, which was not made for JSON: the members of the metadata stand
// beside kind, and neither metadata nor spec is known (upstream: apiserver,
// endpoints/handlers/patch.go, and apimachinery, serializer/json). The content of a document
// that uses the names of internal fields, such as Spec, is not read here.
func (t Target) decodeInternal(kind string, doc []byte, strict bool) (d decoded, err error) {
	if kind != "" && kind != t.Kind.info.Kind {
		return d, fmt.Errorf("no kind %q is registered for the internal version of group %q in scheme %q", kind, t.Kind.info.Group, schemeName)
	}
	d.object = t.Kind.newWire(t.Version)
	problems, err := t.schema().DecodeJSON([]byte(`{"metadata":`+string(doc)+`}`), d.object, strict)
	if err != nil {
		return d, errors.New(strings.Replace(err.Error(), "ObjectMeta.metadata.", t.Kind.info.Kind+".ObjectMeta.", 1))
	}
	for _, p := range problems {
		text := strings.Replace(p.Error(), `"metadata.`, `"`, 1)
		if text != `unknown field "kind"` && text != `unknown field "apiVersion"` {
			d.strict = append(d.strict, errors.New(text))
		}
	}
	return d, nil
}
