package addresses

import (
	"context"
	"errors"
	"net/netip"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"

	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/httpapi/kube"
	"github.com/kubecoord/kubecoord/httpapi/kube/cluster/internal/controller"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/kind"
	"github.com/kubecoord/kubecoord/store/meta"
)

// Times of the repair (upstream: registry/core/service/ipallocator/controller, and repairLoopInterval of pkg/controlplane).
const (
	repairInterval = 3 * time.Minute  // until a missing IPAddress is made again
	orphanGrace    = 60 * time.Second // that an IPAddress without its service has
	changeGrace    = 5 * time.Second  // that an IPAddress has which its service does not name yet
	lastRetry      = time.Minute
)

// task is a service or an IPAddress to look at, or the ServiceCIDR of the server.
type task struct {
	kind            string
	namespace, name string
}

// repair keeps the IPAddresses of an API as its services need them, also services that came from a fixture or from another server.
type repair struct {
	*Allocator
	queue *controller.Queue[task]
}

// Run makes the ServiceCIDR again when it is gone, and repairs IPAddresses, until ctx ends.
func (al *Allocator) Run(ctx context.Context, api *httpapi.API) {
	al.collections()
	if al.services == nil || al.addresses == nil || al.cidrs == nil {
		return // Apply adds the kinds
	}
	r := &repair{al, controller.NewQueue[task](api.Store().Clock(), lastRetry)}
	controller.Run(ctx, api, "ipallocator-repair-controller", r.queue, r.follow, r.process)
}

// follow plans what changes ask for.
func (r *repair) follow(_ context.Context, changes []store.ObjectChange) {
	if changes == nil {
		for _, objects := range []*store.Objects{r.services, r.addresses} {
			for o := range objects.All("") {
				m := o.GetObjectMeta()
				r.queue.Add(task{objects.Kind().Info().Kind, m.Namespace, m.Name})
			}
		}
	}
	for _, c := range changes {
		o := c.New
		if o == nil {
			o = c.Old
		}
		m := o.GetObjectMeta()
		switch info := c.Kind.Info(); {
		case isService(c.Kind) && c.New != nil:
			r.queue.Add(task{"Service", m.Namespace, m.Name})
		case isService(c.Kind):
			for _, ip := range clusterIPs(kind.ValueOf[corev1.Service](o)) {
				r.queue.Add(task{"IPAddress", "", canonical(ip)})
			}
		case info.Group != networkingv1.GroupName:
		case info.Kind == "ServiceCIDR" && m.Name == rangeName && c.New == nil:
			r.queue.AddAfter(task{kind: "ServiceCIDR"}, rangeInterval)
		case info.Kind == "IPAddress" && c.New != nil:
			r.queue.Add(task{"IPAddress", "", m.Name})
		case info.Kind == "IPAddress":
			if parent := kind.ValueOf[networkingv1.IPAddress](o).Spec.ParentRef; parent != nil && r.service(parent) != nil {
				r.queue.AddAfter(task{"Service", parent.Namespace, parent.Name}, repairInterval)
			}
		}
	}
}

// process handles a task.
func (r *repair) process(_ context.Context, t task) {
	var err error
	switch t.kind {
	case "ServiceCIDR":
		err = r.Make(own())
	case "Service":
		err = r.repairService(t)
	default:
		r.repairAddress(t)
	}
	if err != nil {
		r.queue.Retry(t)
		return
	}
	r.queue.Succeeded(t)
}

// repairService makes the IPAddresses that a service lacks (upstream: syncService, whose events are not recorded here).
func (r *repair) repairService(t task) error {
	o := r.services.Get(t.namespace, t.name)
	if o == nil {
		return nil
	}
	s := kind.ValueOf[corev1.Service](o)
	in, err := kube.In[networkingv1.IPAddress](r.addresses.Kind(), r.api.Store())
	if err != nil {
		return err
	}
	for _, text := range clusterIPs(s) {
		ip, err := netip.ParseAddr(text)
		if err != nil || !r.inRange(ip) {
			continue
		}
		have := r.addresses.Get("", ip.String())
		if have != nil {
			if !r.isWrong(kind.ValueOf[networkingv1.IPAddress](have), ip, s) {
				continue
			}
			r.free(text, have.GetObjectMeta().UID)
		}
		if _, err := in.Create(own(), addressOf(ip, s), store.CreateOptions{FieldManager: serverManager}); err != nil && !errors.Is(err, store.ErrAlreadyExists) {
			return err
		}
	}
	return nil
}

// inRange reports whether a range has an address that services may have.
func (r *repair) inRange(ip netip.Addr) bool {
	return slices.ContainsFunc(r.ranges(FamilyOf(ip)), func(p netip.Prefix) bool {
		first, last := bounds(p)
		return !ip.Less(first) && !last.Less(ip)
	})
}

// isWrong reports whether the IPAddress of an address of a service must be made again.
func (r *repair) isWrong(a *networkingv1.IPAddress, ip netip.Addr, s *corev1.Service) bool {
	parent := a.Spec.ParentRef
	if parent == nil || parent.Group != "" || parent.Resource != "services" {
		return true
	}
	if parent.Namespace != s.Namespace || parent.Name != s.Name {
		return r.service(parent) == nil // two services with one address would make it in turns
	}
	return a.Labels[networkingv1.LabelManagedBy] != allocatorName || a.Labels[networkingv1.LabelIPAddressFamily] != string(FamilyOf(ip))
}

// service returns the service that an IPAddress refers to, or nil.
func (r *repair) service(parent *networkingv1.ParentReference) *corev1.Service {
	if o := r.services.Get(parent.Namespace, parent.Name); o != nil {
		return kind.ValueOf[corev1.Service](o)
	}
	return nil
}

// repairAddress deletes an IPAddress that no service has (upstream: syncIPAddress). A write of this server gives back what it took itself.
func (r *repair) repairAddress(t task) {
	o := r.addresses.Get("", t.name)
	if o == nil || o.GetObjectMeta().Labels[networkingv1.LabelManagedBy] != allocatorName || r.isHeld(t.name) {
		return
	}
	a := kind.ValueOf[networkingv1.IPAddress](o)
	if parent := a.Spec.ParentRef; parent != nil && parent.Group == "" && parent.Resource == "services" {
		s, age := r.service(parent), r.api.Store().Now().Sub(a.CreationTimestamp.Time)
		var grace time.Duration
		switch {
		case s == nil:
			grace = orphanGrace
		case slices.ContainsFunc(s.Spec.ClusterIPs, func(ip string) bool { return canonical(ip) == a.Name }):
			return
		case s.Spec.Type == corev1.ServiceTypeExternalName:
			grace = orphanGrace
		case a.CreationTimestamp.After(s.CreationTimestamp.Time):
			grace = changeGrace
		}
		if age < grace {
			r.queue.AddAfter(t, grace-age)
			return
		}
	}
	_ = r.addresses.Delete(own(), "", a.Name, store.DeleteOptions{UID: meta.UID(a.UID)}) // another one may have its name by now
}

// isHeld reports whether a write that has not ended has an address.
func (al *Allocator) isHeld(ip string) bool {
	al.mu.Lock()
	defer al.mu.Unlock()
	return al.ips[ip]
}
