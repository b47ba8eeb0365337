package httpapi

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"github.com/kubecoord/kubecoord/internal/patch"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/meta"
)

// The types of patches.
const (
	jsonPatch      = "application/json-patch+json"
	mergePatch     = "application/merge-patch+json"
	strategicPatch = "application/strategic-merge-patch+json"
	applyPatch     = "application/apply-patch+yaml"
)

var patchTypes = []string{jsonPatch, mergePatch, strategicPatch, applyPatch}

// isPatch is the first, generous look at the media type: whether any that is
// named is a patch.
func isPatch(r *http.Request) bool {
	for part := range strings.SplitSeq(r.Header.Get("Content-Type"), ",") {
		t, _, _ := strings.Cut(part, ";")
		if slices.Contains(patchTypes, strings.TrimSpace(t)) {
			return true
		}
	}
	return false
}

// patchType is the second, strict one: the type is what stands before the
// first semicolon.
func (c *call) patchType() (string, error) {
	t, _, _ := strings.Cut(c.req.Header.Get("Content-Type"), ";")
	types := patchTypes
	if c.endpoint.info.Unstructured {
		types = []string{jsonPatch, mergePatch, applyPatch} // there is no schema to go by
	}
	if !slices.Contains(types, t) {
		return "", unsupportedMedia(types...)
	}
	return t, nil
}

// patch answers PATCH …/namespaces/{ns}/{resource}/{name}, and /status below it.
// The patch is applied to the object in the version of the path, and again where
// another writer was faster.
//
// Query: dryRun, fieldManager, fieldValidation, force (for apply only), pretty.
func (c *call) patch() error {
	kind, err := c.patchType()
	if err != nil {
		return err
	}
	data, err := c.readBody()
	if err != nil {
		return err
	}
	opts := store.PatchOptions{CreateOptions: c.createOptions(), Force: c.optionalBool("force")}
	if err := opts.Validate(kind == applyPatch); err != nil {
		return err
	}
	if kind == applyPatch {
		return c.apply(data, opts)
	}
	// Whether it is JSON at all is told even where there is nothing to patch.
	if !json.Valid(data) {
		return meta.NewBadRequest("invalid JSON patch")
	}
	apply := patch.JSON
	switch kind {
	case mergePatch:
		apply = patch.Merge
	case strategicPatch:
		apply = patch.Strategic
	}
	req := c.request(opts.CreateOptions)
	req.Patch = true
	level := validation(opts.FieldValidation)
	it, _, err := c.endpoint.res.Update(req, "", func(current *store.Item) (store.Object, error) {
		if current == nil {
			return nil, meta.NewNotFound(c.groupResource(), c.name)
		}
		patched, warnings, err := apply(c.patchTarget(current), data, level)
		if err != nil {
			return nil, err
		}
		for _, text := range warnings {
			c.warn(text)
		}
		o := patched.(store.Object)
		if err := c.matchNames(o.GetObjectMeta()); err != nil {
			return nil, err
		}
		if err := c.endpoint.checkType(o); err != nil {
			return nil, err
		}
		return c.endpoint.res.FromWire(c.endpoint.version, o), nil
	})
	if err != nil {
		return err
	}
	return c.writeItem(http.StatusOK, it)
}

// patchTarget is an object in the version of the path, with all that a patch
// needs to know of that version.
func (c *call) patchTarget(current *store.Item) patch.Target {
	e := c.endpoint
	schema := e.res.Schema(e.version)
	return patch.Target{
		Type:    schema,
		Current: current.Wire(e.version),
		New:     func() any { return e.res.New(e.version) },
		Encode:  func(o any) ([]byte, error) { return schema.AppendJSON(nil, o) },
		Decode: func(doc []byte, strict bool) (any, []error, error) {
			d, err := e.decode(c.api, doc, formatJSON, strict)
			return d.object, d.strict, err
		},
	}
}
