package endpoints

import (
	"cmp"
	"slices"
	"strings"

	"github.com/kubecoord/kubecoord/store/meta"
)

// Pack returns the canonical form of subsets: the same endpoints give the same result, in
// any order and grouping. The result shares no memory with the argument. It is nil if there
// is no address.
//
// The grouping follows the endpoints controller (upstream: api/v1/endpoints,
// RepackSubsets):
//
//   - Each pair of address and port stays, once. Two ports are the same if all fields
//     are equal, two addresses if IP and TargetRef.UID are equal.
//   - An address that is both ready and not ready for one port is not ready.
//   - Ports with the same addresses in the same state form one subset, so no two
//     subsets have the same addresses.
//   - Addresses without a port form a subset unless a port has exactly these addresses
//     in the same state.
//
// Addresses are sorted by the text of their IP and then by UID, as upstream; ports by
// number, protocol, name and application protocol; subsets by their addresses. Upstream
// sorts ports and subsets by hashes. Of two equal addresses that differ in hostname,
// node or reference, the first one in sort order stays; upstream keeps the first one
// written.
func Pack(subsets []EndpointSubset) []EndpointSubset {
	p := packer{addresses: map[addressKey]*EndpointAddress{}, offers: map[portKey]map[addressKey]state{}}
	for i := range subsets {
		if len(subsets[i].Ports) == 0 {
			p.add(portKey{}, subsets, i)
		}
		for _, port := range subsets[i].Ports {
			p.add(keyOfPort(port), subsets, i)
		}
	}
	offers := p.sortedOffers()
	var packed []EndpointSubset
	for len(offers) > 0 {
		same := 1
		for same < len(offers) && compareMembers(offers[0], offers[same]) == 0 {
			same++
		}
		packed = append(packed, p.subset(offers[:same]))
		offers = offers[same:]
	}
	return packed
}

type addressKey struct {
	ip  string
	uid meta.UID
}

// portKey holds the values of an EndpointPort. The zero portKey means that there is no port.
type portKey struct {
	count        int    // of ports: 1
	EndpointPort        // without its AppProtocol
	appProtocol  string // behind an equals sign; "" means that there is none
}

// state is the state of an address. Of two states the greater one holds.
type state int

const (
	ready state = iota
	notReady
)

// offer is a port with its addresses, in order.
type offer struct {
	port    portKey
	members []member
}

type member struct {
	address addressKey
	state   state
}

// packer collects the endpoints of the subsets.
type packer struct {
	addresses map[addressKey]*EndpointAddress // in the input, which must not change
	offers    map[portKey]map[addressKey]state
}

// add adds a port with the addresses of a subset.
func (p *packer) add(port portKey, subsets []EndpointSubset, subset int) {
	for at, a := range eachAddress(subsets, subset) {
		if p.offers[port] == nil {
			p.offers[port] = map[addressKey]state{}
		}
		key, state := p.addAddress(a), ready
		if at.list == notReadyList {
			state = notReady
		}
		p.offers[port][key] = max(p.offers[port][key], state)
	}
}

func (p *packer) addAddress(a *EndpointAddress) addressKey {
	key := addressKey{ip: a.IP}
	if a.TargetRef != nil {
		key.uid = a.TargetRef.UID
	}
	if have := p.addresses[key]; have == nil || slices.Compare(otherFields(a), otherFields(have)) < 0 {
		p.addresses[key] = a
	}
	return key
}

// sortedOffers returns the ports in the order of the result. Ports of one subset are
// neighbours.
func (p *packer) sortedOffers() []offer {
	offers := make([]offer, 0, len(p.offers))
	for port, states := range p.offers {
		o := offer{port: port, members: make([]member, 0, len(states))}
		for address, state := range states {
			o.members = append(o.members, member{address, state})
		}
		slices.SortFunc(o.members, compareMember)
		offers = append(offers, o)
	}
	slices.SortFunc(offers, func(a, b offer) int {
		return cmp.Or(compareMembers(a, b), comparePorts(a.port, b.port))
	})
	return offers
}

// subset makes one of offers that have the same members.
func (p *packer) subset(offers []offer) EndpointSubset {
	var s EndpointSubset
	for _, m := range offers[0].members {
		a := cloneAddress(p.addresses[m.address])
		if m.state == ready {
			s.Addresses = append(s.Addresses, a)
		} else {
			s.NotReadyAddresses = append(s.NotReadyAddresses, a)
		}
	}
	for _, o := range offers {
		if o.port.count > 0 {
			s.Ports = append(s.Ports, o.port.port())
		}
	}
	return s
}

func keyOfPort(p EndpointPort) portKey {
	key := portKey{count: 1, EndpointPort: p}
	if p.AppProtocol != nil {
		key.AppProtocol, key.appProtocol = nil, "="+*p.AppProtocol
	}
	return key
}

func (k portKey) port() EndpointPort {
	if k.appProtocol != "" {
		k.AppProtocol = new(k.appProtocol[1:])
	}
	return k.EndpointPort
}

func cloneAddress(a *EndpointAddress) EndpointAddress {
	c := *a
	if a.NodeName != nil {
		c.NodeName = new(*a.NodeName)
	}
	if a.TargetRef != nil {
		c.TargetRef = new(*a.TargetRef)
	}
	return c
}

func compareMembers(a, b offer) int { return slices.CompareFunc(a.members, b.members, compareMember) }

func compareMember(a, b member) int {
	return cmp.Or(
		strings.Compare(a.address.ip, b.address.ip),
		cmp.Compare(a.address.uid, b.address.uid),
		cmp.Compare(a.state, b.state),
	)
}

func comparePorts(a, b portKey) int {
	return cmp.Or(
		cmp.Compare(a.count, b.count),
		cmp.Compare(a.Port, b.Port),
		cmp.Compare(a.Protocol, b.Protocol),
		strings.Compare(a.Name, b.Name),
		strings.Compare(a.appProtocol, b.appProtocol),
	)
}

// otherFields returns the fields of an address that its key does not have, in the order of comparison. A missing one comes
// first.
func otherFields(a *EndpointAddress) []string {
	fields := []string{a.Hostname, ""}
	if a.NodeName != nil {
		fields[1] = "=" + *a.NodeName
	}
	if r := a.TargetRef; r != nil {
		fields = append(fields, r.Kind, r.Namespace, r.Name, r.APIVersion, r.ResourceVersion, r.FieldPath)
	}
	return fields
}
