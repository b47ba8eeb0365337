package addresses

import (
	"errors"
	"fmt"
	"hash/fnv"
	"slices"

	corev1 "k8s.io/api/core/v1"
	upstream "k8s.io/apimachinery/pkg/util/validation/field"
	netutils "k8s.io/utils/net"

	"github.com/kubecoord/kubecoord/httpapi/kube/internal/boxes"
	"github.com/kubecoord/kubecoord/httpapi/kube/scheme"
	"github.com/kubecoord/kubecoord/store/field"
	"github.com/kubecoord/kubecoord/store/meta"
)

// claim is what one write of a service takes and releases.
type claim struct {
	*Allocator
	service, old *corev1.Service // old is nil for a new service
	dryRun       bool

	takenIPs   []string
	takenPorts []int
	leavingIPs []string // which the service has no more once it is written
}

// end keeps what was taken if the service is stored, and gives it back otherwise.
func (c *claim) end(stored bool) {
	gone := c.takenIPs
	if stored {
		gone = c.leavingIPs
	}
	if !c.dryRun {
		for _, ip := range gone {
			c.free(ip, "")
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, ip := range c.takenIPs {
		delete(c.ips, ip)
	}
	for _, port := range c.takenPorts {
		delete(c.ports, port)
	}
}

// refuse returns the error of a service that is not valid.
func (c *claim) refuse(errs field.Errors) error {
	return errs.Status(meta.GroupKind{Kind: "Service"}, c.service.Name)
}

// invalid is refuse for one error.
func (c *claim) invalid(p *upstream.Path, value any, detail string) error {
	return c.refuse(boxes.Problems(upstream.ErrorList{upstream.Invalid(p, value, detail)}))
}

// start returns where the search for the n-th free value begins: at random, but in a store with a seed always at the same value.
func (c *claim) start(n int, size uint64) uint64 {
	h := fnv.New64a()
	fmt.Fprintf(h, "%s %d", c.service.UID, n)
	return h.Sum64() % size
}

// allocateIPs takes the addresses that the service lacks (upstream: registry/core/service/storage, allocClusterIPs and
// updateClusterIPs).
func (c *claim) allocateIPs() error {
	s := &c.service.Spec
	headless := func(s *corev1.ServiceSpec) bool {
		return len(s.ClusterIPs) > 0 && s.ClusterIPs[0] == corev1.ClusterIPNone
	}
	if c.old == nil || c.old.Spec.Type == corev1.ServiceTypeExternalName || !headless(&c.old.Spec) && len(c.old.Spec.ClusterIPs) == 0 {
		if s.Type == corev1.ServiceTypeExternalName || headless(s) {
			return nil
		}
		return c.takeIPs(0)
	}
	was := &c.old.Spec
	switch now, before := len(s.IPFamilies), len(was.IPFamilies); {
	case scheme.StaysPreferred(c.service, c.old), headless(was):
	case s.Type == corev1.ServiceTypeExternalName:
		c.leavingIPs = was.ClusterIPs
	case before == 1 && now == 2:
		return c.takeIPs(1)
	case before == 2 && now == 1:
		c.leavingIPs = was.ClusterIPs[1:]
	}
	return nil
}

// takeIPs takes an address of each family from the first one on.
func (c *claim) takeIPs(first int) error {
	s := &c.service.Spec
	asked := s.ClusterIPs // as errors show it
	ips := slices.Clone(asked)
	for len(ips) < len(s.IPFamilies) {
		ips = append(ips, "")
	}
	for i := first; i < len(s.IPFamilies); i++ {
		ip, err := ips[i], error(nil)
		if ip != "" {
			if err = c.takeIP(netutils.ParseIPSloppy(ip)); err != nil {
				return c.invalid(upstream.NewPath("spec", "clusterIPs"), shown(asked, len(ips)), fmt.Sprintf("failed to allocate IP %v: %v", ip, err))
			}
			continue
		}
		ips[i], err = c.takeAnyIP(i)
		switch {
		case errors.Is(err, errFull):
			return meta.NewInternalError(fmt.Errorf("failed to allocate a serviceIP for Service %q: %w", c.service.Name, err))
		case err != nil:
			return c.invalid(upstream.NewPath("spec", "clusterIPs"), shown(asked, len(ips)), fmt.Sprintf("failed to allocate IP: %v", err))
		}
	}
	s.ClusterIPs = ips
	if len(ips) > 0 {
		s.ClusterIP = ips[0]
	}
	return nil
}

// shown returns the addresses as errors show them: with a mark for each one that is to be allocated.
func shown(asked []string, n int) []string {
	out := slices.Clone(asked)
	for len(out) < n {
		out = append(out, "")
	}
	return out
}

// allocatePorts takes the ports that the service lacks.
func (c *claim) allocatePorts() error {
	if t := c.service.Spec.Type; t == corev1.ServiceTypeNodePort || t == corev1.ServiceTypeLoadBalancer {
		take := c.createNodePorts
		if c.old != nil {
			take = c.updateNodePorts
		}
		if err := take(); err != nil {
			return err
		}
	}
	if !needsHealthCheck(c.service) || c.old != nil && needsHealthCheck(c.old) {
		return nil
	}
	if port := c.service.Spec.HealthCheckNodePort; port != 0 {
		if err := c.takePort(int(port)); err != nil {
			return meta.NewInternalError(fmt.Errorf("failed to allocate requested HealthCheck NodePort %v: %w", port, err))
		}
		return nil
	}
	port, err := c.takeAnyPort()
	if err != nil {
		return meta.NewInternalError(fmt.Errorf("failed to allocate a HealthCheck NodePort %v: %w", 0, err))
	}
	c.service.Spec.HealthCheckNodePort = int32(port)
	return nil
}

func needsHealthCheck(s *corev1.Service) bool {
	return s.Spec.Type == corev1.ServiceTypeLoadBalancer && s.Spec.ExternalTrafficPolicy == corev1.ServiceExternalTrafficPolicyLocal
}

// allocates reports whether the service gets node ports that its writer does not name.
func (c *claim) allocates() bool {
	asked := c.service.Spec.AllocateLoadBalancerNodePorts
	return c.service.Spec.Type == corev1.ServiceTypeNodePort || asked == nil || *asked
}

// createNodePorts takes the node ports of a new service. Ports of the same number, of two protocols, share one (upstream: initNodePorts).
func (c *claim) createNodePorts() error {
	ports := c.service.Spec.Ports
	shared := map[int32]int32{}
	for i := range ports {
		p := &ports[i]
		if p.NodePort == 0 && !c.allocates() {
			continue
		}
		have := shared[p.Port]
		switch {
		case have != 0 && p.NodePort == 0:
			p.NodePort = have
			continue
		case have == p.NodePort && have != 0:
			continue
		}
		asked := p.NodePort
		if have == 0 {
			if at := slices.IndexFunc(ports, func(q corev1.ServicePort) bool { return q.Port == p.Port && q.NodePort != 0 }); at >= 0 {
				asked = ports[at].NodePort
			}
		}
		if asked == 0 {
			port, err := c.takeAnyPort()
			if err != nil {
				return meta.NewInternalError(fmt.Errorf("failed to allocate a nodePort: %w", err))
			}
			asked = int32(port)
		} else if err := c.takePort(int(asked)); err != nil {
			return c.badPort(i, asked, err)
		}
		p.NodePort = asked
		if have == 0 {
			shared[p.Port] = asked
		}
	}
	return nil
}

// updateNodePorts takes the node ports that an update adds.
func (c *claim) updateNodePorts() error {
	ports := c.service.Spec.Ports
	had, seen := map[int32]bool{}, map[string]bool{}
	for _, p := range c.old.Spec.Ports {
		had[p.NodePort] = true
	}
	for i := range ports {
		p := &ports[i]
		if p.NodePort == 0 && !c.allocates() {
			continue
		}
		if p.NodePort == 0 {
			port, err := c.takeAnyPort()
			if err != nil {
				return meta.NewInternalError(fmt.Errorf("failed to allocate a nodePort: %w", err))
			}
			p.NodePort = int32(port)
		} else if !had[p.NodePort] {
			if err := c.takePort(int(p.NodePort)); err != nil {
				return c.badPort(i, p.NodePort, err)
			}
			had[p.NodePort] = true
		}
		key := fmt.Sprintf("{%s %d}", p.Protocol, p.NodePort)
		if seen[key] {
			return fmt.Errorf("duplicate nodePort: %s", key)
		}
		seen[key] = true
	}
	return nil
}

func (c *claim) badPort(i int, port int32, err error) error {
	return c.invalid(upstream.NewPath("spec", "ports").Index(i).Child("nodePort"), port, err.Error())
}
