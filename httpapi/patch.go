package httpapi

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"github.com/kubecoord/kubecoord/internal/registry"
	"github.com/kubecoord/kubecoord/store/meta"
)

// patchTypes returns the media types of patches in the order in which errors name
// them. Without a schema there is no strategic merge patch.
func patchTypes(schema bool) []string {
	if !schema {
		return []string{string(registry.JSONPatch), string(registry.MergePatch), string(registry.ApplyPatch)}
	}
	return []string{string(registry.JSONPatch), string(registry.MergePatch), string(registry.StrategicMergePatch), string(registry.ApplyPatch)}
}

// isPatch is the first, generous look at the media type: whether any that is
// named is a patch.
func isPatch(r *http.Request) bool {
	for part := range strings.SplitSeq(r.Header.Get("Content-Type"), ",") {
		t, _, _ := strings.Cut(part, ";")
		if slices.Contains(patchTypes(true), strings.TrimSpace(t)) {
			return true
		}
	}
	return false
}

// patchType is the second, strict one: the type is what stands before the
// first semicolon.
func (c *call) patchType() (registry.PatchType, error) {
	t, _, _ := strings.Cut(c.req.Header.Get("Content-Type"), ";")
	if types := patchTypes(!c.endpoint.info.Unstructured); !slices.Contains(types, t) {
		return "", unsupportedMedia(types...)
	}
	return registry.PatchType(t), nil
}

// patch answers PATCH …/namespaces/{ns}/{resource}/{name}, and /status below it.
// The patch is applied to the object in the version of the path. An
// application/apply-patch+yaml is a server-side apply, which creates the object
// if there is none.
//
// Query: dryRun, fieldManager (required for apply), fieldValidation, force (for
// apply only), pretty.
func (c *call) patch() error {
	t, err := c.patchType()
	if err != nil {
		return err
	}
	data, err := c.readBody()
	if err != nil {
		return err
	}
	opts := registry.PatchOptions{CreateOptions: c.createOptions(), Force: c.optionalBool("force")}
	if err := opts.Validate(t == registry.ApplyPatch); err != nil {
		return err
	}
	change, err := c.patchChange(t, data, opts)
	if err != nil {
		return err
	}
	it, created, err := c.endpoint.res.Update(c.req.Context(), c.request(opts.CreateOptions), change)
	if err != nil {
		return err
	}
	return c.writeItem(updated(created), it)
}

// patchChange returns the change that a patch asks for.
func (c *call) patchChange(t registry.PatchType, data []byte, opts registry.PatchOptions) (registry.Change, error) {
	level := validation(opts.FieldValidation)
	if t == registry.ApplyPatch {
		config, duplicates, err := decodeApply(data)
		return registry.Apply{Config: config, Duplicates: duplicates, Validation: level, Force: opts.Force != nil && *opts.Force}, err
	}
	// A patch that is not JSON is refused even if there is nothing to patch.
	if !json.Valid(data) {
		return nil, meta.NewBadRequest("invalid JSON patch")
	}
	return registry.Patch{Type: t, Data: data, Validation: level, Scheme: c.api.scheme}, nil
}
