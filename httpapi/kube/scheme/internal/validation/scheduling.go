package validation

import (
	"fmt"
	"strings"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// validateScheduling checks the small groups scheduling.k8s.io, node.k8s.io and coordination.k8s.io.
func validateScheduling(e *errs, _ string, obj, old runtime.Object) bool {
	switch o := obj.(type) {
	case *schedulingv1.PriorityClass:
		priorityClass(e, o, kindOf[schedulingv1.PriorityClass](old))
	case *nodev1.RuntimeClass:
		runtimeClass(e, o)
	case *coordinationv1.Lease:
		lease(e, field.NewPath("spec"), &o.Spec)
	default:
		return false
	}
	return true
}

func priorityClass(e *errs, c, old *schedulingv1.PriorityClass) {
	if old != nil {
		if c.Value != old.Value {
			e.forbidden(field.NewPath("value"), "may not be changed in an update.")
		}
		e.immutable(field.NewPath("preemptionPolicy"), c.PreemptionPolicy, old.PreemptionPolicy)
		return
	}
	const highest = 1_000_000_000
	if strings.HasPrefix(c.Name, "system-") {
		if problem := systemClass(c); problem != "" {
			e.forbidden(field.NewPath("metadata", "name"),
				"priority class names with 'system-' prefix are reserved for system use only. error: "+problem)
		}
	} else if c.Value > highest {
		e.forbidden(field.NewPath("value"), fmt.Sprintf("maximum allowed value of a user defined priority is %v", highest))
	}
	if c.PreemptionPolicy != nil {
		preemption(e, field.NewPath("preemptionPolicy"), *c.PreemptionPolicy)
	}
}

// systemClass returns why a class is none of Kubernetes' own two.
func systemClass(c *schedulingv1.PriorityClass) string {
	values := map[string]int32{"system-node-critical": 2_000_001_000, "system-cluster-critical": 2_000_000_000}
	switch value, ok := values[c.Name]; {
	case !ok:
		return c.Name + " is not a known system priority class"
	case c.Value != value:
		return fmt.Sprintf("value of %v PriorityClass must be %v", c.Name, value)
	case c.GlobalDefault:
		return fmt.Sprintf("globalDefault of %v PriorityClass must be false", c.Name)
	}
	return ""
}

func runtimeClass(e *errs, c *nodev1.RuntimeClass) {
	e.covered("format=k8s-short-name", func(e *errs) {
		p := field.NewPath("handler")
		e.present(p, c.Handler)
		if c.Handler != "" {
			e.label(p, c.Handler)
		}
	})
	if c.Overhead != nil {
		containerResources(e, field.NewPath("overhead"), &corev1.ResourceRequirements{Limits: c.Overhead.PodFixed}, nil)
	}
	if c.Scheduling != nil {
		runtimeScheduling(e, c)
	}
}

func runtimeScheduling(e *errs, c *nodev1.RuntimeClass) {
	p, seen := field.NewPath("scheduling"), map[corev1.Toleration]bool{}
	e.labels(p.Child("nodeSelector"), c.Scheduling.NodeSelector)
	tolerations(e, p.Child("tolerations"), c.Scheduling.Tolerations)
	for i, t := range c.Scheduling.Tolerations {
		key := corev1.Toleration{Key: t.Key, Operator: t.Operator, Value: t.Value, Effect: t.Effect}
		if seen[key] {
			e.duplicate(p.Child("tolerations").Index(i), internal{t})
		}
		seen[key] = true
	}
}

func lease(e *errs, p loc, s *coordinationv1.LeaseSpec) {
	if n := s.LeaseDurationSeconds; n != nil && *n <= 0 {
		e.invalid(p.Child("leaseDurationSeconds"), n, "must be greater than 0")
	}
	if n := s.LeaseTransitions; n != nil && *n < 0 {
		e.invalid(p.Child("leaseTransitions"), n, "must be greater than or equal to 0")
	}
	strategy := deref(s.Strategy)
	if deref(s.PreferredHolder) != "" && strategy == "" {
		e.forbidden(p.Child("preferredHolder"), "may only be specified if `strategy` is defined")
	}
}
