package cluster

import (
	"context"
	"errors"
	"fmt"
	"net/netip"

	utilnet "k8s.io/apimachinery/pkg/util/net"

	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/httpapi/kube/cluster/internal/addresses"
)

// addresses allocates for services. It makes the ServiceCIDR before the service kubernetes, which has an address of it.
func (o Options) addresses(a *httpapi.API, opts *httpapi.Options) {
	if !o.Addresses {
		return
	}
	ports := o.NodePorts
	if ports.Size == 0 {
		ports = utilnet.PortRange{Base: 30000, Size: 2768}
	}
	al := addresses.New(a, addresses.Options{Ranges: o.serviceRanges(), Ports: ports})
	a.Store().SetClaims(al)
	ctx, cancel := context.WithTimeout(context.Background(), bootstrapTime)
	defer cancel()
	if err := al.Make(ctx); err != nil {
		opts.Checks = append(opts.Checks, check("start-kubernetes-service-cidr-controller", al.Make))
	}
	run(opts, al.Run)
}

// serviceRanges returns the ranges of cluster IPs.
func (o Options) serviceRanges() []netip.Prefix {
	if len(o.ServiceRanges) > 0 {
		return o.ServiceRanges
	}
	return []netip.Prefix{netip.PrefixFrom(netip.AddrFrom4([4]byte{10}), 24)}
}

// checkRanges refuses ranges that a kube-apiserver refuses, by its texts.
func (o Options) checkRanges() error {
	all := o.serviceRanges()
	for i, r := range all {
		switch {
		case !r.IsValid():
			return fmt.Errorf("service-cluster-ip-range[%d] is not a valid cidr", i)
		case i == 0 && r.Addr().BitLen()-r.Bits() < 3:
			return errors.New("error determining service IP ranges for primary service cidr: the service cluster IP range must be at least 8 IP addresses")
		case i > 1:
			return errors.New("--service-cluster-ip-range must not contain more than two entries")
		case i == 1 && r.Addr().Is4() == all[0].Addr().Is4():
			return errors.New("--service-cluster-ip-range[0] and --service-cluster-ip-range[1] must be of different IP family")
		}
	}
	return nil
}
