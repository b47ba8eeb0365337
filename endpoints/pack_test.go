package endpoints

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/store/meta"
)

func pod(ip, uid string) EndpointAddress {
	return EndpointAddress{IP: ip, TargetRef: &ObjectReference{Kind: "Pod", UID: meta.UID(uid)}}
}

func TestPack(t *testing.T) {
	named := func(name string, n int32) EndpointPort {
		return EndpointPort{Name: name, Port: n, Protocol: ProtocolTCP}
	}
	for name, row := range map[string]struct{ in, want []EndpointSubset }{
		"nothing":                        {nil, nil},
		"ports without addresses":        {[]EndpointSubset{{Ports: ports(80)}}, nil},
		"an empty subset":                {[]EndpointSubset{{}}, nil},
		"addresses without ports":        {[]EndpointSubset{{Addresses: addresses("b", "a")}}, []EndpointSubset{{Addresses: addresses("a", "b")}}},
		"duplicates":                     {[]EndpointSubset{{Addresses: addresses("a", "a"), Ports: ports(1, 1)}}, []EndpointSubset{{Addresses: addresses("a"), Ports: ports(1)}}},
		"subsets of the same addresses":  {[]EndpointSubset{{Addresses: addresses("a"), Ports: ports(2)}, {Addresses: addresses("a"), Ports: ports(1)}}, []EndpointSubset{{Addresses: addresses("a"), Ports: ports(1, 2)}}},
		"subsets of the same ports":      {[]EndpointSubset{{Addresses: addresses("b"), Ports: ports(1)}, {Addresses: addresses("a"), Ports: ports(1)}}, []EndpointSubset{{Addresses: addresses("a", "b"), Ports: ports(1)}}},
		"ready and not ready for a port": {[]EndpointSubset{{Addresses: addresses("a"), Ports: ports(1)}, {NotReadyAddresses: addresses("a"), Ports: ports(1)}}, []EndpointSubset{{NotReadyAddresses: addresses("a"), Ports: ports(1)}}},
		"not ready and ready for a port": {[]EndpointSubset{{NotReadyAddresses: addresses("a"), Ports: ports(1)}, {Addresses: addresses("a"), Ports: ports(1)}}, []EndpointSubset{{NotReadyAddresses: addresses("a"), Ports: ports(1)}}},
		"ready and not ready in one subset": {
			[]EndpointSubset{{Addresses: addresses("a", "b"), NotReadyAddresses: addresses("a"), Ports: ports(1)}},
			[]EndpointSubset{{Addresses: addresses("b"), NotReadyAddresses: addresses("a"), Ports: ports(1)}}},
		"ready for one port only": {
			[]EndpointSubset{{Addresses: addresses("a"), Ports: ports(1)}, {NotReadyAddresses: addresses("a"), Ports: ports(2)}},
			[]EndpointSubset{{Addresses: addresses("a"), Ports: ports(1)}, {NotReadyAddresses: addresses("a"), Ports: ports(2)}}},
		"overlapping subsets": {
			[]EndpointSubset{
				{Addresses: addresses("a", "b"), Ports: []EndpointPort{named("x", 1), named("y", 2)}},
				{Addresses: addresses("c"), Ports: []EndpointPort{named("x", 1)}},
			},
			[]EndpointSubset{
				{Addresses: addresses("a", "b"), Ports: []EndpointPort{named("y", 2)}},
				{Addresses: addresses("a", "b", "c"), Ports: []EndpointPort{named("x", 1)}},
			}},
		"ports that differ in one field": {
			[]EndpointSubset{{Addresses: addresses("a"), Ports: []EndpointPort{
				{Name: "b", Port: 1, Protocol: ProtocolTCP}, {Name: "a", Port: 1, Protocol: ProtocolUDP},
				{Name: "a", Port: 1, Protocol: ProtocolTCP, AppProtocol: new("h")}, {Name: "a", Port: 1, Protocol: ProtocolTCP, AppProtocol: new("")},
				{Name: "a", Port: 1, Protocol: ProtocolTCP}}}},
			[]EndpointSubset{{Addresses: addresses("a"), Ports: []EndpointPort{
				{Name: "a", Port: 1, Protocol: ProtocolTCP}, {Name: "a", Port: 1, Protocol: ProtocolTCP, AppProtocol: new("")},
				{Name: "a", Port: 1, Protocol: ProtocolTCP, AppProtocol: new("h")}, {Name: "b", Port: 1, Protocol: ProtocolTCP},
				{Name: "a", Port: 1, Protocol: ProtocolUDP}}}}},
		"one address of two pods": {
			[]EndpointSubset{{Addresses: []EndpointAddress{pod("a", "2"), pod("a", "1"), {IP: "a"}}, Ports: ports(1)}},
			[]EndpointSubset{{Addresses: []EndpointAddress{{IP: "a"}, pod("a", "1"), pod("a", "2")}, Ports: ports(1)}}},
		"one pod with two forms of its reference": {
			[]EndpointSubset{{Addresses: []EndpointAddress{{IP: "a", Hostname: "h"}, {IP: "a", NodeName: new("n")}}, Ports: ports(1)}},
			[]EndpointSubset{{Addresses: []EndpointAddress{{IP: "a", NodeName: new("n")}}, Ports: ports(1)}}},
		"no port and a port of the same addresses": {
			[]EndpointSubset{{Addresses: addresses("a")}, {Addresses: addresses("a"), Ports: ports(1)}},
			[]EndpointSubset{{Addresses: addresses("a"), Ports: ports(1)}}},
		"no port and a port of other addresses": {
			[]EndpointSubset{{Addresses: addresses("a", "b")}, {Addresses: addresses("a"), Ports: ports(1)}},
			[]EndpointSubset{{Addresses: addresses("a"), Ports: ports(1)}, {Addresses: addresses("a", "b")}}},
		"addresses sort as text": {
			[]EndpointSubset{{Addresses: addresses("10.0.0.9", "10.0.0.10", "9.0.0.1")}},
			[]EndpointSubset{{Addresses: addresses("10.0.0.10", "10.0.0.9", "9.0.0.1")}}},
	} {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, row.want, Pack(row.in))
		})
	}
}

// randomSubsets uses few values, so that most subsets overlap.
func randomSubsets(r *rand.Rand) []EndpointSubset {
	address := func() EndpointAddress {
		a := EndpointAddress{IP: fmt.Sprintf("10.0.0.%d", r.IntN(4))}
		switch r.IntN(4) {
		case 0:
			a.TargetRef = &ObjectReference{UID: meta.UID(fmt.Sprint(r.IntN(2))), Name: fmt.Sprint(r.IntN(2))}
		case 1:
			a.NodeName = new(fmt.Sprint(r.IntN(2)))
		case 2:
			a.Hostname = fmt.Sprint(r.IntN(2))
		}
		return a
	}
	subsets := make([]EndpointSubset, r.IntN(5))
	for i := range subsets {
		s := &subsets[i]
		for range r.IntN(4) {
			s.Addresses = append(s.Addresses, address())
		}
		for range r.IntN(3) {
			s.NotReadyAddresses = append(s.NotReadyAddresses, address())
		}
		for range r.IntN(4) {
			p := EndpointPort{Name: fmt.Sprint(r.IntN(2)), Port: int32(1 + r.IntN(2)), Protocol: []Protocol{ProtocolTCP, ProtocolUDP}[r.IntN(2)]}
			if r.IntN(3) == 0 {
				p.AppProtocol = new(fmt.Sprint(r.IntN(2)))
			}
			s.Ports = append(s.Ports, p)
		}
	}
	return subsets
}

// shuffled splits subsets into single addresses and ports, and shuffles them.
func shuffled(r *rand.Rand, subsets []EndpointSubset) []EndpointSubset {
	var out []EndpointSubset
	for _, s := range subsets {
		cut := [][]EndpointPort{nil}
		if len(s.Ports) > 0 {
			cut = nil
		}
		for _, p := range s.Ports {
			cut = append(cut, []EndpointPort{p})
		}
		for _, ports := range cut {
			for _, a := range s.Addresses {
				out = append(out, EndpointSubset{Addresses: []EndpointAddress{a}, Ports: ports})
			}
			for _, a := range s.NotReadyAddresses {
				out = append(out, EndpointSubset{NotReadyAddresses: []EndpointAddress{a}, Ports: ports})
			}
		}
	}
	r.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	return out
}

type pair struct {
	address addressKey
	port    string
}

// pairsOf returns whether each pair of address and port is ready. A pair is ready
// only if it is ready in every subset.
func pairsOf(subsets []EndpointSubset) map[pair]bool {
	ready := map[pair]bool{}
	add := func(a EndpointAddress, p EndpointPort, is bool) {
		at := pair{addressKey{ip: a.IP}, fmt.Sprint(p.Name, "/", p.Port, "/", p.Protocol)}
		if a.TargetRef != nil {
			at.address.uid = a.TargetRef.UID
		}
		if p.AppProtocol != nil {
			at.port += "/" + *p.AppProtocol
		}
		was, known := ready[at]
		ready[at] = is && (was || !known)
	}
	for _, s := range subsets {
		for _, p := range s.Ports {
			for _, a := range s.Addresses {
				add(a, p, true)
			}
			for _, a := range s.NotReadyAddresses {
				add(a, p, false)
			}
		}
	}
	return ready
}

func addressesOf(subsets []EndpointSubset) map[addressKey]bool {
	out := map[addressKey]bool{}
	for t := range Expand(subsets) {
		key := addressKey{ip: t.Address}
		if t.Source.TargetRef != nil {
			key.uid = t.Source.TargetRef.UID
		}
		out[key] = true
	}
	return out
}

func TestPackKeepsEveryEndpointOnceInOneOrder(t *testing.T) {
	for seed := range uint64(3000) {
		r := rand.New(rand.NewPCG(seed, 0))
		subsets := randomSubsets(r)
		before := fmt.Sprintf("%+v", subsets)
		packed := Pack(subsets)
		require.Equal(t, before, fmt.Sprintf("%+v", subsets), "seed %d: the input must not change", seed)

		require.Equal(t, pairsOf(subsets), pairsOf(packed), "seed %d: pairs", seed)
		require.Equal(t, addressesOf(subsets), addressesOf(packed), "seed %d: addresses", seed)
		require.Equal(t, packed, Pack(packed), "seed %d: packing twice", seed)
		require.Equal(t, packed, Pack(shuffled(r, subsets)), "seed %d: another order", seed)

		seen := map[pair]bool{}
		for _, s := range packed {
			for at := range pairsOf([]EndpointSubset{s}) {
				require.False(t, seen[at], "seed %d: %v is in two subsets", seed, at)
				seen[at] = true
			}
		}
	}
}

// The fields are compared in the order of the rows.
func TestAddressesAreOrderedByEachField(t *testing.T) {
	var ordered []EndpointAddress
	for _, set := range []func(r *ObjectReference){
		func(*ObjectReference) {},
		func(r *ObjectReference) { r.FieldPath = "x" },
		func(r *ObjectReference) { r.ResourceVersion = "x" },
		func(r *ObjectReference) { r.APIVersion = "x" },
		func(r *ObjectReference) { r.Name = "x" },
		func(r *ObjectReference) { r.Namespace = "x" },
		func(r *ObjectReference) { r.Kind = "x" },
	} {
		ref := ObjectReference{}
		set(&ref)
		ordered = append(ordered, EndpointAddress{TargetRef: &ref})
	}
	ordered = append([]EndpointAddress{{}}, ordered...)
	ordered = append(ordered, EndpointAddress{NodeName: new("")}, EndpointAddress{NodeName: new("x")}, EndpointAddress{Hostname: "x"})
	for i := range ordered {
		for j := range ordered {
			assert.Equal(t, cmp.Compare(i, j), slices.Compare(otherFields(&ordered[i]), otherFields(&ordered[j])), "%d and %d", i, j)
		}
	}
}

func TestPortsAreOrderedByEachField(t *testing.T) {
	var ordered []portKey
	for _, p := range []EndpointPort{
		{}, {AppProtocol: new("")}, {AppProtocol: new("x")}, {Name: "x"}, {Protocol: "x"}, {Port: 1},
	} {
		ordered = append(ordered, keyOfPort(p))
	}
	ordered = append([]portKey{{}}, ordered...) // no port
	for i := range ordered {
		for j := range ordered {
			assert.Equal(t, cmp.Compare(i, j), comparePorts(ordered[i], ordered[j]), "%d and %d", i, j)
		}
	}
}

func TestPackSharesNoMemory(t *testing.T) {
	in := []EndpointSubset{{
		Addresses: []EndpointAddress{{IP: "10.0.0.1", NodeName: new("n"), TargetRef: &ObjectReference{Name: "p"}}},
		Ports:     []EndpointPort{{Port: 80, AppProtocol: new("http")}},
	}}
	packed := Pack(in)
	*in[0].Addresses[0].NodeName = "other"
	in[0].Addresses[0].TargetRef.Name = "other"
	*in[0].Ports[0].AppProtocol = "other"
	assert.Equal(t, "n", *packed[0].Addresses[0].NodeName)
	assert.Equal(t, "p", packed[0].Addresses[0].TargetRef.Name)
	assert.Equal(t, "http", *packed[0].Ports[0].AppProtocol)
}
