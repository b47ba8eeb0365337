package registry

import (
	"context"

	"github.com/kubecoord/kubecoord/internal/kinds"
	"github.com/kubecoord/kubecoord/store/admission"
)

// SetClaims makes writes take what their objects need beside themselves. It must be called before the first such write.
func (st *Store) SetClaims(c admission.Claims) { st.claims = c }

// claim is what a write has taken beside its object. A nil claim is nothing.
type claim struct{ end func(stored bool) }

// finish ends a claim, at the first call.
func (c *claim) finish(stored bool) {
	if c != nil && c.end != nil {
		end := c.end
		c.end = nil
		end(stored)
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
	req.claimed = &claim{end}
	return err
}

// keepClaim passes what a request has claimed to the write that is made of it, or gives it back if there is none to commit. It is deferred,
// since a validation may panic.
func (w *write) keepClaim(req *Request, made *bool) {
	if *made && !w.done {
		w.claimed = req.claimed
	} else {
		req.claimed.finish(false)
	}
	req.claimed = nil
}

// commit is step 6: it makes a change and ends its claim. What an object that is gone had claimed is released.
func (r *Resource) commit(ctx context.Context, w write) (write, error) {
	claimed := w.claimed
	w.claimed = nil
	stored := false
	defer func() { claimed.finish(stored) }()
	w, err := r.st.source.commit(ctx, r, w)
	stored = err == nil && w.obj != nil
	if err == nil && w.obj == nil && r.st.claims != nil {
		r.st.claims.Release(ctx, r.Kind, w.old.obj)
	}
	return w, err
}
