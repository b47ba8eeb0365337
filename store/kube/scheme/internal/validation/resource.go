package validation

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

func validateResource(e *errs, subresource string, obj, old runtime.Object) bool {
	p := field.NewPath("spec")
	switch o := obj.(type) {
	case *resourcev1.ResourceClaim:
		if was := kindOf[resourcev1.ResourceClaim](old); subresource == "status" {
			claimReservations(e, field.NewPath("status"), o, was)
		} else if was != nil {
			frozenMember(e, p, o.Spec, was.Spec)
		} else {
			deviceClaim(e, p.Child("devices"), &o.Spec.Devices)
		}
	case *resourcev1.ResourceClaimTemplate:
		if was := kindOf[resourcev1.ResourceClaimTemplate](old); was != nil {
			frozenMember(e, p, o.Spec, was.Spec)
			return true
		}
		templateMeta(e, p.Child("metadata"), &o.Spec.ObjectMeta)
		deviceClaim(e, p.Child("spec", "devices"), &o.Spec.Spec.Devices)
	case *resourcev1.DeviceClass:
		deviceClass(e, p, &o.Spec, kindOf[resourcev1.DeviceClass](old))
	case *resourcev1.ResourceSlice:
		resourceSlice(e, p, &o.Spec, kindOf[resourcev1.ResourceSlice](old))
	default:
		return false
	}
	return true
}

// limited reports whether a list is no longer than its limit; upstream checks the items of such a list only.
func limited(e *errs, p loc, n, limit int) bool {
	if n > limit {
		e.tooMany(p, n, limit)
	}
	return n <= limit
}

func deviceClaim(e *errs, p loc, c *resourcev1.DeviceClaim) {
	names := map[string][]string{}
	for _, r := range c.Requests {
		subs := []string{}
		for _, sub := range r.FirstAvailable {
			subs = append(subs, sub.Name)
		}
		names[r.Name] = subs
	}
	known := seen[string]{}
	if at := p.Child("requests"); limited(e, at, len(c.Requests), 32) {
		for i := range c.Requests {
			deviceRequest(e, at.Index(i), &c.Requests[i])
		}
		for i, r := range c.Requests {
			if known.again(r.Name) {
				e.duplicate(at.Index(i), r.Name)
			}
		}
	}
	if at := p.Child("constraints"); limited(e, at, len(c.Constraints), 32) {
		for i, constraint := range c.Constraints {
			p := at.Index(i)
			requestRefs(e, p.Child("requests"), constraint.Requests, names)
			switch {
			case constraint.MatchAttribute != nil:
				attributeName(e, p.Child("matchAttribute"), string(*constraint.MatchAttribute))
			case constraint.DistinctAttribute != nil:
				attributeName(e, p.Child("distinctAttribute"), string(*constraint.DistinctAttribute))
			default:
				e.required(p, `exactly one of "matchAttribute" or "distinctAttribute" is required, but multiple fields are set`)
			}
		}
	}
	if at := p.Child("config"); limited(e, at, len(c.Config), 32) {
		for i, config := range c.Config {
			requestRefs(e, at.Index(i).Child("requests"), config.Requests, names)
			opaque(e, at.Index(i), config.Opaque)
		}
	}
}

func deviceRequest(e *errs, p loc, r *resourcev1.DeviceRequest) {
	e.label(p.Child("name"), r.Name)
	const one = "exactly one of `exactly` or `firstAvailable` is required"
	switch {
	case r.Exactly == nil && len(r.FirstAvailable) == 0:
		e.required(p, one)
	case r.Exactly != nil && len(r.FirstAvailable) > 0:
		e.invalid(p, nil, one+", but multiple fields are set")
	case r.Exactly != nil:
		x := r.Exactly
		wantedDevices(e, p.Child("exactly"), x.DeviceClassName, x.Selectors, x.AllocationMode, x.Count, x.Tolerations)
	default:
		at, known := p.Child("firstAvailable"), seen[string]{}
		if !limited(e, at, len(r.FirstAvailable), 8) {
			return
		}
		for i, sub := range r.FirstAvailable {
			e.label(at.Index(i).Child("name"), sub.Name)
			wantedDevices(e, at.Index(i), sub.DeviceClassName, sub.Selectors, sub.AllocationMode, sub.Count, sub.Tolerations)
		}
		for i, sub := range r.FirstAvailable {
			if known.again(sub.Name) {
				e.duplicate(at.Index(i), sub.Name)
			}
		}
	}
}

func wantedDevices(e *errs, p loc, class string, selectors []resourcev1.DeviceSelector, mode resourcev1.DeviceAllocationMode, count int64,
	tolerations []resourcev1.DeviceToleration,
) {
	if class == "" {
		e.required(p.Child("deviceClassName"), "")
	} else {
		e.subdomain(p.Child("deviceClassName"), class)
	}
	deviceSelectors(e, p.Child("selectors"), selectors, false)
	switch at := p.Child("count"); mode {
	case resourcev1.DeviceAllocationModeAll:
		if count != 0 {
			e.invalid(at, count, "must not be specified when allocationMode is 'All'")
		}
	case resourcev1.DeviceAllocationModeExactCount:
		if count <= 0 {
			e.invalid(at, count, "must be greater than zero")
		}
	default:
		unsupported(e, p.Child("allocationMode"), mode, resourcev1.DeviceAllocationModeAll, resourcev1.DeviceAllocationModeExactCount)
	}
	if len(tolerations) > 16 {
		e.tooMany(p.Child("tolerations"), len(tolerations), 16)
	}
	for i, t := range tolerations {
		p := p.Child("tolerations").Index(i)
		if t.Key != "" {
			e.labelName(p.Child("key"), t.Key)
		}
		switch t.Operator {
		case resourcev1.DeviceTolerationOpExists:
			if t.Value != "" {
				e.invalid(p.Child("value"), t.Value, "must be empty for operator `Exists`")
			}
		case resourcev1.DeviceTolerationOpEqual:
			e.invalids(p.Child("value"), t.Value, validation.IsValidLabelValue(t.Value))
		default:
			requiredOneOf(e, p.Child("operator"), t.Operator, resourcev1.DeviceTolerationOpEqual, resourcev1.DeviceTolerationOpExists)
		}
		if t.Effect != "" {
			deviceEffect(e, p.Child("effect"), t.Effect)
		}
	}
}

func deviceEffect(e *errs, p loc, effect resourcev1.DeviceTaintEffect) {
	oneOf(e, p, effect, resourcev1.DeviceTaintEffectNoExecute, resourcev1.DeviceTaintEffectNoSchedule, resourcev1.DeviceTaintEffectNone)
}

// deviceSelectors checks selectors. stored ones are as the old object has them.
func deviceSelectors(e *errs, p loc, list []resourcev1.DeviceSelector, stored bool) {
	if !limited(e, p, len(list), 32) {
		return
	}
	for i, s := range list {
		if s.CEL == nil {
			e.required(p.Index(i).Child("cel"), "")
		} else {
			deviceExpression(e, p.Index(i).Child("cel", "expression"), s.CEL.Expression, stored)
		}
	}
}

// requestRefs checks names of requests of the claim, or of their alternatives.
func requestRefs(e *errs, p loc, refs []string, names map[string][]string) {
	const detail = "must be the name of a request in the claim or the name of a request and a subrequest separated by '/'"
	if !limited(e, p, len(refs), 32) {
		return
	}
	known := seen[string]{}
	for i, ref := range refs {
		p := p.Index(i)
		parts := strings.Split(ref, "/")
		if len(parts) > 2 {
			e.invalid(p, ref, detail)
			continue
		}
		for _, part := range parts {
			e.label(p, part)
		}
		if subs, ok := names[parts[0]]; !ok || len(parts) == 2 && !slices.Contains(subs, parts[1]) {
			e.invalid(p, ref, detail)
		}
	}
	for i, ref := range refs {
		if known.again(ref) {
			e.duplicate(p.Index(i), ref)
		}
	}
}

func opaque(e *errs, p loc, c *resourcev1.OpaqueDeviceConfiguration) {
	if p = p.Child("opaque"); c == nil {
		e.required(p, "")
		return
	}
	csiDriverName(e, p.Child("driver"), c.Driver)
	var tree any
	switch at, raw := p.Child("parameters"), c.Parameters.Raw; {
	case len(raw) == 0:
		e.required(at, "")
	case len(raw) > 10<<10:
		e.tooLong(at, 10<<10)
	default:
		if err := json.Unmarshal(raw, &tree); err != nil {
			e.invalid(at, "<value omitted>", "error parsing data as JSON: "+err.Error())
		} else if tree == nil {
			e.required(at, "")
		} else if _, ok := tree.(map[string]any); !ok {
			e.invalid(at, "<value omitted>", "must be a valid JSON object")
		}
	}
}

// attributeName checks the name of an attribute with its domain.
func attributeName(e *errs, p loc, name string) {
	qualifiedDeviceName(e, p, name)
	if !strings.Contains(name, "/") {
		e.invalid(p, name, "a fully qualified name must be a domain and a name separated by a slash")
	}
}

func qualifiedDeviceName(e *errs, p loc, name string) {
	id := func(id string) {
		if len(id) > 32 {
			e.tooLong(p, 32)
		}
		e.invalids(p, id, validation.IsCIdentifier(id))
	}
	switch parts := strings.Split(name, "/"); len(parts) {
	case 1:
		id(name)
	case 2:
		if parts[0] == "" {
			e.invalid(p, "", "the domain must not be empty")
		} else {
			csiDriverName(e, p, parts[0])
		}
		if parts[1] == "" {
			e.invalid(p, "", "the name must not be empty")
		} else {
			id(parts[1])
		}
	default:
		e.invalid(p, name, "must be a valid qualified name")
	}
}

func deviceClass(e *errs, p loc, s *resourcev1.DeviceClassSpec, old *resourcev1.DeviceClass) {
	stored := old != nil && equality.Semantic.DeepEqual(s.Selectors, old.Spec.Selectors)
	deviceSelectors(e, p.Child("selectors"), s.Selectors, stored)
	if at := p.Child("config"); limited(e, at, len(s.Config), 32) {
		for i, config := range s.Config {
			opaque(e, at.Index(i), config.Opaque)
		}
	}
}

// claimReservations checks what the status of a claim says of its consumers. The allocation itself is not checked.
func claimReservations(e *errs, p loc, c, old *resourcev1.ResourceClaim) {
	s, at := &c.Status, p.Child("reservedFor")
	if limited(e, at, len(s.ReservedFor), 256) {
		uids := seen[string]{}
		for i, ref := range s.ReservedFor {
			e.present(at.Index(i).Child("resource"), ref.Resource)
			e.present(at.Index(i).Child("name"), ref.Name)
			e.present(at.Index(i).Child("uid"), string(ref.UID))
		}
		for i, ref := range s.ReservedFor {
			if uids.again(string(ref.UID)) {
				e.duplicate(at.Index(i), internal{ref.UID})
			}
		}
	}
	if len(s.ReservedFor) > 0 && s.Allocation == nil {
		e.forbidden(at, "may not be specified when `allocated` is not set")
	} else if old != nil && c.DeletionTimestamp != nil {
		for _, ref := range s.ReservedFor {
			if !slices.Contains(old.Status.ReservedFor, ref) {
				e.forbidden(at, "new entries may not be added while `deallocationRequested` or `deletionTimestamp` are set")
				break
			}
		}
	}
	if old != nil && old.Status.Allocation != nil && s.Allocation != nil {
		frozenMember(e, p.Child("allocation"), s.Allocation, old.Status.Allocation)
	}
}

func resourceSlice(e *errs, p loc, s *resourcev1.ResourceSliceSpec, old *resourcev1.ResourceSlice) {
	csiDriverName(e, p.Child("driver"), s.Driver)
	pool := p.Child("pool")
	poolName(e, pool.Child("name"), s.Pool.Name)
	if s.Pool.ResourceSliceCount <= 0 {
		e.invalid(pool.Child("resourceSliceCount"), s.Pool.ResourceSliceCount, "must be greater than zero")
	}
	if s.Pool.Generation < 0 {
		e.invalid(pool.Child("generation"), s.Pool.Generation, "must be greater than or equal to zero")
	}
	if old != nil {
		e.immutable(pool.Child("name"), s.Pool.Name, old.Spec.Pool.Name)
		e.immutable(p.Child("driver"), s.Driver, old.Spec.Driver)
		e.immutable(p.Child("nodeName"), s.NodeName, old.Spec.NodeName)
	}
	sliceNodes(e, p, s)
	if s.SharedCounters != nil && s.Devices != nil {
		e.invalid(p, "", "only one of `sharedCounters` or `devices` is allowed")
	}
	most := 128
	for _, d := range s.Devices {
		if len(d.Taints)+len(d.ConsumesCounters) > 0 {
			most = 64
		}
	}
	names := seen[string]{}
	if at := p.Child("devices"); limited(e, at, len(s.Devices), most) {
		version := semver()
		for i := range s.Devices {
			device(e, at.Index(i), &s.Devices[i], deref(s.PerDeviceNodeSelection), version)
		}
		for i, d := range s.Devices {
			if names.again(d.Name) {
				e.duplicate(at.Index(i), d.Name)
			}
		}
	}
}

func poolName(e *errs, p loc, name string) {
	if name == "" {
		e.required(p, "")
		return
	}
	if len(name) > validation.DNS1123SubdomainMaxLength {
		e.tooLong(p, validation.DNS1123SubdomainMaxLength)
	}
	for part := range strings.SplitSeq(name, "/") {
		e.subdomain(p, part)
	}
}

// sliceNodes checks that a slice says in one way which nodes have its devices.
func sliceNodes(e *errs, p loc, s *resourcev1.ResourceSliceSpec) {
	var set []string
	if name := s.NodeName; name != nil && *name == "" {
		e.invalid(p.Child("nodeName"), *name, "must be either unset or set to a non-empty string")
	} else if name != nil {
		set = append(set, "`nodeName`")
		e.invalids(p.Child("nodeName"), *name, apivalidation.NameIsDNSSubdomain(*name, false))
	}
	if s.NodeSelector != nil {
		set = append(set, "`nodeSelector`")
		nodeSelector(e, p.Child("nodeSelector"), s.NodeSelector)
		if terms := s.NodeSelector.NodeSelectorTerms; len(terms) != 1 {
			e.invalid(p.Child("nodeSelector", "nodeSelectorTerms"), internal{terms}, "must have exactly one node selector term")
		}
	}
	for _, member := range []struct {
		name  string
		value *bool
	}{{"allNodes", s.AllNodes}, {"perDeviceNodeSelection", s.PerDeviceNodeSelection}} {
		if deref(member.value) {
			set = append(set, "`"+member.name+"`")
		} else if member.value != nil {
			e.invalid(p.Child(member.name), false, "must be either unset or set to true")
		}
	}
	const one = "exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required"
	if len(set) == 0 {
		e.required(p, one)
	} else if len(set) > 1 {
		e.invalid(p, "{"+strings.Join(set, ", ")+"}", one+", but multiple fields are set")
	}
}

func semver() *regexp.Regexp {
	const number, identifier = `(0|[1-9]\d*)`, `(0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*)`
	return regexp.MustCompile(`^` + number + `\.` + number + `\.` + number + `(-` + identifier + `(\.` + identifier + `)*)?(\+[0-9a-zA-Z-]+(\.[0-9a-zA-Z-]+)*)?$`)
}

// device checks a device's name, attributes, taints and nodes; its capacities and counters only by their names.
func device(e *errs, p loc, d *resourcev1.Device, perDevice bool, version *regexp.Regexp) {
	e.label(p.Child("name"), d.Name)
	if n := len(d.Attributes) + len(d.Capacity); n > 32 {
		e.invalid(p, n, "the total number of attributes and capacities must not exceed 32")
	}
	for _, name := range sorted(d.Attributes) {
		p := p.Child("attributes").Key(string(name))
		qualifiedDeviceName(e, p, string(name))
		attribute(e, p, d.Attributes[name], version)
	}
	for _, name := range sorted(d.Capacity) {
		p := p.Child("capacity").Key(string(name))
		qualifiedDeviceName(e, p, string(name))
		if d.Capacity[name].RequestPolicy != nil && !deref(d.AllowMultipleAllocations) {
			e.forbidden(p.Child("requestPolicy"), "allowMultipleAllocations must be true")
		}
	}
	if at := p.Child("taints"); limited(e, at, len(d.Taints), 16) {
		for i, t := range d.Taints {
			e.labelName(at.Index(i).Child("key"), t.Key)
			if t.Value != "" {
				e.invalids(at.Index(i).Child("value"), t.Value, validation.IsValidLabelValue(t.Value))
			}
			if t.Effect == "" {
				e.required(at.Index(i).Child("effect"), "")
			} else {
				deviceEffect(e, at.Index(i).Child("effect"), t.Effect)
			}
		}
	}
	if !perDevice && (d.NodeName != nil || d.NodeSelector != nil || d.AllNodes != nil) {
		e.invalid(p, nil, "`nodeName`, `nodeSelector` and `allNodes` can only be set if `perDeviceNodeSelection` is set to true in the ResourceSlice spec")
	}
}

func attribute(e *errs, p loc, a resourcev1.DeviceAttribute, version *regexp.Regexp) {
	n := 0
	for _, set := range []bool{a.BoolValue != nil, a.IntValue != nil, a.StringValue != nil, a.VersionValue != nil} {
		if set {
			n++
		}
	}
	text := func(p loc, s *string) {
		if s != nil && len(*s) > 64 {
			e.tooLong(p, 64)
		}
	}
	text(p.Child("string"), a.StringValue)
	if v := a.VersionValue; v != nil && !version.MatchString(*v) {
		e.invalid(p.Child("version"), *v, "must be a string compatible with semver.org spec 2.0.0")
	}
	text(p.Child("version"), a.VersionValue)
	if n == 0 {
		e.invalid(p, "", "exactly one value must be specified")
	} else if n > 1 {
		e.invalid(p, fmt.Sprint(n), "exactly one value must be specified")
	}
}
