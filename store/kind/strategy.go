package kind

import (
	"context"
	"time"

	"github.com/kubecoord/kubecoord/internal/validate"
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

	// Answer fills in the answer of a create of a kind that is not stored, such as a TokenReview, after the object is validated. Nil: the
	// answer is the object.
	Answer func(ctx context.Context, obj P) error
	// Through makes a create of a kind that is not stored a create of a subresource of the object that the body names, as a Binding binds
	// its Pod. The answer is a Status. Nil: there is no such subresource.
	Through *Through
	// Objects returns the objects of a kind that is not stored, in the order of a list. They are made for each read.
	Objects func() []P
	// KeepsVersion keeps a written object in the version of its request until it is stored, as custom resources are kept. The functions of
	// a Version then get objects in that version, which their TypeMeta names. Without it, an object is converted when its body is read.
	// Validate and ValidateStatus also get an object whose TypeMeta names another type, which is reported already.
	KeepsVersion bool
	// SlowValidation runs the validation in a goroutine, for a validation that may take long and cannot be cancelled. The request still
	// ends when its context ends, and Close waits for the goroutine. A store runs few of them at once.
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
	// MetadataLast validates the metadata of a new object only if Validate finds no problem, as for a PodDisruptionBudget.
	MetadataLast bool
}

// UpdateStrategy has the rules of updates.
type UpdateStrategy[P any] struct {
	// Prepare copies from old to obj the fields that an update cannot change. It is not called for writes of the status.
	Prepare func(obj, old P)
	// Counts reports whether an update increments metadata.generation. Nil: see Resource.Native. A new object has generation 1 if Counts
	// is not nil.
	Counts func(obj, old P) bool
	// Resets lists members that updates cannot change, so they have no field owners; see the Resets of a Subresource. The status of a
	// kind with Resource.Status is always among them.
	Resets []string
	// CreateMissing lets an update of a missing object create it.
	CreateMissing bool
	// Unconditional lets an update leave out the resourceVersion.
	Unconditional bool
	// MetadataAsNew is how often the metadata of an update is validated by the rules of a create too, after the rules of an update: each
	// time reports a problem again, as a real server does. For Endpoints it is 1.
	MetadataAsNew int
	// LeavesMetadata leaves the metadata of an update to the rules of all kinds. Without it, the rules of an update are applied a second time.
	LeavesMetadata bool
}

// DeleteStrategy has the rules of deletions.
type DeleteStrategy[P any] struct {
	// Prepare, if not nil, changes an object when its deletion begins, with the deletionTimestamp set already. The object stays until its
	// finalizers are gone. The propagationPolicy of that deletion then adds no finalizers.
	Prepare func(obj P, now time.Time)
	// Holds reports whether a deleted object stays although its metadata has no finalizers, as a Namespace with finalizers in its spec
	// does. It requires Prepare.
	Holds func(obj P) bool
	// Grace returns the grace period of a deletion in seconds. A deletion with a grace period only sets the deletionTimestamp; a deletion
	// with 0 seconds removes the object. requested is the gracePeriodSeconds of the request. Nil: there is no grace period.
	Grace func(obj P, requested *int64) int64
	// ReturnsObject makes a deletion answer with the deleted object instead of a Status.
	ReturnsObject bool
	// OrphansDependents makes a deletion without a propagationPolicy add the finalizer "orphan".
	OrphansDependents bool
	// OrphanWarning is the warning on a deletion that orphans dependents for want of a policy, or "".
	OrphanWarning string
}

// DNSSubdomainName is a rule for Strategy.ValidateName, and its default: at most 253 bytes of lower case letters,
// digits, '-' and '.', with a letter or digit at both ends (RFC 1123). It returns the problems of a name, or of a
// prefix, which may end in '-'.
func DNSSubdomainName(name string, prefix bool) []string {
	return validate.NameIsDNSSubdomain(name, prefix)
}

// DNSLabelName is a rule for Strategy.ValidateName: at most 63 bytes of lower case letters, digits and '-', with a
// letter or digit at both ends (RFC 1123).
func DNSLabelName(name string, prefix bool) []string { return validate.NameIsDNSLabel(name, prefix) }

// ConfigKeyName is a rule for Strategy.ValidateName, which LeaseCandidates use: at most 253 bytes of letters, digits,
// '-', '_' and '.', but not "." and nothing that begins with "..".
func ConfigKeyName(name string, prefix bool) []string {
	return validate.NameIsConfigMapKey(name, prefix)
}

// PathSegmentName is a rule for Strategy.ValidateName, which roles use: anything that may stand between two slashes of a path, but not
// "." and "..", and nothing with "/" or "%" in it.
func PathSegmentName(name string, prefix bool) []string {
	return validate.NameIsPathSegment(name, prefix)
}
