package printers

import (
	"fmt"
	"strconv"
	"strings"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	"k8s.io/apimachinery/pkg/api/resource"
)

func autoscalerCells(o *autoscalingv2.HorizontalPodAutoscaler, c clock) []any {
	minPods := unset
	if m := o.Spec.MinReplicas; m != nil {
		minPods = strconv.Itoa(int(*m))
	}
	target := o.Spec.ScaleTargetRef
	return []any{
		o.Name, target.Kind + "/" + target.Name, formatMetrics(o.Spec.Metrics, o.Status.CurrentMetrics), minPods,
		int64(o.Spec.MaxReplicas), int64(o.Status.CurrentReplicas), c.age(o),
	}
}

// formatMetrics returns the current value and the target of the first two metrics. The status of a metric is the one at the
// same place in the list.
func formatMetrics(specs []autoscalingv2.MetricSpec, statuses []autoscalingv2.MetricStatus) string {
	if len(specs) == 0 {
		return none
	}
	const limit = 2
	var list []string
	for i, spec := range specs[:min(len(specs), limit)] {
		var status autoscalingv2.MetricStatus
		if i < len(statuses) {
			status = statuses[i]
		}
		list = append(list, formatMetric(spec, status))
	}
	s := strings.Join(list, ", ")
	if n := len(specs) - limit; n > 0 {
		s += fmt.Sprintf(" + %d more...", n)
	}
	return s
}

// formatMetric returns "current/target" of a metric. A source that the type calls for and that is absent counts as empty.
func formatMetric(spec autoscalingv2.MetricSpec, status autoscalingv2.MetricStatus) string {
	switch spec.Type {
	case autoscalingv2.ExternalMetricSourceType:
		var now *autoscalingv2.MetricValueStatus
		if status.External != nil {
			now = &status.External.Current
		}
		return valueOrAverage(deref(spec.External).Target, now)
	case autoscalingv2.ObjectMetricSourceType:
		var now *autoscalingv2.MetricValueStatus
		if status.Object != nil {
			now = &status.Object.Current
		}
		return valueOrAverage(deref(spec.Object).Target, now)
	case autoscalingv2.PodsMetricSourceType:
		current := unknown
		if status.Pods != nil {
			current = quantity(status.Pods.Current.AverageValue)
		}
		return current + "/" + quantity(deref(spec.Pods).Target.AverageValue)
	case autoscalingv2.ResourceMetricSourceType:
		var now *autoscalingv2.MetricValueStatus
		if status.Resource != nil {
			now = &status.Resource.Current
		}
		source := deref(spec.Resource)
		return source.Name.String() + ": " + averageOrUtilization(source.Target, now)
	case autoscalingv2.ContainerResourceMetricSourceType:
		var now *autoscalingv2.MetricValueStatus
		if status.ContainerResource != nil {
			now = &status.ContainerResource.Current
		}
		source := deref(spec.ContainerResource)
		return source.Name.String() + ": " + averageOrUtilization(source.Target, now)
	}
	return "<unknown type>"
}

func valueOrAverage(target autoscalingv2.MetricTarget, now *autoscalingv2.MetricValueStatus) string {
	current := unknown
	if target.AverageValue == nil {
		if now != nil {
			current = quantity(now.Value)
		}
		return current + "/" + quantity(target.Value)
	}
	if now != nil && now.AverageValue != nil {
		current = now.AverageValue.String()
	}
	return current + "/" + target.AverageValue.String() + " (avg)"
}

func averageOrUtilization(target autoscalingv2.MetricTarget, now *autoscalingv2.MetricValueStatus) string {
	current, want := unknown, "<auto>"
	if target.AverageValue != nil {
		if now != nil {
			current = quantity(now.AverageValue)
		}
		return current + "/" + target.AverageValue.String()
	}
	if now != nil && now.AverageUtilization != nil {
		current = percent(*now.AverageUtilization)
	}
	if target.AverageUtilization != nil {
		want = percent(*target.AverageUtilization)
	}
	return current + "/" + want
}

// quantity returns the text of a quantity, and of an absent one as upstream prints a nil pointer.
func quantity(q *resource.Quantity) string {
	if q == nil {
		return "<nil>"
	}
	return q.String()
}

func percent(n int32) string { return fmt.Sprintf("%d%%", n) }
