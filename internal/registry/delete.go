package registry

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/kubecoord/kubecoord/store/meta"
	"github.com/kubecoord/kubecoord/watch"
)

// Delete removes an object, or marks it as terminating if it has finalizers. deleted
// reports which. The Item is the last state of the object, or the marked one. A dry run
// that would remove the last finalizer returns an empty object, as upstream does: such a
// deletion is an update that is dropped half-way.
func (r *Resource) Delete(ctx context.Context, req Request, opts DeleteOptions) (it *Item, deleted bool, err error) {
	if err := ValidateDeleteOptions(opts, false); err != nil {
		return nil, false, err
	}
	return r.delete(ctx, req, opts)
}

func (r *Resource) delete(ctx context.Context, req Request, opts DeleteOptions) (it *Item, deleted bool, err error) {
	it, err = r.attempt(ctx, &req, math.MaxInt, func(current *Item) (it *Item, err error) {
		if current == nil {
			return nil, meta.NewNotFound(r.kind.groupResource(), req.Name)
		}
		if ignoresReadError(opts) {
			// All objects here can be read.
			return nil, meta.NewConflict(r.kind.groupResource(), req.Name,
				r.invalidObject(&req, "unsafe deletion is not allowed because the object is decodable from storage"))
		}
		if err := r.checkPreconditions(current, opts.Preconditions); err != nil {
			return nil, err
		}
		it, deleted, err = r.deleteNow(ctx, current, &req, opts)
		return it, err
	})
	return it, deleted && err == nil, err
}

// deleteNow removes or marks current. The error is errRace if another write came first.
func (r *Resource) deleteNow(ctx context.Context, current *Item, req *Request, opts DeleteOptions) (it *Item, deleted bool, err error) {
	finalizers := deletionFinalizers(current.meta().Finalizers, opts)
	var marked Object
	if len(finalizers) > 0 {
		marked = r.kind.copy(current.obj)
		marked.GetObjectMeta().Finalizers = finalizers
		r.st.markDeleting(marked.GetObjectMeta())
		if r.kind.forms[0].typ.Equal(marked, current.obj) {
			it, err = r.stillCurrent(current, current)
			return it, false, err
		}
	}
	if isDryRun(opts.DryRun) {
		switch {
		case marked != nil:
			return newItem(r.kind, marked, current.version), false, nil
		case len(current.meta().Finalizers) > 0:
			return newItem(r.kind, r.kind.forms[0].newWire(), 0), true, nil
		}
		return current, true, nil
	}
	if e := r.st.engine; e != nil {
		if marked == nil {
			it, err = e.remove(ctx, r, req, current)
		} else {
			it, err = e.put(ctx, r, req, current, marked)
		}
		return it, marked == nil, err
	}
	last := marked
	if last == nil {
		last = current.sharedCopy()
	}
	at := r.st.changeTime()
	r.st.mu.Lock()
	defer r.st.mu.Unlock()
	if !r.isCurrentLocked(current) {
		return nil, false, errRace
	}
	if marked != nil {
		return r.commitLocked(watch.Modified, current, marked, int(current.size), req.Origin, at), false, nil
	}
	return r.commitLocked(watch.Deleted, current, last, int(current.size), req.Origin, at), true, nil
}

// checkPreconditions names the kind in its errors, where other conflicts name the
// resource, as upstream does.
func (r *Resource) checkPreconditions(current *Item, p *Preconditions) error {
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

// DeleteCollection deletes the objects that a list with the same options returns, one
// after the other, and returns that list. Objects that are gone by then are skipped; any
// other error ends it half-way.
func (r *Resource) DeleteCollection(ctx context.Context, list ListOptions, opts DeleteOptions) (*List, error) {
	if err := ValidateDeleteOptions(opts, true); err != nil {
		return nil, err
	}
	if err := r.CheckList(list); err != nil {
		return nil, err
	}
	if list.ResourceVersion != "" && list.ResourceVersion != "0" && list.ResourceVersionMatch == "" && list.Continue == "" && list.Limit == 0 {
		// Upstream lists in pages here, where a version means the exact one.
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

// deletionFinalizers replaces the finalizers that stand for a deletion policy by the one
// of these options. Without a policy the object keeps its own.
func deletionFinalizers(finalizers []string, o DeleteOptions) []string {
	var orphan, foreground bool
	switch {
	case o.OrphanDependents != nil:
		orphan = *o.OrphanDependents
	case o.PropagationPolicy != nil:
		orphan = *o.PropagationPolicy == meta.DeletePropagationOrphan
		foreground = *o.PropagationPolicy == meta.DeletePropagationForeground
	default:
		for _, f := range finalizers {
			orphan = f == meta.FinalizerOrphanDependents
			foreground = f == meta.FinalizerDeleteDependents
			if orphan || foreground {
				break
			}
		}
	}
	if !orphan && !foreground && !slices.Contains(finalizers, meta.FinalizerOrphanDependents) &&
		!slices.Contains(finalizers, meta.FinalizerDeleteDependents) {
		return finalizers
	}
	var out []string
	for _, f := range finalizers {
		if f != meta.FinalizerOrphanDependents && f != meta.FinalizerDeleteDependents {
			out = append(out, f)
		}
	}
	if orphan {
		out = append(out, meta.FinalizerOrphanDependents)
	}
	if foreground {
		out = append(out, meta.FinalizerDeleteDependents)
	}
	if sameSet(out, finalizers) {
		return finalizers
	}
	return out
}

func sameSet(a, b []string) bool {
	has := func(in []string) func(string) bool {
		return func(s string) bool { return !slices.Contains(in, s) }
	}
	return !slices.ContainsFunc(a, has(b)) && !slices.ContainsFunc(b, has(a))
}

// markDeleting marks an object with finalizers as terminating.
func (st *Store) markDeleting(m *meta.ObjectMeta) {
	now := meta.NewTime(st.now())
	if m.DeletionTimestamp == nil && m.Generation > 0 {
		m.Generation++
	}
	if m.DeletionTimestamp == nil || m.DeletionTimestamp.After(st.now()) {
		m.DeletionTimestamp = &now
	}
	m.DeletionGracePeriodSeconds = new(int64(0))
}
