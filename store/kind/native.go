package kind

import (
	"context"
	"net/http"
	"net/url"

	"github.com/kubecoord/kubecoord/store/meta"
)

// This file has what the kinds of a real server need, those built into it and those of CustomResourceDefinitions, and kinds of a user's own
// do not. Most of it is an oddity of one kind or a few, which upstream writes in the code of the kind.

// Native describes what a kind of a real server has beside the rest of its Descriptor. The zero Native is for a kind that is built into a
// server and has no oddity.
type Native[P any] struct {
	// CustomResource is for a kind of a CustomResourceDefinition, which is treated as a kind without Native is.
	CustomResource bool
	// StoragePrefix is the path before namespace and name in the storage, which a few errors show. Default: group and plural, as for
	// custom resources.
	StoragePrefix string
	// FieldAnnotations are annotations that stand for a field, which upstream makes of them when it reads an object. A Table and a
	// PartialObjectMetadata do not show them.
	FieldAnnotations []string
	// BodyVersions are further versions of the group, of the same form, that a body may name, such as v1beta1 for an Eviction of
	// policy/v1 (upstream: rest.GroupVersionAcceptor).
	BodyVersions []string
	// FieldRefusal is the message for a fieldSelector with a field that is not selectable, a format for fmt.Sprintf with the field as its
	// one argument. Default: the message of upstream for such a kind.
	FieldRefusal string
	// Aliases are other groups in which the same objects are read and written.
	Aliases []Alias[P]
	// Defines returns the kind that an object defines, as a CustomResourceDefinition does, or an error that says why it defines none.
	// It must return the same Kind for objects with equal specs, however often it is called: loading a fixture, a fork and a restart call
	// it again. Nil: the objects define no kinds.
	Defines func(obj P) (Kind, error)

	// EarlyWarnings returns warnings about a new object as its writer has sent it, before Create.Prepare. They come before those of
	// Strategy.Warnings, and also if the object is not valid.
	EarlyWarnings func(obj P) []string
	// StatusWarnings are like Strategy.Warnings for writes of the status.
	StatusWarnings func(obj, old P) []string
	// KeepStatus lets a create set the status of a kind with Resource.Status, as Nodes do.
	KeepStatus bool
	// MetadataLast validates the metadata of a new object only if Validate finds no problem, as for a PodDisruptionBudget.
	MetadataLast bool
	// Resets lists members that updates cannot change, so they have no field owners; see the Resets of a Subresource. The status of a
	// kind with Resource.Status is always among them.
	Resets []string
	// ReturnsObject makes a deletion answer with the deleted object instead of a Status.
	ReturnsObject bool
	// OrphansDependents makes a deletion without a propagationPolicy add the finalizer "orphan".
	OrphansDependents bool
	// OrphanWarning is the warning on a deletion that orphans dependents for want of a policy, or "".
	OrphanWarning string

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
	// Repeats reports a problem of the metadata as often as upstream finds it, as for custom resources and for the kinds of other servers
	// than kube-apiserver: three times on most updates. Otherwise each problem stands once, unless CustomResource is set.
	Repeats bool
	// SlowValidation runs the validation in a goroutine, for a validation that may take long and cannot be cancelled. The request still
	// ends when its context ends, and Close waits for the goroutine. A store runs few of them at once, of objects of about one size.
	// It is not for writes of a status with a ValidateStatus, and of subresources with a Validate.
	SlowValidation bool

	// NoTableOf are the names of subresources, with bodies of the kind, that have no Table: asked for one, they answer 406.
	NoTableOf []string
	// NullRows shows a list without objects with null in place of its rows, as upstream's default Table does.
	NullRows bool
	// DefaultRow reports whether a list marks the row of obj with (default) rather than the row of other, which is nil at first. Nil: no row.
	DefaultRow func(obj, other P) bool
}

// NativeVersion describes what a version of a kind of a real server has beside the rest.
type NativeVersion struct {
	// Unserved is for a version that is not served: objects are stored in it, or fields are owned in it.
	Unserved bool
	// Lacks are the names of subresources, and after a dot the paths of SelectableFields, that the kind has and the version has not. A
	// version that lacks "status" writes the status with the rest of the object.
	Lacks []string
}

// Alias is another group in which the objects of a kind are served, under the same names, as events.k8s.io has the events of
// the core group. Both groups share one collection: one resourceVersion, one history, and watches in both. Upstream registers
// such objects in two groups that share a storage (controlplane/apiserver, AddCohabitatingResources).
type Alias[P any] struct {
	Group string
	// Version is the version of the group. It converts between the stored form of the kind and the form of the group. Its other
	// functions, and the Values of SelectableFields, get stored objects.
	Version Version[P]
	// ValidateName and SelectableFields are as in Strategy and Descriptor.
	ValidateName     func(name string, prefix bool) []string
	SelectableFields []SelectableField[P]
}

// Through names a subresource whose body is the kind itself.
type Through struct {
	// Resource is the kind of the object, in the same group.
	Resource string
	// Subresource is the name of the subresource.
	Subresource string
}

// NativeSubresource describes what a subresource of a kind of a real server has beside the rest.
type NativeSubresource[P any] struct {
	// Shows, if not nil, may refuse a get with an error. An update reads the body without asking Shows.
	Shows func(parent P) error
	// Start returns the body that a patch or an update starts from. Nil: the result of Read.
	Start func(parent P) (meta.Object, error)
	// KeepsIdentity ignores the uid, the generateName and the deletionGracePeriodSeconds of a body of the parent's kind. Without it they
	// are validated as in an update.
	KeepsIdentity bool
	// Removes makes a create delete the parent, as an Eviction does, with the deleteOptions of the body. Write, if it is
	// not nil, changes the parent first.
	Removes bool
	// MayRemove, if not nil, may refuse a create that would delete the parent. If exact, the deletion requires the state that
	// MayRemove saw. If that has changed, MayRemove is called again, unless the body names a resourceVersion.
	MayRemove func(ctx context.Context, parent P, dryRun bool) (exact bool, err error)
	// Connect answers a request in place of all other functions, as for a path that a kubelet serves. It returns the handler of the
	// request, or nil for an answer without content. parent returns the object of a name in the namespace. The verbs may also be delete.
	Connect func(ctx context.Context, to Connection, parent func(name string) (P, error)) (http.Handler, error)
	// Options, if not nil, returns a pointer to the options of a request that Connect answers, such as a *v1.PodExecOptions. Its error is
	// answered as a bad request. Admission decides about the request, and may change the options (upstream: rest.Connecter). Without
	// Options the request is a read, as of a log, about which admission is not asked.
	Options func(to Connection) (any, error)
	// ConnectKind is the kind that discovery names for Connect. Default: the kind of the parent.
	ConnectKind string
	// ConnectPaths are the paths below the subresource, which Connect answers too.
	ConnectPaths bool
	// Member is the path of the member of the parent that spec.replicas of a Scale stands for, in all versions. Default:
	// spec.replicas.
	Member []string
}

// Connection is a request that the Connect of a Subresource answers.
type Connection struct {
	// Namespace and Name are the names of the object in the path; the name may be one that no object can have.
	Namespace, Name string
	// Path is the rest of the path, with a slash in front, or "".
	Path string
	// Query is the query of the request.
	Query url.Values
	// Options are the options of the request, if the Subresource has Options.
	Options any
}
