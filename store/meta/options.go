package meta

// DeletionPropagation is what happens to the dependents of a deleted object.
type DeletionPropagation string

// The policies of DeleteOptions.
const (
	DeletePropagationOrphan     DeletionPropagation = "Orphan"
	DeletePropagationBackground DeletionPropagation = "Background"
	DeletePropagationForeground DeletionPropagation = "Foreground"
)

// The finalizers that stand for the policies Orphan and Foreground.
const (
	FinalizerOrphanDependents = "orphan"
	FinalizerDeleteDependents = "foregroundDeletion"
)
