package kinds

import "context"

// Admission decides about writes that are authorized and can be read (Kubernetes documentation, "Admission Control"). Its
// methods are called without a lock, from any goroutine, again for each attempt of a write, and may read and write the store.
type Admission interface {
	// Admit may change a.Object, or refuse the write by an error. It is called before the object is validated.
	Admit(ctx context.Context, a *Attributes) error
	// Validate may refuse the write by an error. It is called after the object was validated, and changes nothing.
	Validate(ctx context.Context, a *Attributes) error
}

// Operation is the operation of a write, in the words of an AdmissionReview.
type Operation string

// The operations of writes.
const (
	OperationCreate Operation = "CREATE"
	OperationUpdate Operation = "UPDATE"
	OperationDelete Operation = "DELETE"
)

// Attributes describe a write to an Admission (upstream: apiserver, admission.Attributes).
type Attributes struct {
	Operation Operation
	// Resource is the kind of the collection, and ResourceVersion the index of the request's API version.
	Resource        *Kind
	ResourceVersion int
	// Subresource is the subresource of the path, or nil. Kind is the kind of Object and Old, and Version the index of the
	// request's API version in it: Resource and ResourceVersion, but for a subresource with bodies of a kind of its own.
	Subresource *Subresource
	Kind        *Kind
	Version     int
	// Name is "" for a create with a generateName, before the name is made, and for the deletion of a collection.
	Namespace, Name string
	// Object is the new object in the stored form, nil for a deletion. Old is the state before, nil for a create.
	Object, Old Object
	// Options are the WriteOptions or DeleteOptions of the request.
	Options any
	DryRun  bool
	// Warn adds a warning to the answer. It is not nil.
	Warn func(text string)
}
