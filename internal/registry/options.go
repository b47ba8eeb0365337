package registry

import (
	"fmt"
	"slices"

	"github.com/kubecoord/kubecoord/store/field"
	"github.com/kubecoord/kubecoord/store/meta"
)

// CreateOptions says how to create (API reference, "CreateOptions"). The zero
// value is ready.
type CreateOptions struct {
	// DryRun is empty, or "All": everything is done but the write.
	DryRun []string
	// FieldManager names the writer, at most 128 printable bytes.
	FieldManager string
	// FieldValidation is Ignore, Warn or Strict, or empty for Warn. It governs
	// the decoding of request bodies and so has no effect here.
	FieldValidation string
}

// UpdateOptions says how to update (API reference, "UpdateOptions"). The zero
// value is ready.
type UpdateOptions CreateOptions

// DeleteOptions says how to delete. The zero value is ready.
type DeleteOptions = meta.DeleteOptions

// Validate returns the 422 that the options deserve, or nil.
func (o CreateOptions) Validate() error {
	return optionsError("CreateOptions", o.check())
}

// Validate returns the 422 that the options deserve, or nil.
func (o UpdateOptions) Validate() error {
	return optionsError("UpdateOptions", CreateOptions(o).check())
}

// PatchOptions says how to patch (API reference, "PatchOptions"). The zero
// value is ready.
type PatchOptions struct {
	CreateOptions
	// Force may only be given for apply, where it takes fields from others.
	Force *bool
}

// Validate returns the 422 that the options deserve, or nil. apply tells
// whether the patch is a server-side apply.
func (o PatchOptions) Validate(apply bool) error {
	var errs field.Errors
	if apply && o.FieldManager == "" {
		errs = append(errs, field.Required("fieldManager", "is required for apply patch"))
	}
	if !apply && o.Force != nil {
		errs = append(errs, field.Forbidden("force", "may not be specified for non-apply patch"))
	}
	return optionsError("PatchOptions", append(errs, o.check()...))
}

func (o CreateOptions) check() field.Errors {
	errs := checkFieldManager("fieldManager", o.FieldManager)
	errs = append(errs, checkDryRun(o.DryRun)...)
	switch o.FieldValidation {
	case "", "Ignore", "Strict", "Warn":
	default:
		errs = append(errs, field.NotSupported("fieldValidation", o.FieldValidation, "", "Ignore", "Strict", "Warn"))
	}
	return errs
}

func checkFieldManager(p field.Path, manager string) (errs field.Errors) {
	if len(manager) > meta.MaxFieldManager {
		errs = append(errs, field.TooLong(p, meta.MaxFieldManager))
	}
	for i, r := range manager {
		if !meta.Printable(r) {
			errs = append(errs, field.Invalid(p, manager, fmt.Sprintf("invalid character %#U (at position %d)", r, i)))
		}
	}
	return errs
}

// CheckFieldManager returns the 422 that the name of a field manager deserves, or
// nil. kind is that of the options that it stands in.
func CheckFieldManager(manager, kind string) error {
	return optionsError(kind, checkFieldManager("fieldManager", manager))
}

func checkDryRun(values []string) field.Errors {
	for _, v := range values {
		if v != meta.DryRunAll {
			return field.Errors{field.NotSupported("dryRun", values, meta.DryRunAll)}
		}
	}
	return nil
}

func isDryRun(values []string) bool { return slices.Contains(values, meta.DryRunAll) }

// ValidateDeleteOptions returns the 422 that the options deserve, or nil.
// collection tells whether they are meant for a whole collection.
func ValidateDeleteOptions(o DeleteOptions, collection bool) error {
	const ignoreReadError = field.Path("ignoreStoreReadErrorWithClusterBreakingPotential")
	var errs field.Errors
	if p := o.PropagationPolicy; p != nil {
		if o.OrphanDependents != nil {
			errs = append(errs, field.Invalid("propagationPolicy", *p, "orphanDependents and deletionPropagation cannot be both set"))
		}
		switch *p {
		case meta.DeletePropagationForeground, meta.DeletePropagationBackground, meta.DeletePropagationOrphan:
		default:
			errs = append(errs, field.NotSupported("propagationPolicy", *p,
				meta.DeletePropagationForeground, meta.DeletePropagationBackground, meta.DeletePropagationOrphan, "nil"))
		}
	}
	errs = append(errs, checkDryRun(o.DryRun)...)
	unsafe := ignoresReadError(o)
	if unsafe {
		for _, other := range []struct {
			set  bool
			name string
		}{
			{o.PropagationPolicy != nil, "propagationPolicy"},
			{o.OrphanDependents != nil, "orphanDependents"},
			{o.GracePeriodSeconds != nil, "gracePeriodSeconds"},
			{o.Preconditions != nil, "preconditions"},
		} {
			if other.set {
				errs = append(errs, field.Invalid(ignoreReadError, true, "cannot be set together with ."+other.name))
			}
		}
	}
	if unsafe && collection && len(errs) == 0 {
		errs = append(errs, field.Invalid(ignoreReadError, true, "is not allowed with DELETECOLLECTION, try again after removing the option"))
	}
	return optionsError("DeleteOptions", errs)
}

func ignoresReadError(o DeleteOptions) bool {
	b := o.IgnoreStoreReadErrorWithClusterBreakingPotential
	return b != nil && *b
}

func optionsError(kind string, errs field.Errors) error {
	if len(errs) == 0 {
		return nil
	}
	return errs.Status(meta.GroupKind{Group: "meta.k8s.io", Kind: kind}, "")
}
