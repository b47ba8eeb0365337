package endpoints

import (
	"iter"
	"net"
	"strconv"
)

// Target is one address with one port: a single endpoint of a subset.
type Target struct {
	// PortName is "" where the port has no name, and where there is no port.
	PortName string
	// Protocol is "" where the writer left it out or there is no port.
	Protocol Protocol
	// Address is the IP address as it was written.
	Address string
	// Port is 0 for an address of a subset without ports.
	Port int32
	// Ready tells that the address is among those that are.
	Ready bool
	// Source is the address with what is known about it: hostname, node, and
	// the object behind it. It points into the subset.
	Source *EndpointAddress
}

// String returns what a dialer takes: "10.0.0.1:80", "[2001:db8::1]:80", or the
// address alone where there is no port.
func (t Target) String() string {
	if t.Port == 0 {
		return t.Address
	}
	return net.JoinHostPort(t.Address, strconv.Itoa(int(t.Port)))
}

// Expand walks all endpoints of the subsets: subset by subset, in it port by
// port, for each port the ready addresses and then the others. A subset without
// ports yields its addresses with port 0. Nothing is sorted, and what stands
// there twice comes twice.
func Expand(subsets []EndpointSubset) iter.Seq[Target] {
	return func(yield func(Target) bool) {
		for i := range subsets {
			s := &subsets[i]
			if len(s.Ports) == 0 && !s.expandPort(&EndpointPort{}, yield) {
				return
			}
			for j := range s.Ports {
				if !s.expandPort(&s.Ports[j], yield) {
					return
				}
			}
		}
	}
}

// expandPort yields one port with each address and tells whether to go on.
func (s *EndpointSubset) expandPort(p *EndpointPort, yield func(Target) bool) bool {
	t := Target{PortName: p.Name, Protocol: p.Protocol, Port: p.Port}
	for _, list := range [...]struct {
		addresses []EndpointAddress
		ready     bool
	}{{s.Addresses, true}, {s.NotReadyAddresses, false}} {
		t.Ready = list.ready
		for i := range list.addresses {
			t.Source = &list.addresses[i]
			t.Address = t.Source.IP
			if !yield(t) {
				return false
			}
		}
	}
	return true
}
