package plugins

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"

	writes "github.com/kubecoord/kubecoord/store/admission"
)

// admitRuntimeClass is the plugin RuntimeClass: a new Pod gets the overhead, the node selector and the tolerations of its class.
func (r *reader) admitRuntimeClass(a *writes.Attributes, pod *corev1.Pod) error {
	class, err := r.runtimeClass(a, pod)
	if err != nil || class == nil {
		return err
	}
	if class.Overhead != nil {
		fixed := class.Overhead.PodFixed
		if len(pod.Spec.Overhead) > 0 && !apiequality.Semantic.DeepEqual(fixed, pod.Spec.Overhead) {
			return refuse(a, errors.New("pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead"))
		}
		pod.Spec.Overhead = fixed.DeepCopy()
	}
	if class.Scheduling == nil {
		return nil
	}
	for _, key := range slices.Sorted(maps.Keys(class.Scheduling.NodeSelector)) {
		want := class.Scheduling.NodeSelector[key]
		if have, ok := pod.Spec.NodeSelector[key]; ok && have != want {
			return refuse(a, fmt.Errorf("conflict: runtimeClass.scheduling.nodeSelector[%s] = %s; pod.spec.nodeSelector[%s] = %s", key, want, key, have))
		}
		if pod.Spec.NodeSelector == nil {
			pod.Spec.NodeSelector = map[string]string{}
		}
		pod.Spec.NodeSelector[key] = want
	}
	pod.Spec.Tolerations = mergeTolerations(pod.Spec.Tolerations, class.Scheduling.DeepCopy().Tolerations)
	return nil
}

// validateRuntimeClass refuses a Pod with another overhead than its class.
func (r *reader) validateRuntimeClass(a *writes.Attributes, pod *corev1.Pod) error {
	class, err := r.runtimeClass(a, pod)
	switch {
	case err != nil:
		return err
	case class == nil || class.Overhead == nil:
		if pod.Spec.Overhead != nil {
			return refuse(a, errors.New("pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead"))
		}
	case !apiequality.Semantic.DeepEqual(class.Overhead.PodFixed, pod.Spec.Overhead):
		return refuse(a, errors.New("pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead"))
	}
	return nil
}

// runtimeClass returns the class of a Pod, or nil if it names none.
func (r *reader) runtimeClass(a *writes.Attributes, pod *corev1.Pod) (*nodev1.RuntimeClass, error) {
	name := pod.Spec.RuntimeClassName
	if name == nil {
		return nil, nil
	}
	class := r.runtimeClasses.Get("", *name)
	if class == nil {
		return nil, refuse(a, fmt.Errorf("pod rejected: RuntimeClass %q not found", *name))
	}
	return class, nil
}
