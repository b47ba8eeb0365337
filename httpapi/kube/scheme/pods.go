package scheme

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecoord/kubecoord/httpapi/kube/internal/ask"
	"github.com/kubecoord/kubecoord/httpapi/kube/scheme/internal/validation"
	"github.com/kubecoord/kubecoord/store/meta"
)

// createPod sets the status of a new pod, and the label selectors that matchLabelKeys stand for (upstream:
// registry/core/pod/strategy.go).
func createPod(p *corev1.Pod) {
	defaultPodResources(&p.Spec)
	p.Status = corev1.PodStatus{Phase: corev1.PodPending, QOSClass: validation.QOSClass(&p.Spec)}
	if len(p.Spec.SchedulingGates) > 0 {
		p.Status.Conditions = []corev1.PodCondition{{
			Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonSchedulingGated,
			LastTransitionTime: p.CreationTimestamp, Message: "Scheduling is blocked due to non-empty scheduling gates",
		}}
	}
	for i := range p.Spec.TopologySpreadConstraints {
		c := &p.Spec.TopologySpreadConstraints[i]
		addLabelKeys(c.LabelSelector, c.MatchLabelKeys, metav1.LabelSelectorOpIn, p.Labels)
	}
	setAppArmor(p)
	if p.Spec.Affinity == nil {
		return
	}
	if a := p.Spec.Affinity.PodAffinity; a != nil {
		addAffinityKeys(a.PreferredDuringSchedulingIgnoredDuringExecution, a.RequiredDuringSchedulingIgnoredDuringExecution, p.Labels)
	}
	if a := p.Spec.Affinity.PodAntiAffinity; a != nil {
		addAffinityKeys(a.PreferredDuringSchedulingIgnoredDuringExecution, a.RequiredDuringSchedulingIgnoredDuringExecution, p.Labels)
	}
}

func addAffinityKeys(preferred []corev1.WeightedPodAffinityTerm, required []corev1.PodAffinityTerm, of map[string]string) {
	add := func(t *corev1.PodAffinityTerm) {
		addLabelKeys(t.LabelSelector, t.MatchLabelKeys, metav1.LabelSelectorOpIn, of)
		addLabelKeys(t.LabelSelector, t.MismatchLabelKeys, metav1.LabelSelectorOpNotIn, of)
	}
	for i := range preferred {
		add(&preferred[i].PodAffinityTerm)
	}
	for i := range required {
		add(&required[i])
	}
}

// addLabelKeys adds requirements for the values that the pod's labels have for keys. A selector that is nil matches nothing.
func addLabelKeys(s *metav1.LabelSelector, keys []string, op metav1.LabelSelectorOperator, of map[string]string) {
	if s == nil {
		return
	}
	for _, key := range keys {
		if value, ok := of[key]; ok {
			s.MatchExpressions = append(s.MatchExpressions, metav1.LabelSelectorRequirement{Key: key, Operator: op, Values: []string{value}})
		}
	}
}

// setCondition sets a condition of a pod to True.
func setCondition(pod *corev1.Pod, condition corev1.PodCondition) {
	condition.Status, condition.LastTransitionTime = corev1.ConditionTrue, metav1.Now()
	for i, c := range pod.Status.Conditions {
		if c.Type == condition.Type {
			if c.Status == corev1.ConditionTrue {
				condition.LastTransitionTime = c.LastTransitionTime
			}
			pod.Status.Conditions[i] = condition
			return
		}
	}
	pod.Status.Conditions = append(pod.Status.Conditions, condition)
}

// markEvicted sets the condition by which a pod says why it was deleted (upstream: EvictionREST, addConditionAndDeletePod).
func markEvicted(pod, _ meta.Object) error {
	setCondition(value[corev1.Pod](pod), corev1.PodCondition{
		Type: corev1.DisruptionTarget, Reason: "EvictionByEvictionAPI", Message: "Eviction API: evicting",
	})
	return nil
}

// mayEvict asks the Evictor of a request.
func mayEvict(ctx context.Context, pod meta.Object, dryRun bool) (exact bool, err error) {
	e := ask.Of[ask.Evictor](ctx)
	if e == nil {
		return false, nil
	}
	return e.Evict(ctx, value[corev1.Pod](pod), dryRun)
}
