package endpoints

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/internal/kinds"
	"github.com/kubecoord/kubecoord/internal/registry"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/meta"
)

func TestSubsetsAreStoredAsGiven(t *testing.T) {
	all := In(store.New(store.Options{}))
	subsets := []EndpointSubset{
		{
			Addresses: addresses("10.0.0.2", "10.0.0.1", "10.0.0.2"),
			Ports:     []EndpointPort{{Name: "b", Port: 2, Protocol: ProtocolTCP}, {Name: "a", Port: 1, Protocol: ProtocolTCP}},
		},
		{
			Addresses: addresses("10.0.0.2"), NotReadyAddresses: addresses("10.0.0.2"),
			Ports: []EndpointPort{{Name: "b", Port: 2, Protocol: ProtocolTCP}},
		},
	}
	e, err := all.Create(t.Context(), &Endpoints{ObjectMeta: meta.ObjectMeta{Namespace: "ns", Name: "r"}, Subsets: subsets}, store.CreateOptions{})
	require.NoError(t, err)
	assert.Equal(t, subsets, e.Subsets)
}

func TestEndpointsColumn(t *testing.T) {
	columns := registry.New(registry.Options{}).Resource(kinds.Of(Kind())).Columns(0)
	assert.Equal(t, "Endpoints", columns[1].Name)
	for name, row := range map[string]struct {
		subsets []EndpointSubset
		want    string
	}{
		"no subsets":                {nil, "<none>"},
		"one":                       {[]EndpointSubset{{Addresses: addresses("10.0.0.1"), Ports: ports(80)}}, "10.0.0.1:80"},
		"IPv6":                      {[]EndpointSubset{{Addresses: addresses("2001:db8::1"), Ports: ports(80)}}, "[2001:db8::1]:80"},
		"without ports":             {[]EndpointSubset{{Addresses: addresses("10.0.0.1", "2001:db8::1")}}, "10.0.0.1,2001:db8::1"},
		"port by port":              {[]EndpointSubset{{Addresses: addresses("10.0.0.1", "10.0.0.2"), Ports: ports(80, 81)}}, "10.0.0.1:80,10.0.0.2:80,10.0.0.1:81 + 1 more..."},
		"exactly three":             {[]EndpointSubset{{Addresses: addresses("10.0.0.1", "10.0.0.2", "10.0.0.3"), Ports: ports(80)}}, "10.0.0.1:80,10.0.0.2:80,10.0.0.3:80"},
		"across subsets":            {[]EndpointSubset{{Addresses: addresses("10.0.0.1", "10.0.0.2")}, {Addresses: addresses("10.0.0.1", "10.0.0.2", "10.0.0.3"), Ports: ports(80)}}, "10.0.0.1,10.0.0.2,10.0.0.1:80 + 2 more..."},
		"only not ready":            {[]EndpointSubset{{NotReadyAddresses: addresses("10.0.0.1"), Ports: ports(80)}}, ""},
		"some not ready":            {[]EndpointSubset{{Addresses: addresses("10.0.0.1"), NotReadyAddresses: addresses("10.0.0.2"), Ports: ports(80, 81)}}, "10.0.0.1:80,10.0.0.1:81"},
		"not ready are not counted": {[]EndpointSubset{{NotReadyAddresses: addresses("10.0.0.1", "10.0.0.2", "10.0.0.3", "10.0.0.4"), Addresses: addresses("10.0.0.5"), Ports: ports(80)}}, "10.0.0.5:80"},
	} {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, row.want, columns[1].Cell(&Endpoints{Subsets: row.subsets}, time.Time{}))
		})
	}
}
