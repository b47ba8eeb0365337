package controlplane

import (
	"errors"
	"fmt"
	"net/netip"
	"strings"

	"github.com/spf13/pflag"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	netutils "k8s.io/utils/net"

	"github.com/kubecoord/kubecoord/httpapi/kube/cluster"
)

// Network are the flags about services.
type Network struct {
	// Ranges are --service-cluster-ip-range, one or two.
	Ranges []netip.Prefix
	// NodePorts is --service-node-port-range.
	NodePorts utilnet.PortRange
}

// Services returns what the flags say about services, and what is wrong with them.
func Services(fs *pflag.FlagSet) (n Network, problems []error) {
	text := Get(fs.GetString, "service-cluster-ip-range")
	if text == "" {
		text = "10.0.0.0/24"
	}
	for i, r := range strings.Split(text, ",") {
		_, network, err := netutils.ParseCIDRSloppy(r)
		switch {
		case err != nil && i == 0:
			return n, []error{errors.New("service-cluster-ip-range[0] is not a valid cidr")}
		case err != nil:
			return n, []error{fmt.Errorf("service-cluster-ip-range[%d] is not an ip net", i)}
		}
		prefix, _ := netip.ParsePrefix(network.String()) // it is one
		n.Ranges = append(n.Ranges, prefix)
	}
	if ports, is := fs.Lookup("service-node-port-range").Value.(*utilnet.PortRange); is {
		n.NodePorts = *ports
	}
	return n, nil
}

// Cluster adds to o what a kube-apiserver does for services.
func (n Network) Cluster(o cluster.Options) cluster.Options {
	o.Addresses, o.ServiceRanges, o.NodePorts = true, n.Ranges, n.NodePorts
	return o
}
