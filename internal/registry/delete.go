package registry

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/kubecoord/kubecoord/store/meta"
	"github.com/kubecoord/kubecoord/watch"
)

// Delete removes an object, or marks it where finalizers hold it back.
// deleted tells which: the Item is the last state of an object that is gone,
// or the marked one. As on a real server it is an empty object where a dry run
// would take off the last finalizer: such a deletion is an update that finds in
// the middle that it need not be made.
func (r *Resource) Delete(ctx context.Context, req Request, opts DeleteOptions) (it *Item, deleted bool, err error) {
	if err := ValidateDeleteOptions(opts, false); err != nil {
		return nil, false, err
	}
	return r.delete(ctx, req, opts)
}

func (r *Resource) delete(ctx context.Context, req Request, opts DeleteOptions) (it *Item, deleted bool, err error) {
	k := key{req.Namespace, req.Name}
	for {
		if err := ctx.Err(); err != nil {
			return nil, false, err
		}
		current := r.lookup(k)
		if current == nil {
			return nil, false, meta.NewNotFound(r.kind.groupResource(), req.Name)
		}
		if ignoresReadError(opts) {
			// Every object here can be read, so there is nothing to break.
			return nil, false, meta.NewConflict(r.kind.groupResource(), req.Name,
				r.invalidObject(k, "unsafe deletion is not allowed because the object is decodable from storage"))
		}
		if err := r.checkPreconditions(current, opts.Preconditions); err != nil {
			return nil, false, err
		}
		it, deleted, done := r.deleteNow(current, req, opts)
		if done {
			return it, deleted, nil
		}
	}
}

// deleteNow removes or marks current. done is false where it is no longer the
// current state.
func (r *Resource) deleteNow(current *Item, req Request, opts DeleteOptions) (it *Item, deleted, done bool) {
	finalizers := deletionFinalizers(current.meta().Finalizers, opts)
	var marked Object
	if len(finalizers) > 0 {
		marked = current.Copy()
		marked.GetObjectMeta().Finalizers = finalizers
		r.st.markDeleting(marked.GetObjectMeta())
		if r.kind.forms[0].typ.Equal(marked, current.obj) {
			return current, false, r.isCurrent(current)
		}
	}
	if isDryRun(opts.DryRun) {
		switch {
		case marked != nil:
			return newItem(r.kind, marked, current.version), false, true
		case len(current.meta().Finalizers) > 0:
			return newItem(r.kind, r.kind.forms[0].newWire(), 0), true, true
		}
		return current, true, true
	}
	last := marked
	if last == nil {
		last = current.Copy()
	}
	at := r.st.changeTime()
	r.st.mu.Lock()
	defer r.st.mu.Unlock()
	if !r.isCurrentLocked(current) {
		return nil, false, false
	}
	if marked != nil {
		return r.commitLocked(watch.Modified, current, marked, req.Origin, at), false, true
	}
	return r.commitLocked(watch.Deleted, current, last, req.Origin, at), true, true
}

// checkPreconditions answers with the Kind where other conflicts name the
// resource, as real servers do.
func (r *Resource) checkPreconditions(current *Item, p *meta.Preconditions) error {
	if p == nil {
		return nil
	}
	gr := meta.GroupResource{Group: r.kind.group, Resource: r.kind.name}
	if p.UID != nil && *p.UID != current.UID() {
		return meta.NewConflict(gr, current.Name(), fmt.Sprintf(
			"the UID in the precondition (%s) does not match the UID in record (%s). The object might have been deleted and then recreated",
			*p.UID, current.UID()))
	}
	if p.ResourceVersion != nil && *p.ResourceVersion != current.ResourceVersion() {
		return meta.NewConflict(gr, current.Name(), fmt.Sprintf(
			"the ResourceVersion in the precondition (%s) does not match the ResourceVersion in record (%s). The object might have been modified",
			*p.ResourceVersion, current.ResourceVersion()))
	}
	return nil
}

// DeleteCollection deletes every object that a list with the same options
// would return, one after the other, and returns that list: the objects as
// they were before. An object that is gone already does not matter. Any other
// error ends it half-way.
func (r *Resource) DeleteCollection(ctx context.Context, list ListOptions, opts DeleteOptions) (*List, error) {
	if err := ValidateDeleteOptions(opts, true); err != nil {
		return nil, err
	}
	if err := r.CheckList(list); err != nil {
		return nil, err
	}
	if list.ResourceVersion != "" && list.ResourceVersion != "0" && list.ResourceVersionMatch == "" && list.Continue == "" && list.Limit == 0 {
		// Real servers list in pages here, where a version means that very one.
		list.Limit = math.MaxInt64
	}
	l, err := r.List(ctx, list)
	if err != nil {
		return nil, err
	}
	for _, it := range l.Items {
		_, _, err := r.delete(ctx, Request{Namespace: it.Namespace(), Name: it.Name(), Origin: OriginOf(ctx)}, opts)
		if err != nil && !errors.Is(err, meta.ReasonNotFound) {
			return nil, err
		}
	}
	return l, nil
}
