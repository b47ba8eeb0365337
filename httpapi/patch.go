package httpapi

import (
	"bytes"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"unicode"

	kjson "sigs.k8s.io/json"

	"github.com/kubecoord/kubecoord/internal/codec"
	"github.com/kubecoord/kubecoord/internal/kinds"
	"github.com/kubecoord/kubecoord/internal/patch"
	"github.com/kubecoord/kubecoord/internal/registry"
	"github.com/kubecoord/kubecoord/internal/yaml"
	"github.com/kubecoord/kubecoord/store/meta"
)

// isPatch reports whether any media type in the header is a patch, which is the first check.
func isPatch(r *http.Request) bool {
	for part := range strings.SplitSeq(r.Header.Get("Content-Type"), ",") {
		t, _, _ := strings.Cut(part, ";")
		if slices.Contains(registry.PatchTypes(false), strings.TrimSpace(t)) {
			return true
		}
	}
	return false
}

// patchType returns the type before the first semicolon, which is the second, strict check.
func (c *call) patchType() (string, error) {
	t, _, _ := strings.Cut(c.header("Content-Type"), ";")
	if types := registry.PatchTypes(c.endpoint.Info.Trees || c.resource.Info().Trees); !slices.Contains(types, t) {
		return "", registry.UnsupportedMedia(types...)
	}
	return t, nil
}

// patch answers PATCH …/namespaces/{ns}/{resource}/{name}, and /status below it.
// The patch is applied to the object in the version of the path. An
// application/apply-patch+yaml is a server-side apply, which creates a missing object.
//
// Query: dryRun, fieldManager (required for apply), fieldValidation, force (for
// apply only), pretty.
func (c *call) patch() error {
	t := c.buffers().patch.Type
	data, err := c.readBody()
	if err != nil {
		return err
	}
	opts, force := c.writeOptions(), c.optionalBool("force")
	if err := kinds.ValidatePatchOptions(*opts, t == registry.ApplyPatch, force); err != nil {
		return err
	}
	change, err := c.patchChange(t, data, validation(opts.FieldValidation), force != nil && *force)
	if err != nil {
		return err
	}
	if err := c.checkNames(); err != nil {
		return err
	}
	return c.writeUpdate(c.request(), change)
}

// patchChange reads the patch.
func (c *call) patchChange(t string, data []byte, level patch.Validation, force bool) (registry.Change, error) {
	if t == registry.ApplyPatch {
		config, duplicates, err := decodeApply(data)
		return &registry.Apply{Config: config, Duplicates: duplicates, Validation: level, Force: force}, err
	}
	// Invalid JSON is refused before the object is looked up.
	if !json.Valid(data) {
		return nil, meta.NewBadRequest("invalid JSON patch")
	}
	b := c.buffers()
	b.patch = registry.Patch{Type: t, Data: data, Validation: level, Scheme: c.served.scheme}
	return &b.patch, nil
}

// decodeApply reads an applied configuration, which is nearly always plain JSON.
func decodeApply(data []byte) (config map[string]any, duplicates []error, err error) {
	if config, ok := codec.PlainTree(data); ok {
		return config, nil, nil
	}
	return decodeApplyYAML(data)
}

// decodeApplyYAML reads an applied configuration as a real server does: it converts YAML to JSON for
// the audit log first, unless the text looks like JSON.
func decodeApplyYAML(data []byte) (config map[string]any, duplicates []error, err error) {
	text, duplicates, err := yaml.ToJSON(data)
	switch {
	case err != nil && bytes.HasPrefix(bytes.TrimLeftFunc(data, unicode.IsSpace), []byte("{")):
		return nil, nil, meta.NewBadRequest("error decoding patch: error converting YAML to JSON: %s", err)
	case err != nil:
		return nil, nil, meta.NewBadRequest("error encoding patch: %s", err)
	}
	if err := kjson.UnmarshalCaseSensitivePreserveInts(text, &config); err != nil {
		return nil, nil, meta.NewBadRequest("error decoding patch: error unmarshaling JSON: while decoding JSON: %s", err)
	}
	return config, duplicates, nil
}
