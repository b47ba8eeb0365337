package endpoints

import (
	"bytes"
	"encoding/json"
	"fmt"
	"iter"
	"net/netip"
	"strings"

	rules "github.com/kubecoord/kubecoord/internal/validate"
	"github.com/kubecoord/kubecoord/store/field"
	"github.com/kubecoord/kubecoord/store/meta"
)

// validate checks the finalizers and the subsets. Subsets that an update does not change pass, so that an
// object that is older than a rule can still be labeled
// (upstream: apis/core/validation, ValidateEndpointsUpdate).
func validate(e, old *Endpoints) (errs field.Errors) {
	for i := range e.Subsets {
		errs = append(errs, validateSubset(e.Subsets, i)...)
	}
	if errs != nil && old != nil && sameJSON(e.Subsets, old.Subsets) {
		errs = nil
	}
	return append(validateFinalizers(e.Finalizers), errs...)
}

// validateFinalizers applies the rule of the core group: a finalizer must have a domain, except for three that are older than the rule.
// Other groups have no such rule (upstream: apis/core/validation, validateKubeFinalizerName).
func validateFinalizers(finalizers []string) (errs field.Errors) {
	for i, f := range finalizers {
		switch {
		case f == "kubernetes", f == meta.FinalizerOrphanDependents, f == meta.FinalizerDeleteDependents, strings.Contains(f, "/"):
		default:
			errs = append(errs, field.Invalid(field.Path("metadata.finalizers").Index(i), f, "name is neither a standard finalizer name nor is it fully qualified"))
		}
	}
	return errs
}

func validateSubset(subsets []EndpointSubset, index int) (errs field.Errors) {
	s := &subsets[index]
	if len(s.Addresses) == 0 && len(s.NotReadyAddresses) == 0 {
		errs = append(errs, field.Required(subsetPath(index), "must specify `addresses` or `notReadyAddresses`"))
	}
	for at, a := range eachAddress(subsets, index) {
		errs = append(errs, validateAddress(a, at)...)
	}
	for i := range s.Ports {
		errs = append(errs, validatePort(&s.Ports[i], len(s.Ports) > 1, location{index, "ports", i})...)
	}
	return errs
}

// location is the place of an item of a subset. A path is built only for an error.
type location struct {
	subset int
	list   string // its name in JSON
	item   int
}

// eachAddress yields the addresses of a subset: the ready ones, then the others.
func eachAddress(subsets []EndpointSubset, subset int) iter.Seq2[location, *EndpointAddress] {
	return func(yield func(location, *EndpointAddress) bool) {
		s := &subsets[subset]
		for i := range s.Addresses {
			if !yield(location{subset, "addresses", i}, &s.Addresses[i]) {
				return
			}
		}
		for i := range s.NotReadyAddresses {
			if !yield(location{subset, "notReadyAddresses", i}, &s.NotReadyAddresses[i]) {
				return
			}
		}
	}
}

func subsetPath(index int) field.Path { return field.Path("subsets").Index(index) }

func (at location) path(member string) field.Path {
	return subsetPath(at.subset).Child(at.list).Index(at.item).Child(member)
}

func check[T any](errs field.Errors, at location, member string, value T, problems []string) field.Errors {
	if problems == nil {
		return errs
	}
	return append(errs, field.InvalidEach(at.path(member), value, problems)...)
}

func validateAddress(a *EndpointAddress, at location) (errs field.Errors) {
	errs = check(errs, at, "ip", a.IP, rules.LegacyIP(a.IP))
	if a.Hostname != "" {
		errs = check(errs, at, "hostname", a.Hostname, rules.DNS1123Label(a.Hostname))
	}
	if a.NodeName != nil {
		errs = check(errs, at, "nodeName", *a.NodeName, rules.DNS1123Subdomain(*a.NodeName))
	}
	// Upstream parses the address again here, so it reports an invalid one twice.
	ip, ok := rules.ParseIPSloppy(a.IP)
	if !ok {
		return append(errs, field.Invalid(at.path("ip"), a.IP, "must be a valid IP address"))
	}
	if problem := unreachable(ip, a.IP); problem != "" {
		errs = append(errs, field.Invalid(at.path("ip"), a.IP, problem))
	}
	return errs
}

// unreachable returns the reason why no other host can have the address, or "".
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

func validatePort(p *EndpointPort, nameRequired bool, at location) (errs field.Errors) {
	switch {
	case p.Name != "":
		errs = check(errs, at, "name", p.Name, rules.DNS1123Label(p.Name))
	case nameRequired:
		errs = append(errs, field.Required(at.path("name"), ""))
	}
	if p.Port < 1 || p.Port > 65535 {
		errs = append(errs, field.Invalid(at.path("port"), p.Port, "must be between 1 and 65535, inclusive"))
	}
	switch p.Protocol {
	case ProtocolSCTP, ProtocolTCP, ProtocolUDP:
	case "":
		errs = append(errs, field.Required(at.path("protocol"), ""))
	default:
		errs = append(errs, field.NotSupported(at.path("protocol"), p.Protocol, ProtocolSCTP, ProtocolTCP, ProtocolUDP))
	}
	if p.AppProtocol != nil {
		errs = check(errs, at, "appProtocol", *p.AppProtocol, rules.QualifiedName(*p.AppProtocol))
	}
	return errs
}

// sameJSON reports whether subsets look the same to clients: an empty list is absent.
func sameJSON(a, b []EndpointSubset) bool {
	x, _ := json.Marshal(a) // cannot fail for these types
	y, _ := json.Marshal(b)
	return bytes.Equal(x, y)
}

// managedBy is the label that names the writer. The controller of Kubernetes derives
// its Endpoints from other objects, so it gets no warning.
const (
	managedBy          = "endpoints.kubernetes.io/managed-by"
	endpointController = "endpoint-controller"
)

// warnings has one for each address that is valid but not in the canonical form.
func warnings(e, _ *Endpoints) (texts []string) {
	if e.Labels[managedBy] == endpointController {
		return nil
	}
	for i := range e.Subsets {
		for at, a := range eachAddress(e.Subsets, i) {
			if rules.IPWarnings("", a.IP) != nil {
				texts = append(texts, rules.IPWarnings(string(at.path("ip")), a.IP)...)
			}
		}
	}
	return texts
}
