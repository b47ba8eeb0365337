package scheme

import (
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	apilabels "k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
)

// treeOf returns an object as a tree. As the JSON of its type, the tree lacks the maps and lists that are empty, but for those
// without which the object would be valid, or would be refused with another text. They have no owners and are not stored, since an
// object that has one is refused.
func treeOf(obj runtime.Object) (map[string]any, error) {
	tree, err := runtime.DefaultUnstructuredConverter.ToUnstructured(obj)
	if err != nil {
		return nil, err
	}
	switch o := obj.(type) {
	case *appsv1.Deployment:
		keepLabels(tree, o.Spec.Template.Labels, o.Spec.Selector)
	case *appsv1.ReplicaSet:
		keepLabels(tree, o.Spec.Template.Labels, o.Spec.Selector)
	case *appsv1.StatefulSet:
		keepLabels(tree, o.Spec.Template.Labels, o.Spec.Selector)
	case *appsv1.DaemonSet:
		keepLabels(tree, o.Spec.Template.Labels, o.Spec.Selector)
	case *batchv1.Job:
		if o.Spec.ManualSelector != nil && *o.Spec.ManualSelector {
			keepLabels(tree, o.Spec.Template.Labels, o.Spec.Selector)
		}
	case *corev1.ReplicationController:
		if o.Spec.Template != nil {
			keepLabels(tree, o.Spec.Template.Labels, &metav1.LabelSelector{MatchLabels: o.Spec.Selector})
		}
	case *corev1.PersistentVolume:
		if capacity := o.Spec.Capacity; capacity != nil && len(capacity) == 0 {
			keep(tree, map[string]any{}, "spec", "capacity")
		}
	case *networkingv1.Ingress:
		if o.Spec.DefaultBackend == nil && given(o.Spec.Rules) {
			keep(tree, []any{}, "spec", "rules")
		}
	case *autoscalingv2.HorizontalPodAutoscaler:
		if b := o.Spec.Behavior; b != nil {
			keepPolicies(tree, b.ScaleUp, "scaleUp")
			keepPolicies(tree, b.ScaleDown, "scaleDown")
		}
	}
	return tree, nil
}

// keepLabels keeps the empty labels of a template that its selector does not select.
func keepLabels(tree map[string]any, have map[string]string, selector *metav1.LabelSelector) {
	if have == nil || len(have) > 0 {
		return
	}
	if s, err := metav1.LabelSelectorAsSelector(selector); err == nil && selector != nil && !s.Matches(apilabels.Set{}) {
		keep(tree, map[string]any{}, "spec", "template", "metadata", "labels")
	}
}

// keepPolicies keeps an empty list of policies. Only a list that is not set has defaults (upstream: apis/autoscaling/v2,
// GenerateHPAScaleUpRules and GenerateHPAScaleDownRules).
func keepPolicies(tree map[string]any, rules *autoscalingv2.HPAScalingRules, name string) {
	if rules != nil && given(rules.Policies) {
		keep(tree, []any{}, "spec", "behavior", name, "policies")
	}
}

// given reports whether an empty list was given.
func given[T any](list []T) bool { return list != nil && len(list) == 0 }

func keep(tree map[string]any, empty any, path ...string) {
	_ = unstructured.SetNestedField(tree, empty, path...) // what is around it are objects
}
