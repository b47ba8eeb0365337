package validation

import (
	"net/netip"

	"k8s.io/apimachinery/pkg/util/diff"
)

// address parses an IP address; ok is false if it is none.
func address(s string) (ip netip.Addr, ok bool) {
	ip, err := netip.ParseAddr(s)
	return ip.Unmap(), err == nil
}

// dualStack reports whether addresses are of both families.
func dualStack(ips []string) bool {
	v4, v6 := false, false
	for _, s := range ips {
		if ip, ok := address(s); ok {
			v4, v6 = v4 || ip.Is4(), v6 || ip.Is6()
		}
	}
	return v4 && v6
}

func isIPv6(s string) bool {
	ip, ok := address(s)
	return ok && ip.Is6()
}

// difference returns the lines in which two values differ, as upstream adds them to an error.
func difference(old, now any) string { return diff.Diff(internal{old}, internal{now}) }
