package namespaces

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/httpapi/kube/cluster/internal/controller"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/clock"
	"github.com/kubecoord/kubecoord/store/kind"
	"github.com/kubecoord/kubecoord/store/meta"
)

// Times of the namespace controller (upstream: pkg/controller/namespace).
const (
	grace             = 5 * time.Second // between an event and the deletion
	finalizerEstimate = 15              // seconds until objects with finalizers may be gone
	lastRetry         = time.Minute
)

// maxRemoved is how many removed namespaces are remembered, for writes that were admitted before.
const maxRemoved = 1000

// deleter deletes what is in deleted namespaces.
type deleter struct {
	api        *httpapi.API
	st         *store.Store
	clock      clock.Clock
	namespaces *store.Collection[corev1.Namespace]
	queue      *controller.Queue[task]

	mu      sync.Mutex           // guards all below
	waiting map[string]time.Time // namespaces that are looked at after the next change of an object, and not before this time
	removed []string
}

// task is a namespace to look at, or an object that was written into a namespace that is gone.
type task struct {
	namespace string
	kind      kind.Kind // of the object, or nil
	name      string
	uid       meta.UID
}

// Delete deletes what is in the deleted namespaces of an API, and then these, until ctx ends.
func Delete(ctx context.Context, api *httpapi.API) {
	all, err := collection[corev1.Namespace](api, "", "Namespace")
	if err != nil {
		return // cannot be: Apply adds the kind
	}
	d := &deleter{
		api: api, st: api.Store(), clock: api.Store().Clock(), namespaces: all,
		queue: controller.NewQueue[task](api.Store().Clock(), lastRetry), waiting: map[string]time.Time{},
	}
	controller.Run(ctx, api, "namespace-controller", d.queue, d.follow, d.process)
}

// follow plans what changes ask for.
func (d *deleter) follow(ctx context.Context, changes []store.ObjectChange) {
	if changes == nil {
		for ns, err := range d.namespaces.All(ctx, "") {
			if err == nil && ns.DeletionTimestamp != nil {
				d.queue.AddAfter(task{namespace: ns.Name}, grace)
			}
		}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, c := range changes {
		o := c.New
		if o == nil {
			o = c.Old
		}
		m := o.GetObjectMeta()
		isNamespace := c.Kind.Info().Group == "" && c.Kind.Info().Kind == "Namespace"
		switch {
		case isNamespace && c.New == nil:
			d.forgetLocked(m.Name)
		case isNamespace:
			d.removed = slices.DeleteFunc(d.removed, func(name string) bool { return name == m.Name })
			if m.DeletionTimestamp != nil {
				d.queue.AddAfter(task{namespace: m.Name}, grace)
			}
		case c.Old == nil && slices.Contains(d.removed, m.Namespace):
			d.queue.Add(task{namespace: m.Namespace, kind: c.Kind, name: m.Name, uid: m.UID})
		default:
			if at, ok := d.waiting[m.Namespace]; ok {
				delete(d.waiting, m.Namespace)
				d.queue.AddAfter(task{namespace: m.Namespace}, max(at.Sub(d.clock.Now()), 0))
			}
		}
	}
}

// forgetLocked ends the work on a namespace that is gone.
func (d *deleter) forgetLocked(name string) {
	d.queue.Drop(task{namespace: name})
	delete(d.waiting, name)
	if d.removed = append(d.removed, name); len(d.removed) > maxRemoved {
		d.removed = d.removed[1:]
	}
}

// process handles a task, and plans the next look at a namespace that is not gone.
func (d *deleter) process(ctx context.Context, t task) {
	if t.kind != nil {
		d.deleteStray(ctx, t)
		return
	}
	left, err := d.sync(ctx, t.namespace)
	if err != nil || left != nil && len(left.errs) > 0 {
		d.queue.Retry(t)
		return
	}
	if left == nil || left.estimate == 0 {
		d.queue.Succeeded(t)
		return
	}
	wait := time.Duration(left.estimate/2+1) * time.Second
	if left.timed {
		d.queue.AddAfter(t, wait)
		return
	}
	d.queue.Succeeded(t) // nothing changes until an object does
	d.mu.Lock()
	defer d.mu.Unlock()
	d.waiting[t.namespace] = d.clock.Now().Add(wait)
}

// deleteStray deletes an object whose namespace was removed before it was written.
func (d *deleter) deleteStray(ctx context.Context, t task) {
	if _, err := d.namespaces.Get(ctx, "", t.namespace); !errors.Is(err, store.ErrNotFound) {
		return
	}
	objects, err := d.st.Objects(t.kind)
	if err != nil {
		return // the kind is not served any more
	}
	_ = objects.Delete(ctx, t.namespace, t.name, store.DeleteOptions{UID: t.uid, PropagationPolicy: meta.DeletePropagationBackground}) // it may be gone
}

// sync deletes what is in a namespace, and finalizes it if that is all (upstream: namespaced_resources_deleter.go, Delete).
func (d *deleter) sync(ctx context.Context, name string) (*remains, error) {
	ns, err := d.namespaces.Get(ctx, "", name)
	if errors.Is(err, store.ErrNotFound) || err == nil && ns.DeletionTimestamp == nil {
		return nil, nil
	}
	if err == nil && ns.Status.Phase != corev1.NamespaceTerminating {
		ns.Status.Phase = corev1.NamespaceTerminating
		ns, err = d.namespaces.Status().Update(ctx, ns, store.UpdateOptions{FieldManager: controller.FieldManager})
	}
	if err != nil {
		return nil, err
	}
	if len(ns.Spec.Finalizers) == 0 {
		return nil, nil
	}
	left, counted := d.deleteContent(ctx, ns)
	if setConditions(&ns.Status, left.conditions(counted), d.clock.Now()) {
		_, _ = d.namespaces.Status().Update(ctx, ns, store.UpdateOptions{FieldManager: controller.FieldManager}) // as upstream, the next time
	}
	if len(left.errs) > 0 || left.estimate > 0 {
		return left, nil
	}
	return nil, d.finalize(ctx, name, meta.UID(ns.UID))
}

// deleteContent deletes all objects in a namespace, the pods first. counted is as in conditions.
func (d *deleter) deleteContent(ctx context.Context, ns *corev1.Namespace) (left *remains, counted bool) {
	left = &remains{objects: map[string]int{}, finalizers: map[string]int{}}
	var all []kind.Kind
	for _, k := range d.api.Kinds() {
		info := k.Info()
		if info.ClusterScoped || !info.Stored() || info.Verbs != nil && !slices.Contains(info.Verbs, "delete") {
			continue
		}
		if info.Group != "" || info.Plural != "pods" {
			all = append(all, k)
			continue
		}
		if d.deleteAll(ctx, k, ns, left); len(left.objects) > 0 {
			return left, false // the other objects may be needed by the pods
		}
	}
	for _, k := range all {
		d.deleteAll(ctx, k, ns, left)
	}
	return left, true
}

// deleteAll deletes the objects of a kind in a namespace (upstream: deleteAllContentForGroupVersionResource).
func (d *deleter) deleteAll(ctx context.Context, k kind.Kind, ns *corev1.Namespace, left *remains) {
	objects, err := d.st.Objects(k)
	if err != nil {
		return // it is not served any more
	}
	estimate := d.podSeconds(ctx, k, ns)
	err = objects.DeleteCollection(ctx, ns.Name, store.DeleteOptions{PropagationPolicy: meta.DeletePropagationBackground})
	if err != nil {
		left.errs = append(left.errs, err)
		left.estimate = max(left.estimate, estimate)
		return
	}
	rest := slices.Collect(objects.All(ns.Name))
	if len(rest) == 0 {
		return
	}
	held := false
	for _, o := range rest {
		for _, f := range o.GetObjectMeta().Finalizers {
			held = true
			left.finalizers[f]++
		}
	}
	info := k.Info()
	left.objects[info.Plural+"."+info.Group] = len(rest)
	switch {
	case estimate > 0:
		left.timed = true
		left.estimate = max(left.estimate, estimate)
	case held:
		left.estimate = max(left.estimate, finalizerEstimate)
	default:
		left.errs = append(left.errs, fmt.Errorf("unexpected items still remain in namespace: %s for gvr: %s/%s, Resource=%s", ns.Name, info.Group, info.Versions[info.Preferred()].Name, info.Plural))
	}
}

// podSeconds returns the longest grace of the pods in a namespace, 0 if that is over.
func (d *deleter) podSeconds(ctx context.Context, k kind.Kind, ns *corev1.Namespace) (seconds int64) {
	if k.Info().Group != "" || k.Info().Plural != "pods" {
		return 0
	}
	pods, err := collection[corev1.Pod](d.api, "", "Pod")
	if err != nil {
		return 0
	}
	for pod, err := range pods.All(ctx, ns.Name) {
		if err != nil || pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed || pod.Spec.TerminationGracePeriodSeconds == nil {
			continue
		}
		seconds = max(seconds, *pod.Spec.TerminationGracePeriodSeconds)
	}
	if d.clock.Now().Sub(ns.DeletionTimestamp.Time) >= time.Duration(seconds)*time.Second {
		return 0
	}
	return seconds
}

// finalize removes the finalizer of the namespace controller.
func (d *deleter) finalize(ctx context.Context, name string, uid meta.UID) error {
	for _, k := range d.api.Kinds() {
		if k.Info().Group != "" || k.Info().Kind != "Namespace" {
			continue
		}
		objects, err := d.st.Objects(k)
		if err != nil {
			return err
		}
		err = objects.Modify(ctx, "", name, "finalize", func(o meta.Object) error {
			if o.GetObjectMeta().UID != uid {
				return store.ErrNotFound
			}
			spec := &kind.ValueOf[corev1.Namespace](o).Spec
			spec.Finalizers = slices.DeleteFunc(spec.Finalizers, func(f corev1.FinalizerName) bool { return f == corev1.FinalizerKubernetes })
			return nil
		}, store.UpdateOptions{FieldManager: controller.FieldManager})
		if errors.Is(err, store.ErrNotFound) {
			return nil
		}
		return err
	}
	return nil
}
