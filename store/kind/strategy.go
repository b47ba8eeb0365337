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
	// Validate returns the problems that the rules for the metadata of all kinds do not find; old is nil on a create.
	Validate func(obj, old P) field.Errors
	// Warnings returns warnings for the answer to a write; old is nil on a create. It is not called for writes of the status.
	Warnings func(obj, old P) []string

	Create CreateStrategy[P]
	Update UpdateStrategy[P]
	Delete DeleteStrategy[P]
}

// CreateStrategy has the rules of creates.
type CreateStrategy[P any] struct {
	// Prepare sets the fields of obj that a writer cannot set. ctx is the context of the write.
	Prepare func(ctx context.Context, obj P)
}

// UpdateStrategy has the rules of updates.
type UpdateStrategy[P any] struct {
	// Prepare copies from old to obj the fields that an update cannot change. It is not called for writes of the status.
	Prepare func(obj, old P)
	// Counts reports whether an update increments metadata.generation. Nil: see Descriptor.Native. A new object has generation 1 if Counts
	// is not nil.
	Counts func(obj, old P) bool
	// CreateMissing lets an update of a missing object create it.
	CreateMissing bool
	// Unconditional lets an update leave out the resourceVersion.
	Unconditional bool
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
	// with 0 seconds removes the object. A negative one is an error. requested is the gracePeriodSeconds of the request, 1 if that is
	// negative. Nil: there is no grace period.
	Grace func(obj P, requested *int64) int64
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
