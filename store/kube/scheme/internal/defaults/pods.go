package defaults

import (
	"strings"

	"github.com/distribution/reference"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/component-helpers/resource"
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
	if p.Spec.Resources != nil {
		podLimits(p)
		podRequests(p)
	}
	pointer(&p.Spec.EnableServiceLinks, corev1.DefaultEnableServiceLinks)
}

// podLimits limits a pod's huge pages to what its containers may have together (KEP-2837).
func podLimits(p *corev1.Pod) {
	res := p.Spec.Resources
	if len(res.Limits) == 0 && len(res.Requests) == 0 {
		return
	}
	for name, q := range resource.AggregateContainerLimits(p, resource.PodResourcesOptions{}) {
		_, requested := res.Requests[name]
		if _, limited := res.Limits[name]; limited || requested || !hugePages(name) {
			continue
		}
		if res.Limits == nil {
			res.Limits = corev1.ResourceList{}
		}
		res.Limits[name] = q.DeepCopy()
	}
}

// podRequests derives a pod's requests, if it has limits, from its containers' requests, then from its limits (KEP-2837).
func podRequests(p *corev1.Pod) {
	res := p.Spec.Resources
	if len(res.Limits) == 0 {
		return
	}
	requests := corev1.ResourceList{}
	for name, q := range resource.AggregateContainerRequests(p, resource.PodResourcesOptions{}) {
		if resource.IsSupportedPodLevelResource(name) && !hugePages(name) {
			requests[name] = q
		}
	}
	for name, q := range res.Limits {
		if _, ok := requests[name]; !ok && resource.IsSupportedPodLevelResource(name) {
			requests[name] = q
		}
	}
	if res.Requests == nil && len(requests) > 0 {
		res.Requests = corev1.ResourceList{}
	}
	missing(res.Requests, requests)
}

func hugePages(name corev1.ResourceName) bool {
	return strings.HasPrefix(string(name), corev1.ResourceHugePagesPrefix)
}
