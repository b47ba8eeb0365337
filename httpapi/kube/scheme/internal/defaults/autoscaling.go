package defaults

import (
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
)

// cpuTarget is the use of CPU, in percent of the request, that an autoscaler without metrics aims at.
const cpuTarget int32 = 80

// metricsAnnotation holds the metrics of an autoscaling/v1 object that v1 has no members for.
const metricsAnnotation = "autoscaling.alpha.kubernetes.io/metrics"

func addAutoscaling(r rules) {
	on(r, func(h *autoscalingv1.HorizontalPodAutoscaler) {
		pointer(&h.Spec.MinReplicas, 1)
		if h.Annotations[metricsAnnotation] == "" {
			pointer(&h.Spec.TargetCPUUtilizationPercentage, cpuTarget)
		}
	})
	on(r, func(s *autoscalingv2.HorizontalPodAutoscalerSpec) {
		pointer(&s.MinReplicas, 1)
		if len(s.Metrics) == 0 {
			s.Metrics = []autoscalingv2.MetricSpec{{
				Type: autoscalingv2.ResourceMetricSourceType,
				Resource: &autoscalingv2.ResourceMetricSource{
					Name:   corev1.ResourceCPU,
					Target: autoscalingv2.MetricTarget{Type: autoscalingv2.UtilizationMetricType, AverageUtilization: new(cpuTarget)},
				},
			}}
		}
		if s.Behavior != nil {
			behavior(s.Behavior)
		}
	})
}

// behavior completes both directions, also one that is missing. Only scaling up has a default stabilization window: the
// controller has a flag for the other.
func behavior(b *autoscalingv2.HorizontalPodAutoscalerBehavior) {
	const period = 15
	percent := autoscalingv2.HPAScalingPolicy{Type: autoscalingv2.PercentScalingPolicy, Value: 100, PeriodSeconds: period}
	pods := autoscalingv2.HPAScalingPolicy{Type: autoscalingv2.PodsScalingPolicy, Value: 4, PeriodSeconds: period}
	scaling(&b.ScaleUp, pods, percent)
	pointer(&b.ScaleUp.StabilizationWindowSeconds, 0)
	scaling(&b.ScaleDown, percent)
}

func scaling(rules **autoscalingv2.HPAScalingRules, policies ...autoscalingv2.HPAScalingPolicy) {
	pointer(rules, autoscalingv2.HPAScalingRules{})
	pointer(&(*rules).SelectPolicy, autoscalingv2.MaxChangePolicySelect)
	if (*rules).Policies == nil {
		(*rules).Policies = policies
	}
}
