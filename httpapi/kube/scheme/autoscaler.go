package scheme

import (
	"encoding/json"
	"maps"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubecoord/kubecoord/store/kind"
	"github.com/kubecoord/kubecoord/store/meta"
)

// HorizontalPodAutoscaler has two versions. In autoscaling/v1 annotations hold the values that have no member there (upstream:
// apis/autoscaling/v1/conversion.go).

// older returns an older version of a kind. t is the type of its stored version.
func (b *builder) older(gk schema.GroupKind, name string, t *objectType) (kind.Version[meta.Object], error) {
	own, v, err := b.version(gk.WithVersion(name))
	if err != nil {
		return v, err
	}
	v.Form.Convert = kind.ConvertBy(func(o meta.Object) meta.Object { return converted(own, o, autoscalerToV1) },
		func(o meta.Object) meta.Object {
			b.setDefaults(o)
			return converted(t, o, autoscalerFromV1)
		})
	return v, nil
}

// converted returns an object of one version in another. It shares memory with o.
func converted[From, To any](to *objectType, o meta.Object, convert func(*From, *To)) meta.Object {
	out := to.new()
	*out.GetTypeMeta(), *out.GetObjectMeta() = *o.GetTypeMeta(), *o.GetObjectMeta()
	convert(value[From](o), value[To](out))
	return out
}

func autoscalerToV1(in *autoscalingv2.HorizontalPodAutoscaler, out *autoscalingv1.HorizontalPodAutoscaler) {
	out.Spec = autoscalingv1.HorizontalPodAutoscalerSpec{
		ScaleTargetRef: autoscalingv1.CrossVersionObjectReference(in.Spec.ScaleTargetRef), MinReplicas: in.Spec.MinReplicas, MaxReplicas: in.Spec.MaxReplicas,
	}
	out.Status = autoscalingv1.HorizontalPodAutoscalerStatus{
		ObservedGeneration: in.Status.ObservedGeneration, LastScaleTime: in.Status.LastScaleTime,
		CurrentReplicas: in.Status.CurrentReplicas, DesiredReplicas: in.Status.DesiredReplicas,
	}
	var others []autoscalingv1.MetricSpec
	for _, m := range in.Spec.Metrics {
		if r := m.Resource; m.Type != autoscalingv2.ResourceMetricSourceType || r == nil || r.Name != corev1.ResourceCPU || r.Target.AverageUtilization == nil {
			others = append(others, metricToV1(m))
		} else if out.Spec.TargetCPUUtilizationPercentage == nil {
			out.Spec.TargetCPUUtilizationPercentage = r.Target.AverageUtilization
		}
	}
	var current []autoscalingv1.MetricStatus
	for _, m := range in.Status.CurrentMetrics {
		if r := m.Resource; m.Type == autoscalingv2.ResourceMetricSourceType && r != nil && r.Name == corev1.ResourceCPU && r.Current.AverageUtilization != nil {
			out.Status.CurrentCPUUtilizationPercentage = r.Current.AverageUtilization
		}
		current = append(current, metricStatusToV1(m))
	}
	var conditions []autoscalingv1.HorizontalPodAutoscalerCondition
	for _, c := range in.Status.Conditions {
		conditions = append(conditions, autoscalingv1.HorizontalPodAutoscalerCondition{
			Type: autoscalingv1.HorizontalPodAutoscalerConditionType(c.Type), Status: c.Status,
			LastTransitionTime: c.LastTransitionTime, Reason: c.Reason, Message: c.Message,
		})
	}
	dropAnnotations(out)
	annotate(out, metricsAnnotation, others, len(others) > 0)
	annotate(out, currentMetricsAnnotation, current, len(current) > 0)
	annotate(out, behaviorAnnotation, behaviorToV1(in.Spec.Behavior), in.Spec.Behavior != nil)
	annotate(out, conditionsAnnotation, conditions, len(conditions) > 0)
}

func autoscalerFromV1(in *autoscalingv1.HorizontalPodAutoscaler, out *autoscalingv2.HorizontalPodAutoscaler) {
	out.Spec = autoscalingv2.HorizontalPodAutoscalerSpec{
		ScaleTargetRef: autoscalingv2.CrossVersionObjectReference(in.Spec.ScaleTargetRef), MinReplicas: in.Spec.MinReplicas, MaxReplicas: in.Spec.MaxReplicas,
	}
	out.Status = autoscalingv2.HorizontalPodAutoscalerStatus{
		ObservedGeneration: in.Status.ObservedGeneration, LastScaleTime: in.Status.LastScaleTime,
		CurrentReplicas: in.Status.CurrentReplicas, DesiredReplicas: in.Status.DesiredReplicas,
	}
	for _, m := range annotated[[]autoscalingv1.MetricSpec](in, metricsAnnotation) {
		out.Spec.Metrics = append(out.Spec.Metrics, metricFromV1(m))
	}
	target := in.Spec.TargetCPUUtilizationPercentage
	if target == nil && len(out.Spec.Metrics) == 0 {
		target = new(int32(80))
	}
	if target != nil {
		out.Spec.Metrics = append(out.Spec.Metrics, autoscalingv2.MetricSpec{Type: autoscalingv2.ResourceMetricSourceType, Resource: &autoscalingv2.ResourceMetricSource{
			Name: corev1.ResourceCPU, Target: autoscalingv2.MetricTarget{Type: autoscalingv2.UtilizationMetricType, AverageUtilization: target},
		}})
	}
	if b := annotated[*behavior](in, behaviorAnnotation); b != nil && (b.ScaleUp != nil || b.ScaleDown != nil) {
		out.Spec.Behavior = &autoscalingv2.HorizontalPodAutoscalerBehavior{ScaleUp: b.ScaleUp.rules(), ScaleDown: b.ScaleDown.rules()}
	}
	for _, m := range annotated[[]autoscalingv1.MetricStatus](in, currentMetricsAnnotation) {
		out.Status.CurrentMetrics = append(out.Status.CurrentMetrics, metricStatusFromV1(m))
	}
	if now := in.Status.CurrentCPUUtilizationPercentage; now != nil && out.Status.CurrentMetrics == nil {
		out.Status.CurrentMetrics = []autoscalingv2.MetricStatus{{Type: autoscalingv2.ResourceMetricSourceType, Resource: &autoscalingv2.ResourceMetricStatus{
			Name: corev1.ResourceCPU, Current: autoscalingv2.MetricValueStatus{AverageUtilization: now},
		}}}
	}
	for _, c := range annotated[[]autoscalingv1.HorizontalPodAutoscalerCondition](in, conditionsAnnotation) {
		out.Status.Conditions = append(out.Status.Conditions, autoscalingv2.HorizontalPodAutoscalerCondition{
			Type: autoscalingv2.HorizontalPodAutoscalerConditionType(c.Type), Status: c.Status,
			LastTransitionTime: c.LastTransitionTime, Reason: c.Reason, Message: c.Message,
		})
	}
	dropAnnotations(out)
}

// The annotations of autoscaling/v1.
const (
	metricsAnnotation        = "autoscaling.alpha.kubernetes.io/metrics"
	currentMetricsAnnotation = "autoscaling.alpha.kubernetes.io/current-metrics"
	conditionsAnnotation     = "autoscaling.alpha.kubernetes.io/conditions"
	behaviorAnnotation       = "autoscaling.alpha.kubernetes.io/behavior"
)

func dropAnnotations(o metav1.Object) {
	own := maps.Clone(o.GetAnnotations()) // which the converted object shares
	for _, name := range []string{metricsAnnotation, currentMetricsAnnotation, conditionsAnnotation, behaviorAnnotation} {
		delete(own, name)
	}
	if len(own) == 0 {
		own = nil
	}
	o.SetAnnotations(own)
}

// annotate sets an annotation to the JSON of a value.
func annotate(o metav1.Object, name string, value any, is bool) {
	data, err := json.Marshal(value)
	if !is || err != nil {
		return
	}
	all := o.GetAnnotations()
	if all == nil {
		all = map[string]string{}
	}
	all[name] = string(data)
	o.SetAnnotations(all)
}

// annotated returns the value of an annotation, or the zero value if there is none or it cannot be read.
func annotated[T any](o metav1.Object, name string) (value T) {
	if err := json.Unmarshal([]byte(o.GetAnnotations()[name]), &value); err != nil {
		return *new(T)
	}
	return value
}

// behavior is the form of the annotation, which upstream makes of a type without names for JSON.
type behavior struct{ ScaleUp, ScaleDown *scalingRules }

type scalingRules struct {
	StabilizationWindowSeconds *int32
	SelectPolicy               *autoscalingv2.ScalingPolicySelect
	Policies                   []scalingPolicy
	Tolerance                  *resource.Quantity
}

type scalingPolicy struct {
	Type                 autoscalingv2.HPAScalingPolicyType
	Value, PeriodSeconds int32
}

func behaviorToV1(b *autoscalingv2.HorizontalPodAutoscalerBehavior) behavior {
	rules := func(r *autoscalingv2.HPAScalingRules) *scalingRules {
		if r == nil {
			return nil
		}
		out := &scalingRules{StabilizationWindowSeconds: r.StabilizationWindowSeconds, SelectPolicy: r.SelectPolicy, Tolerance: r.Tolerance}
		for _, p := range r.Policies {
			out.Policies = append(out.Policies, scalingPolicy(p))
		}
		return out
	}
	if b == nil {
		return behavior{}
	}
	return behavior{rules(b.ScaleUp), rules(b.ScaleDown)}
}

func (r *scalingRules) rules() *autoscalingv2.HPAScalingRules {
	if r == nil {
		return nil
	}
	out := &autoscalingv2.HPAScalingRules{StabilizationWindowSeconds: r.StabilizationWindowSeconds, SelectPolicy: r.SelectPolicy, Tolerance: r.Tolerance}
	out.Policies = []autoscalingv2.HPAScalingPolicy{} // not nil: v1 has no default for them, and they are required
	for _, p := range r.Policies {
		out.Policies = append(out.Policies, autoscalingv2.HPAScalingPolicy(p))
	}
	return out
}
