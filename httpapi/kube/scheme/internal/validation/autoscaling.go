package validation

import (
	"slices"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	"k8s.io/apimachinery/pkg/api/validation/path"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

func validateAutoscaling(e *errs, subresource string, obj, old runtime.Object) bool {
	p := field.NewPath("spec")
	switch o := obj.(type) {
	case *autoscalingv1.Scale:
		if o.Spec.Replicas < 0 {
			e.nonNegative(p.Child("replicas"), int64(o.Spec.Replicas))
		}
	case *autoscalingv2.HorizontalPodAutoscaler:
		if subresource == "status" {
			autoscalerStatus(e, field.NewPath("status"), &o.Status)
		} else {
			autoscaler(e, p, &o.Spec, kindOf[autoscalingv2.HorizontalPodAutoscaler](old))
		}
	default:
		return false
	}
	return true
}

const (
	scaleToZero   = "HPAScaleToZero"
	noScaleToZero = "must specify at least one Object or External metric to support scaling to zero replicas"
)

// scalesToZero reports whether an autoscaler may have no replicas: an old one may keep that without the gate.
func scalesToZero(h *autoscalingv2.HorizontalPodAutoscaler) bool {
	return h != nil && h.Spec.MinReplicas != nil && *h.Spec.MinReplicas == 0
}

func autoscalerStatus(e *errs, p loc, s *autoscalingv2.HorizontalPodAutoscalerStatus) {
	for i, c := range s.Conditions {
		counts(e, p.Child("conditions").Index(i).Child("observedGeneration"), c.ObservedGeneration)
	}
	e.nonNegative(p.Child("currentReplicas"), int64(s.CurrentReplicas))
	e.nonNegative(p.Child("desiredReplicas"), int64(s.DesiredReplicas))
}

func autoscaler(e *errs, p loc, s *autoscalingv2.HorizontalPodAutoscalerSpec, old *autoscalingv2.HorizontalPodAutoscaler) {
	if least := s.MinReplicas; least != nil && s.MaxReplicas < *least {
		e.invalid(p.Child("maxReplicas"), s.MaxReplicas, "must be greater than or equal to `minReplicas`")
	}
	ref, at := s.ScaleTargetRef, p.Child("scaleTargetRef")
	requiredSegment(e, at.Child("kind"), ref.Kind)
	requiredSegment(e, at.Child("name"), ref.Name)
	if was := deref(old).Spec.ScaleTargetRef; old == nil || was.APIVersion != ref.APIVersion || was.Kind != ref.Kind {
		groupOf(e, at.Child("apiVersion"), ref.APIVersion, ref.Kind == "ReplicationController")
	}
	metrics(e, p.Child("metrics"), s)
	if b := s.Behavior; b != nil {
		scalingRules(e, p.Child("behavior", "scaleUp"), b.ScaleUp)
		scalingRules(e, p.Child("behavior", "scaleDown"), b.ScaleDown)
	}
}

// groupOf checks that an apiVersion names a group, which the core group has not.
func groupOf(e *errs, p loc, version string, core bool) {
	if gv, err := schema.ParseGroupVersion(version); err != nil {
		e.invalid(p, version, err.Error())
	} else if gv.Group == "" && !core {
		e.invalid(p, version, "apiVersion must specify API group")
	}
}

func metrics(e *errs, p loc, s *autoscalingv2.HorizontalPodAutoscalerSpec) {
	scalable := false
	for i := range s.Metrics {
		m := &s.Metrics[i]
		metric(e, p.Index(i), m)
		scalable = scalable || m.Type == autoscalingv2.ObjectMetricSourceType || m.Type == autoscalingv2.ExternalMetricSourceType
	}
	if s.MinReplicas != nil && *s.MinReplicas == 0 && !scalable {
		e.forbidden(p, noScaleToZero)
	}
}

func metric(e *errs, p loc, m *autoscalingv2.MetricSpec) {
	types := []autoscalingv2.MetricSourceType{autoscalingv2.ContainerResourceMetricSourceType, autoscalingv2.ExternalMetricSourceType,
		autoscalingv2.ObjectMetricSourceType, autoscalingv2.PodsMetricSourceType, autoscalingv2.ResourceMetricSourceType}
	if m.Type == "" {
		e.required(p.Child("type"), "must specify a metric source type")
	}
	oneOf(e, p.Child("type"), m.Type, types...)
	var present []string
	source := func(name string, set bool, check func(p loc)) {
		if set {
			if present = append(present, name); len(present) == 1 {
				check(p.Child(name))
			}
		}
	}
	source("object", m.Object != nil, func(p loc) { objectMetric(e, p, m.Object) })
	source("external", m.External != nil, func(p loc) { externalMetric(e, p, m.External) })
	source("pods", m.Pods != nil, func(p loc) {
		metricName(e, p, m.Pods.Metric)
		target(e, p, m.Pods.Target)
		if m.Pods.Target.AverageValue == nil {
			e.required(p.Child("target", "averageValue"), "must specify a positive target averageValue")
		}
	})
	source("resource", m.Resource != nil, func(p loc) {
		if m.Resource.Name == "" {
			e.required(p.Child("name"), "must specify a resource name")
		}
		rawOrUtilization(e, p, m.Resource.Target)
	})
	source("containerResource", m.ContainerResource != nil, func(p loc) { containerMetric(e, p, m.ContainerResource) })
	expected := map[autoscalingv2.MetricSourceType]string{
		autoscalingv2.ObjectMetricSourceType: "object", autoscalingv2.PodsMetricSourceType: "pods", autoscalingv2.ResourceMetricSourceType: "resource",
		autoscalingv2.ExternalMetricSourceType: "external", autoscalingv2.ContainerResourceMetricSourceType: "containerResource",
	}[m.Type]
	if expected == "" {
		unsupported(e, p.Child("type"), m.Type, types...)
	} else if !slices.Contains(present, expected) {
		e.required(p.Child(expected), "must populate information for the given metric source")
	}
	if len(present) == 1 {
		return
	}
	slices.Sort(present)
	for _, name := range present {
		if name != expected {
			e.forbidden(p.Child(name), "must populate the given metric source only")
		}
	}
}

func objectMetric(e *errs, p loc, m *autoscalingv2.ObjectMetricSource) {
	ref := m.DescribedObject
	requiredSegment(e, p.Child("describedObject", "kind"), ref.Kind)
	requiredSegment(e, p.Child("describedObject", "name"), ref.Name)
	e.ratchet("apiVersion of a metric", func(e *errs) { groupOf(e, p.Child("describedObject", "apiVersion"), ref.APIVersion, true) })
	metricName(e, p, m.Metric)
	target(e, p, m.Target)
	if m.Target.Value == nil && m.Target.AverageValue == nil {
		e.required(p.Child("target", "averageValue"), "must set either a target value or averageValue")
	}
}

func externalMetric(e *errs, p loc, m *autoscalingv2.ExternalMetricSource) {
	metricName(e, p, m.Metric)
	t := m.Target
	target(e, p, t)
	if t.Value == nil && t.AverageValue == nil {
		e.required(p.Child("target", "averageValue"), "must set either a target value for metric or a per-pod target")
	}
	if t.Value != nil && t.AverageValue != nil {
		e.forbidden(p.Child("target", "value"), "may not set both a target value for metric and a per-pod target")
	}
}

func containerMetric(e *errs, p loc, m *autoscalingv2.ContainerResourceMetricSource) {
	if m.Name == "" {
		e.required(p.Child("name"), "must specify a resource name")
	} else {
		containerResourceName(e, p.Child("name"), m.Name)
	}
	if m.Container == "" {
		e.required(p.Child("container"), "must specify a container")
	} else {
		e.label(p.Child("container"), m.Container)
	}
	rawOrUtilization(e, p, m.Target)
}

func metricName(e *errs, p loc, id autoscalingv2.MetricIdentifier) {
	if p = p.Child("metric", "name"); id.Name == "" {
		e.required(p, "must specify a metric name")
	} else {
		e.invalids(p, id.Name, path.IsValidPathSegmentName(id.Name))
	}
}

func rawOrUtilization(e *errs, p loc, t autoscalingv2.MetricTarget) {
	target(e, p, t)
	if t.AverageUtilization == nil && t.AverageValue == nil {
		e.required(p.Child("target", "averageUtilization"), "must set either a target raw value or a target utilization")
	}
	if t.AverageUtilization != nil && t.AverageValue != nil {
		e.forbidden(p.Child("target", "averageValue"), "may not set both a target raw value and a target utilization")
	}
}

func target(e *errs, p loc, t autoscalingv2.MetricTarget) {
	p = p.Child("target")
	if t.Type == "" {
		e.required(p.Child("type"), "must specify a metric target type")
	}
	switch t.Type {
	case autoscalingv2.UtilizationMetricType, autoscalingv2.ValueMetricType, autoscalingv2.AverageValueMetricType:
	default:
		e.invalid(p.Child("type"), t.Type, "must be either Utilization, Value, or AverageValue")
	}
	if t.Value != nil && t.Value.Sign() != 1 {
		e.invalid(p.Child("value"), t.Value, "must be positive")
	}
	if t.AverageValue != nil && t.AverageValue.Sign() != 1 {
		e.invalid(p.Child("averageValue"), t.AverageValue, "must be positive")
	}
	if t.AverageUtilization != nil && *t.AverageUtilization < 1 {
		e.invalid(p.Child("averageUtilization"), t.AverageUtilization, "must be greater than 0")
	}
}

func scalingRules(e *errs, p loc, r *autoscalingv2.HPAScalingRules) {
	if r == nil {
		return
	}
	if seconds := r.StabilizationWindowSeconds; seconds != nil && *seconds < 0 {
		e.invalid(p.Child("stabilizationWindowSeconds"), seconds, "must be greater than or equal to zero")
	} else if seconds != nil && *seconds > 3600 {
		e.invalid(p.Child("stabilizationWindowSeconds"), seconds, "must be less than or equal to 3600")
	}
	optionalOneOf(e, p.Child("selectPolicy"), r.SelectPolicy, autoscalingv2.DisabledPolicySelect, autoscalingv2.MaxChangePolicySelect, autoscalingv2.MinChangePolicySelect)
	if len(r.Policies) == 0 {
		e.required(p.Child("policies"), "must specify at least one Policy")
	}
	for i, policy := range r.Policies {
		p := p.Child("policies").Index(i)
		oneOf(e, p.Child("type"), policy.Type, autoscalingv2.PercentScalingPolicy, autoscalingv2.PodsScalingPolicy)
		if policy.Value <= 0 {
			e.invalid(p.Child("value"), policy.Value, "must be greater than zero")
		}
		if policy.PeriodSeconds <= 0 {
			e.invalid(p.Child("periodSeconds"), policy.PeriodSeconds, "must be greater than zero")
		} else if policy.PeriodSeconds > 1800 {
			e.invalid(p.Child("periodSeconds"), policy.PeriodSeconds, "must be less than or equal to 1800")
		}
	}
	if r.Tolerance != nil {
		e.nonNegativeQuantity(p.Child("tolerance"), *r.Tolerance)
	}
}
