package kinds

import (
	"fmt"
	"slices"
	"unicode"

	"github.com/kubecoord/kubecoord/store/field"
	"github.com/kubecoord/kubecoord/store/meta"
)

// WriteOptions are the options of a create, an update or a patch on the wire (API reference, "CreateOptions", "UpdateOptions" and
// "PatchOptions").
type WriteOptions struct {
	// DryRun is empty, or "All".
	DryRun []string
	// FieldManager has at most 128 printable bytes.
	FieldManager string
	// FieldValidation is Ignore, Warn, Strict, or empty for Warn.
	FieldValidation string
}

// DeleteOptions are the options of a deletion on the wire (API reference, "DeleteOptions").
type DeleteOptions struct {
	meta.TypeMeta `json:",inline"`
	// GracePeriodSeconds has no effect on kinds without graceful deletion.
	GracePeriodSeconds *int64         `json:"gracePeriodSeconds,omitempty" protobuf:"1"`
	Preconditions      *Preconditions `json:"preconditions,omitempty" protobuf:"2"`
	// OrphanDependents is the old form of PropagationPolicy. Only one may be set.
	OrphanDependents  *bool                     `json:"orphanDependents,omitempty" protobuf:"3"`
	PropagationPolicy *meta.DeletionPropagation `json:"propagationPolicy,omitempty" protobuf:"4"`
	DryRun            []string                  `json:"dryRun,omitempty" protobuf:"5"` // empty, or "All"
	// IgnoreStoreReadErrorWithClusterBreakingPotential is for objects that cannot be
	// decoded, and refused for all others.
	IgnoreStoreReadErrorWithClusterBreakingPotential *bool `json:"ignoreStoreReadErrorWithClusterBreakingPotential,omitempty" protobuf:"6"`
}

// Preconditions must hold, or the deletion is a conflict.
type Preconditions struct {
	UID             *meta.UID `json:"uid,omitempty" protobuf:"1"`
	ResourceVersion *string   `json:"resourceVersion,omitempty" protobuf:"2"`
}

// DryRunAll is the only value of a dryRun option.
const DryRunAll = "All"

// MaxFieldManager bounds the name of a field manager, in bytes.
const MaxFieldManager = 128

// Validate returns a 422, or nil. kind is CreateOptions or UpdateOptions.
func (o WriteOptions) Validate(kind string) error { return OptionsError(kind, o.check()) }

// ValidatePatch returns a 422, or nil. apply means a server-side apply. force is its option to take fields from other managers, or nil.
func (o WriteOptions) ValidatePatch(apply bool, force *bool) error {
	var errs field.Errors
	if apply && o.FieldManager == "" {
		errs = append(errs, field.Required("fieldManager", "is required for apply patch"))
	}
	if !apply && force != nil {
		errs = append(errs, field.Forbidden("force", "may not be specified for non-apply patch"))
	}
	return OptionsError("PatchOptions", append(errs, o.check()...))
}

func (o WriteOptions) check() field.Errors {
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
	unsafe := o.IgnoresReadError()
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
func (o DeleteOptions) IgnoresReadError() bool {
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
