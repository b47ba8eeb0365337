package registry

import (
	"context"

	"github.com/kubecoord/kubecoord/internal/kinds"
	"github.com/kubecoord/kubecoord/store/admission"
)

// gate decides about the writes of a store beside the rules of their kinds. It is open, or guarded (admission.go).
type gate interface {
	// begin begins an attempt of a write. The caller ends it with the outcome.
	begin(ctx context.Context, r *Resource, req *Request) (end func(stored bool))
	// asks reports whether an Admission decides about the request.
	asks(req *Request) bool
	// admit decides about a new state, before it is prepared and validated, and may change it. owned is set if the object belongs
	// to this attempt alone.
	admit(ctx context.Context, r *Resource, o kinds.Object, current *Item, req *Request, owned bool) (kinds.Object, error)
	// claim takes what the next state needs beside itself, and release gives back what an object had that is gone.
	claim(ctx context.Context, r *Resource, o kinds.Object, current *Item, req *Request) error
	release(ctx context.Context, r *Resource, gone *Item)
	// mayWrite decides about a state that is valid, before it is stored, also if it changes nothing.
	mayWrite(ctx context.Context, r *Resource, o kinds.Object, current *Item, req *Request) error
	// mayDelete decides about a deletion.
	mayDelete(ctx context.Context, r *Resource, current *Item, req *Request, opts kinds.DeleteOptions) error
}

// SetAdmission makes writes ask an Admission. It must be called before the first write that is to be asked about.
func (st *Store) SetAdmission(a admission.Interface) { st.guard().admission = a }

// SetClaims makes writes take what their objects need beside themselves. It must be called before the first such write.
func (st *Store) SetClaims(c admission.Claims) { st.guard().claims = c }

// guard makes the gate of the store a guarded one, unless it is.
func (st *Store) guard() *guarded {
	g, ok := st.gate.(*guarded)
	if !ok {
		g = new(guarded)
		st.gate = g
	}
	return g
}

// Guard is the part of a Request that only the Admission and the Claims of a store use. It may be nil.
type Guard struct {
	// MayCreate, if not nil, returns why an update or an apply must not create the object.
	MayCreate func() error
	// Options are the options of a create or an update as the client sent them. Nil: those of the Request.
	Options *kinds.WriteOptions

	// nameless leaves out the name: the object is deleted with its collection.
	nameless bool
	// silent is set if the Admission was asked about the request before.
	silent bool

	// What an attempt has: its resource, and what ends the effects beside its object, for Claims or for the Admission.
	resource *kinds.Kind
	version  int
	effects  []func(stored bool)
	// malformed is what the Admission has made of the metadata, if that is no metadata. posted is set for a create that is no update.
	malformed *admission.Malformed
	posted    bool
}

// open is the gate of a store without Admission and Claims.
type open struct{}

func (open) begin(context.Context, *Resource, *Request) func(bool) { return goes }

func goes(bool) {}

func (open) asks(*Request) bool { return false }

func (open) admit(_ context.Context, _ *Resource, o kinds.Object, _ *Item, _ *Request, _ bool) (kinds.Object, error) {
	return o, nil
}

func (open) claim(context.Context, *Resource, kinds.Object, *Item, *Request) error { return nil }

func (open) release(context.Context, *Resource, *Item) {}

func (open) mayWrite(context.Context, *Resource, kinds.Object, *Item, *Request) error { return nil }

func (open) mayDelete(context.Context, *Resource, *Item, *Request, kinds.DeleteOptions) error {
	return nil
}
