// Package quotastatus counts what the objects of a namespace use, and writes it into the status of its ResourceQuotas, as the controller
// resourcequota of kube-controller-manager does. The library counts; package quota evaluates the objects.
package quotastatus

import (
	"context"
	"errors"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	library "k8s.io/apiserver/pkg/quota/v1"

	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/httpapi/kube/cluster/internal/controller"
	"github.com/kubecoord/kubecoord/httpapi/kube/cluster/internal/quota"
	"github.com/kubecoord/kubecoord/httpapi/kube/cluster/internal/typed"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/kind"
	"github.com/kubecoord/kubecoord/store/meta"
)

const (
	// resync is the time after which a quota is counted again (upstream: the flag --resource-quota-sync-period).
	resync = 5 * time.Minute
	// lastRetry is upstream's (client-go, util/workqueue, DefaultTypedControllerRateLimiter).
	lastRetry = 1000 * time.Second
)

// Run writes the status of the quotas of an API until ctx ends.
func Run(ctx context.Context, api *httpapi.API) {
	opts := quota.Of(api)
	opts.List = quota.List(api)
	s := &statuses{
		api: api, quotas: typed.Values[corev1.ResourceQuota](api, quotas()), evaluators: quota.New(opts),
		queue: controller.NewQueue[types.NamespacedName](api.Store().Clock(), lastRetry),
	}
	controller.Run(ctx, api, "resourcequota-controller", s.queue, s.follow, s.process)
}

func quotas() meta.GroupResource { return meta.GroupResource{Resource: "resourcequotas"} }

// statuses is the controller of one API.
type statuses struct {
	api        *httpapi.API
	quotas     *typed.Collection[*corev1.ResourceQuota]
	evaluators *quota.Evaluators
	queue      *controller.Queue[types.NamespacedName]
}

// follow plans a count of quotas that are new or have another limit, and of those in a namespace where something is used less. What is used
// more was charged by admission.
func (s *statuses) follow(_ context.Context, changes []store.ObjectChange) {
	if changes == nil {
		for _, q := range s.quotas.Read(nil).All {
			s.queue.Add(nameOf(q))
		}
	}
	for _, c := range changes {
		if c.Kind.GroupResource() == quotas() && c.New != nil {
			q := kind.ValueOf[corev1.ResourceQuota](c.New)
			if c.Old == nil || !library.Equals(kind.ValueOf[corev1.ResourceQuota](c.Old).Spec.Hard, q.Spec.Hard) {
				s.queue.Add(nameOf(q))
			}
		}
		if c.Old != nil && (c.New == nil || s.changed(c)) {
			for _, q := range s.quotas.Read(nil).ByNamespace[c.Old.GetObjectMeta().Namespace] {
				s.queue.Add(nameOf(q))
			}
		}
	}
}

func nameOf(q *corev1.ResourceQuota) types.NamespacedName {
	return types.NamespacedName{Namespace: q.Namespace, Name: q.Name}
}

func (s *statuses) changed(c store.ObjectChange) bool {
	gr := c.Kind.GroupResource()
	return s.evaluators.Changed(schema.GroupResource{Group: gr.Group, Resource: gr.Resource}, quota.Value(c.Old), quota.Value(c.New))
}

func (s *statuses) process(ctx context.Context, name types.NamespacedName) {
	switch err := s.count(ctx, name); {
	case errors.Is(err, store.ErrNotFound):
		s.queue.Drop(name)
	case err != nil:
		s.queue.Retry(name)
	default:
		s.queue.Succeeded(name)
		s.queue.AddAfter(name, resync)
	}
}

// count writes the status of a quota if it is not what is used (upstream: controller/resourcequota, syncResourceQuota).
func (s *statuses) count(ctx context.Context, name types.NamespacedName) error {
	in := s.quotas.Objects()
	if in == nil || in.Get(name.Namespace, name.Name) == nil {
		return store.ErrNotFound
	}
	q := kind.ValueOf[corev1.ResourceQuota](in.Get(name.Namespace, name.Name))
	hard := library.Add(corev1.ResourceList{}, q.Spec.Hard)
	usage, countErr := library.CalculateUsage(q.Namespace, q.Spec.Scopes, hard, registry{s}, q.Spec.ScopeSelector)
	used := library.Add(corev1.ResourceList{}, q.Status.Used)
	for resource, n := range usage {
		used[resource] = n
	}
	used = library.Mask(used, library.ResourceNames(hard))
	if q.Status.Hard != nil && q.Status.Used != nil && equality.Semantic.DeepEqual(q.Spec.Hard, q.Status.Hard) && library.Equals(used, q.Status.Used) {
		return countErr
	}
	version := q.ResourceVersion
	err := in.Modify(ctx, name.Namespace, name.Name, "status", func(o meta.Object) error {
		now := kind.ValueOf[corev1.ResourceQuota](o)
		if now.ResourceVersion != version {
			return store.ErrConflict // a charge came first: count again
		}
		now.Status = corev1.ResourceQuotaStatus{Hard: hard, Used: used}
		return nil
	}, store.UpdateOptions{FieldManager: controller.FieldManager})
	return errors.Join(countErr, err)
}

// registry is the evaluators of the resources that an API serves now. It implements library.Registry.
type registry struct{ of *statuses }

// Add implements library.Registry. Nobody calls it.
func (registry) Add(library.Evaluator) {}

// Remove implements library.Registry. Nobody calls it.
func (registry) Remove(library.Evaluator) {}

// Get implements library.Registry.
func (r registry) Get(gr schema.GroupResource) library.Evaluator { return r.of.evaluators.Of(gr) }

// List implements library.Registry.
func (r registry) List() (all []library.Evaluator) {
	for _, k := range r.of.api.Kinds() {
		info, gr := k.Info(), k.GroupResource()
		if info.ClusterScoped || !info.Stored() {
			continue
		}
		if e := r.of.evaluators.Of(schema.GroupResource{Group: gr.Group, Resource: gr.Resource}); e != nil {
			all = append(all, e)
		}
	}
	return all
}
