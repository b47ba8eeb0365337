package serve

import (
	"net"
	"os"
	"strings"
)

// clientHosts returns the names and addresses at which clients reach an address, the
// best one first.
func clientHosts(listen string) ([]string, error) {
	return hostsOf(listen, net.InterfaceAddrs, os.Hostname)
}

// hostsOf is clientHosts on a machine with these addresses and this name. For all addresses of
// the machine, such as 0.0.0.0, it returns the addresses that other machines can reach, IPv4 first, then
// the name of the machine and localhost.
func hostsOf(listen string, addresses func() ([]net.Addr, error), hostname func() (string, error)) ([]string, error) {
	host, _, err := net.SplitHostPort(listen)
	if err != nil {
		return nil, err
	}
	ip := net.ParseIP(host)
	if host != "" && (ip == nil || !ip.IsUnspecified()) {
		return []string{host}, nil
	}
	var v4, v6 []string
	all, _ := addresses() // the name of the machine is left
	for _, a := range all {
		n, ok := a.(*net.IPNet)
		switch {
		case !ok || !n.IP.IsGlobalUnicast():
		case n.IP.To4() != nil:
			v4 = append(v4, n.IP.String())
		case !strings.HasPrefix(host, "0"): // not 0.0.0.0
			v6 = append(v6, n.IP.String())
		}
	}
	hosts := append(v4, v6...)
	if name, err := hostname(); err == nil && name != "" {
		hosts = append(hosts, strings.ToLower(name))
	}
	return append(hosts, "localhost"), nil
}
