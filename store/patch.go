package store

import (
	"context"

	"github.com/kubecoord/kubecoord/internal/patch"
	"github.com/kubecoord/kubecoord/internal/registry"
	"github.com/kubecoord/kubecoord/store/meta"
)

// Patch applies a patch to an object and returns the result. Data is the patch in
// the form of t, for the preferred version of the kind. Unknown and duplicate
// fields are errors. Errors are ErrNotFound, ErrBadRequest, ErrInvalid, and
// ErrConflict if the patch names another resourceVersion than the current one.
func (c *Collection[T]) Patch(ctx context.Context, namespace, name string, t PatchType, data []byte, opts PatchOptions) (*T, error) {
	if err := c.checkPatch(t); err != nil {
		return nil, err
	}
	req := c.request(ctx, opts.DryRun, opts.FieldManager)
	req.Namespace, req.Name = namespace, name
	if err := c.check(ctx, req, "PatchOptions"); err != nil {
		return nil, err
	}
	change := registry.Patch{
		Type: registry.PatchType(t), Data: data, Validation: patch.Strict, Scheme: registry.NewScheme(c.r.Kind()),
	}
	it, _, err := c.r.Update(ctx, req, change)
	return typed[T](it), err
}

func (c *Collection[T]) checkPatch(t PatchType) error {
	switch t {
	case JSONPatch, MergePatch:
	case StrategicMergePatch:
		if c.r.Info().Unstructured {
			return meta.NewBadRequest("patch type: got %q, want %q or %q: objects of any form have no schema to merge by", t, JSONPatch, MergePatch)
		}
	default:
		return meta.NewBadRequest("patch type: got %q, want %q, %q or %q", t, JSONPatch, MergePatch, StrategicMergePatch)
	}
	return nil
}

// Apply merges a configuration into an object, or creates it, and makes the field
// manager the owner of the fields that config sets (API concepts, "Server-Side
// Apply"). Fields that the JSON form of config leaves out because they are empty
// are not applied. Errors are ErrConflict, if another manager owns a field and
// Force is not set, ErrInvalid and ErrBadRequest.
func (c *Collection[T]) Apply(ctx context.Context, config *T, opts ApplyOptions) (*T, error) {
	o := object(config)
	m := o.GetObjectMeta()
	req := c.request(ctx, opts.DryRun, opts.FieldManager)
	req.Namespace, req.Name = c.namespace(m), m.Name
	if err := c.check(ctx, req, "PatchOptions"); err != nil {
		return nil, err
	}
	if opts.FieldManager == "" {
		return nil, registry.PatchOptions{}.Validate(true)
	}
	it, _, err := c.r.Update(ctx, req, registry.Apply{Config: c.r.Configuration(o), Force: opts.Force})
	return typed[T](it), err
}
