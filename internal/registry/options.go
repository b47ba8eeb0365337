package registry

import (
	"fmt"
	"slices"
	"time"
	"unicode"

	"github.com/kubecoord/kubecoord/store/field"
	"github.com/kubecoord/kubecoord/store/meta"
)

// CreateOptions are the options of a create on the wire (API reference, "CreateOptions").
type CreateOptions struct {
	// DryRun is empty, or "All".
	DryRun []string
	// FieldManager has at most 128 printable bytes.
	FieldManager string
	// FieldValidation is Ignore, Warn, Strict, or empty for Warn.
	FieldValidation string
}

// UpdateOptions are the options of an update (API reference, "UpdateOptions").
type UpdateOptions CreateOptions

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

// Validate returns a 422, or nil.
func (o CreateOptions) Validate() error {
	return optionsError("CreateOptions", o.check())
}

// Validate returns a 422, or nil.
func (o UpdateOptions) Validate() error {
	return optionsError("UpdateOptions", CreateOptions(o).check())
}

// PatchOptions are the options of a patch (API reference, "PatchOptions").
type PatchOptions struct {
	CreateOptions
	// Force is for apply: it takes fields from other managers.
	Force *bool
}

// Validate returns a 422, or nil. apply means a server-side apply.
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

// CheckFieldManager returns a 422 for the name of a field manager, or nil. kind is the kind
// of the options.
func CheckFieldManager(manager, kind string) error {
	return optionsError(kind, checkFieldManager("fieldManager", manager))
}

func checkDryRun(values []string) field.Errors {
	for _, v := range values {
		if v != DryRunAll {
			return field.Errors{field.NotSupported("dryRun", values, DryRunAll)}
		}
	}
	return nil
}

func isDryRun(values []string) bool { return slices.Contains(values, DryRunAll) }

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

// ListOptions configures a list; package store documents the fields. The zero value lists
// everything.
type ListOptions struct {
	Namespace                                   string
	LabelSelector, FieldSelector, ShardSelector string
	Limit                                       int64
	Continue                                    string
	ResourceVersion, ResourceVersionMatch       string
	// SendInitialEvents must be nil: it is for watches.
	SendInitialEvents *bool
	// WatchRules validates the options by the rules of a watch, as upstream does for the
	// deletion of a collection with watch=true.
	WatchRules bool
	// Warn, if not nil, is called with each warning for the client.
	Warn func(text string)
}

// The values of ResourceVersionMatch.
const (
	MatchExact        = "Exact"
	MatchNotOlderThan = "NotOlderThan"
)

func (o *ListOptions) validate() error {
	v := versionOptions{o.ResourceVersion, o.ResourceVersionMatch, o.Continue, o.SendInitialEvents}
	if o.WatchRules {
		return v.checkWatch()
	}
	return v.checkList()
}

// WatchOptions configures a watch; package store documents the fields. The zero value
// watches everything and starts with the current state.
type WatchOptions struct {
	Namespace, Name                             string
	LabelSelector, FieldSelector, ShardSelector string
	// ResourceVersion is where to start. "" and "0" start with the current state.
	ResourceVersion string
	// ResourceVersionMatch must be "NotOlderThan" with SendInitialEvents, else "".
	ResourceVersionMatch string
	// SendInitialEvents asks for the current state first, or for none.
	SendInitialEvents   *bool
	AllowWatchBookmarks bool
	// Continue is for lists. In most cases it is an error here.
	Continue string
	// Timeout ends the watch. Zero means no limit; below zero it ends at once.
	Timeout time.Duration
	// EndWithoutContact ends the watch when the store has had no contact to its Backend for
	// half a minute, and refuses to start it then, so that the client goes to another server.
	EndWithoutContact bool
	// ListRules validates the options by the rules of a list, as upstream does for the
	// deprecated paths below /watch/.
	ListRules bool
	// Warn, if not nil, is called with each warning for the client.
	Warn func(text string)
	// Wants, if not nil, reports whether a change to a state wakes the watch. The watch may
	// send other changes too. Writers call Wants with locks held, so it must not block.
	Wants func(*Item) bool
}

// validate sets defaults, and returns a 422 or nil. A watch without a version starts with the
// current state (upstream: the gate WatchList).
func (o *WatchOptions) validate() error {
	if !o.ListRules && o.SendInitialEvents == nil && o.ResourceVersionMatch == "" && (o.ResourceVersion == "" || o.ResourceVersion == "0") {
		o.SendInitialEvents, o.ResourceVersionMatch = new(true), MatchNotOlderThan
	}
	v := versionOptions{o.ResourceVersion, o.ResourceVersionMatch, o.Continue, o.SendInitialEvents}
	if o.ListRules {
		return v.checkList()
	}
	return v.checkWatch()
}

// versionOptions are the options that lists and watches check by rules of their own (upstream:
// apimachinery, meta/internalversion/validation).
type versionOptions struct {
	version, match, token string
	initial               *bool
}

const (
	matchField     = field.Path("resourceVersionMatch")
	matchWithToken = "resourceVersionMatch is forbidden when continue is provided"
)

func (o versionOptions) checkList() error {
	var errs field.Errors
	if o.match != "" {
		if o.version == "" {
			errs = append(errs, field.Forbidden(matchField, "resourceVersionMatch is forbidden unless resourceVersion is provided"))
		}
		if o.token != "" {
			errs = append(errs, field.Forbidden(matchField, matchWithToken))
		}
		if o.match != MatchExact && o.match != MatchNotOlderThan {
			errs = append(errs, field.NotSupported(matchField, o.match, MatchExact, MatchNotOlderThan, ""))
		}
		if o.match == MatchExact && o.version == "0" {
			errs = append(errs, field.Forbidden(matchField, `resourceVersionMatch "exact" is forbidden for resourceVersion "0"`))
		}
	}
	if o.initial != nil {
		errs = append(errs, field.Forbidden("sendInitialEvents", "sendInitialEvents is forbidden for list"))
	}
	return optionsError("ListOptions", errs)
}

func (o versionOptions) checkWatch() error {
	var errs field.Errors
	if o.initial != nil && o.match != MatchNotOlderThan {
		errs = append(errs, field.Forbidden(matchField, "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan"))
	}
	if o.match != "" {
		if o.initial == nil {
			errs = append(errs, field.Forbidden(matchField, "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided"))
		}
		if o.match != MatchNotOlderThan {
			errs = append(errs, field.NotSupported(matchField, o.match, MatchNotOlderThan))
		}
		if o.token != "" {
			errs = append(errs, field.Forbidden(matchField, matchWithToken))
		}
	}
	return optionsError("ListOptions", errs)
}
