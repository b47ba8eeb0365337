package kind

import (
	"context"
	"net/http"
	"net/url"

	"github.com/kubecoord/kubecoord/store/field"
	"github.com/kubecoord/kubecoord/store/meta"
)

// Connection is a request that the Connect of a Subresource answers.
type Connection struct {
	// Namespace and Name are the names of the object in the path; the name may be one that no object can have.
	Namespace, Name string
	// Path is the rest of the path, with a slash in front, or "".
	Path string
	// Query is the query of the request.
	Query url.Values
}

// Subresource is a path below each object: {name}/{Name}.
type Subresource[P any] struct {
	Name string
	// Body is the kind of the bodies, such as Scale, or nil for the kind of the parent. Objects of Body are not stored.
	Body Kind
	// Verbs are the verbs that are served, of create, get, patch and update, in this order.
	Verbs []string
	// Read returns the body for a state. Nil: the parent itself.
	Read func(parent P) (meta.Object, error)
	// Shows, if not nil, may refuse a get with an error. An update reads the body without asking Shows.
	Shows func(parent P) error
	// Start returns the body that a patch or an update starts from. Nil: the result of Read.
	Start func(parent P) (meta.Object, error)
	// Write changes parent, a copy of the state, as a body asks. What Write does not set keeps its old value.
	Write func(parent P, body meta.Object) error
	// Resets are the members of a body of the parent's kind that the subresource does not own, of the first or the second level:
	// "spec", "metadata.labels".
	Resets []string
	// Validate, if not nil, returns the problems of a write with a body of the parent's kind, in place of the functions of the version.
	Validate func(parent, old P) field.Errors
	// MetadataAsNew and LeavesMetadata are as in UpdateStrategy, for writes with a body of the parent's kind.
	MetadataAsNew  int
	LeavesMetadata bool
	// KeepsIdentity ignores the uid, the generateName and the deletionGracePeriodSeconds of a body of the parent's kind, for a Native
	// kind. Without it they are validated as in an update.
	KeepsIdentity bool
	// Removes makes a create delete the parent, as an Eviction does, with the deleteOptions of the body. Write, if it is
	// not nil, changes the parent first.
	Removes bool
	// MayRemove, if not nil, may refuse a create that would delete the parent. If exact, the deletion requires the state that
	// MayRemove saw. If that has changed, MayRemove is called again, unless the body names a resourceVersion.
	MayRemove func(ctx context.Context, parent P, dryRun bool) (exact bool, err error)
	// Answer returns the answer of a create, which then writes nothing, as a TokenRequest. Nil: a Status.
	Answer func(ctx context.Context, parent P, body meta.Object) (meta.Object, error)
	// Connect answers a request in place of all other functions, as for a path that a kubelet serves. It returns the handler of the
	// request, or nil for an answer without content. parent returns the object of a name in the namespace. The verbs may also be delete.
	Connect func(ctx context.Context, to Connection, parent func(name string) (P, error)) (http.Handler, error)
	// ConnectKind is the kind that discovery names for Connect. Default: the kind of the parent.
	ConnectKind string
	// ConnectPaths are the paths below the subresource, which Connect answers too.
	ConnectPaths bool
	// Member is the path of the member of the parent that spec.replicas of a Scale stands for, in all versions. Default:
	// spec.replicas.
	Member []string
}

type warnKey struct{}

// WithWarn returns a context with the function that takes the warnings of Warn. A store sets it for Subresource.Answer.
func WithWarn(ctx context.Context, warn func(text string)) context.Context {
	return context.WithValue(ctx, warnKey{}, warn)
}

// Warn adds a warning to the answer of the request that Subresource.Answer has the context of.
func Warn(ctx context.Context, text string) {
	if warn, ok := ctx.Value(warnKey{}).(func(string)); ok {
		warn(text)
	}
}
