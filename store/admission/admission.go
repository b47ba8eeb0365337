// Package admission decides about writes: the door for what a kube-apiserver does in its admission plugins (Kubernetes documentation,
// "Admission Control"). A server asks the Interface of its httpapi.Options.
package admission

import (
	"context"

	"github.com/kubecoord/kubecoord/store/kind"
	"github.com/kubecoord/kubecoord/store/meta"
)

// Interface decides about writes that are authorized and can be read. Its methods are called without a lock, from any goroutine, again for
// each attempt of a write, and may read and write the store. An error of the API, such as *meta.StatusError, is answered as it is.
type Interface interface {
	// Admit may change a.Object, or refuse the write by an error. It is called before the object is validated.
	Admit(ctx context.Context, a *Attributes) error
	// Validate may refuse the write by an error. It is called after the object was validated, and changes nothing.
	Validate(ctx context.Context, a *Attributes) error
}

// Operation is the operation of a write, in the words of an AdmissionReview.
type Operation string

// The operations of writes.
const (
	Create Operation = "CREATE"
	Update Operation = "UPDATE"
	Delete Operation = "DELETE"
)

// Attributes describe a write (upstream: apiserver, admission.Attributes). The user is in the context; see store.UserOf.
type Attributes struct {
	Operation Operation
	// Resource is the kind of the collection, and ResourceVersion the index of the request's API version.
	Resource        kind.Kind
	ResourceVersion int
	// Subresource is the subresource of the path, or "". Kind is the kind of Object and Old, and Version the index of the
	// request's API version in it: Resource and ResourceVersion, but for a subresource with bodies of a kind of its own.
	Subresource string
	Kind        kind.Kind
	Version     int
	// Name is "" for a create with a generateName, before the name is made, and for the deletion of a collection.
	Namespace, Name string
	// Object is the new object in the stored form, nil for a deletion. Old is the state before, nil for a create.
	Object, Old meta.Object
	// Options are the meta.WriteOptions or meta.DeleteOptions of the request.
	Options any
	DryRun  bool
	// Warn adds a warning to the answer. It is not nil.
	Warn func(text string)
	// OnFailure registers what takes back an effect that Validate has beside the write, such as the charge of a quota. It is called if
	// nothing comes of this attempt of a create or an update. It is not nil.
	OnFailure func(undo func())
}

type belowKey struct{}

// Below returns a context for writes below admission, which a real server makes in its storage, such as the deletion of the objects of a
// CustomResourceDefinition: no Interface is asked.
func Below(ctx context.Context) context.Context { return context.WithValue(ctx, belowKey{}, true) }

// IsBelow reports whether a context is for writes below admission.
func IsBelow(ctx context.Context) bool { return ctx.Value(belowKey{}) != nil }
