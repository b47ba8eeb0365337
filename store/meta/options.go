package meta

import "unicode"

// DeleteOptions says how to delete (API reference, "DeleteOptions"). The zero
// value deletes now and leaves dependents to the garbage collector.
type DeleteOptions struct {
	TypeMeta `json:",inline"`
	// GracePeriodSeconds has no effect on kinds without graceful deletion.
	GracePeriodSeconds *int64 `json:"gracePeriodSeconds,omitempty" protobuf:"1"`
	// Preconditions must hold, or the deletion is a conflict.
	Preconditions *Preconditions `json:"preconditions,omitempty" protobuf:"2"`
	// OrphanDependents is the old form of PropagationPolicy; only one of them
	// may be set.
	OrphanDependents *bool `json:"orphanDependents,omitempty" protobuf:"3"`
	// PropagationPolicy is one of Orphan, Background and Foreground.
	PropagationPolicy *DeletionPropagation `json:"propagationPolicy,omitempty" protobuf:"4"`
	// DryRun is empty, or "All": everything is done but the deletion.
	DryRun []string `json:"dryRun,omitempty" protobuf:"5"`
	// IgnoreStoreReadErrorWithClusterBreakingPotential deletes objects that
	// can no longer be read, and only those.
	IgnoreStoreReadErrorWithClusterBreakingPotential *bool `json:"ignoreStoreReadErrorWithClusterBreakingPotential,omitempty" protobuf:"6"`
}

// Preconditions must hold for an operation to be carried out.
type Preconditions struct {
	UID             *UID    `json:"uid,omitempty" protobuf:"1"`
	ResourceVersion *string `json:"resourceVersion,omitempty" protobuf:"2"`
}

// DeletionPropagation is what happens to the dependents of an object that is
// deleted.
type DeletionPropagation string

// The policies of DeleteOptions.
const (
	DeletePropagationOrphan     DeletionPropagation = "Orphan"
	DeletePropagationBackground DeletionPropagation = "Background"
	DeletePropagationForeground DeletionPropagation = "Foreground"
)

// The finalizers that stand for a deletion policy.
const (
	FinalizerOrphanDependents = "orphan"
	FinalizerDeleteDependents = "foregroundDeletion"
)

// DryRunAll is the only value of a dryRun option.
const DryRunAll = "All"

// MaxFieldManager is the longest name of a field manager, in bytes.
const MaxFieldManager = 128

// Printable reports whether a character may stand in the name of a field
// manager.
func Printable(r rune) bool { return unicode.IsPrint(r) }
