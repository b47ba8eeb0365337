package registry

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/kubecoord/kubecoord/internal/kinds"
	"github.com/kubecoord/kubecoord/internal/patch"
	"github.com/kubecoord/kubecoord/store/meta"
)

// The media types of patches.
const (
	JSONPatch           = "application/json-patch+json"
	MergePatch          = "application/merge-patch+json"
	StrategicMergePatch = "application/strategic-merge-patch+json"
	ApplyPatch          = "application/apply-patch+yaml"
)

// PatchTypes returns them in the order of error messages. Objects of any form have no schema for a strategic merge patch.
func PatchTypes(trees bool) []string {
	if trees {
		return []string{JSONPatch, MergePatch, ApplyPatch}
	}
	return []string{JSONPatch, MergePatch, StrategicMergePatch, ApplyPatch}
}

// UnsupportedMedia returns the error for a body of another media type.
func UnsupportedMedia(types ...string) error {
	return meta.NewStatusError(http.StatusUnsupportedMediaType, meta.ReasonUnsupportedMediaType, nil,
		"the body of the request was in an unknown format - accepted media types include: "+strings.Join(types, ", "))
}

// Patch applies a JSON patch, merge patch or strategic merge patch to the object in the version of the request.
type Patch struct {
	Type string
	Data []byte
	// Validation is the level of fieldValidation.
	Validation patch.Validation
	// Scheme reads the patched document.
	Scheme *kinds.Scheme
}

func (c *Patch) plan(ctx context.Context, r *Resource, current *Item, req *Request) (write, error) {
	return r.planBody(ctx, c, current, req, false)
}

func (c *Patch) next(ctx context.Context, r *Resource, current *Item, req *Request) (o kinds.Object, err error) {
	t := kinds.Target{Kind: r.Kind, Version: req.Version}
	o, ok := c.mergeOrdinary(t, current)
	if !ok {
		if o, err = c.document(ctx, t, current, req); err != nil {
			return nil, err
		}
	}
	if err := r.MatchNames(o.GetObjectMeta(), req.Namespace, req.Name); err != nil {
		return nil, err
	}
	if !r.Info().Native && o.GetTypeMeta().APIVersion == "" {
		return nil, meta.NewInternalError(errors.New("Object 'apiVersion' is missing in 'object has no apiVersion field'"))
	}
	if o, err = r.Kind.Received(ctx, o, req.Version); err != nil {
		return nil, err
	}
	return o, r.updateManagers(ctx, o, current, req, r.st.now())
}

type patchReader struct {
	scheme *kinds.Scheme
	kinds.Target
}

func (r patchReader) Decode(doc []byte, strict bool) (any, []error, error) {
	return r.scheme.DecodePatched(r.Target, doc, strict)
}

func (r patchReader) Read(doc map[string]any, strict bool) (any, []error, error) {
	return r.Kind.ReadPatched(r.Version, doc, strict)
}

// mergeOrdinary applies a merge patch to the fields of the object, with the result of [patch.Merge]. It returns false
// for a patch that needs the document: to report a problem, or because it has something unusual.
func (c *Patch) mergeOrdinary(t kinds.Target, current *Item) (kinds.Object, bool) {
	// For a custom resource, Ignore changes more than the answer to a problem: see decodeCustom.
	if c.Type != MergePatch || t.Kind.Info().Trees || c.Validation == patch.Ignore && !t.Kind.Info().Native {
		return nil, false
	}
	o := t.Simple(current.obj)
	if o == nil {
		live, err := current.Encoded(t.Version, kinds.JSON)
		if err != nil {
			return nil, false
		}
		if o, err = t.Kind.DecodeJSON(t.Version, live); err != nil {
			return nil, false
		}
	}
	*o.GetTypeMeta() = t.TypeMeta()
	return o, t.Schema().MergeJSON(c.Data, o) && *o.GetTypeMeta() == t.TypeMeta()
}

// document applies a patch to the JSON of the object.
func (c *Patch) document(ctx context.Context, t kinds.Target, current *Item, req *Request) (kinds.Object, error) {
	apply := patch.JSON
	switch c.Type {
	case MergePatch:
		apply = patch.Merge
	case StrategicMergePatch:
		apply = patch.Strategic
	}
	o, err := current.WireIn(ctx, t.Version)
	if err != nil {
		return nil, err
	}
	patched, warnings, err := apply(patch.Object{Type: t.Schema(), Current: o, Reader: patchReader{c.Scheme, t}}, c.Data, c.Validation)
	if err != nil {
		return nil, err
	}
	for _, text := range warnings {
		req.warn(text)
	}
	return patched.(kinds.Object), nil
}
