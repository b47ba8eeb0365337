package scheme

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/kubecoord/kubecoord/httpapi/kube/scheme/internal/warnings"
	"github.com/kubecoord/kubecoord/store/meta"
)

// This file is what is left of the annotations for AppArmor: a container of a new pod that has only the annotation gets the member in
// place of it (upstream: registry/core/pod/strategy.go, applyAppArmorVersionSkew).

// warnAppArmor warns about annotations that become members, and about annotations that cannot.
func warnAppArmor(o meta.Object) (texts []string) {
	pod := value[corev1.Pod](o)
	eachAnnotated(pod, func(c *corev1.Container, p *corev1.AppArmorProfile) {
		if p == nil || !equality.Semantic.DeepEqual(p, podProfile(pod)) {
			texts = append(texts, warnings.AppArmor(c.Name))
		}
	})
	return texts
}

// setAppArmor sets the profiles of containers, unless the profile of the pod is the same.
func setAppArmor(pod *corev1.Pod) {
	eachAnnotated(pod, func(c *corev1.Container, p *corev1.AppArmorProfile) {
		if p == nil || equality.Semantic.DeepEqual(p, podProfile(pod)) {
			return
		}
		if c.SecurityContext == nil {
			c.SecurityContext = &corev1.SecurityContext{}
		}
		c.SecurityContext.AppArmorProfile = p
	})
}

func podProfile(pod *corev1.Pod) *corev1.AppArmorProfile {
	if pod.Spec.SecurityContext == nil {
		return nil
	}
	return pod.Spec.SecurityContext.AppArmorProfile
}

// eachAnnotated calls do with each container that has the annotation and not the member, and with the profile that the annotation
// names, nil if that is not valid.
func eachAnnotated(pod *corev1.Pod, do func(*corev1.Container, *corev1.AppArmorProfile)) {
	if len(pod.Annotations) == 0 || pod.Spec.OS != nil && pod.Spec.OS.Name == corev1.Windows {
		return
	}
	visit := func(c *corev1.Container) {
		text, ok := pod.Annotations[corev1.DeprecatedAppArmorBetaContainerAnnotationKeyPrefix+c.Name]
		if !ok || c.SecurityContext != nil && c.SecurityContext.AppArmorProfile != nil {
			return
		}
		p := warnings.Profile(text)
		if p != nil && p.LocalhostProfile != nil && !isProfileName(*p.LocalhostProfile) {
			p = nil
		}
		do(c, p)
	}
	for i := range pod.Spec.InitContainers {
		visit(&pod.Spec.InitContainers[i])
	}
	for i := range pod.Spec.Containers {
		visit(&pod.Spec.Containers[i])
	}
	for i := range pod.Spec.EphemeralContainers {
		visit((*corev1.Container)(&pod.Spec.EphemeralContainers[i].EphemeralContainerCommon))
	}
}

// isProfileName reports whether the member may have a name.
func isProfileName(name string) bool {
	const longest = 4095 // as a path of Linux
	return strings.TrimSpace(name) == name && len(name) <= longest
}
