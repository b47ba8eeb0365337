package addresses

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"net"
	"net/netip"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	netutils "k8s.io/utils/net"

	"github.com/kubecoord/kubecoord/httpapi/kube"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/admission"
	"github.com/kubecoord/kubecoord/store/kind"
	"github.com/kubecoord/kubecoord/store/meta"
)

// The errors of an address (upstream: registry/core/service/ipallocator).
var (
	errIPTaken      = errors.New("provided IP is already allocated")
	errOtherNetwork = errors.New("the provided network does not match the current range")
)

// takeIP takes an address that a writer names.
func (c *claim) takeIP(asked net.IP) error {
	ip, _ := netip.AddrFromSlice(asked)
	ip = ip.Unmap()
	ranges := c.ranges(FamilyOf(ip))
	if c.dryRun && len(ranges) > 0 {
		if first, last := bounds(ranges[0]); ip.Less(first) || last.Less(ip) {
			return fmt.Errorf("the provided IP (%v) is not in the valid range. The range of valid IPs is %s", ip, ranges[0])
		}
		return nil
	}
	for _, r := range ranges {
		if first, last := bounds(r); ip.Less(first) || last.Less(ip) {
			continue
		}
		if !c.holdIP(ip.String()) {
			return errIPTaken
		}
		return c.createAddress(ip)
	}
	return errOtherNetwork
}

// takeAnyIP takes a free address of the i-th family of the service. A dry run gets one that no service can have.
func (c *claim) takeAnyIP(i int) (string, error) {
	ranges := c.ranges(c.service.Spec.IPFamilies[i])
	if c.dryRun && len(ranges) > 0 {
		return ranges[0].Masked().Addr().String(), nil
	}
	for _, r := range ranges {
		ip, err := c.takeFrom(r, i)
		if !errors.Is(err, errFull) {
			return ip, err
		}
	}
	return "", errFull
}

// takeFrom takes a free address of a range: from its upper part, where writers name fewer, as long as that has one.
func (c *claim) takeFrom(r netip.Prefix, n int) (string, error) {
	first, last := bounds(r)
	size := sizeOf(r)
	if size == 0 {
		return "", errFull
	}
	lower := uint64(reserved(int(min(addressesOf(r), math.MaxInt32)), 16, 256))
	offset := plus(first, lower)
	for _, part := range []struct {
		first, last netip.Addr
		size        uint64
	}{{offset, last, size - lower}, {first, offset.Prev(), lower}} {
		if part.size == 0 {
			continue
		}
		start := plus(part.first, c.start(n, part.size))
		for ip, more := start, true; more; more = ip != start {
			if c.holdIP(ip.String()) {
				err := c.createAddress(ip)
				if !errors.Is(err, errIPTaken) { // else another server was first
					return ip.String(), err
				}
			}
			if ip == part.last {
				ip = part.first
			} else {
				ip = ip.Next()
			}
		}
	}
	return "", errFull
}

// holdIP takes an address until the write has ended, unless a service, an IPAddress or another write has it.
func (c *claim) holdIP(name string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ips[name] || c.addresses.Get("", name) != nil {
		return false
	}
	for o := range c.services.All("") {
		for _, ip := range clusterIPs(kind.ValueOf[corev1.Service](o)) {
			if ip == name || canonical(ip) == name {
				return false
			}
		}
	}
	c.ips[name] = true
	return true
}

// createAddress makes the IPAddress of an address that is held.
func (c *claim) createAddress(ip netip.Addr) error {
	in, err := kube.In[networkingv1.IPAddress](c.addresses.Kind(), c.api.Store())
	if err == nil {
		_, err = in.Create(own(), addressOf(ip, c.service), store.CreateOptions{FieldManager: serverManager})
	}
	if err == nil {
		c.takenIPs = append(c.takenIPs, ip.String())
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.ips, ip.String())
	if errors.Is(err, store.ErrAlreadyExists) {
		return errIPTaken
	}
	return err
}

// addressOf returns the IPAddress of an address of a service.
func addressOf(ip netip.Addr, s *corev1.Service) *networkingv1.IPAddress {
	return &networkingv1.IPAddress{
		ObjectMeta: metav1.ObjectMeta{Name: ip.String(), Labels: map[string]string{
			networkingv1.LabelIPAddressFamily: string(FamilyOf(ip)),
			networkingv1.LabelManagedBy:       allocatorName,
		}},
		Spec: networkingv1.IPAddressSpec{ParentRef: &networkingv1.ParentReference{Resource: "services", Namespace: s.Namespace, Name: s.Name}},
	}
}

const (
	// allocatorName manages the IPAddresses of services.
	allocatorName = "ipallocator.k8s.io"
	// serverManager is the field manager of a kube-apiserver's own writes.
	serverManager = "kube-apiserver"
)

// free deletes the IPAddress of an address that a service has no more, only that with a uid if it is not "". What admission refuses is
// deleted below it: a kube-apiserver would leave the address taken.
func (al *Allocator) free(ip string, uid meta.UID) {
	if al.addresses == nil {
		return
	}
	err := al.addresses.Delete(own(), "", canonical(ip), store.DeleteOptions{UID: uid})
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		_ = al.addresses.Delete(admission.Below(own()), "", canonical(ip), store.DeleteOptions{UID: uid}) // or the repair does it
	}
}

// canonical returns the form of an address that the name of an IPAddress has. Services may have others, also with leading zeros.
func canonical(ip string) string {
	if addr, ok := netip.AddrFromSlice(netutils.ParseIPSloppy(ip)); ok {
		return addr.Unmap().String()
	}
	return ip
}

// ranges returns the ranges of a family that services may have addresses of.
func (al *Allocator) ranges(family corev1.IPFamily) (out []netip.Prefix) {
	for o := range al.cidrs.All("") {
		cidr := kind.ValueOf[networkingv1.ServiceCIDR](o)
		if cidr.DeletionTimestamp != nil || !isReady(cidr) {
			continue
		}
		for _, text := range cidr.Spec.CIDRs {
			// An allocator of upstream has no larger range.
			if r, err := netip.ParsePrefix(text); err == nil && FamilyOf(r.Addr()) == family && (r.Addr().Is4() || r.Bits() >= 64) {
				out = append(out, r)
			}
		}
	}
	return out
}

// isReady reports whether services may have addresses of a range: it counts as ready until kube-controller-manager says it is not.
func isReady(cidr *networkingv1.ServiceCIDR) bool {
	for _, c := range cidr.Status.Conditions {
		if c.Type == networkingv1.ServiceCIDRConditionReady {
			return c.Status == metav1.ConditionTrue
		}
	}
	return true
}

// bounds returns the first and the last address of a range that a service may have: not the address of the network, nor the one for
// broadcasts.
func bounds(r netip.Prefix) (first, last netip.Addr) {
	base := r.Masked().Addr()
	b := base.As16()
	for i := r.Bits() + 128 - base.BitLen(); i < 128; i++ {
		b[i/8] |= 0x80 >> (i % 8)
	}
	last = netip.AddrFrom16(b)
	if base.Is4() {
		last = last.Unmap().Prev()
	}
	return base.Next(), last
}

// addressesOf returns how many addresses a range has, and sizeOf how many of them services may have.
func addressesOf(r netip.Prefix) uint64 {
	if bits := r.Addr().BitLen() - r.Bits(); bits < 64 {
		return 1 << bits
	}
	return math.MaxUint64
}

func sizeOf(r netip.Prefix) uint64 {
	n := addressesOf(r)
	switch {
	case n == math.MaxUint64:
		return n
	case r.Addr().Is4():
		return max(n, 2) - 2
	}
	return n - 1
}

// plus returns the n-th address after ip.
func plus(ip netip.Addr, n uint64) netip.Addr {
	b := ip.As16()
	low := binary.BigEndian.Uint64(b[8:])
	binary.BigEndian.PutUint64(b[8:], low+n)
	if low+n < low {
		binary.BigEndian.PutUint64(b[:8], binary.BigEndian.Uint64(b[:8])+1)
	}
	out := netip.AddrFrom16(b)
	if ip.Is4() {
		return out.Unmap()
	}
	return out
}
