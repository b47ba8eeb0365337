package serve

import (
	"crypto/x509"
	"errors"
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestClientsGetAnAddressThatTheyCanReach(t *testing.T) {
	addresses := func() (all []net.Addr, err error) {
		for _, text := range []string{"127.0.0.1/8", "::1/128", "fe80::1/64", "2001:db8::7/64", "169.254.1.1/16", "10.1.2.3/24", "192.168.0.4/16"} {
			ip, n, err := net.ParseCIDR(text)
			require.NoError(t, err)
			all = append(all, &net.IPNet{IP: ip, Mask: n.Mask})
		}
		return all, nil
	}
	named := func() (string, error) { return "Box", nil }
	none := func() ([]net.Addr, error) { return nil, errors.New("no addresses") }
	nameless := func() (string, error) { return "", errors.New("no name") }
	for _, row := range []struct {
		listen    string
		addresses func() ([]net.Addr, error)
		hostname  func() (string, error)
		want      []string
	}{
		{"127.0.0.1:80", addresses, named, []string{"127.0.0.1"}},
		{"[::1]:80", addresses, named, []string{"::1"}},
		{"kubecoord.example:80", addresses, named, []string{"kubecoord.example"}},
		{"0.0.0.0:80", addresses, named, []string{"10.1.2.3", "192.168.0.4", "box", "localhost"}},
		{"[::]:80", addresses, named, []string{"10.1.2.3", "192.168.0.4", "2001:db8::7", "box", "localhost"}},
		{":80", addresses, nameless, []string{"10.1.2.3", "192.168.0.4", "2001:db8::7", "localhost"}},
		{"0.0.0.0:80", none, named, []string{"box", "localhost"}},
		{"0.0.0.0:80", none, nameless, []string{"localhost"}},
	} {
		got, err := hostsOf(row.listen, row.addresses, row.hostname)
		require.NoError(t, err)
		assert.Equal(t, row.want, got, row.listen)
	}
	_, err := hostsOf("nowhere", addresses, named)
	assert.Error(t, err)
}

func TestSelfSignedCertificateHasAllAddresses(t *testing.T) {
	for _, listen := range []string{"0.0.0.0:80", "[::]:80", "10.9.8.7:80", "kubecoord.example:80"} {
		hosts, err := clientHosts(listen)
		require.NoError(t, err)
		pair, err := SelfSigned(listen, time.Hour)
		require.NoError(t, err)
		pool := x509.NewCertPool()
		pool.AddCert(pair.Leaf)
		for _, host := range append(hosts, "localhost", "127.0.0.1", "::1") {
			_, err := pair.Leaf.Verify(x509.VerifyOptions{DNSName: host, Roots: pool})
			assert.NoError(t, err, "%s %s", listen, host)
		}
		assert.Error(t, pair.Leaf.VerifyHostname("other.example"))
	}
}
