package validate

import (
	"fmt"
	"net/netip"
	"strings"
)

// LegacyIP returns the problems of an IP address in a field that is older than strict
// parsing, such as an address of Endpoints. It need not be canonical
// (apimachinery, util/validation IsValidIPForLegacyField, strict since 1.36).
func LegacyIP(value string) []string {
	if _, ok := ParseIPSloppy(value); !ok {
		return []string{"must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"}
	}
	addr, err := netip.ParseAddr(value)
	switch {
	case err != nil: // only leading zeros separate the two parsers
		return []string{"must not have leading 0s"}
	case addr.Is4In6():
		return []string{"must not be an IPv4-mapped IPv6 address"}
	}
	return nil
}

// IPWarnings returns the warnings about the spelling of an address in the field at path. A
// value that is not an address has none (apimachinery, util/validation GetWarningsForIP).
func IPWarnings(path, value string) []string {
	sloppy, ok := ParseIPSloppy(value)
	if !ok {
		return nil
	}
	addr, err := netip.ParseAddr(value)
	if err != nil || addr.Is4In6() {
		return []string{fmt.Sprintf("%s: non-standard IP address %q is invalid: use %q", path, value, sloppy)}
	}
	if addr.Is6() && addr.String() != value {
		return []string{fmt.Sprintf("%s: IPv6 address %q should be in RFC 5952 canonical format (%q)", path, value, addr)}
	}
	return nil
}

// ParseIPSloppy parses an IPv4 or IPv6 address as Go did before 1.17: numbers may have
// leading zeros. It returns an IPv4-mapped IPv6 address as IPv4, and refuses zones
// (k8s.io/utils/net ParseIPSloppy).
func ParseIPSloppy(value string) (netip.Addr, bool) {
	if strings.IndexByte(value, '%') >= 0 {
		return netip.Addr{}, false
	}
	addr, err := netip.ParseAddr(value)
	if err != nil {
		addr, err = netip.ParseAddr(withoutLeadingZeros(value))
	}
	if err != nil {
		return netip.Addr{}, false
	}
	return addr.Unmap(), true
}

func withoutLeadingZeros(value string) string {
	b := make([]byte, 0, len(value))
	for i := range len(value) {
		first := len(b) == 0 || b[len(b)-1] == '.' || b[len(b)-1] == ':'
		if first && value[i] == '0' && i+1 < len(value) && value[i+1] != '.' && value[i+1] != ':' {
			continue
		}
		b = append(b, value[i])
	}
	return string(b)
}
