package registry

import (
	"context"
	"slices"

	"github.com/kubecoord/kubecoord/internal/kinds"
	"github.com/kubecoord/kubecoord/store/admission"
)

// SetClaims makes writes take what their objects need beside themselves. It must be called before the first such write.
func (st *Store) SetClaims(c admission.Claims) { st.claims = c }

// effects end what an attempt of a write has taken beside its object, for Claims or for the Admission. Nil has nothing to end.
type effects []func(stored bool)

// newEffects returns a list for an attempt, or nil if nothing can be taken.
func (r *Resource) newEffects() *effects {
	if r.st.claims == nil && r.st.admission == nil {
		return nil
	}
	return new(effects)
}

// end ends the effects, the last one first. It is deferred, since a validation may panic.
func (e *effects) end(stored bool) {
	if e == nil {
		return
	}
	for _, end := range slices.Backward(*e) {
		end(stored)
	}
	*e = nil
}

// onFailure is Attributes.OnFailure. Nobody ends the effects of a nil list, which the body of a subresource has.
func (e *effects) onFailure(undo func()) {
	if e != nil {
		*e = append(*e, func(stored bool) {
			if !stored {
				undo()
			}
		})
	}
}

// claim takes what the next state of an object needs. Of a subresource nothing is asked.
func (r *Resource) claim(ctx context.Context, o kinds.Object, current *Item, req *Request) error {
	if r.st.claims == nil || req.Sub != nil {
		return nil
	}
	var old kinds.Object
	if current != nil {
		old = current.obj
	}
	end, err := r.st.claims.Claim(ctx, r.Kind, o, old, req.DryRun)
	if end != nil {
		*req.effects = append(*req.effects, end)
	}
	return err
}
