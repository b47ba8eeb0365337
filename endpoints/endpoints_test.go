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

func TestProtocolDefaultsToTCP(t *testing.T) {
	all := In(store.New(store.Options{}))
	mine := &Endpoints{
		ObjectMeta: meta.ObjectMeta{Namespace: "ns", Name: "a"},
		Subsets: []EndpointSubset{{
			Addresses: addresses("10.0.0.1"),
			Ports:     []EndpointPort{{Name: "a", Port: 80}, {Name: "b", Port: 81, Protocol: ProtocolUDP}},
		}},
	}
	e, err := all.Create(t.Context(), mine, store.CreateOptions{})
	require.NoError(t, err)
	assert.Equal(t, []EndpointPort{{Name: "a", Port: 80, Protocol: ProtocolTCP}, {Name: "b", Port: 81, Protocol: ProtocolUDP}}, e.Subsets[0].Ports)
	assert.Empty(t, mine.Subsets[0].Ports[0].Protocol, "the caller's object must not change")

	again, err := all.Update(t.Context(), mine, store.UpdateOptions{})
	require.NoError(t, err)
	assert.Equal(t, e.ResourceVersion, again.ResourceVersion, "a defaulted field is no change")
}

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

func TestUpdateWithoutVersionReplacesAny(t *testing.T) {
	all := In(store.New(store.Options{}))
	for range 2 {
		_, err := all.Update(t.Context(), &Endpoints{ObjectMeta: meta.ObjectMeta{Namespace: "ns", Name: "a"}}, store.UpdateOptions{})
		require.NoError(t, err)
	}
	assert.Same(t, Kind(), Kind())
}

// As in discovery, OpenAPI and the keys of a real server.
func TestKindIsThatOfARealServer(t *testing.T) {
	info, all := Kind().Info(), kinds.Of(Kind()).Columns(0)
	assert.Equal(t, []string{"", "Endpoints", "endpoints", "endpoints", "services/endpoints"},
		[]string{info.Group, info.Kind, info.Plural, info.Singular, info.StoragePrefix})
	assert.Equal(t, []string{"ep"}, info.ShortNames)
	assert.True(t, info.Native)
	var versions, columns []string
	for _, v := range info.Versions {
		versions = append(versions, v.Name, v.Deprecated)
	}
	assert.Equal(t, []string{"v1", "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice"}, versions)
	for _, c := range all[1 : len(all)-1] {
		columns = append(columns, c.Name, c.Type, c.Description)
	}
	assert.Equal(t, []string{"Endpoints", "string", "The first ready addresses with their ports, and how many more there are."}, columns)
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
