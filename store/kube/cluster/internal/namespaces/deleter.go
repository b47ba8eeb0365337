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
	"github.com/kubecoord/kubecoord/internal/caller"
	"github.com/kubecoord/kubecoord/internal/kinds"
	"github.com/kubecoord/kubecoord/internal/registry"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/clock"
	"github.com/kubecoord/kubecoord/store/kube"
	"github.com/kubecoord/kubecoord/store/meta"
)

// controllerManager is the field manager of the controllers of kube-controller-manager.
const controllerManager = "kube-controller-manager"

// Times of the namespace controller (upstream: pkg/controller/namespace).
const (
	grace             = 5 * time.Second // between an event and the deletion
	finalizerEstimate = 15              // seconds until objects with finalizers may be gone
	firstRetry        = 5 * time.Millisecond
	lastRetry         = time.Minute
)

// maxRemoved is how many removed namespaces are remembered, for writes that were admitted before.
const maxRemoved = 1000

// deleter deletes what is in deleted namespaces.
type deleter struct {
	api        *httpapi.API
	st         *registry.Store
	clock      clock.Clock
	namespaces *kube.Collection[corev1.Namespace]
	wake       chan struct{}

	mu       sync.Mutex // guards all below
	timers   map[string]clock.Timer
	due      []string
	waiting  map[string]time.Time // namespaces with objects in them: not before this time, and not before a change
	failures map[string]int
	removed  []string
	strays   []stray
}

// stray is an object that was written into a namespace that is gone.
type stray struct {
	r    *registry.Resource
	item *registry.Item
}

// Delete deletes what is in the deleted namespaces of an API, and then these, until ctx ends.
func Delete(ctx context.Context, api *httpapi.API) {
	all, err := collection[corev1.Namespace](api, "", "Namespace")
	if err != nil {
		return // cannot be: Apply adds the kind
	}
	d := &deleter{
		api: api, st: (*registry.Store)(api.Store()), clock: api.Store().Clock(), namespaces: all, wake: make(chan struct{}, 1),
		timers: map[string]clock.Timer{}, waiting: map[string]time.Time{}, failures: map[string]int{},
	}
	ctx, cancel := context.WithCancel(caller.WithUser(ctx, caller.User{
		Name:   "system:serviceaccount:kube-system:namespace-controller",
		Groups: []string{"system:serviceaccounts", "system:serviceaccounts:kube-system", "system:authenticated"},
	}))
	var worker sync.WaitGroup
	worker.Go(func() { d.work(ctx) })
	for changes, err := range d.st.FollowAll(ctx) {
		if err != nil {
			break
		}
		d.follow(ctx, changes)
	}
	cancel()
	worker.Wait()
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, t := range d.timers {
		t.Stop()
	}
}

// follow plans what changes ask for.
func (d *deleter) follow(ctx context.Context, changes []registry.ObjectChange) {
	if changes == nil {
		for ns, err := range d.namespaces.All(ctx, "") {
			if err == nil && ns.DeletionTimestamp != nil {
				d.plan(ns.Name, grace)
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
		isNamespace := c.Resource.Info().Group == "" && c.Resource.Info().Kind == "Namespace"
		switch {
		case isNamespace && c.New == nil:
			d.forgetLocked(o.Name())
		case isNamespace:
			d.removed = slices.DeleteFunc(d.removed, func(name string) bool { return name == o.Name() })
			if o.Stored().GetObjectMeta().DeletionTimestamp != nil {
				d.planLocked(o.Name(), grace)
			}
		case c.Old == nil && slices.Contains(d.removed, o.Namespace()):
			d.strays = append(d.strays, stray{c.Resource, o})
			d.signal()
		default:
			if at, ok := d.waiting[o.Namespace()]; ok {
				delete(d.waiting, o.Namespace())
				d.planLocked(o.Namespace(), max(at.Sub(d.clock.Now()), 0))
			}
		}
	}
}

// forgetLocked ends the work on a namespace that is gone.
func (d *deleter) forgetLocked(name string) {
	if t := d.timers[name]; t != nil {
		t.Stop()
	}
	delete(d.timers, name)
	delete(d.waiting, name)
	delete(d.failures, name)
	if d.removed = append(d.removed, name); len(d.removed) > maxRemoved {
		d.removed = d.removed[1:]
	}
}

func (d *deleter) plan(name string, wait time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.planLocked(name, wait)
}

// planLocked looks at a namespace after a time, unless that is planned already.
func (d *deleter) planLocked(name string, wait time.Duration) {
	if d.timers[name] != nil {
		return
	}
	d.timers[name] = d.clock.AfterFunc(wait, func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		delete(d.timers, name)
		d.due = append(d.due, name)
		d.signal()
	})
}

func (d *deleter) signal() {
	select {
	case d.wake <- struct{}{}:
	default:
	}
}

// work looks at the namespaces that are due, until ctx ends.
func (d *deleter) work(ctx context.Context) {
	for {
		d.mu.Lock()
		due, strays := d.due, d.strays
		d.due, d.strays = nil, nil
		d.mu.Unlock()
		for _, s := range strays {
			d.deleteStray(ctx, s)
		}
		for _, name := range due {
			left, err := d.sync(ctx, name)
			d.again(ctx, name, left, err)
		}
		select {
		case <-d.wake:
		case <-ctx.Done():
			return
		}
	}
}

// again plans the next look at a namespace that is not gone.
func (d *deleter) again(ctx context.Context, name string, left *remains, err error) {
	if ctx.Err() != nil {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case err != nil || left != nil && len(left.errs) > 0:
		wait := min(firstRetry<<min(d.failures[name], 20), lastRetry)
		d.failures[name]++
		d.planLocked(name, wait)
	case left == nil || left.estimate == 0:
		delete(d.failures, name)
	case left.timed:
		d.planLocked(name, time.Duration(left.estimate/2+1)*time.Second)
	default: // nothing changes until an object does
		delete(d.failures, name)
		d.waiting[name] = d.clock.Now().Add(time.Duration(left.estimate/2+1) * time.Second)
	}
}

// deleteStray deletes an object whose namespace was removed before it was written.
func (d *deleter) deleteStray(ctx context.Context, s stray) {
	if _, err := d.namespaces.Get(ctx, "", s.item.Namespace()); !errors.Is(err, store.ErrNotFound) {
		return
	}
	uid := s.item.UID()
	opts := kinds.DeleteOptions{PropagationPolicy: new(meta.DeletePropagationBackground), Preconditions: &kinds.Preconditions{UID: &uid}}
	_, _ = s.r.Delete(ctx, registry.Request{Namespace: s.item.Namespace(), Name: s.item.Name()}, opts) // it may be gone
}

// sync deletes what is in a namespace, and finalizes it if that is all (upstream: namespaced_resources_deleter.go, Delete).
func (d *deleter) sync(ctx context.Context, name string) (*remains, error) {
	ns, err := d.namespaces.Get(ctx, "", name)
	if errors.Is(err, store.ErrNotFound) || err == nil && ns.DeletionTimestamp == nil {
		return nil, nil
	}
	if err == nil && ns.Status.Phase != corev1.NamespaceTerminating {
		ns.Status.Phase = corev1.NamespaceTerminating
		ns, err = d.namespaces.Status().Update(ctx, ns, store.UpdateOptions{FieldManager: controllerManager})
	}
	if err != nil {
		return nil, err
	}
	if len(ns.Spec.Finalizers) == 0 {
		return nil, nil
	}
	left, counted := d.deleteContent(ctx, ns)
	if setConditions(&ns.Status, left.conditions(counted), d.clock.Now()) {
		_, _ = d.namespaces.Status().Update(ctx, ns, store.UpdateOptions{FieldManager: controllerManager}) // as upstream, the next time
	}
	if len(left.errs) > 0 || left.estimate > 0 {
		return left, nil
	}
	return nil, d.finalize(ctx, name, meta.UID(ns.UID))
}

// deleteContent deletes all objects in a namespace, the pods first. counted is as in conditions.
func (d *deleter) deleteContent(ctx context.Context, ns *corev1.Namespace) (left *remains, counted bool) {
	left = &remains{objects: map[string]int{}, finalizers: map[string]int{}}
	var all []*kinds.Kind
	for _, k := range d.api.Kinds() {
		k := k.Registered()
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
func (d *deleter) deleteAll(ctx context.Context, k *kinds.Kind, ns *corev1.Namespace, left *remains) {
	r, err := d.st.Find(k)
	if err != nil {
		return // it is not served any more
	}
	estimate := d.podSeconds(ctx, r, ns)
	list := registry.ListOptions{Namespace: ns.Name}
	_, err = r.DeleteCollection(ctx, registry.Request{Namespace: ns.Name}, list, kinds.DeleteOptions{PropagationPolicy: new(meta.DeletePropagationBackground)})
	var rest *registry.List
	if err == nil {
		rest, err = r.List(ctx, list)
	}
	if err != nil {
		left.errs = append(left.errs, err)
		left.estimate = max(left.estimate, estimate)
		return
	}
	if len(rest.Items) == 0 {
		return
	}
	held := false
	for _, it := range rest.Items {
		for _, f := range it.Stored().GetObjectMeta().Finalizers {
			held = true
			left.finalizers[f]++
		}
	}
	info := k.Info()
	left.objects[info.Plural+"."+info.Group] = len(rest.Items)
	switch {
	case estimate > 0:
		left.timed = true
		left.estimate = max(left.estimate, estimate)
	case held:
		left.estimate = max(left.estimate, finalizerEstimate)
	default:
		version := slices.IndexFunc(info.Versions, func(v kinds.VersionInfo) bool { return !v.Unserved })
		left.errs = append(left.errs, fmt.Errorf("unexpected items still remain in namespace: %s for gvr: %s/%s, Resource=%s", ns.Name, info.Group, info.Versions[max(version, 0)].Name, info.Plural))
	}
}

// podSeconds returns the longest grace of the pods in a namespace, 0 if that is over.
func (d *deleter) podSeconds(ctx context.Context, r *registry.Resource, ns *corev1.Namespace) (seconds int64) {
	if r.Info().Group != "" || r.Info().Plural != "pods" {
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
		k := k.Registered()
		if k.Info().Group != "" || k.Info().Kind != "Namespace" {
			continue
		}
		r, err := d.st.Find(k)
		if err != nil {
			return err
		}
		req := registry.Request{Name: name, UID: uid, FieldManager: controllerManager, Sub: k.Subresource("finalize")}
		_, _, err = r.Update(ctx, req, registry.Replacement(func(current *registry.Item) (kinds.Object, error) {
			o := current.Copy()
			spec, _ := o.(*store.Unstructured).Content["spec"].(map[string]any)
			all, _ := spec["finalizers"].([]any)
			all = slices.DeleteFunc(all, func(f any) bool { return f == string(corev1.FinalizerKubernetes) })
			if spec["finalizers"] = all; len(all) == 0 {
				delete(spec, "finalizers")
			}
			return o, nil
		}))
		if errors.Is(err, meta.ReasonNotFound) {
			return nil
		}
		return err
	}
	return nil
}
