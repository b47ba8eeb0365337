package plugins

import (
	"context"
	"fmt"
	"maps"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilversion "k8s.io/apimachinery/pkg/util/version"
	"k8s.io/component-base/version"
	ndf "k8s.io/component-helpers/nodedeclaredfeatures"
	podresources "k8s.io/component-helpers/resource"

	writes "github.com/kubecoord/kubecoord/store/admission"
	"github.com/kubecoord/kubecoord/store/kind"
)

// This file has the plugins for Pods that are on a node.

// copyTopology is the plugin PodTopologyLabels: a Pod gets the zone and the region of its node, which a Binding hands on.
func (r *reader) copyTopology(_ context.Context, a *writes.Attributes) error {
	if a.Operation != writes.Create {
		return nil
	}
	var node *corev1.Node
	switch a.Subresource {
	case "":
		if pod := kind.ValueOf[corev1.Pod](a.Object); pod != nil && pod.Spec.NodeName != "" {
			node = r.nodes.Get("", pod.Spec.NodeName)
		}
	case "binding":
		if b := kind.ValueOf[corev1.Binding](a.Object); b != nil && b.Target.Kind == "Node" {
			node = r.nodes.Get("", b.Target.Name)
		}
	}
	if node == nil {
		return nil
	}
	for _, label := range []string{corev1.LabelTopologyZone, corev1.LabelTopologyRegion} {
		if value, has := node.Labels[label]; has {
			m := a.Object.GetObjectMeta()
			m.Labels = maps.Clone(m.Labels)
			if m.Labels == nil {
				m.Labels = map[string]string{}
			}
			m.Labels[label] = value
		}
	}
	return nil
}

// checkNodeFeatures is the plugin NodeDeclaredFeatureValidator: an update of a Pod needs the features of its node.
func (r *reader) checkNodeFeatures(_ context.Context, a *writes.Attributes) error {
	pod, old := kind.ValueOf[corev1.Pod](a.Object), kind.ValueOf[corev1.Pod](a.Old)
	if pod == nil || old == nil || a.Subresource != "" && a.Subresource != "resize" || pod.Spec.NodeName == "" || pod.Generation == old.Generation {
		return nil
	}
	needs, err := ndf.DefaultFramework.InferForPodUpdate(&ndf.PodInfo{Spec: &old.Spec, Status: &old.Status},
		&ndf.PodInfo{Spec: &pod.Spec, Status: &pod.Status}, utilversion.MustParse(version.DefaultKubeBinaryVersion))
	switch {
	case err != nil:
		return refuse(a, fmt.Errorf("failed to infer pod capability requirements: %w", err))
	case needs.IsEmpty():
		return nil
	}
	node := r.nodes.Get("", pod.Spec.NodeName)
	if node == nil {
		return refuse(a, fmt.Errorf("node %q not found", pod.Spec.NodeName))
	}
	match, err := ndf.DefaultFramework.MatchNode(needs, node)
	switch {
	case err != nil:
		return refuse(a, fmt.Errorf("failed to match pod requirements against node %q: %w", node.Name, err))
	case !match.IsMatch:
		return refuse(a, fmt.Errorf("pod update requires features %s which are not available on node %q", strings.Join(match.UnsatisfiedRequirements, ", "), node.Name))
	}
	return nil
}

// checkResize is the plugin PodResizeValidator: what a Pod asks for must fit on its node.
func (r *reader) checkResize(_ context.Context, a *writes.Attributes) error {
	pod, old := kind.ValueOf[corev1.Pod](a.Object), kind.ValueOf[corev1.Pod](a.Old)
	if a.Subresource != "resize" || pod == nil || old == nil || pod.Spec.NodeName == "" || pod.Generation == old.Generation {
		return nil
	}
	node := r.nodes.Get("", pod.Spec.NodeName)
	if node == nil {
		return refuse(a, fmt.Errorf("node %q not found", pod.Spec.NodeName))
	}
	if os, labelled := node.Labels[corev1.LabelOSStable]; labelled && os != "linux" {
		return refuseFor(a, "UnsupportedPlatform", fmt.Errorf("pod resize is only supported on linux nodes, node %q is %q", node.Name, os))
	}
	var over []string
	requests, allocatable := podresources.PodRequests(pod, podresources.PodResourcesOptions{}), node.Status.Allocatable
	if cpu := requests[corev1.ResourceCPU]; cpu.Cmp(*allocatable.Cpu()) > 0 {
		over = append(over, fmt.Sprintf("cpu, requested: %d, allocatable: %d", cpu.MilliValue(), allocatable.Cpu().MilliValue()))
	}
	if memory := requests[corev1.ResourceMemory]; memory.Cmp(*allocatable.Memory()) > 0 {
		over = append(over, fmt.Sprintf("memory, requested: %d, allocatable: %d", memory.Value(), allocatable.Memory().Value()))
	}
	if over != nil {
		return refuseFor(a, "NodeCapacity", fmt.Errorf("node didn't have enough allocatable resources: %s", strings.Join(over, "; ")))
	}
	return nil
}

// refuseFor is refuse with a cause of a type.
func refuseFor(a *writes.Attributes, cause metav1.CauseType, why error) error {
	err := refuse(a, why)
	if s, is := err.(*apierrors.StatusError); is {
		s.ErrStatus.Details.Causes = append(s.ErrStatus.Details.Causes, metav1.StatusCause{Type: cause})
	}
	return err
}
