package defaults

import (
	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
)

func addScheduling(r rules) {
	on(r, func(c *schedulingv1.PriorityClass) { pointer(&c.PreemptionPolicy, corev1.PreemptLowerPriority) })
}
