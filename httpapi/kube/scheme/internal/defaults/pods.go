package defaults

import (
	"github.com/distribution/reference"
	corev1 "k8s.io/api/core/v1"
)

func addPods(r rules) {
	on(r, pod)
	on(r, func(s *corev1.PodSpec) {
		value(&s.DNSPolicy, corev1.DNSClusterFirst)
		value(&s.RestartPolicy, corev1.RestartPolicyAlways)
		pointer(&s.SecurityContext, corev1.PodSecurityContext{})
		pointer(&s.TerminationGracePeriodSeconds, corev1.DefaultTerminationGracePeriodSeconds)
		value(&s.SchedulerName, corev1.DefaultSchedulerName)
	})
	on(r, container)
	on(r, func(c *corev1.EphemeralContainerCommon) { container((*corev1.Container)(c)) })
	on(r, func(p *corev1.ContainerPort) { value(&p.Protocol, corev1.ProtocolTCP) })
	on(r, func(p *corev1.Probe) {
		value(&p.TimeoutSeconds, 1)
		value(&p.PeriodSeconds, 10)
		value(&p.SuccessThreshold, 1)
		value(&p.FailureThreshold, 3)
	})
	on(r, func(a *corev1.HTTPGetAction) {
		value(&a.Path, "/")
		value(&a.Scheme, corev1.URISchemeHTTP)
	})
	on(r, func(a *corev1.GRPCAction) { pointer(&a.Service, "") })
	on(r, func(s *corev1.ObjectFieldSelector) { value(&s.APIVersion, "v1") })
	on(r, func(s *corev1.FileKeySelector) { pointer(&s.Optional, false) })
}

func container(c *corev1.Container) {
	value(&c.ImagePullPolicy, pullPolicy(c.Image))
	value(&c.TerminationMessagePath, corev1.TerminationMessagePathDefault)
	value(&c.TerminationMessagePolicy, corev1.TerminationMessageReadFile)
}

// pullPolicy returns Always for an image of tag latest, named or implied. A reference that does not parse implies no tag.
func pullPolicy(image string) corev1.PullPolicy {
	named, err := reference.ParseNormalizedNamed(image)
	if err != nil {
		return corev1.PullIfNotPresent
	}
	if tagged, ok := named.(reference.Tagged); ok && tagged.Tag() != "latest" {
		return corev1.PullIfNotPresent
	} else if _, digested := named.(reference.Digested); digested && !ok {
		return corev1.PullIfNotPresent
	}
	return corev1.PullAlways
}

// pod sets what only a Pod gets and a template does not.
func pod(p *corev1.Pod) {
	for _, containers := range [][]corev1.Container{p.Spec.Containers, p.Spec.InitContainers} {
		for i := range containers {
			if res := &containers[i].Resources; res.Limits != nil {
				if res.Requests == nil {
					res.Requests = corev1.ResourceList{}
				}
				missing(res.Requests, res.Limits)
			}
			if p.Spec.HostNetwork {
				for j := range containers[i].Ports {
					value(&containers[i].Ports[j].HostPort, containers[i].Ports[j].ContainerPort)
				}
			}
		}
	}
	pointer(&p.Spec.EnableServiceLinks, corev1.DefaultEnableServiceLinks)
}
