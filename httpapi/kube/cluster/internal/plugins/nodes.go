package plugins

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	writes "github.com/kubecoord/kubecoord/store/admission"
)

// taintNode is the plugin TaintNodesByCondition: no Pod is scheduled to a new node before it is ready.
func taintNode(_ *writes.Attributes, node *corev1.Node) error {
	notReady := corev1.Taint{Key: corev1.TaintNodeNotReady, Effect: corev1.TaintEffectNoSchedule}
	if !slices.ContainsFunc(node.Spec.Taints, func(t corev1.Taint) bool { return t.MatchTaint(&notReady) }) {
		node.Spec.Taints = append(node.Spec.Taints, notReady)
	}
	return nil
}

// tolerateNodes is the plugin DefaultTolerationSeconds: a Pod stays for a time on a node that is not ready or not reachable.
func (r *reader) tolerateNodes(_ *writes.Attributes, pod *corev1.Pod) error {
	has := func(key string) bool {
		return slices.ContainsFunc(pod.Spec.Tolerations, func(t corev1.Toleration) bool {
			return (t.Key == key || t.Key == "") && (t.Effect == corev1.TaintEffectNoExecute || t.Effect == "")
		})
	}
	for _, t := range []struct {
		key     string
		seconds int64
	}{{corev1.TaintNodeNotReady, r.tolerate.NotReady}, {corev1.TaintNodeUnreachable, r.tolerate.Unreachable}} {
		if !has(t.key) {
			pod.Spec.Tolerations = append(pod.Spec.Tolerations, corev1.Toleration{
				Key: t.key, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute, TolerationSeconds: new(t.seconds),
			})
		}
	}
	return nil
}
