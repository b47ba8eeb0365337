package differential

import (
	"fmt"
	"slices"
	"strings"

	"github.com/blang/semver/v4"
	coordinationv1 "k8s.io/api/coordination/v1"
	coordinationv1beta1 "k8s.io/api/coordination/v1beta1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/runtime"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	netutils "k8s.io/utils/net"
)

// This file restates upstream's validation outside metadata, as far as generated requests violate it. That part of
// Kubernetes is not in a library.

var spec = field.NewPath("spec")

func validateLease(o runtime.Object) (errs field.ErrorList) {
	s := &o.(*coordinationv1.Lease).Spec
	if v := s.LeaseDurationSeconds; v != nil && *v < 1 {
		errs = append(errs, field.Invalid(spec.Child("leaseDurationSeconds"), *v, "must be greater than 0"))
	}
	if v := s.LeaseTransitions; v != nil && *v < 0 {
		errs = append(errs, field.Invalid(spec.Child("leaseTransitions"), *v, "must be greater than or equal to 0"))
	}
	if s.Strategy != nil {
		errs = append(errs, validateStrategy(*s.Strategy)...)
	}
	if h := s.PreferredHolder; h != nil && *h != "" && (s.Strategy == nil || *s.Strategy == "") {
		errs = append(errs, field.Forbidden(spec.Child("preferredHolder"), "may only be specified if `strategy` is defined"))
	}
	return errs
}

func validateStrategy(s coordinationv1.CoordinatedLeaseStrategy) field.ErrorList {
	at := spec.Child("strategy", "strategy")
	switch {
	case s == coordinationv1.OldestEmulationVersion:
		return nil
	case !strings.Contains(string(s), "/"):
		return field.ErrorList{field.NotSupported(at, s, []coordinationv1.CoordinatedLeaseStrategy{coordinationv1.OldestEmulationVersion})}
	}
	return invalid(at, s, utilvalidation.IsQualifiedName(string(s)))
}

func invalid(at *field.Path, value any, texts []string) (errs field.ErrorList) {
	for _, text := range texts {
		errs = append(errs, field.Invalid(at, value, text))
	}
	return errs
}

func validateCandidate(o runtime.Object) (errs field.ErrorList) {
	s := &o.(*coordinationv1beta1.LeaseCandidate).Spec
	if s.LeaseName == "" {
		errs = append(errs, field.Required(spec.Child("leaseName"), ""))
	}
	parse := func(name, value string) (v semver.Version) {
		v, err := semver.Parse(value)
		if err != nil && value != "" {
			errs = append(errs, field.Invalid(spec.Child(name), value, "must be a valid semantic version"))
		}
		return v
	}
	emulation := parse("emulationVersion", s.EmulationVersion)
	if s.BinaryVersion == "" {
		errs = append(errs, field.Required(spec.Child("binaryVersion"), ""))
	}
	binary := parse("binaryVersion", s.BinaryVersion)
	if s.BinaryVersion != "" && s.EmulationVersion != "" && binary.LT(emulation) {
		errs = append(errs, field.Invalid(spec.Child("binaryVersion"), s.BinaryVersion, "must be greater than or equal to `emulationVersion`"))
	}
	if s.Strategy == "" {
		return append(errs, field.Required(spec.Child("strategy"), ""))
	}
	if s.Strategy == coordinationv1.OldestEmulationVersion && emulation.EQ(semver.Version{}) {
		errs = append(errs, field.Required(spec.Child("emulationVersion"), "must be specified when `strategy` is 'OldestEmulationVersion'"))
	}
	return append(errs, validateStrategy(s.Strategy)...)
}

func validateCandidateUpdate(o, old runtime.Object) field.ErrorList {
	return append(validateCandidate(o), validation.ValidateImmutableField(o.(*coordinationv1beta1.LeaseCandidate).Spec.LeaseName,
		old.(*coordinationv1beta1.LeaseCandidate).Spec.LeaseName, spec.Child("leaseName"))...)
}

// validateEndpointsUpdate accepts unchanged subsets, even if they are invalid.
func validateEndpointsUpdate(o, old runtime.Object) field.ErrorList {
	if equality.Semantic.DeepEqual(o.(*corev1.Endpoints).Subsets, old.(*corev1.Endpoints).Subsets) {
		return nil
	}
	return validateEndpoints(o)
}

func validateEndpoints(o runtime.Object) (errs field.ErrorList) {
	for i, s := range o.(*corev1.Endpoints).Subsets {
		at := field.NewPath("subsets").Index(i)
		if len(s.Addresses)+len(s.NotReadyAddresses) == 0 {
			errs = append(errs, field.Required(at, "must specify `addresses` or `notReadyAddresses`"))
		}
		for j, a := range s.Addresses {
			errs = append(errs, validateAddress(a, at.Child("addresses").Index(j))...)
		}
		for j, a := range s.NotReadyAddresses {
			errs = append(errs, validateAddress(a, at.Child("notReadyAddresses").Index(j))...)
		}
		for j, p := range s.Ports {
			errs = append(errs, validatePort(p, len(s.Ports) > 1, at.Child("ports").Index(j))...)
		}
	}
	return errs
}

func validateAddress(a corev1.EndpointAddress, at *field.Path) field.ErrorList {
	errs := utilvalidation.IsValidIPForLegacyField(at.Child("ip"), a.IP, true, nil)
	if a.Hostname != "" {
		errs = append(errs, invalid(at.Child("hostname"), a.Hostname, utilvalidation.IsDNS1123Label(a.Hostname))...)
	}
	if a.NodeName != nil {
		errs = append(errs, invalid(at.Child("nodeName"), *a.NodeName, utilvalidation.IsDNS1123Subdomain(*a.NodeName))...)
	}
	at, ip := at.Child("ip"), netutils.ParseIPSloppy(a.IP)
	switch {
	case ip == nil:
		errs = append(errs, field.Invalid(at, a.IP, "must be a valid IP address"))
	case ip.IsUnspecified():
		errs = append(errs, field.Invalid(at, a.IP, fmt.Sprintf("may not be unspecified (%v)", a.IP)))
	case ip.IsLoopback():
		errs = append(errs, field.Invalid(at, a.IP, "may not be in the loopback range (127.0.0.0/8, ::1/128)"))
	case ip.IsLinkLocalUnicast():
		errs = append(errs, field.Invalid(at, a.IP, "may not be in the link-local range (169.254.0.0/16, fe80::/10)"))
	case ip.IsLinkLocalMulticast():
		errs = append(errs, field.Invalid(at, a.IP, "may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)"))
	}
	return errs
}

func validatePort(p corev1.EndpointPort, named bool, at *field.Path) (errs field.ErrorList) {
	switch {
	case p.Name != "":
		errs = append(errs, invalid(at.Child("name"), p.Name, utilvalidation.IsDNS1123Label(p.Name))...)
	case named:
		errs = append(errs, field.Required(at.Child("name"), ""))
	}
	errs = append(errs, invalid(at.Child("port"), p.Port, utilvalidation.IsValidPortNum(int(p.Port)))...)
	switch known := []corev1.Protocol{corev1.ProtocolSCTP, corev1.ProtocolTCP, corev1.ProtocolUDP}; {
	case p.Protocol == "":
		errs = append(errs, field.Required(at.Child("protocol"), ""))
	case !slices.Contains(known, p.Protocol):
		errs = append(errs, field.NotSupported(at.Child("protocol"), p.Protocol, known))
	}
	if p.AppProtocol != nil {
		errs = append(errs, invalid(at.Child("appProtocol"), *p.AppProtocol, utilvalidation.IsQualifiedName(*p.AppProtocol))...)
	}
	return errs
}
