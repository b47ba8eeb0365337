// Package collector is the garbage collector of kube-controller-manager: it deletes objects whose owners are gone (upstream:
// pkg/controller/garbagecollector). It reads the store in place, so it needs no informers and never acts on an old state of an
// owner. It keeps the owners of each object, and of all others only the name.
package collector

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/httpapi/kube/cluster/internal/controller"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/clock"
	"github.com/kubecoord/kubecoord/store/kind"
	"github.com/kubecoord/kubecoord/store/meta"
)

// item is the identity of an object.
type item struct {
	resource        meta.GroupResource
	namespace, name string
	uid             meta.UID
}

// task is an item to look at. If orphan is set, the item is an owner, and its dependents lose their references to it.
type task struct {
	item
	orphan bool
}

// collector is the garbage collector of one API.
type collector struct {
	api    *httpapi.API
	st     *store.Store
	clock  clock.Clock
	absent absentOwners // of the worker and the follower, under mu
	queue  *controller.Queue[task]

	mu         sync.Mutex         // guards all below
	kinds      []kind.Kind        // of the API, when it was last looked at
	served     map[kind.Kind]bool // by Untyped
	objects    map[meta.UID]item
	owners     map[meta.UID][]meta.OwnerReference // of the objects that have some
	dependents map[meta.UID]map[meta.UID]bool     // by owner
	parked     map[task]bool                      // until the kinds that are served change
}

// Run collects the garbage of an API until ctx ends.
func Run(ctx context.Context, api *httpapi.API) {
	c := &collector{
		api: api, st: api.Store(), clock: api.Store().Clock(), parked: map[task]bool{},
		queue: controller.NewQueue[task](api.Store().Clock(), lastRetry),
	}
	controller.Run(ctx, api, "generic-garbage-collector", c.queue, c.follow, c.try)
}

// lastRetry is the longest time between two attempts of a task (upstream: client-go, util/workqueue,
// DefaultTypedControllerRateLimiter).
const lastRetry = 1000 * time.Second

// errNotServed is the error of a task that needs a kind that is not served.
var errNotServed = errors.New("collector: the kind is not served")

// try makes one attempt of a task, and plans the next if it fails.
func (c *collector) try(ctx context.Context, t task) {
	err := c.process(ctx, t)
	switch {
	case err == nil:
		c.queue.Succeeded(t)
	case errors.Is(err, errNotServed):
		c.mu.Lock()
		defer c.mu.Unlock()
		c.parked[t] = true
	default:
		c.queue.Retry(t)
	}
}

// resource returns the collection of a kind that is served now.
func (c *collector) resource(gr meta.GroupResource) (*store.Objects, error) {
	for _, k := range c.api.Kinds() {
		if k.GroupResource() == gr && collected(k) {
			if r, err := c.st.Objects(k); err == nil {
				return r, nil
			}
		}
	}
	return nil, errNotServed
}

// ownerResource returns the collection of an owner, which must be served in the version of the reference.
func (c *collector) ownerResource(ref meta.OwnerReference) (*store.Objects, error) {
	gv, ok := meta.ParseGroupVersion(ref.APIVersion)
	if !ok {
		return nil, errNotServed
	}
	for _, k := range c.api.Kinds() {
		info := k.Info()
		if info.Group != gv.Group || info.Kind != ref.Kind || !info.Stored() ||
			!slices.ContainsFunc(info.Versions, func(v kind.VersionInfo) bool { return v.Name == gv.Version && !v.Unserved }) {
			continue
		}
		if r, err := c.st.Objects(k); err == nil {
			return r, nil
		}
	}
	return nil, errNotServed
}

// collected reports whether the objects of a kind are in the graph (upstream: ignoredResources, and GetDeletableResources).
func collected(k kind.Kind) bool {
	info := k.Info()
	isEvent := info.Plural == "events" && (info.Group == "" || info.Group == "events.k8s.io")
	return info.Stored() && !isEvent && (info.Verbs == nil || slices.Contains(info.Verbs, "delete") && slices.Contains(info.Verbs, "list") && slices.Contains(info.Verbs, "watch"))
}

// maxAbsent is how many owners that are gone are remembered (upstream: NewReferenceCache).
const maxAbsent = 500

// absentOwners are references to owners that are known to be gone. They also count when the kind of the owner is not served any more.
type absentOwners struct {
	has   map[absentOwner]bool
	order []absentOwner
}

// absentOwner is a reference, and the namespace in which it has no object.
type absentOwner struct {
	apiVersion, kind, namespace, name string
	uid                               meta.UID
}

func (a *absentOwners) add(ref meta.OwnerReference, namespace string) {
	o := absentOwner{ref.APIVersion, ref.Kind, namespace, ref.Name, ref.UID}
	if a.has[o] {
		return
	}
	if a.has == nil {
		a.has = map[absentOwner]bool{}
	}
	if len(a.order) == maxAbsent {
		delete(a.has, a.order[0])
		a.order = a.order[1:]
	}
	a.has[o] = true
	a.order = append(a.order, o)
}

func (a *absentOwners) contains(ref meta.OwnerReference, namespace string) bool {
	return a.has[absentOwner{ref.APIVersion, ref.Kind, namespace, ref.Name, ref.UID}]
}
