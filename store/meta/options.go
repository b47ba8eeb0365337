package meta

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
	TypeMeta `json:",inline"`
	// GracePeriodSeconds has no effect on kinds without graceful deletion.
	GracePeriodSeconds *int64         `json:"gracePeriodSeconds,omitempty" protobuf:"1"`
	Preconditions      *Preconditions `json:"preconditions,omitempty" protobuf:"2"`
	// OrphanDependents is the old form of PropagationPolicy. Only one may be set.
	OrphanDependents  *bool                `json:"orphanDependents,omitempty" protobuf:"3"`
	PropagationPolicy *DeletionPropagation `json:"propagationPolicy,omitempty" protobuf:"4"`
	DryRun            []string             `json:"dryRun,omitempty" protobuf:"5"` // empty, or "All"
	// IgnoreStoreReadErrorWithClusterBreakingPotential is for objects that cannot be
	// decoded, and refused for all others.
	IgnoreStoreReadErrorWithClusterBreakingPotential *bool `json:"ignoreStoreReadErrorWithClusterBreakingPotential,omitempty" protobuf:"6"`
}

// Preconditions must hold, or the deletion is a conflict.
type Preconditions struct {
	UID             *UID    `json:"uid,omitempty" protobuf:"1"`
	ResourceVersion *string `json:"resourceVersion,omitempty" protobuf:"2"`
}
