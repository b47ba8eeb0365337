package endpoints

import (
	"iter"
	"net"
	"strconv"
)

// Endpoint is one address of a subset with one port.
type Endpoint struct {
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
func (t Endpoint) String() string {
	if t.Port == 0 {
		return t.Address
	}
	return net.JoinHostPort(t.Address, strconv.Itoa(int(t.Port)))
}

// Expand yields all endpoints of the subsets: subset by subset, port by port, first the
// ready addresses and then the others. A subset without ports yields its addresses with
// port 0. Expand neither sorts nor removes duplicates.
func Expand(subsets []EndpointSubset) iter.Seq[Endpoint] {
	return func(yield func(Endpoint) bool) {
		for i := range subsets {
			ports := subsets[i].Ports
			if len(ports) == 0 {
				ports = make([]EndpointPort, 1)
			}
			for _, p := range ports {
				for at, a := range eachAddress(subsets, i) {
					if !yield(Endpoint{p.Name, p.Protocol, a.IP, p.Port, at.list == readyList, a}) {
						return
					}
				}
			}
		}
	}
}

// location is the place of an item of a subset. A path is built only for an error.
type location struct {
	subset int
	list   string // its name in JSON
	item   int
}

// The lists of addresses.
const (
	readyList    = "addresses"
	notReadyList = "notReadyAddresses"
)

// eachAddress yields the addresses of a subset: the ready ones, then the others.
func eachAddress(subsets []EndpointSubset, subset int) iter.Seq2[location, *EndpointAddress] {
	return func(yield func(location, *EndpointAddress) bool) {
		s := &subsets[subset]
		for i := range s.Addresses {
			if !yield(location{subset, readyList, i}, &s.Addresses[i]) {
				return
			}
		}
		for i := range s.NotReadyAddresses {
			if !yield(location{subset, notReadyList, i}, &s.NotReadyAddresses[i]) {
				return
			}
		}
	}
}
