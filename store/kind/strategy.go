package kind

import (
	"context"
	"time"

	"github.com/kubecoord/kubecoord/store/field"
)

// Strategy has the rules of the writes of a kind (upstream: registry/rest). All are optional.
type Strategy[P any] struct {
	// Default sets the fields of obj that a writer left out.
	Default func(obj P)
	// ValidateName returns the problems of a name; prefix is set for a generateName. Default: [DNSSubdomainName].
	ValidateName func(name string, prefix bool) []string
	// ValidateFinalizer returns the problems of a finalizer. It adds to the rule of all kinds: a finalizer must be a valid label key.
	ValidateFinalizer func(finalizer string) []string
	// Validate returns the problems outside of the metadata; old is nil on a create.
	Validate func(obj, old P) field.Errors
	// Warnings returns warnings for the answer to a write; old is nil on a create. It is not called for writes of the status.
	Warnings func(obj, old P) []string
	// StatusWarnings are like Warnings for writes of the status.
	StatusWarnings func(obj, old P) []string

	Create CreateStrategy[P]
	Update UpdateStrategy[P]
	Delete DeleteStrategy[P]

	// Answer completes an object of a kind that is not stored, such as a TokenReview, once it is validated. Nil: it is answered as it is.
	Answer func(ctx context.Context, obj P) error
	// Through makes a create of a kind that is not stored a create of a subresource of the object that the body names, as a Binding binds
	// its Pod. The answer is a Status. Nil: there is no such subresource.
	Through *Through
	// Objects returns the objects of a kind that is not stored, in the order of a list. They are made for each read.
	Objects func() []P
	// KeepsVersion keeps a written object in the version of its request, which its TypeMeta names, until it is stored, as custom resources
	// are: the functions of the versions get objects in their own version. Other kinds are converted when a body is read.
	KeepsVersion bool
	// SlowValidation is for a kind whose validation may take long and cannot be cancelled: requests end at their time nevertheless.
	SlowValidation bool
}

// Through names a subresource whose body is the kind itself.
type Through struct {
	// Resource is the kind of the object, in the same group.
	Resource string
	// Subresource is the name of the subresource.
	Subresource string
}

// CreateStrategy has the rules of creates.
type CreateStrategy[P any] struct {
	// Prepare sets the fields of obj that a writer cannot set. ctx is the context of the write.
	Prepare func(ctx context.Context, obj P)
	// Warnings returns warnings about obj as its writer has sent it, before Prepare. They come first, and also if obj is not valid.
	Warnings func(obj P) []string
	// KeepStatus lets a create set the status of a kind with Resource.Status, as Nodes do.
	KeepStatus bool
}

// UpdateStrategy has the rules of updates.
type UpdateStrategy[P any] struct {
	// Prepare copies from old to obj the fields that an update cannot change. It is not called for writes of the status.
	Prepare func(obj, old P)
	// Counts reports whether an update counts a generation. Nil: custom resources count updates of more than metadata (and status, if
	// Resource.Status is set), Native kinds none. A new object has generation 1 if Counts is not nil.
	Counts func(obj, old P) bool
	// Resets lists members that updates cannot change, so they have no field owners; see the Resets of a Subresource. The status of a
	// kind with Resource.Status is always among them.
	Resets []string
	// CreateMissing lets an update of a missing object create it.
	CreateMissing bool
	// Unconditional lets an update leave out the resourceVersion.
	Unconditional bool
	// ValidateMetadata applies the rules of a create to the metadata of an update too, after the rules of an update. Endpoints set it.
	ValidateMetadata bool
}

// DeleteStrategy has the rules of deletions.
type DeleteStrategy[P any] struct {
	// Prepare, if not nil, changes an object whose deletion begins: the deletionTimestamp is set, and the object stays until its
	// finalizers are gone. Without it the object has the finalizers that deletion options ask for.
	Prepare func(obj P, now time.Time)
	// Holds reports whether a deleted object stays without finalizers in its metadata, as a Namespace with some in its spec. Such a
	// kind has Prepare.
	Holds func(obj P) bool
	// Grace returns the seconds after which a deleted object is to be gone. A deletion with some left marks the object; one with
	// none removes it. requested is the gracePeriodSeconds of the request. Nil: there is no grace.
	Grace func(obj P, requested *int64) int64
	// ReturnsObject makes a deletion answer with the object that is gone, and not with a Status.
	ReturnsObject bool
	// OrphansDependents is the policy of a deletion that has none: the finalizer "orphan" is added.
	OrphansDependents bool
	// OrphanWarning is the warning on a deletion that orphans dependents for want of a policy, or "".
	OrphanWarning string
}
