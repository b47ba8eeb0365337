package endpoints

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/internal/kinds"
	"github.com/kubecoord/kubecoord/internal/registry"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/field"
	"github.com/kubecoord/kubecoord/store/meta"
)

const subdomainRule = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"

func texts(errs field.Errors) []string {
	var out []string
	for _, e := range errs {
		out = append(out, e.Error())
	}
	return out
}

func of(subsets ...EndpointSubset) *Endpoints { return &Endpoints{Subsets: subsets} }

func addresses(ips ...string) []EndpointAddress {
	var out []EndpointAddress
	for _, ip := range ips {
		out = append(out, EndpointAddress{IP: ip})
	}
	return out
}

func ports(numbers ...int32) []EndpointPort {
	var out []EndpointPort
	for _, n := range numbers {
		out = append(out, EndpointPort{Port: n, Protocol: ProtocolTCP})
	}
	return out
}

// The addresses of httpapi/testdata/wire/endpoints-addresses.txt are not here.
func TestAddressRules(t *testing.T) {
	for ip, want := range map[string][]string{
		"224.0.1.1":       nil,
		"ff05::1":         nil,
		"10.0.0.0":        nil,
		"255.255.255.255": nil,
		"fe80::1%eth0":    {"must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)", "must be a valid IP address"},
		"010.1.1.1":       {"must not have leading 0s"},
		"::ffff:10.0.0.1": {"must not be an IPv4-mapped IPv6 address"},
		"127.9.9.9":       {"may not be in the loopback range (127.0.0.0/8, ::1/128)"},
		"127.0.0.01":      {"must not have leading 0s", "may not be in the loopback range (127.0.0.0/8, ::1/128)"},
		"::ffff:127.0.0.1": {"must not be an IPv4-mapped IPv6 address",
			"may not be in the loopback range (127.0.0.0/8, ::1/128)"},
	} {
		t.Run(ip, func(t *testing.T) {
			for _, at := range []string{"subsets[1].addresses[1].ip", "subsets[1].notReadyAddresses[1].ip"} {
				s := EndpointSubset{Addresses: addresses("10.0.0.1", ip)}
				if at == "subsets[1].notReadyAddresses[1].ip" {
					s = EndpointSubset{NotReadyAddresses: s.Addresses}
				}
				var wanted []string
				for _, text := range want {
					wanted = append(wanted, at+`: Invalid value: "`+ip+`": `+text)
				}
				assert.Equal(t, wanted, texts(validate(of(EndpointSubset{Addresses: addresses("10.0.0.1")}, s), nil)))
			}
		})
	}
}

// The subsets of httpapi/testdata/wire/endpoints-subset-rules.txt are not here.
func TestSubsetRules(t *testing.T) {
	ok := addresses("10.0.0.1")
	for name, row := range map[string]struct {
		subset EndpointSubset
		want   []string
	}{
		"the same address twice and in both lists": {EndpointSubset{
			Addresses: addresses("10.0.0.1", "10.0.0.1"), NotReadyAddresses: ok, Ports: ports(80)}, nil},
		"the ends of the range": {EndpointSubset{Addresses: ok, Ports: []EndpointPort{
			{Name: "a", Port: 1, Protocol: ProtocolUDP}, {Name: "a", Port: 65535, Protocol: ProtocolSCTP}}}, nil},
		"a port without a protocol": {EndpointSubset{Addresses: ok, Ports: []EndpointPort{{Port: 80}}},
			[]string{"subsets[0].ports[0].protocol: Required value"}},
		"an empty node": {
			EndpointSubset{Addresses: []EndpointAddress{{IP: "10.0.0.1", NodeName: new("")}}},
			[]string{`subsets[0].addresses[0].nodeName: Invalid value: "": ` + subdomainRule}},
		"any reference": {
			EndpointSubset{Addresses: []EndpointAddress{{IP: "10.0.0.1", TargetRef: &ObjectReference{Kind: "not a kind"}}}}, nil},
		"all lists, in order": {
			EndpointSubset{Addresses: addresses("::1"), NotReadyAddresses: addresses("::"), Ports: ports(-1)},
			[]string{
				`subsets[0].addresses[0].ip: Invalid value: "::1": may not be in the loopback range (127.0.0.0/8, ::1/128)`,
				`subsets[0].notReadyAddresses[0].ip: Invalid value: "::": may not be unspecified (::)`,
				`subsets[0].ports[0].port: Invalid value: -1: must be between 1 and 65535, inclusive`}},
	} {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, row.want, texts(validate(of(row.subset), nil)))
		})
	}
	assert.Empty(t, validate(of(), nil), "no subsets are valid")
}

func TestUnchangedSubsetsPassAnUpdate(t *testing.T) {
	bad := func() *Endpoints {
		return of(EndpointSubset{
			Addresses: []EndpointAddress{{IP: "127.0.0.1", NodeName: new("Not ok"), TargetRef: &ObjectReference{Name: "p"}}},
			Ports:     []EndpointPort{{Port: 0, AppProtocol: new("")}},
		})
	}
	require.NotEmpty(t, validate(bad(), nil))
	assert.Empty(t, validate(bad(), bad()))

	empty := bad()
	empty.Subsets[0].NotReadyAddresses = []EndpointAddress{}
	assert.Empty(t, validate(empty, bad()), "an empty list equals an absent one")

	for name, change := range map[string]func(s *EndpointSubset){
		"address":     func(s *EndpointSubset) { s.Addresses[0].IP = "127.0.0.2" },
		"hostname":    func(s *EndpointSubset) { s.Addresses[0].Hostname = "h" },
		"node":        func(s *EndpointSubset) { s.Addresses[0].NodeName = new("n") },
		"no node":     func(s *EndpointSubset) { s.Addresses[0].NodeName = nil },
		"reference":   func(s *EndpointSubset) { s.Addresses[0].TargetRef.Name = "q" },
		"not ready":   func(s *EndpointSubset) { s.NotReadyAddresses = addresses("10.0.0.1") },
		"port":        func(s *EndpointSubset) { s.Ports[0].Port = -1 },
		"port name":   func(s *EndpointSubset) { s.Ports[0].Name = "n" },
		"protocol":    func(s *EndpointSubset) { s.Ports[0].Protocol = ProtocolUDP },
		"application": func(s *EndpointSubset) { s.Ports[0].AppProtocol = nil },
	} {
		t.Run(name, func(t *testing.T) {
			changed := bad()
			change(&changed.Subsets[0])
			assert.NotEmpty(t, validate(changed, bad()))
		})
	}
}

func TestWarnings(t *testing.T) {
	e := of(
		EndpointSubset{Addresses: addresses("10.0.0.1", "2001:DB8:0:0::1"), NotReadyAddresses: addresses("2001:db8::1")},
		EndpointSubset{NotReadyAddresses: addresses("FE80::1", "010.1.1.1", "nope")},
	)
	assert.Equal(t, []string{
		`subsets[0].addresses[1].ip: IPv6 address "2001:DB8:0:0::1" should be in RFC 5952 canonical format ("2001:db8::1")`,
		`subsets[1].notReadyAddresses[0].ip: IPv6 address "FE80::1" should be in RFC 5952 canonical format ("fe80::1")`,
		`subsets[1].notReadyAddresses[1].ip: non-standard IP address "010.1.1.1" is invalid: use "10.1.1.1"`,
	}, warnings(e, nil))

	e.Labels = map[string]string{"endpoints.kubernetes.io/managed-by": "somebody"}
	assert.Len(t, warnings(e, nil), 3)
	e.Labels["endpoints.kubernetes.io/managed-by"] = "endpoint-controller"
	assert.Empty(t, warnings(e, nil))

	e = of(EndpointSubset{Addresses: addresses("2001:DB8::1")})
	e.Namespace, e.Name = "ns", "a"
	var got []string
	_, err := registry.New(registry.Options{}).Resource(kinds.Of(Kind())).Create(t.Context(), e,
		&registry.Request{Namespace: "ns", Warn: func(text string) { got = append(got, text) }})
	require.NoError(t, err)
	assert.Equal(t, []string{`subsets[0].addresses[0].ip: IPv6 address "2001:DB8::1" should be in RFC 5952 canonical format ("2001:db8::1")`}, got)
}

const finalizerRule = "name is neither a standard finalizer name nor is it fully qualified"

func TestFinalizersAreStandardOrNameADomain(t *testing.T) {
	assert.Nil(t, validateFinalizers([]string{"kubernetes", "orphan", "foregroundDeletion", "example.com/f", "/", "a/b/c"}))
	bad := []string{"", "noslash", "Orphan", "example.com", "kubernetes ", "foregrounddeletion"}
	errs := validateFinalizers(bad)
	require.Len(t, errs, len(bad))
	for i, f := range bad {
		assert.Equal(t, field.Invalid(field.Path("metadata.finalizers").Index(i), f, finalizerRule), errs[i])
	}
}

// causes returns the fields that an error reports, in order.
func causes(t testing.TB, err error) (fields []string) {
	t.Helper()
	require.ErrorIs(t, err, store.ErrInvalid)
	for _, cause := range meta.StatusOf(err).Details.Causes {
		fields = append(fields, cause.Field)
	}
	return fields
}

func TestAProblemOfTheMetadataIsReportedOnce(t *testing.T) {
	all := In(store.New(store.Options{}))
	bad := func(e *Endpoints) {
		e.Finalizers = []string{"example.com/f", "noslash", ""}
		e.Labels = map[string]string{"a": "not ok", "b": "not ok"}
		e.Subsets = []EndpointSubset{{}}
	}
	e := &Endpoints{ObjectMeta: meta.ObjectMeta{Namespace: "ns", Name: "a"}}
	bad(e)
	_, err := all.Create(t.Context(), e, store.CreateOptions{})
	const labels, all3, first, second = "metadata.labels", "metadata.finalizers", "metadata.finalizers[1]", "metadata.finalizers[2]"
	assert.Equal(t, []string{labels, all3, all3, first, second, "subsets[0]"}, causes(t, err), "the rule of all kinds reports two errors for an empty name")

	e = &Endpoints{ObjectMeta: meta.ObjectMeta{Namespace: "ns", Name: "a"}}
	_, err = all.Create(t.Context(), e, store.CreateOptions{})
	require.NoError(t, err)
	bad(e)
	_, err = all.Update(t.Context(), e, store.UpdateOptions{})
	assert.Equal(t, []string{labels, all3, all3, first, second, "subsets[0]"}, causes(t, err))
}

func TestValidEndpointsCostNoAllocation(t *testing.T) {
	e := of(EndpointSubset{
		Addresses: []EndpointAddress{{IP: "10.0.0.1", Hostname: "h", NodeName: new("node-1")}, {IP: "10.0.0.2"}},
		Ports:     []EndpointPort{{Name: "http", Port: 80, Protocol: ProtocolTCP, AppProtocol: new("http")}},
	})
	assert.Zero(t, testing.AllocsPerRun(100, func() {
		validate(e, nil)
		warnings(e, nil)
	}))
}
