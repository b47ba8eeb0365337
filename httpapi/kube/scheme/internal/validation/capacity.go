package validation

import (
	"fmt"
	"math"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
)

// This file checks in which amounts the capacity of a device may be asked for.

func requestPolicy(e *errs, p loc, most resource.Quantity, policy *resourcev1.CapacityRequestPolicy) {
	switch values, bounds := len(policy.ValidValues) > 0, policy.ValidRange != nil; {
	case values && bounds:
		e.forbidden(p, `exactly one policy can be specified, cannot specify "validValues" and "validRange" at the same time`)
	case values && policy.Default == nil:
		e.required(p.Child("default"), "required when validValues is defined")
	case values:
		validValues(e, p.Child("validValues"), *policy.Default, most, policy.ValidValues)
	case bounds && policy.Default == nil:
		e.required(p.Child("default"), "required when validRange is defined")
	case bounds:
		validRange(e, p.Child("validRange"), *policy.Default, most, policy.ValidRange)
	}
}

func validValues(e *errs, p loc, usual, most resource.Quantity, values []resource.Quantity) {
	for i := 1; i < len(values); i++ {
		if values[i-1].Cmp(values[i]) > 0 {
			e.invalid(p.Index(i), values[i].String(), "values must be sorted in ascending order")
		}
	}
	found, known := false, seen[string]{}
	if limited(e, p, len(values), 10) {
		for i, v := range values {
			if v.Cmp(most) > 0 {
				e.invalid(p.Index(i), v.String(), "option is larger than capacity value: "+most.String())
			}
			found = found || v.Cmp(usual) == 0
		}
		for i, v := range values {
			key := fmt.Sprint(v.Value())
			if e.gates.Enabled(fractions) {
				key = v.AsDec().String()
			}
			if known.again(key) {
				e.duplicate(p.Index(i), key)
			}
		}
	}
	if !found {
		e.invalid(p, usual.String(), "default value is not valid according to the requestPolicy")
	}
}

// fractions is the gate for amounts that are no integers.
const fractions = "DRAFractionalCapacityRange"

func validRange(e *errs, p loc, usual, most resource.Quantity, r *resourcev1.CapacityRequestPolicyRange) {
	if r.Min == nil {
		e.required(p.Child("min"), "required when validRange is defined")
		return
	}
	above := func(member string, q, limit resource.Quantity, shown resource.Quantity, detail string) {
		if q.Cmp(limit) > 0 {
			e.invalid(p.Child(member), shown.String(), detail)
		}
	}
	above("min", *r.Min, most, *r.Min, "min is larger than capacity value: "+most.String())
	above("default", *r.Min, usual, usual, "default is less than min: "+r.Min.String())
	if r.Max != nil {
		above("max", *r.Min, *r.Max, *r.Min, "min is larger than max: "+r.Max.String())
		above("max", *r.Max, most, *r.Max, "max is larger than capacity value: "+most.String())
		above("default", usual, *r.Max, usual, "default is more than max: "+r.Max.String())
	}
	type member struct {
		name string
		q    *resource.Quantity
	}
	members := []member{{"default", &usual}, {"min", r.Min}, {"max", r.Max}, {"step", r.Step}}
	milli, exact := false, true
	if e.gates.Enabled(fractions) {
		for _, m := range members {
			milli = milli || m.q != nil && !whole(*m.q)
		}
		for _, m := range members {
			if milli && m.q != nil && m.q.Cmp(*resource.NewMilliQuantity(m.q.MilliValue(), m.q.Format)) != 0 {
				exact = false
				e.invalid(p.Child(m.name), m.q.String(), "value cannot be represented as a milli value")
			}
		}
	}
	if r.Step == nil || !exact {
		return
	}
	step := p.Child("step")
	if r.Step.Sign() <= 0 {
		e.invalid(step, r.Step.String(), "must be greater than zero")
		return
	}
	first := r.Min.DeepCopy()
	first.Add(*r.Step)
	above("step", first, most, *r.Step, fmt.Sprintf("one step %s is larger than capacity value: %s", first.String(), most.String()))
	for _, m := range members {
		if milli || m.q == nil {
			continue
		}
		if m.q.Sign() < 0 {
			exact = false
			e.invalid(p.Child(m.name), m.q.String(), apivalidation.IsNegativeErrorMsg)
		} else if m.q.CmpInt64(math.MaxInt64) > 0 {
			exact = false
			e.invalid(p.Child(m.name), m.q.String(), "must not be larger than 9223372036854775807")
		}
	}
	if !exact {
		return
	}
	onStep(e, step, usual, *r.Min, *r.Step, milli)
	if r.Max != nil {
		onStep(e, step, *r.Max, *r.Min, *r.Step, milli)
	}
}

// whole reports whether a quantity has no fraction.
func whole(q resource.Quantity) bool {
	up, down := q.DeepCopy(), q.DeepCopy()
	return up.RoundUp(0) && up.Cmp(down) == 0
}

// onStep checks that a value is a multiple of the step from the least one.
func onStep(e *errs, p loc, value, least, step resource.Quantity, milli bool) {
	number := func(q resource.Quantity) int64 {
		if milli {
			return q.MilliValue()
		}
		return q.Value()
	}
	if by := number(step); by == 0 || (number(value)-number(least))%by != 0 {
		e.invalid(p, value.String(), fmt.Sprintf("value is not a multiple of a given step (%s) from (%s)", step.String(), least.String()))
	}
}
