package kinds

import (
	"fmt"
	"slices"
	"unicode"

	"github.com/kubecoord/kubecoord/store/field"
	"github.com/kubecoord/kubecoord/store/meta"
)

// The options of writes.
type (
	WriteOptions  = meta.WriteOptions
	DeleteOptions = meta.DeleteOptions
	Preconditions = meta.Preconditions
)

// DryRunAll is the only value of a dryRun option.
const DryRunAll = "All"

// MaxFieldManager bounds the name of a field manager, in bytes.
const MaxFieldManager = 128

// ValidateWriteOptions returns a 422, or nil. kind is CreateOptions or UpdateOptions.
func ValidateWriteOptions(o WriteOptions, kind string) error {
	return OptionsError(kind, checkWriteOptions(o))
}

// ValidatePatchOptions returns a 422, or nil. apply means a server-side apply. force is its option to take fields from other managers, or nil.
func ValidatePatchOptions(o WriteOptions, apply bool, force *bool) error {
	var errs field.Errors
	if apply && o.FieldManager == "" {
		errs = append(errs, field.Required("fieldManager", "is required for apply patch"))
	}
	if !apply && force != nil {
		errs = append(errs, field.Forbidden("force", "may not be specified for non-apply patch"))
	}
	return OptionsError("PatchOptions", append(errs, checkWriteOptions(o)...))
}

func checkWriteOptions(o WriteOptions) field.Errors {
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
	if len(manager) > MaxFieldManager {
		errs = append(errs, field.TooLong(p, MaxFieldManager))
	}
	for i, r := range manager {
		if len(errs) == maxProblems {
			break
		}
		if !unicode.IsPrint(r) {
			errs = append(errs, field.Invalid(p, manager, fmt.Sprintf("invalid character %#U (at position %d)", r, i)))
		}
	}
	return errs
}

// CheckFieldManager returns a 422 for the name of a field manager, or nil. kind is the kind of the options.
func CheckFieldManager(manager, kind string) error {
	return OptionsError(kind, checkFieldManager("fieldManager", manager))
}

func checkDryRun(values []string) field.Errors {
	for _, v := range values {
		if v != DryRunAll {
			return field.Errors{field.NotSupported("dryRun", values, DryRunAll)}
		}
	}
	return nil
}

// IsDryRun reports whether a dryRun option is set.
func IsDryRun(values []string) bool { return slices.Contains(values, DryRunAll) }

// ValidateDeleteOptions returns a 422, or nil. collection means a whole collection.
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
	unsafe := IgnoresReadError(o)
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
	return OptionsError("DeleteOptions", errs)
}

// IgnoresReadError reports whether the options are for objects that cannot be decoded.
func IgnoresReadError(o DeleteOptions) bool {
	b := o.IgnoreStoreReadErrorWithClusterBreakingPotential
	return b != nil && *b
}

// OptionsError returns the 422 of options of a kind, or nil without problems.
func OptionsError(kind string, errs field.Errors) error {
	if len(errs) == 0 {
		return nil
	}
	return errs.Status(meta.GroupKind{Group: "meta.k8s.io", Kind: kind}, "")
}
