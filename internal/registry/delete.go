package registry

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/kubecoord/kubecoord/internal/hub"
	"github.com/kubecoord/kubecoord/internal/kinds"
	"github.com/kubecoord/kubecoord/store/meta"
)

// Deletion is the outcome of Delete.
type Deletion struct {
	// Item is the state that was removed, or the object that was marked as terminating. It is
	// an empty object after a dry run that would remove the last finalizer, as upstream: such
	// a deletion is an update that is dropped half-way.
	Item *Item
	// Removed reports whether the object was removed.
	Removed bool
	// Version is the version of the removal, 0 after a dry run.
	Version uint64
}

// Copy returns a deep copy of the object, with the version of the removal.
func (d Deletion) Copy() kinds.Object {
	o := d.Item.Copy()
	if d.Version > 0 {
		setResourceVersion(o, d.Version)
	}
	return o
}

// Delete removes an object, or marks it as terminating if it has finalizers.
func (r *Resource) Delete(ctx context.Context, req *Request, opts *kinds.DeleteOptions) (Deletion, error) {
	if err := kinds.ValidateDeleteOptions(*opts, false); err != nil {
		return Deletion{}, err
	}
	r.warnOfDeletion(req, opts)
	return r.delete(ctx, req, opts)
}

// warnOfDeletion warns before the object is looked for, as upstream does.
func (r *Resource) warnOfDeletion(req *Request, opts *kinds.DeleteOptions) {
	if text := r.Kind.DeleteWarning(opts); text != "" {
		req.warn(text)
	}
}

func (r *Resource) delete(ctx context.Context, req *Request, opts *kinds.DeleteOptions) (Deletion, error) {
	w, err := r.attempt(ctx, req, deletion{opts})
	if err != nil {
		return Deletion{}, err
	}
	if w.outcome == putThenRemove && !w.dry {
		// As upstream, watchers see the mark before the removal.
		r.letMarkBeSeen(ctx, w.answer)
		if w, err = r.attempt(context.WithoutCancel(ctx), req, removal{w.answer, opts}); err != nil {
			return Deletion{}, err
		}
	}
	d := Deletion{Item: w.answer, Removed: w.outcome == remove, Version: w.version}
	if !d.Removed {
		d.Version = 0
	} else if r.Kind.Native().ReturnsObject && d.Version > 0 {
		d.Item = newItem(r.Kind, d.Copy(), d.Version)
	}
	return d, nil
}

// markLasts is how long the mark of a deletion without a grace lasts before the removal, if somebody watches. A kube-apiserver
// needs about 1.4 ms between the two writes. Without them a controller that reads its cache after the event MODIFIED
// finds no object there.
const markLasts = 1500 * time.Microsecond

// letMarkBeSeen waits between the mark and the removal of a watched object in memory. The time is package time, also beside a
// clock.Manual: a client must not wait for a test that moves the clock after the deletion.
func (r *Resource) letMarkBeSeen(ctx context.Context, it *Item) {
	if r.st.engine != nil || !r.st.hub.Follows(hub.Scope{Collection: r.id, Namespace: it.Namespace(), Name: it.Name()}) {
		return
	}
	timer := time.NewTimer(markLasts)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	case <-r.st.hub.Done():
	}
}

// removal is the Change that removes an object whose grace is over, in the state that a deletion left, unless other finalizers came.
type removal struct {
	marked *Item
	opts   *kinds.DeleteOptions
}

func (c removal) plan(ctx context.Context, r *Resource, current *Item, req *Request) (w write, err error) {
	if current == nil || current.UID() != c.marked.UID() {
		return write{key: req.key(), outcome: remove, dry: true, answer: c.marked}, nil // it is gone already
	}
	if len(current.meta().Finalizers) > 0 {
		return write{key: current.key(), answer: current}, nil
	}
	return write{key: current.key(), outcome: remove, old: current, answer: current}, r.st.gate.mayDelete(ctx, r, current, req, *c.opts)
}

// deletion is the Change of a deletion.
type deletion struct{ *kinds.DeleteOptions }

func (c deletion) plan(ctx context.Context, r *Resource, current *Item, req *Request) (w write, err error) {
	opts := *c.DeleteOptions
	if current == nil {
		return w, meta.NewNotFound(r.Kind.GroupResource(), req.Name)
	}
	if kinds.IgnoresReadError(opts) {
		// All objects here can be read.
		return w, meta.NewConflict(r.Kind.GroupResource(), req.Name,
			r.invalidObject(req, "unsafe deletion is not allowed because the object is decodable from storage"))
	}
	if err := r.checkPreconditions(current, opts.Preconditions); err != nil {
		return w, err
	}
	w = write{key: current.key(), outcome: remove, dry: kinds.IsDryRun(opts.DryRun), old: current, answer: current}
	if r.st.gate.asks(req) && !r.passed(current, opts) {
		if err := r.st.gate.mayDelete(ctx, r, current, req, opts); err != nil {
			return w, err
		}
	}
	if began, err := r.beginDeletion(&w, current); began {
		return w, err
	}
	finalizers := deletionFinalizers(current.meta().Finalizers, opts, r.Kind.Native().OrphansDependents)
	seconds, graceful, pending, err := r.grace(current, opts)
	if err != nil {
		return w, err
	}
	had := len(current.meta().Finalizers)
	switch {
	case pending, len(finalizers) == 0 && !graceful && had == 0 && r.Kind.Holds(current.obj):
		w.outcome = unchanged
		return w, nil
	case len(finalizers) == 0 && !graceful:
		if had == 0 {
			return w, nil
		}
		if w.dry {
			w.answer = newItem(r.Kind, r.Kind.New(0), 0)
			return w, nil
		}
		return w, r.st.gate.mayDelete(ctx, r, current, req, opts) // as upstream: for the update without finalizers, and for the removal
	}
	w.obj, w.size = r.Kind.Copy(current.obj), int(current.size)
	w.obj.GetObjectMeta().Finalizers = finalizers
	r.st.markDeleting(w.obj.GetObjectMeta(), seconds)
	w.outcome = put
	if graceful && seconds == 0 && len(finalizers) == 0 {
		w.outcome = putThenRemove
	}
	switch {
	case r.Kind.Type().Equal(w.obj, current.obj):
		w.outcome = unchanged
	case w.dry:
		w.answer = newItem(r.Kind, w.obj, current.version)
	}
	return w, nil
}

// passed reports whether admission is skipped: an earlier deletion still waits for its grace period, or for finalizers in the
// spec.
func (r *Resource) passed(current *Item, opts kinds.DeleteOptions) bool {
	if r.Kind.PreparesDelete() && r.Kind.Holds(current.obj) {
		return current.meta().DeletionTimestamp != nil
	}
	_, _, pending, err := r.grace(current, opts)
	return pending && err == nil
}

// grace returns the seconds that an object has left (upstream: registry/rest, BeforeDelete). graceful reports whether the deletion
// has a grace, and pending whether one before it has, which the request does not shorten.
func (r *Resource) grace(current *Item, opts kinds.DeleteOptions) (seconds int64, graceful, pending bool, err error) {
	seconds, graceful, err = r.Kind.Grace(current.obj, opts.GracePeriodSeconds)
	m := current.meta()
	if err != nil || !graceful || m.DeletionTimestamp == nil {
		return seconds, graceful, false, err
	}
	left, asked := m.DeletionGracePeriodSeconds, opts.GracePeriodSeconds
	if left == nil || *left == 0 {
		return 0, false, false, nil // its finalizers are left
	}
	if asked != nil && *asked < 0 {
		asked = new(int64(1))
	}
	if asked == nil || *asked >= *left {
		return 0, false, true, nil
	}
	seconds = *asked
	if end := m.DeletionTimestamp.Add(time.Duration(seconds-*left) * time.Second); end.Before(r.st.now()) {
		seconds = min(seconds, 1)
	}
	return seconds, true, false, nil
}

// beginDeletion makes the next state of an object whose kind decides how its deletion begins. It reports whether it did.
func (r *Resource) beginDeletion(w *write, current *Item) (began bool, err error) {
	if current.meta().DeletionTimestamp != nil || !r.Kind.PreparesDelete() {
		return false, nil
	}
	o := r.Kind.Copy(current.obj)
	r.Kind.PrepareDelete(o, r.st.now())
	w.outcome, w.obj = put, o
	if w.dry {
		w.answer = newItem(r.Kind, o, current.version)
		return true, nil
	}
	w.size, err = r.checkSize(o, false)
	return true, err
}

// checkPreconditions names the kind in its errors, where other conflicts name the resource, as upstream does. The storage of a kind that
// decides how its deletion begins checks them itself, with texts of its own (registry/core/namespace/storage, and
// customresourcedefinition of apiextensions-apiserver).
func (r *Resource) checkPreconditions(current *Item, p *kinds.Preconditions) error {
	if p == nil {
		return nil
	}
	gk := r.Kind.GroupKind()
	gr := meta.GroupResource{Group: gk.Group, Resource: gk.Kind}
	otherUID := "the UID in the precondition (%s) does not match the UID in record (%s). The object might have been deleted and then recreated"
	otherVersion := "the ResourceVersion in the precondition (%s) does not match the ResourceVersion in record (%s). The object might have been modified"
	if r.Kind.PreparesDelete() {
		gr = r.Kind.GroupResource()
		otherUID = "Precondition failed: UID in precondition: %s, UID in object meta: %s"
		otherVersion = "Precondition failed: ResourceVersion in precondition: %s, ResourceVersion in object meta: %s"
	}
	if p.UID != nil && *p.UID != current.UID() {
		return meta.NewConflict(gr, current.Name(), fmt.Sprintf(otherUID, *p.UID, current.UID()))
	}
	if p.ResourceVersion != nil && *p.ResourceVersion != current.ResourceVersion() {
		return meta.NewConflict(gr, current.Name(), fmt.Sprintf(otherVersion, *p.ResourceVersion, current.ResourceVersion()))
	}
	return nil
}

// DeleteCollection deletes the objects that a list with the same options returns, one after the other, and returns
// that list. req has the version and the warnings. Objects that are gone by then are skipped; any other error ends it half-way.
func (r *Resource) DeleteCollection(ctx context.Context, req Request, list ListOptions, opts kinds.DeleteOptions) (*List, error) {
	if err := kinds.ValidateDeleteOptions(opts, true); err != nil {
		return nil, err
	}
	if err := r.CheckList(list); err != nil {
		return nil, err
	}
	r.warnOfDeletion(&req, &opts)
	if list.Limit == 0 {
		list.Limit = math.MaxInt64 // upstream lists in pages here, where a version means the exact one
	}
	l, err := r.List(ctx, list)
	if err != nil {
		return nil, err
	}
	req.Guard = cmp.Or(req.Guard, new(Guard))
	req.Guard.nameless = true
	for _, it := range l.Items {
		one := req
		one.Namespace, one.Name = it.Namespace(), it.Name()
		_, err := r.delete(ctx, &one, &opts)
		if err != nil && !errors.Is(err, meta.ReasonNotFound) {
			return nil, err
		}
	}
	return l, nil
}

// deletionFinalizers replaces the finalizers that stand for a deletion policy by the finalizer
// of these options. Without a policy the object keeps its own, or gets the finalizer of its kind.
func deletionFinalizers(finalizers []string, o kinds.DeleteOptions, orphans bool) []string {
	var orphan, foreground bool
	switch {
	case o.OrphanDependents != nil:
		orphan = *o.OrphanDependents
	case o.PropagationPolicy != nil:
		orphan = *o.PropagationPolicy == meta.DeletePropagationOrphan
		foreground = *o.PropagationPolicy == meta.DeletePropagationForeground
	default:
		orphan = orphans && !slices.Contains(finalizers, meta.FinalizerDeleteDependents)
		if !orphan {
			return finalizers
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

// markDeleting marks an object with finalizers, or with seconds of grace, as terminating. Later seconds count from the time of the
// first mark.
func (st *Store) markDeleting(m *meta.ObjectMeta, seconds int64) {
	end := st.now().Add(time.Duration(seconds) * time.Second)
	if m.DeletionTimestamp == nil && m.Generation > 0 {
		m.Generation++
	}
	if left := m.DeletionGracePeriodSeconds; m.DeletionTimestamp != nil && left != nil && *left > 0 {
		if end = m.DeletionTimestamp.Add(time.Duration(seconds-*left) * time.Second); end.Before(st.now()) {
			end = st.now()
		}
	}
	if m.DeletionTimestamp == nil || m.DeletionTimestamp.After(end) {
		m.DeletionTimestamp = new(meta.NewTime(end))
	}
	m.DeletionGracePeriodSeconds = &seconds
}
