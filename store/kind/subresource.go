package kind

import (
	"context"

	"github.com/kubecoord/kubecoord/internal/caller"
	"github.com/kubecoord/kubecoord/store/field"
	"github.com/kubecoord/kubecoord/store/meta"
)

// Subresource is a path below each object: {name}/{Name}.
type Subresource[P any] struct {
	Name string
	// Body is the kind of the bodies, such as Scale, or nil for the kind of the parent. Objects of Body are not stored.
	Body Kind
	// Verbs are the verbs that are served, of create, get, patch and update, in this order.
	Verbs []string
	// Read returns the body for a state. Nil: the parent itself.
	Read func(parent P) (meta.Object, error)
	// Write changes parent, a copy of the state, as a body asks. What Write does not set keeps its old value.
	Write func(parent P, body meta.Object) error
	// Resets are the members of a body of the parent's kind that the subresource does not own, of the first or the second level:
	// "spec", "metadata.labels".
	Resets []string
	// Validate, if not nil, returns the problems of a write with a body of the parent's kind, in place of the functions of the version.
	Validate func(parent, old P) field.Errors
	// Answer returns the answer of a create, which then writes nothing, as a TokenRequest. Nil: a Status.
	Answer func(ctx context.Context, parent P, body meta.Object) (meta.Object, error)
	// Native has what subresources of the kinds of a real server need beside this, or is nil.
	Native *NativeSubresource[P]
}

// Warn adds a warning to the answer of the request that Subresource.Answer has the context of.
func Warn(ctx context.Context, text string) {
	if warn := caller.Warner(ctx); warn != nil {
		warn(text)
	}
}
