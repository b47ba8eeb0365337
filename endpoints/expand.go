package endpoints

import (
	"iter"
	"net"
	"strconv"
)

// Target is one address with one port: a single endpoint of a subset.
type Target struct {
	// PortName is "" if the port has no name or there is no port.
	PortName string
	// Protocol is "" if the writer left it out or there is no port.
	Protocol Protocol
	// Address is the IP address as written.
	Address string
	// Port is 0 for an address of a subset without ports.
	Port int32
	// Ready reports whether the address is in Addresses, not in NotReadyAddresses.
	Ready bool
	// Source is the address with its hostname, node and object. It points into the
	// subset.
	Source *EndpointAddress
}

// String returns the address and port in the form of net.Dial, such as
// "[2001:db8::1]:80", or only the address if there is no port.
func (t Target) String() string {
	if t.Port == 0 {
		return t.Address
	}
	return net.JoinHostPort(t.Address, strconv.Itoa(int(t.Port)))
}

// Expand yields all endpoints of the subsets: subset by subset, port by port, first the
// ready addresses and then the others. A subset without ports yields its addresses with
// port 0. Expand neither sorts nor removes duplicates.
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

// expandPort yields one port with each address. It returns false to stop.
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
