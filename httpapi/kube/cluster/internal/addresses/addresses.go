// Package addresses allocates what services have of a cluster: their cluster IPs, node ports and ports for health checks (upstream:
// pkg/registry/core/service). The addresses that are taken are objects, IPAddresses, in the ranges of objects, ServiceCIDRs. The ports are
// read from the services in the store, so there is no other state that a restart or a fork could lose.
package addresses

import (
	"context"
	"net/netip"
	"sync"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	utilnet "k8s.io/apimachinery/pkg/util/net"

	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/httpapi/kube/cluster/internal/typed"
	"github.com/kubecoord/kubecoord/httpapi/kube/scheme"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/kind"
	"github.com/kubecoord/kubecoord/store/meta"
)

// Options are the ranges of a server.
type Options struct {
	// Ranges are the ranges of cluster IPs, one or one of each family. The family of the first is the default.
	Ranges []netip.Prefix
	// Ports is the range of node ports.
	Ports utilnet.PortRange
}

// Allocator allocates for the services of one API. It implements admission.Claims.
type Allocator struct {
	opts     Options
	api      *httpapi.API
	families []corev1.IPFamily // of the ranges

	find                sync.Once
	services, addresses *store.Objects // or nil
	cidrs               *store.Objects // or nil

	mu sync.Mutex // guards all below
	// ips and ports are taken by writes that have not ended.
	ips   map[string]bool
	ports map[int]bool
}

// New returns the Allocator of an API.
func New(a *httpapi.API, opts Options) *Allocator {
	al := &Allocator{opts: opts, api: a, ips: map[string]bool{}, ports: map[int]bool{}}
	for _, r := range opts.Ranges {
		al.families = append(al.families, FamilyOf(r.Addr()))
	}
	return al
}

// FamilyOf returns the family of an address.
func FamilyOf(ip netip.Addr) corev1.IPFamily {
	if ip.Is4() {
		return corev1.IPv4Protocol
	}
	return corev1.IPv6Protocol
}

// collections finds the collections of the API.
func (al *Allocator) collections() {
	al.find.Do(func() {
		al.services = typed.ObjectsOf(al.api, services)
		al.addresses = typed.ObjectsOf(al.api, meta.GroupResource{Group: networkingv1.GroupName, Resource: "ipaddresses"})
		al.cidrs = typed.ObjectsOf(al.api, meta.GroupResource{Group: networkingv1.GroupName, Resource: "servicecidrs"})
	})
}

// services is the resource of the services.
var services = meta.GroupResource{Resource: "services"}

// isService reports whether a kind is Service.
func isService(k kind.Kind) bool {
	return k.GroupResource() == services
}

// Claim implements admission.Claims.
func (al *Allocator) Claim(_ context.Context, k kind.Kind, obj, old meta.Object, dryRun bool) (end func(stored bool), err error) {
	if !isService(k) {
		return nil, nil
	}
	al.collections()
	c := &claim{Allocator: al, service: kind.ValueOf[corev1.Service](obj), dryRun: dryRun}
	if old != nil {
		c.old = kind.ValueOf[corev1.Service](old).DeepCopy()
	}
	if errs := scheme.PrepareAllocation(c.service, c.old, al.families); len(errs) > 0 {
		return nil, c.refuse(errs)
	}
	if err = c.allocateIPs(); err == nil {
		err = c.allocatePorts()
	}
	if err != nil {
		c.end(false)
		return nil, err
	}
	return c.end, nil
}

// Release implements admission.Claims: with a service go its addresses.
func (al *Allocator) Release(_ context.Context, k kind.Kind, obj meta.Object) {
	if !isService(k) {
		return
	}
	al.collections()
	service := kind.ValueOf[corev1.Service](obj)
	for _, ip := range clusterIPs(service) {
		al.free(ip, "")
	}
}

// own returns the context of the writes of the server itself, which end with no request.
func own() context.Context { return context.Background() }

// clusterIPs returns the addresses that a service has taken.
func clusterIPs(s *corev1.Service) []string {
	if s.Spec.Type == corev1.ServiceTypeExternalName || len(s.Spec.ClusterIPs) > 0 && s.Spec.ClusterIPs[0] == corev1.ClusterIPNone {
		return nil
	}
	return s.Spec.ClusterIPs
}
