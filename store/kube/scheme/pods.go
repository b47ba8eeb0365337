package scheme

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecoord/kubecoord/store/meta"
)

// createPod sets the status of a new pod, and the label selectors that matchLabelKeys stand for (upstream:
// registry/core/pod/strategy.go).
func createPod(p *corev1.Pod) {
	p.Status = corev1.PodStatus{Phase: corev1.PodPending, QOSClass: qosClass(&p.Spec)}
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

// qosClass returns the quality of service that a pod's requests and limits of CPU and memory ask for (upstream:
// apis/core/helper/qos).
func qosClass(s *corev1.PodSpec) corev1.PodQOSClass {
	requests, limits := corev1.ResourceList{}, corev1.ResourceList{}
	guaranteed := true
	count := func(r corev1.ResourceRequirements, needsLimits bool) {
		addCompute(requests, r.Requests)
		if found := addCompute(limits, r.Limits); needsLimits && found < 2 {
			guaranteed = false
		}
	}
	if s.Resources != nil {
		count(*s.Resources, len(s.Resources.Limits) > 0)
	} else {
		for _, containers := range [][]corev1.Container{s.Containers, s.InitContainers} {
			for _, c := range containers {
				count(c.Resources, true)
			}
		}
	}
	if len(requests) == 0 && len(limits) == 0 {
		return corev1.PodQOSBestEffort
	}
	for name, request := range requests {
		if limit, ok := limits[name]; !ok || limit.Cmp(request) != 0 {
			guaranteed = false
		}
	}
	if guaranteed && len(requests) == len(limits) {
		return corev1.PodQOSGuaranteed
	}
	return corev1.PodQOSBurstable
}

// addCompute adds the amounts of CPU and memory above zero, and returns how many there are.
func addCompute(sum, list corev1.ResourceList) (found int) {
	for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} {
		if q, ok := list[name]; ok && q.Cmp(resource.Quantity{}) > 0 {
			q = q.DeepCopy()
			q.Add(sum[name])
			sum[name] = q
			found++
		}
	}
	return found
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

// Evictor decides about evictions. It may be called from any goroutine.
type Evictor interface {
	// Evict may refuse the eviction of a pod, which it must not change. If exact, the eviction starts again when the pod has changed
	// meanwhile. The error is the answer of the request.
	Evict(ctx context.Context, pod *corev1.Pod, dryRun bool) (exact bool, err error)
}

type evictorKey struct{}

// WithEvictor returns a context in which e decides about evictions. Without an Evictor all evictions are allowed.
func WithEvictor(ctx context.Context, e Evictor) context.Context {
	return context.WithValue(ctx, evictorKey{}, e)
}

// mayEvict asks the Evictor of a request.
func mayEvict(ctx context.Context, pod meta.Object, dryRun bool) (exact bool, err error) {
	e, ok := ctx.Value(evictorKey{}).(Evictor)
	if !ok {
		return false, nil
	}
	return e.Evict(ctx, value[corev1.Pod](pod), dryRun)
}
