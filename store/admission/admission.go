// Package admission is the interface by which a program decides about writes, as the admission plugins of a kube-apiserver do (Kubernetes
// documentation, "Admission Control"). A server calls the Interface in httpapi.Options.Admission.
package admission

import (
	"context"

	"github.com/kubecoord/kubecoord/store/kind"
	"github.com/kubecoord/kubecoord/store/meta"
)

// Interface decides about writes that are authorized and whose bodies could be decoded. Its methods are called without a lock and from any
// goroutine, once for each attempt of a write: a write that meets a conflict calls them again. They may read and write the store. An error
// that has a Status, such as *meta.StatusError, is answered unchanged.
type Interface interface {
	// Admit may change a.Object, or refuse the write by an error. It is called before the object is validated.
	Admit(ctx context.Context, a *Attributes) error
	// Validate may refuse the write by an error. It is called after the object was validated, and must not change a.
	Validate(ctx context.Context, a *Attributes) error
}

// Operation is the operation of a request, in the words of an AdmissionReview.
type Operation string

// The operations. Connect is a request that the server passes on, such as pods/exec: it stores nothing, but is decided as a write.
const (
	Create  Operation = "CREATE"
	Update  Operation = "UPDATE"
	Delete  Operation = "DELETE"
	Connect Operation = "CONNECT"
)

// Attributes describe a write (upstream: apiserver, admission.Attributes). The user is in the context; see store.UserOf.
type Attributes struct {
	Operation Operation
	// Resource is the kind of the collection, and ResourceVersion the index of the request's API version.
	Resource        kind.Kind
	ResourceVersion int
	// Subresource is the subresource of the path, or "". Kind is the kind of Object and Old, and Version the index of the request's API
	// version in it. They equal Resource and ResourceVersion unless the bodies of the subresource have a kind of their own, as Scale.
	Subresource string
	Kind        kind.Kind
	Version     int
	// Namespace is the namespace of the object, "" for a cluster-scoped object. For a Namespace it is the name of the Namespace, as
	// upstream. Name is "" for the deletion of a collection, and while the server has not yet made a name from a generateName.
	Namespace, Name string
	// Object is the new object in the stored form, nil for a deletion. Old is the state before, nil for a create. A Connect has neither.
	Object, Old meta.Object
	// Options are the meta.WriteOptions or meta.DeleteOptions of the request, or for a Connect what kind.Subresource.Options has returned, a
	// pointer to options that Admit may change. DryRun reports whether nothing will be stored.
	Options any
	DryRun  bool
	// Warn adds a warning to the answer. It is not nil.
	Warn func(text string)
	// OnFailure registers what takes back an effect that Validate has beside the write, such as the charge of a quota. It is called if
	// this attempt of a create or an update stores nothing. It is not nil.
	OnFailure func(undo func())
	// Malformed, if Admit sets it, is metadata that Object has in part only. Validation reports what is wrong with the rest.
	Malformed *Malformed
}

// Malformed is metadata with members of a wrong type, which an object without a Go type may have after Admit.
type Malformed struct {
	Metadata map[string]any
	// Check returns what is wrong with Metadata after the server has set its own members, or nil.
	Check func(metadata map[string]any) error
}

type belowKey struct{}

// Below returns a context for writes that call no Interface. A real server makes such writes in its storage, below admission, such as the
// deletion of the objects of a CustomResourceDefinition.
func Below(ctx context.Context) context.Context { return context.WithValue(ctx, belowKey{}, true) }

// IsBelow reports whether ctx comes from Below.
func IsBelow(ctx context.Context) bool { return ctx.Value(belowKey{}) != nil }

// Claims take for an object what no other object may have, such as an address or a port (upstream: apiserver,
// registry/generic/registry, Store.BeginCreate, Store.BeginUpdate and Store.AfterDelete). They also see writes below admission. Their
// methods are called without a lock, from any goroutine, and may read and write the store.
type Claims interface {
	// Claim is called for a create and for an update, but not for a subresource, before the object is prepared and validated, again for
	// each attempt of a write. It may change obj, and refuse the write by an error. old, nil for a create, must not be changed. end, if it
	// is not nil, is called once, when the write has ended; stored reports whether obj is in the store then. A dry run takes nothing.
	Claim(ctx context.Context, k kind.Kind, obj, old meta.Object, dryRun bool) (end func(stored bool), err error)
	// Release is called when an object is gone. obj must not be changed.
	Release(ctx context.Context, k kind.Kind, obj meta.Object)
}
