package validation

import (
	"encoding/json"
	"slices"
	"strings"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metavalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// This file checks claims for devices and their classes; the limits of most lists, and most formats, are declared (package declared).

func validateResource(e *errs, subresource string, obj, old runtime.Object) bool {
	p := field.NewPath("spec")
	switch o := obj.(type) {
	case *resourcev1.ResourceClaim:
		if was := kindOf[resourcev1.ResourceClaim](old); subresource == "status" {
			allocatedStatus(e, field.NewPath("status"), o, deref(was))
		} else if was == nil {
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
	case *resourcev1.DeviceTaintRule:
		taintRule(e, subresource, o)
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

// each checks the items of a list. A list that is too long is declared to be wrong, and then its items are not looked at.
func each[T any](p loc, list []T, limit int, check func(p loc, item *T)) {
	if len(list) > limit {
		return
	}
	for i := range list {
		check(p.Index(i), &list[i])
	}
}

// requests are the names of the requests of a claim, with the names of their alternatives.
type requests map[string][]string

func requestsOf(c *resourcev1.DeviceClaim) requests {
	names := requests{}
	for _, r := range c.Requests {
		subs := []string{}
		for _, sub := range r.FirstAvailable {
			subs = append(subs, sub.Name)
		}
		names[r.Name] = subs
	}
	return names
}

// derivations are what the derived attributes of a claim have in common.
type derivations struct {
	constraints []resourcev1.DeviceConstraint
	cost        uint64
}

func deviceClaim(e *errs, p loc, c *resourcev1.DeviceClaim) {
	names, derived := requestsOf(c), &derivations{constraints: c.Constraints}
	each(p.Child("requests"), c.Requests, 32, func(p loc, r *resourcev1.DeviceRequest) { deviceRequest(e, p, r, derived) })
	each(p.Child("constraints"), c.Constraints, 32, func(p loc, c *resourcev1.DeviceConstraint) {
		requestRefs(e, p.Child("requests"), c.Requests, names)
		switch {
		case c.MatchAttribute != nil || c.DistinctAttribute != nil:
		case e.gates.Enabled("DRAConsumableCapacity"):
			e.required(p, `exactly one of "matchAttribute" or "distinctAttribute" is required, but multiple fields are set`)
		default:
			e.required(p.Child("matchAttribute"), "")
		}
	})
	each(p.Child("config"), c.Config, 32, func(p loc, c *resourcev1.DeviceClaimConfiguration) {
		requestRefs(e, p.Child("requests"), c.Requests, names)
		opaque(e, p, c.Opaque, false)
	})
	if derived.cost > resourcev1.DeviceClaimDerivedAttributeCELMaxCost {
		e.forbidden(p, "too complex, total cost of derived attribute CEL expressions in the claim exceeds cost limit")
	}
}

func deviceRequest(e *errs, p loc, r *resourcev1.DeviceRequest, derived *derivations) {
	e.label(p.Child("name"), r.Name)
	const one = "exactly one of `exactly` or `firstAvailable` is required"
	switch {
	case r.Exactly == nil && len(r.FirstAvailable) == 0:
		e.required(p, one)
	case r.Exactly != nil && len(r.FirstAvailable) > 0:
		e.invalid(p, nil, one+", but multiple fields are set")
	case r.Exactly != nil:
		x, class := r.Exactly, p.Child("exactly", "deviceClassName")
		if e.present(class, x.DeviceClassName); x.DeviceClassName != "" {
			e.subdomain(class, x.DeviceClassName)
		}
		wantedDevices(e, p.Child("exactly"), x.Selectors, func(p loc) { derivedAttributes(e, p, x.DerivedAttributes, derived, r.Name) },
			x.AllocationMode, x.Count, x.Tolerations)
	default:
		each(p.Child("firstAvailable"), r.FirstAvailable, 8, func(p loc, sub *resourcev1.DeviceSubRequest) {
			e.label(p.Child("name"), sub.Name)
			wantedDevices(e, p, sub.Selectors, func(p loc) { derivedAttributes(e, p, sub.DerivedAttributes, derived, r.Name+"/"+sub.Name) },
				sub.AllocationMode, sub.Count, sub.Tolerations)
		})
	}
}

func wantedDevices(e *errs, p loc, selectors []resourcev1.DeviceSelector, derived func(p loc), mode resourcev1.DeviceAllocationMode, count int64,
	tolerations []resourcev1.DeviceToleration,
) {
	deviceSelectors(e, p.Child("selectors"), selectors, false)
	derived(p.Child("derivedAttributes"))
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
		e.covered("", func(e *errs) {
			unsupported(e, p.Child("allocationMode"), mode, resourcev1.DeviceAllocationModeAll, resourcev1.DeviceAllocationModeExactCount)
		})
	}
	deviceTolerations(e, p.Child("tolerations"), tolerations)
}

func deviceTolerations(e *errs, p loc, list []resourcev1.DeviceToleration) {
	for i, t := range list {
		switch p := p.Index(i); t.Operator {
		case resourcev1.DeviceTolerationOpExists:
			if t.Value != "" {
				e.invalid(p.Child("value"), t.Value, "must be empty for operator `Exists`")
			}
		case resourcev1.DeviceTolerationOpEqual:
			e.invalids(p.Child("value"), t.Value, validation.IsValidLabelValue(t.Value))
		default:
			e.covered("", func(e *errs) {
				requiredOneOf(e, p.Child("operator"), t.Operator, resourcev1.DeviceTolerationOpEqual, resourcev1.DeviceTolerationOpExists)
			})
		}
	}
}

// derivedAttributes checks that attributes are used by a constraint for a request, and their expressions.
func derivedAttributes(e *errs, p loc, list []resourcev1.DeviceDerivedAttribute, derived *derivations, request string) {
	parent, _, _ := strings.Cut(request, "/")
	names := seen[resourcev1.FullyQualifiedName]{}
	for i, a := range list {
		used := slices.ContainsFunc(derived.constraints, func(c resourcev1.DeviceConstraint) bool {
			name := c.MatchAttribute
			if name == nil {
				name = c.DistinctAttribute
			}
			return name != nil && *name == a.Name && (len(c.Requests) == 0 || slices.Contains(c.Requests, request) || slices.Contains(c.Requests, parent))
		})
		if a.Name != "" && !used {
			e.invalid(p.Index(i).Child("name"), a.Name, "must be referenced by at least one matchAttribute or distinctAttribute constraint targeting this request")
		}
		if a.Expression != "" {
			derived.cost += derivedExpression(e, p.Index(i).Child("expression"), a.Expression)
		}
	}
	for i, a := range list {
		if names.again(a.Name) {
			e.duplicate(p.Index(i), a.Name)
		}
	}
}

// deviceSelectors checks selectors. stored ones are as the old object has them.
func deviceSelectors(e *errs, p loc, list []resourcev1.DeviceSelector, stored bool) {
	each(p, list, 32, func(p loc, s *resourcev1.DeviceSelector) {
		if s.CEL == nil {
			e.required(p.Child("cel"), "")
		} else {
			deviceExpression(e, p.Child("cel", "expression"), s.CEL.Expression, stored)
		}
	})
}

// requestRefs checks names of requests of the claim, or of their alternatives.
func requestRefs(e *errs, p loc, refs []string, names requests) {
	each(p, refs, 32, func(p loc, ref *string) { requestRef(e, p, *ref, names) })
}

func requestRef(e *errs, p loc, ref string, names requests) {
	const detail = "must be the name of a request in the claim or the name of a request and a subrequest separated by '/'"
	parts := strings.Split(ref, "/")
	if len(parts) > 2 {
		e.invalid(p, ref, detail)
		return
	}
	for _, part := range parts {
		e.label(p, part)
	}
	if subs, ok := names[parts[0]]; !ok || len(parts) == 2 && !slices.Contains(subs, parts[1]) {
		e.invalid(p, ref, detail)
	}
}

// opaque checks the parameters for a driver. stored ones are as the old object has them.
func opaque(e *errs, p loc, c *resourcev1.OpaqueDeviceConfiguration, stored bool) {
	if p = p.Child("opaque"); c == nil {
		e.required(p, "")
		return
	}
	rawObject(e, p.Child("parameters"), c.Parameters.Raw, stored)
}

func rawObject(e *errs, p loc, raw []byte, stored bool) {
	var tree any
	switch {
	case len(raw) == 0:
		e.required(p, "")
	case len(raw) > 10<<10 && !stored:
		e.tooLong(p, 10<<10)
	default:
		if err := json.Unmarshal(raw, &tree); err != nil {
			e.invalid(p, "<value omitted>", "error parsing data as JSON: "+err.Error())
		} else if tree == nil {
			e.required(p, "")
		} else if _, ok := tree.(map[string]any); !ok {
			e.invalid(p, "<value omitted>", "must be a valid JSON object")
		}
	}
}

func deviceClass(e *errs, p loc, s *resourcev1.DeviceClassSpec, old *resourcev1.DeviceClass) {
	stored := func(now, was any) bool { return old != nil && equality.Semantic.DeepEqual(now, was) }
	deviceSelectors(e, p.Child("selectors"), s.Selectors, stored(s.Selectors, deref(old).Spec.Selectors))
	same := stored(s.Config, deref(old).Spec.Config)
	each(p.Child("config"), s.Config, 32, func(p loc, c *resourcev1.DeviceClassConfiguration) { opaque(e, p, c.Opaque, same) })
}

// A sharedDevice is a device of a driver, or a share of it, as upstream prints it.
type sharedDevice struct{ Driver, Pool, Device, ShareID string }

// allocatedStatus checks the consumers, the devices and a new allocation of a claim.
func allocatedStatus(e *errs, p loc, c *resourcev1.ResourceClaim, old resourcev1.ResourceClaim) {
	s, at, allocated := &c.Status, p.Child("reservedFor"), map[sharedDevice]bool{}
	each(at, s.ReservedFor, 256, func(p loc, ref *resourcev1.ResourceClaimConsumerReference) {
		e.present(p.Child("resource"), ref.Resource)
		e.present(p.Child("name"), ref.Name)
		e.present(p.Child("uid"), string(ref.UID))
	})
	if s.Allocation != nil {
		for _, r := range s.Allocation.Devices.Results {
			allocated[sharedDevice{r.Driver, r.Pool, r.Device, string(deref(r.ShareID))}] = true
		}
	}
	for i := range s.Devices {
		deviceStatus(e, p.Child("devices").Index(i), &s.Devices[i], allocated)
	}
	if len(s.ReservedFor) > 0 && s.Allocation == nil {
		e.forbidden(at, "may not be specified when `allocated` is not set")
	} else if c.DeletionTimestamp != nil {
		for _, ref := range s.ReservedFor {
			if !slices.Contains(old.Status.ReservedFor, ref) {
				e.forbidden(at, "new entries may not be added while `deallocationRequested` or `deletionTimestamp` are set")
				break
			}
		}
	}
	if s.Allocation != nil && old.Status.Allocation == nil {
		allocation(e, p.Child("allocation"), s.Allocation, requestsOf(&c.Spec.Devices))
	}
}

func deviceStatus(e *errs, p loc, d *resourcev1.AllocatedDeviceStatus, allocated map[sharedDevice]bool) {
	csiDriverName(e, p.Child("driver"), d.Driver)
	poolName(e, p.Child("pool"), d.Pool)
	e.label(p.Child("device"), d.Device)
	if id := (sharedDevice{d.Driver, d.Pool, d.Device, deref(d.ShareID)}); !allocated[id] {
		e.invalid(p, id, "must be an allocated device in the claim")
	}
	limited(e, p.Child("conditions"), len(d.Conditions), 8)
	e.add(metavalidation.ValidateConditions(d.Conditions, p.Child("conditions"))...)
	if d.Data != nil && len(d.Data.Raw) > 0 {
		rawObject(e, p.Child("data"), d.Data.Raw, false)
	}
	if n := d.NetworkData; n != nil {
		each(p.Child("networkData", "ips"), n.IPs, 16, func(p loc, ip *string) { e.add(validation.IsValidInterfaceAddress(p, *ip)...) })
	}
}

func allocation(e *errs, p loc, a *resourcev1.AllocationResult, names requests) {
	devices := p.Child("devices")
	each(devices.Child("results"), a.Devices.Results, 32, func(p loc, r *resourcev1.DeviceRequestAllocationResult) {
		requestRef(e, p.Child("request"), r.Request, names)
		e.label(p.Child("device"), r.Device)
		bindingConditions(e, p, r.BindingConditions, r.BindingFailureConditions)
		deviceTolerations(e, p.Child("tolerations"), r.Tolerations)
		skippedOperations(e, p.Child("skipNodeOperations"), r.SkipNodeOperations)
	})
	each(devices.Child("config"), a.Devices.Config, 64, func(p loc, c *resourcev1.DeviceAllocationConfiguration) {
		requestRefs(e, p.Child("requests"), c.Requests, names)
		opaque(e, p, c.Opaque, false)
	})
	if a.NodeSelector != nil {
		nodeSelector(e, p.Child("nodeSelector"), a.NodeSelector)
	}
}
