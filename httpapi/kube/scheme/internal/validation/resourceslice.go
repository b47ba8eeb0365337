package validation

import (
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/resource"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation"
)

// This file checks the devices that a driver publishes.

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
	before := map[string]*resourcev1.Device{}
	if old != nil {
		e.immutable(pool.Child("name"), s.Pool.Name, old.Spec.Pool.Name)
		e.immutable(p.Child("driver"), s.Driver, old.Spec.Driver)
		e.immutable(p.Child("nodeName"), s.NodeName, old.Spec.NodeName)
		for i := range slices.Backward(old.Spec.Devices) {
			before[old.Spec.Devices[i].Name] = &old.Spec.Devices[i]
		}
	}
	sliceNodes(e, p, s)
	if s.SharedCounters != nil && s.Devices != nil {
		e.invalid(p, "", "only one of `sharedCounters` or `devices` is allowed")
	}
	most, names := 128, seen[string]{}
	if slices.ContainsFunc(s.Devices, func(d resourcev1.Device) bool { return len(d.Taints)+len(d.ConsumesCounters) > 0 || hasLists(&d) }) {
		most = 64
	}
	if at := p.Child("devices"); limited(e, at, len(s.Devices), most) {
		version := semver()
		for i := range s.Devices {
			device(e, at.Index(i), &s.Devices[i], before[s.Devices[i].Name], deref(s.PerDeviceNodeSelection), version)
		}
		for i, d := range s.Devices {
			if names.again(d.Name) {
				e.duplicate(at.Index(i), d.Name)
			}
		}
	}
	each(p.Child("sharedCounters"), s.SharedCounters, 8, func(p loc, c *resourcev1.CounterSet) { limited(e, p.Child("counters"), len(c.Counters), 32) })
	if s.PartitionTypeAttribute != nil {
		partitionType(e, p, s)
	}
	skippedOperations(e, p.Child("skipNodeOperations"), s.SkipNodeOperations)
}

// hasLists reports whether a device has an attribute that is a list.
func hasLists(d *resourcev1.Device) bool {
	for _, a := range d.Attributes {
		if a.BoolValues != nil || a.IntValues != nil || a.StringValues != nil || a.VersionValues != nil {
			return true
		}
	}
	return false
}

// partitionType checks that devices with counters have the attribute that the slice names.
func partitionType(e *errs, p loc, s *resourcev1.ResourceSliceSpec) {
	name := string(*s.PartitionTypeAttribute)
	if !slices.ContainsFunc(s.Devices, func(d resourcev1.Device) bool { return len(d.ConsumesCounters) > 0 }) {
		e.invalid(p.Child("partitionTypeAttribute"), name, "may only be set on a slice which declares devices that consume counters")
		return
	}
	own := e.own()
	if qualifiedDeviceName(own, nil, name); len(own.ErrorList) > 0 || !strings.Contains(name, "/") {
		return
	}
	for i, d := range s.Devices {
		if len(d.ConsumesCounters) == 0 {
			continue
		}
		at := p.Child("devices").Index(i).Child("attributes").Key(name)
		a, ok := d.Attributes[resourcev1.QualifiedName(name)]
		if bare := strings.TrimPrefix(name, s.Driver+"/"); !ok {
			a, ok = d.Attributes[resourcev1.QualifiedName(bare)]
		}
		if !ok {
			e.required(at, "device consumes counters and `partitionTypeAttribute` names this attribute, so it must be set")
		} else if a.StringValue == nil {
			e.invalid(at, internal{a}, "must be a string value because `partitionTypeAttribute` names this attribute")
		}
	}
}

func skippedOperations(e *errs, p loc, list []resourcev1.SkipNodeOperation) {
	has := func(o resourcev1.SkipNodeOperation) bool { return slices.Contains(list, o) }
	if has(resourcev1.SkipNodeOperationNodePrepareResources) && !has(resourcev1.SkipNodeOperationNodeUnprepareResources) && !has(resourcev1.SkipNodeOperationAll) {
		e.invalid(p, list, "NodePrepareResources cannot be skipped unless NodeUnprepareResources is also skipped")
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

// device checks a device. What equals the old one is not looked at again.
func device(e *errs, p loc, d, old *resourcev1.Device, perDevice bool, version *regexp.Regexp) {
	e.label(p.Child("name"), d.Name)
	if n := len(d.Attributes) + len(d.Capacity); n > 32 {
		e.invalid(p, n, "the total number of attributes and capacities must not exceed 32")
	}
	values := 0
	for _, a := range d.Attributes {
		values += max(1, len(a.BoolValues)+len(a.IntValues)+len(a.StringValues)+len(a.VersionValues))
	}
	if values > 48 {
		e.invalid(p, values, "the total number of attribute values must not exceed 48")
	}
	for _, name := range sorted(d.Attributes) {
		at := p.Child("attributes")
		qualifiedDeviceName(e, at, string(name))
		attribute(e, at.Key(shortKey(string(name))), d.Attributes[name], version)
	}
	if old == nil || !equality.Semantic.DeepEqual(old.Capacity, d.Capacity) {
		for _, name := range sorted(d.Capacity) {
			at, c := p.Child("capacity"), d.Capacity[name]
			qualifiedDeviceName(e, at, string(name))
			if at = at.Key(shortKey(string(name))).Child("requestPolicy"); c.RequestPolicy == nil {
				continue
			} else if deref(d.AllowMultipleAllocations) {
				requestPolicy(e, at, c.Value, c.RequestPolicy)
			} else {
				e.forbidden(at, "allowMultipleAllocations must be true")
			}
		}
	}
	if at := p.Child("taints"); (old == nil || !equality.Semantic.DeepEqual(old.Taints, d.Taints)) && limited(e, at, len(d.Taints), 16) {
		for i := range d.Taints {
			deviceTaint(e, at.Index(i), &d.Taints[i])
		}
	}
	each(p.Child("consumesCounters"), d.ConsumesCounters, 2, func(p loc, c *resourcev1.DeviceCounterConsumption) {
		limited(e, p.Child("counters"), len(c.Counters), 32)
	})
	deviceNodes(e, p, d, perDevice)
	bindingConditions(e, p, d.BindingConditions, d.BindingFailureConditions)
	nodeResources(e, p.Child("nodeAllocatableResources"), d)
}

// deviceTaint checks a taint; the effects are declared.
func deviceTaint(e *errs, p loc, t *resourcev1.DeviceTaint) {
	e.labelName(p.Child("key"), t.Key)
	if t.Value != "" {
		e.invalids(p.Child("value"), t.Value, validation.IsValidLabelValue(t.Value))
	}
}

// shortKey leaves out the middle of a key that is longer than one may be.
func shortKey(key string) string {
	const most = 63 + 1 + 32
	if len(key) <= most {
		return key
	}
	return key[:(most-2)/2] + "..." + key[len(key)-(most-3)/2:]
}

// deviceNodes checks that a device says in one way which nodes have it, if the devices of the slice do so.
func deviceNodes(e *errs, p loc, d *resourcev1.Device, each bool) {
	if !each {
		if d.NodeName != nil || d.NodeSelector != nil || d.AllNodes != nil {
			e.invalid(p, nil, "`nodeName`, `nodeSelector` and `allNodes` can only be set if `perDeviceNodeSelection` is set to true in the ResourceSlice spec")
		}
		return
	}
	var set []string
	if name := d.NodeName; name != nil && *name == "" {
		e.invalid(p.Child("nodeName"), *name, "must not be empty")
	} else if name != nil {
		set = append(set, "`nodeName`")
		e.invalids(p.Child("nodeName"), *name, apivalidation.NameIsDNSSubdomain(*name, false))
	}
	if d.NodeSelector != nil {
		set = append(set, "`nodeSelector`")
		nodeSelector(e, p.Child("nodeSelector"), d.NodeSelector)
	}
	if deref(d.AllNodes) {
		set = append(set, "`allNodes`")
	} else if d.AllNodes != nil {
		e.invalid(p.Child("allNodes"), false, "must be either unset or set to true")
	}
	const one = "exactly one of `nodeName`, `nodeSelector`, or `allNodes` is required when `perDeviceNodeSelection` is set to true in the ResourceSlice spec"
	if len(set) == 0 {
		e.required(p, one)
	} else if len(set) > 1 {
		e.invalid(p, "{"+strings.Join(set, ", ")+"}", one)
	}
}

func bindingConditions(e *errs, p loc, conditions, failures []string) {
	bound, failed := p.Child("bindingConditions"), p.Child("bindingFailureConditions")
	each(bound, conditions, 4, func(p loc, name *string) { e.labelName(p, *name) })
	each(failed, failures, 4, func(p loc, name *string) { e.labelName(p, *name) })
	known, knownFailed := seen[string]{}, seen[string]{}
	for i, name := range conditions {
		if known.again(name) {
			e.duplicate(bound.Index(i), name)
		}
	}
	for i, name := range failures {
		if knownFailed.again(name) {
			e.duplicate(failed.Index(i), name)
		}
		if known[name] {
			e.invalid(failed.Index(i), name, "bindingFailureConditions must not overlap with bindingConditions")
		}
	}
	if len(conditions) == 0 && len(failures) > 0 {
		e.invalid(bound, conditions, "bindingConditions are required to use bindingFailureConditions")
	}
	if len(failures) == 0 && len(conditions) > 0 {
		e.invalid(failed, failures, "bindingFailureConditions are required to use bindingConditions")
	}
}

// nodeAllocatable reports whether a resource is one that nodes have and devices may take from them.
func nodeAllocatable(name corev1.ResourceName) bool {
	return name == corev1.ResourceCPU || name == corev1.ResourceMemory || hugePages(name)
}

// nodeResources checks which resources of a node a device takes.
func nodeResources(e *errs, p loc, d *resourcev1.Device) {
	for _, name := range sorted(d.NodeAllocatableResources) {
		p, r := p.Key(string(name)), d.NodeAllocatableResources[name]
		if !nodeAllocatable(name) {
			e.invalid(p, name, "must be a node allocatable resource name")
		}
		if r.Mapping == nil && r.Overhead == nil {
			e.required(p, "at least one of mapping or overhead must be set")
		}
		if m := r.Mapping; m != nil {
			nodeMapping(e, p.Child("mapping"), m, d.Capacity)
		}
		if o, at := r.Overhead, p.Child("overhead"); o != nil && o.PerPod == nil && o.PerContainer == nil {
			e.invalid(at, "", "at least one of perPod or perContainer must be set")
		} else if o != nil {
			notBelow(e, at.Child("perPod"), o.PerPod, 0, "must be non-negative")
			notBelow(e, at.Child("perContainer"), o.PerContainer, 0, "must be non-negative")
		}
	}
}

// notBelow refuses a quantity whose sign is lower.
func notBelow(e *errs, p loc, q *resource.Quantity, sign int, detail string) {
	if q != nil && q.Sign() < sign {
		e.invalid(p, q.String(), detail)
	}
}

func nodeMapping(e *errs, p loc, m *resourcev1.NodeAllocatableMapping, capacities map[resourcev1.QualifiedName]resourcev1.DeviceCapacity) {
	factor := p.Child("capacityMultiplier")
	if key, at := m.CapacityKey, p.Child("capacityKey"); key != nil {
		if _, ok := capacities[*key]; *key == "" {
			e.invalid(at, "", "capacityKey must not be an empty string")
		} else if !ok {
			e.notFound(at, *key)
		}
		if m.CapacityMultiplier == nil {
			e.required(factor, "capacityMultiplier is required when capacityKey is set")
		} else {
			notBelow(e, factor, m.CapacityMultiplier, 1, "must be positive")
		}
	}
	notBelow(e, p.Child("deviceMultiplier"), m.DeviceMultiplier, 1, "must be positive")
	if m.CapacityMultiplier != nil && m.CapacityKey == nil {
		e.required(p.Child("capacityKey"), "capacityKey is required when capacityMultiplier is set")
	}
}

// attribute checks the values of an attribute; that it has one is declared.
func attribute(e *errs, p loc, a resourcev1.DeviceAttribute, version *regexp.Regexp) {
	text := func(p loc, s string) {
		if len(s) > 64 {
			e.tooLong(p, 64)
		}
	}
	semantic := func(p loc, v string) {
		if !version.MatchString(v) {
			e.invalid(p, v, "must be a string compatible with semver.org spec 2.0.0")
		}
		text(p, v)
	}
	if a.StringValue != nil {
		text(p.Child("string"), *a.StringValue)
	}
	if a.VersionValue != nil {
		semantic(p.Child("version"), *a.VersionValue)
	}
	empty := func(name string, is bool, list any) {
		if is {
			e.invalid(p.Child(name), list, "must not be empty if specified")
		}
	}
	empty("bools", a.BoolValues != nil && len(a.BoolValues) == 0, a.BoolValues)
	empty("ints", a.IntValues != nil && len(a.IntValues) == 0, a.IntValues)
	empty("strings", a.StringValues != nil && len(a.StringValues) == 0, a.StringValues)
	for i, s := range a.StringValues {
		text(p.Child("strings").Index(i), s)
	}
	empty("versions", a.VersionValues != nil && len(a.VersionValues) == 0, a.VersionValues)
	for i, v := range a.VersionValues {
		semantic(p.Child("versions").Index(i), v)
	}
}
