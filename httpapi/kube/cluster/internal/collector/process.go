package collector

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubecoord/kubecoord/httpapi/kube"
	"github.com/kubecoord/kubecoord/httpapi/kube/cluster/internal/controller"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/meta"
)

// process makes one attempt of a task.
func (c *collector) process(ctx context.Context, t task) error {
	r, err := c.resource(t.resource)
	if err != nil {
		return err
	}
	now := r.Get(t.namespace, t.name)
	if now == nil || now.GetObjectMeta().UID != t.uid {
		return nil // its dependents were queued when it went
	}
	m := now.GetObjectMeta()
	switch {
	case t.orphan:
		return c.orphanDependents(ctx, r, t.item)
	case deletesDependents(m):
		return c.waitForDependents(ctx, r, t.item)
	case m.DeletionTimestamp != nil, len(m.OwnerReferences) == 0:
		return nil
	}
	return c.collect(ctx, r, t.item, now)
}

// collect deletes an object that has no owner left, or removes its references to owners that are gone (upstream:
// attemptToDeleteItem).
func (c *collector) collect(ctx context.Context, r *store.Objects, it item, now meta.Object) error {
	m := now.GetObjectMeta()
	var solid, waiting bool
	var useless []meta.UID
	for _, ref := range m.OwnerReferences {
		owner, err := c.ownerOf(it, ref)
		if errors.Is(err, errNamespacedOwner) {
			return nil // it never has one, and stays
		}
		if err != nil {
			return err
		}
		switch {
		case owner == nil:
			useless = append(useless, ref.UID)
		case deletesDependents(owner.GetObjectMeta()):
			waiting = true
			useless = append(useless, ref.UID)
		default:
			solid = true
		}
	}
	c.mu.Lock()
	dependents := c.dependentsLocked(it.uid)
	c.mu.Unlock()
	switch {
	case solid && len(useless) == 0:
		return nil
	case solid:
		return c.change(ctx, r, it, func(m *meta.ObjectMeta) { dropOwners(m, useless) })
	case waiting && len(dependents) > 0:
		if slices.ContainsFunc(dependents, c.isDeletingDependents) { // perhaps a circle, which would wait for itself
			if err := c.change(ctx, r, it, unblock); err != nil {
				return err
			}
		}
		return c.delete(ctx, r, it, m, meta.DeletePropagationForeground)
	case slices.Contains(m.Finalizers, meta.FinalizerOrphanDependents):
		return c.delete(ctx, r, it, m, meta.DeletePropagationOrphan)
	case slices.Contains(m.Finalizers, meta.FinalizerDeleteDependents):
		return c.delete(ctx, r, it, m, meta.DeletePropagationForeground)
	}
	return c.delete(ctx, r, it, m, meta.DeletePropagationBackground)
}

// errNamespacedOwner is the error of a reference of an object without a namespace to a kind with namespaces.
var errNamespacedOwner = errors.New("collector: an object without a namespace has an owner with one")

// ownerOf returns the owner that a reference names, or nil if it is gone.
func (c *collector) ownerOf(it item, ref meta.OwnerReference) (meta.Object, error) {
	c.mu.Lock()
	gone := c.absent.contains(ref, "") || c.absent.contains(ref, it.namespace)
	c.mu.Unlock()
	if gone {
		return nil, nil
	}
	r, err := c.ownerResource(ref)
	if err != nil {
		return nil, err
	}
	namespace := it.namespace
	if r.Kind().Info().ClusterScoped {
		namespace = ""
	} else if namespace == "" {
		return nil, errNamespacedOwner
	}
	owner := r.Get(namespace, ref.Name)
	if owner == nil || owner.GetObjectMeta().UID != ref.UID {
		c.mu.Lock()
		c.absent.add(ref, namespace)
		c.mu.Unlock()
		return nil, nil
	}
	return owner, nil
}

func (c *collector) isDeletingDependents(it item) bool {
	r, err := c.resource(it.resource)
	if err != nil {
		return false
	}
	now := r.Get(it.namespace, it.name)
	return now != nil && now.GetObjectMeta().UID == it.uid && deletesDependents(now.GetObjectMeta())
}

// waitForDependents removes the finalizer of an owner without dependents that block its deletion, and looks at these otherwise.
func (c *collector) waitForDependents(ctx context.Context, r *store.Objects, owner item) error {
	c.mu.Lock()
	var blocking []item
	for _, it := range c.dependentsLocked(owner.uid) {
		if slices.ContainsFunc(c.owners[it.uid], func(ref meta.OwnerReference) bool { return ref.UID == owner.uid && blocks(ref) }) {
			blocking = append(blocking, it)
		}
	}
	c.mu.Unlock()
	if len(blocking) == 0 {
		return c.change(ctx, r, owner, without(meta.FinalizerDeleteDependents))
	}
	for _, it := range blocking {
		if !c.isDeletingDependents(it) {
			c.queue.Add(task{item: it})
		}
	}
	return nil
}

// orphanDependents removes the references of dependents, and then the finalizer of their owner.
func (c *collector) orphanDependents(ctx context.Context, r *store.Objects, owner item) error {
	c.mu.Lock()
	dependents := c.dependentsLocked(owner.uid)
	c.mu.Unlock()
	var errs []error
	for _, it := range dependents {
		of, err := c.resource(it.resource)
		if err == nil {
			err = c.change(ctx, of, it, func(m *meta.ObjectMeta) { dropOwners(m, []meta.UID{owner.uid}) })
		}
		errs = append(errs, err)
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	return c.change(ctx, r, owner, without(meta.FinalizerOrphanDependents))
}

func without(finalizer string) func(m *meta.ObjectMeta) {
	return func(m *meta.ObjectMeta) {
		m.Finalizers = slices.DeleteFunc(m.Finalizers, func(f string) bool { return f == finalizer })
	}
}

func dropOwners(m *meta.ObjectMeta, uids []meta.UID) {
	m.OwnerReferences = slices.DeleteFunc(m.OwnerReferences, func(ref meta.OwnerReference) bool { return slices.Contains(uids, ref.UID) })
}

// unblock makes the object block the deletion of none of its owners.
func unblock(m *meta.ObjectMeta) {
	for i := range m.OwnerReferences {
		m.OwnerReferences[i].BlockOwnerDeletion = new(false)
	}
}

// errGone stops the write of an object that has been replaced.
var errGone = errors.New("collector: the object is gone")

// change writes the metadata of an object. One that is gone is no error.
func (c *collector) change(ctx context.Context, r *store.Objects, it item, f func(m *meta.ObjectMeta)) error {
	err := r.Modify(ctx, it.namespace, it.name, "", func(o meta.Object) error {
		if o.GetObjectMeta().UID != it.uid {
			return errGone
		}
		f(o.GetObjectMeta())
		return nil
	}, store.UpdateOptions{FieldManager: controller.FieldManager})
	if errors.Is(err, errGone) || errors.Is(err, meta.ReasonNotFound) {
		return nil
	}
	return err
}

// delete deletes an object in the state m, or in a later state with the same owners (upstream: deleteObject).
func (c *collector) delete(ctx context.Context, r *store.Objects, it item, m *meta.ObjectMeta, policy meta.DeletionPropagation) error {
	opts := store.DeleteOptions{UID: it.uid, ResourceVersion: m.ResourceVersion, PropagationPolicy: policy}
	err := r.Delete(ctx, it.namespace, it.name, opts)
	if errors.Is(err, meta.ReasonConflict) {
		live := r.Get(it.namespace, it.name)
		switch {
		case live == nil:
			return nil
		case live.GetObjectMeta().UID == it.uid && slices.EqualFunc(live.GetObjectMeta().OwnerReferences, m.OwnerReferences, sameReference):
			opts.ResourceVersion = ""
			err = r.Delete(ctx, it.namespace, it.name, opts)
		}
	}
	if errors.Is(err, meta.ReasonNotFound) {
		return nil
	}
	return err
}

// report is a reference of an object to an owner in another namespace.
type report struct {
	item
	owner meta.UID
}

// reportNamespace makes the event about an owner in another namespace. Without the kind Event there is none.
func (c *collector) reportNamespace(ctx context.Context, p report) {
	r, err := c.resource(p.resource)
	if err != nil {
		return
	}
	now := r.Get(p.namespace, p.name)
	if now == nil || now.GetObjectMeta().UID != p.uid {
		return
	}
	refs := now.GetObjectMeta().OwnerReferences
	i := slices.IndexFunc(refs, func(ref meta.OwnerReference) bool { return ref.UID == p.owner })
	if i < 0 {
		return
	}
	for _, k := range c.api.Kinds() {
		if info := k.Info(); info.Group != "" || info.Kind != "Event" {
			continue
		}
		if events, err := kube.In[corev1.Event](k, c.st); err == nil {
			_, _ = events.Create(ctx, c.event(r, p, refs[i]), store.CreateOptions{FieldManager: controller.FieldManager}) // as upstream, an event may be lost
		}
	}
}

func (c *collector) event(r *store.Objects, p report, ref meta.OwnerReference) *corev1.Event {
	const component = "garbage-collector-controller"
	at, t := c.clock.Now(), r.Kind().TypeMeta(r.Kind().Info().Preferred())
	return &corev1.Event{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: cmp.Or(p.namespace, metav1.NamespaceDefault), Name: fmt.Sprintf("%s.%x", p.name, at.UnixNano()),
		},
		InvolvedObject: corev1.ObjectReference{Kind: t.Kind, APIVersion: t.APIVersion, Namespace: p.namespace, Name: p.name, UID: types.UID(p.uid)},
		Reason:         "OwnerRefInvalidNamespace",
		Message: fmt.Sprintf("ownerRef [%s/%s, namespace: %s, name: %s, uid: %s] does not exist in namespace %q",
			ref.APIVersion, ref.Kind, p.namespace, ref.Name, ref.UID, p.namespace),
		Source: corev1.EventSource{Component: component}, ReportingController: component, Type: corev1.EventTypeWarning, Count: 1,
		FirstTimestamp: metav1.NewTime(at), LastTimestamp: metav1.NewTime(at),
	}
}

// compareItems orders items by kind and name.
func compareItems(a, b item) int {
	return cmp.Or(cmp.Compare(a.resource.Group, b.resource.Group), cmp.Compare(a.resource.Resource, b.resource.Resource),
		cmp.Compare(a.namespace, b.namespace), cmp.Compare(a.name, b.name), cmp.Compare(a.uid, b.uid))
}
