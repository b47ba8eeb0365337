package proxies

import (
	"fmt"
	"math/rand/v2"
	"net"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// RandomEndpoint returns the address of an endpoint of a service that is ready, has the port and is valid. Addresses of the family come
// first, and of equal ones any. It changes the order of the slices. It is upstream's in util/proxy/proxy.go, whose package brings the
// protocols of exec, attach and port-forward.
func RandomEndpoint(service string, all []*discoveryv1.EndpointSlice, port string, family corev1.IPFamily, valid func(*discoveryv1.Endpoint) bool) (string, error) {
	rand.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	rank := func(slice *discoveryv1.EndpointSlice) int {
		if string(slice.AddressType) == string(family) {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(all, func(a, b *discoveryv1.EndpointSlice) int { return rank(a) - rank(b) })
	for _, slice := range all {
		for _, p := range slice.Ports {
			if p.Name == nil || *p.Name != port || p.Port == nil {
				continue
			}
			for _, at := range rand.Perm(len(slice.Endpoints)) {
				e := &slice.Endpoints[at]
				if (e.Conditions.Ready == nil || *e.Conditions.Ready) && (valid == nil || valid(e)) {
					return net.JoinHostPort(e.Addresses[0], strconv.Itoa(int(*p.Port))), nil
				}
			}
		}
	}
	return "", apierrors.NewServiceUnavailable(fmt.Sprintf("no endpoints available for service %q", service))
}
