package endpoints

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	rules "github.com/kubecoord/kubecoord/internal/validate"
	"github.com/kubecoord/kubecoord/store/field"
	"github.com/kubecoord/kubecoord/store/meta"
)

// finalizerKubernetes is the finalizer of namespaces. It may stand on any object
// of the core group.
const finalizerKubernetes = "kubernetes"

// validateFinalizer is the rule of the core group: a finalizer names its domain,
// except for the three that are older than the rule. Other groups do not have it
// (upstream: apis/core/validation, validateKubeFinalizerName).
func validateFinalizer(finalizer string) []string {
	switch finalizer {
	case finalizerKubernetes, meta.FinalizerOrphanDependents, meta.FinalizerDeleteDependents:
		return nil
	}
	if strings.Contains(finalizer, "/") {
		return nil
	}
	return []string{"name is neither a standard finalizer name nor is it fully qualified"}
}

// validate returns what is wrong with the subsets. Those that an update leaves
// as they were pass, so that an object from before a rule can still be labeled
// (upstream: apis/core/validation, ValidateEndpointsUpdate).
func validate(e, old *Endpoints) (errs field.Errors) {
	for i := range e.Subsets {
		errs = append(errs, validateSubset(&e.Subsets[i], i)...)
	}
	if errs != nil && old != nil && slices.EqualFunc(e.Subsets, old.Subsets, equalSubsets) {
		return nil
	}
	return errs
}

func validateSubset(s *EndpointSubset, index int) (errs field.Errors) {
	if len(s.Addresses) == 0 && len(s.NotReadyAddresses) == 0 {
		errs = append(errs, field.Required(subsetPath(index), "must specify `addresses` or `notReadyAddresses`"))
	}
	for i := range s.Addresses {
		errs = append(errs, validateAddress(&s.Addresses[i], place{index, "addresses", i})...)
	}
	for i := range s.NotReadyAddresses {
		errs = append(errs, validateAddress(&s.NotReadyAddresses[i], place{index, "notReadyAddresses", i})...)
	}
	for i := range s.Ports {
		errs = append(errs, validatePort(&s.Ports[i], len(s.Ports) > 1, place{index, "ports", i})...)
	}
	return errs
}

// place is where an item of a subset stands. It becomes a path only when there
// is something to say about the item.
type place struct {
	subset int
	list   string
	item   int
}

func subsetPath(index int) field.Path { return field.Path("subsets").Index(index) }

func (at place) path(member string) field.Path {
	return subsetPath(at.subset).Child(at.list).Index(at.item).Child(member)
}

// invalid reports each problem with one member, and builds its path for that.
func (at place) invalid(errs field.Errors, member string, value any, problems []string) field.Errors {
	return append(errs, field.InvalidEach(at.path(member), value, problems)...)
}

func validateAddress(a *EndpointAddress, at place) (errs field.Errors) {
	if problems := rules.LegacyIP(a.IP); problems != nil {
		errs = at.invalid(errs, "ip", a.IP, problems)
	}
	if a.Hostname != "" {
		if problems := rules.DNS1123Label(a.Hostname); problems != nil {
			errs = at.invalid(errs, "hostname", a.Hostname, problems)
		}
	}
	if a.NodeName != nil {
		if problems := rules.DNS1123Subdomain(*a.NodeName); problems != nil {
			errs = at.invalid(errs, "nodeName", *a.NodeName, problems)
		}
	}
	// Upstream parses the address once more here, so that one which is none is
	// reported twice.
	ip, ok := rules.ParseIPSloppy(a.IP)
	if !ok {
		return append(errs, field.Invalid(at.path("ip"), a.IP, "must be a valid IP address"))
	}
	if problem := unreachable(ip, a.IP); problem != "" {
		errs = append(errs, field.Invalid(at.path("ip"), a.IP, problem))
	}
	return errs
}

// unreachable says why an address cannot be another host's, "" if it can. No
// address is in two of these ranges.
func unreachable(ip netip.Addr, shown string) string {
	switch {
	case ip.IsUnspecified():
		return fmt.Sprintf("may not be unspecified (%s)", shown)
	case ip.IsLoopback():
		return "may not be in the loopback range (127.0.0.0/8, ::1/128)"
	case ip.IsLinkLocalUnicast():
		return "may not be in the link-local range (169.254.0.0/16, fe80::/10)"
	case ip.IsLinkLocalMulticast():
		return "may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)"
	}
	return ""
}

func validatePort(p *EndpointPort, nameRequired bool, at place) (errs field.Errors) {
	if p.Name == "" {
		if nameRequired {
			errs = append(errs, field.Required(at.path("name"), ""))
		}
	} else if problems := rules.DNS1123Label(p.Name); problems != nil {
		errs = at.invalid(errs, "name", p.Name, problems)
	}
	if problems := rules.PortNumber(int(p.Port)); problems != nil {
		errs = at.invalid(errs, "port", p.Port, problems)
	}
	switch p.Protocol {
	case ProtocolSCTP, ProtocolTCP, ProtocolUDP:
	case "":
		errs = append(errs, field.Required(at.path("protocol"), ""))
	default:
		errs = append(errs, field.NotSupported(at.path("protocol"), p.Protocol, ProtocolSCTP, ProtocolTCP, ProtocolUDP))
	}
	if p.AppProtocol != nil {
		if problems := rules.QualifiedName(*p.AppProtocol); problems != nil {
			errs = at.invalid(errs, "appProtocol", *p.AppProtocol, problems)
		}
	}
	return errs
}

// Empty and absent lists are the same to these.

func equalSubsets(a, b EndpointSubset) bool {
	return slices.EqualFunc(a.Addresses, b.Addresses, equalAddresses) &&
		slices.EqualFunc(a.NotReadyAddresses, b.NotReadyAddresses, equalAddresses) &&
		slices.EqualFunc(a.Ports, b.Ports, equalPorts)
}

func equalAddresses(a, b EndpointAddress) bool {
	return a.IP == b.IP && a.Hostname == b.Hostname &&
		equalTargets(a.NodeName, b.NodeName) && equalTargets(a.TargetRef, b.TargetRef)
}

func equalPorts(a, b EndpointPort) bool {
	return a.Name == b.Name && a.Port == b.Port && a.Protocol == b.Protocol &&
		equalTargets(a.AppProtocol, b.AppProtocol)
}

// equalTargets compares what two pointers point to; nil is equal to nil alone.
func equalTargets[T comparable](a, b *T) bool {
	if a == nil || b == nil {
		return a == b
	}
	return *a == *b
}

// managedBy is the label of whoever writes an object. What the controller of
// Kubernetes writes follows from elsewhere, so that a warning would help nobody.
const (
	managedBy          = "endpoints.kubernetes.io/managed-by"
	endpointController = "endpoint-controller"
)

// warnings points out addresses that pass but are spelled badly. IPv4 addresses
// in the usual form, nearly all there are, cost no allocation.
func warnings(e, _ *Endpoints) (texts []string) {
	if e.Labels[managedBy] == endpointController {
		return nil
	}
	check := func(ip string, at place) {
		if rules.IPWarnings("", ip) != nil {
			texts = append(texts, rules.IPWarnings(string(at.path("ip")), ip)...)
		}
	}
	for i := range e.Subsets {
		for j := range e.Subsets[i].Addresses {
			check(e.Subsets[i].Addresses[j].IP, place{i, "addresses", j})
		}
		for j := range e.Subsets[i].NotReadyAddresses {
			check(e.Subsets[i].NotReadyAddresses[j].IP, place{i, "notReadyAddresses", j})
		}
	}
	return texts
}
