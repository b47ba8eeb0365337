package plugins

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"

	writes "github.com/kubecoord/kubecoord/store/admission"
	"github.com/kubecoord/kubecoord/store/kind"
)

// admitPriority is the plugin Priority for Pods: a new Pod gets the priority of its class.
func (r *reader) admitPriority(a *writes.Attributes, pod *corev1.Pod) error {
	if a.Operation == writes.Update {
		keepPriority(&pod.Spec, &kind.ValueOf[corev1.Pod](a.Old).Spec)
		return nil
	}
	class, err := r.priorityClass(a, pod.Spec.PriorityClassName)
	if err != nil {
		return err
	}
	pod.Spec.PriorityClassName = class.Name
	if p := pod.Spec.Priority; p != nil && *p != class.Value {
		return refuse(a, fmt.Errorf("the integer value of priority (%d) must not be provided in pod spec; priority admission controller computed %d from the given PriorityClass name", *p, class.Value))
	}
	pod.Spec.Priority = new(class.Value)
	if class.PreemptionPolicy == nil {
		return nil
	}
	if p := pod.Spec.PreemptionPolicy; p != nil && *p != *class.PreemptionPolicy {
		return refuse(a, fmt.Errorf("the string value of PreemptionPolicy (%s) must not be provided in pod spec; priority admission controller computed %s from the given PriorityClass name", *p, *class.PreemptionPolicy))
	}
	pod.Spec.PreemptionPolicy = new(*class.PreemptionPolicy)
	return nil
}

// keepPriority keeps what an update leaves out. Validation refuses another priority.
func keepPriority(spec, old *corev1.PodSpec) {
	if spec.Priority == nil && old.Priority != nil {
		spec.Priority = new(*old.Priority)
	}
	if spec.PreemptionPolicy == nil && old.PreemptionPolicy != nil {
		spec.PreemptionPolicy = new(*old.PreemptionPolicy)
	}
}

// priorityClass returns the class of a name, or the default class for "".
func (r *reader) priorityClass(a *writes.Attributes, name string) (*schedulingv1.PriorityClass, error) {
	if name == "" {
		if class := r.defaultPriorityClass(); class != nil {
			return class, nil
		}
		return &schedulingv1.PriorityClass{PreemptionPolicy: new(corev1.PreemptLowerPriority)}, nil
	}
	if class := r.priorityClasses.Get("", name); class != nil {
		return class, nil
	}
	return nil, refuse(a, fmt.Errorf("no PriorityClass with name %v was found", name))
}

// defaultPriorityClass returns the default with the lowest priority, or nil.
func (r *reader) defaultPriorityClass() (lowest *schedulingv1.PriorityClass) {
	for class := range r.priorityClasses.All("") {
		if class.GlobalDefault && (lowest == nil || lowest.Value > class.Value) {
			lowest = class
		}
	}
	return lowest
}

// validatePriorityClass is the plugin Priority for classes: only one may be the default.
func (r *reader) validatePriorityClass(a *writes.Attributes, class *schedulingv1.PriorityClass) error {
	if !class.GlobalDefault {
		return nil
	}
	if have := r.defaultPriorityClass(); have != nil && (a.Operation == writes.Create || have.Name != class.Name) {
		return refuse(a, fmt.Errorf("PriorityClass %v is already marked as default. Only one default can exist", have.Name))
	}
	return nil
}
