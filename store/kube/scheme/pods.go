package scheme

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecoord/kubecoord/internal/kinds"
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
func setCondition(pod kinds.Object, kind corev1.PodConditionType) error {
	conditions, _ := at(pod, "status", "conditions").([]any)
	now := metav1.Now().UTC().Format(time.RFC3339)
	condition := map[string]any{"type": string(kind), "status": "True", "lastProbeTime": nil, "lastTransitionTime": now}
	for i, c := range conditions {
		if c, ok := c.(map[string]any); ok && c["type"] == string(kind) {
			if c["status"] == "True" {
				condition["lastTransitionTime"] = c["lastTransitionTime"]
			}
			conditions[i] = condition
			return nil
		}
	}
	return set(pod, append(conditions, condition), "status", "conditions")
}

// markEvicted sets the condition by which a pod says why it was deleted (upstream: EvictionREST, addConditionAndDeletePod).
func markEvicted(pod, _ kinds.Object) error {
	if err := setCondition(pod, corev1.DisruptionTarget); err != nil {
		return err
	}
	conditions, _ := at(pod, "status", "conditions").([]any)
	for _, c := range conditions {
		if c, ok := c.(map[string]any); ok && c["type"] == string(corev1.DisruptionTarget) {
			c["reason"], c["message"] = "EvictionByEvictionAPI", "Eviction API: evicting"
		}
	}
	return nil
}

// Evictor decides about evictions.
type Evictor interface {
	// Evict may refuse the eviction of a pod. exact makes the eviction start again if the pod has changed since.
	Evict(ctx context.Context, pod *corev1.Pod, dryRun bool) (exact bool, err error)
}

type evictorKey struct{}

// WithEvictor returns a context for requests whose evictions e decides about. Without one all are allowed.
func WithEvictor(ctx context.Context, e Evictor) context.Context {
	return context.WithValue(ctx, evictorKey{}, e)
}

// mayEvict returns the function that asks the Evictor of a request.
func mayEvict(t *objectType) func(context.Context, kinds.Object, bool) (bool, error) {
	return func(ctx context.Context, o kinds.Object, dryRun bool) (bool, error) {
		e, ok := ctx.Value(evictorKey{}).(Evictor)
		if !ok {
			return false, nil
		}
		pod, err := t.typed(o)
		if err != nil {
			return false, err
		}
		return e.Evict(ctx, pod.(*corev1.Pod), dryRun)
	}
}
