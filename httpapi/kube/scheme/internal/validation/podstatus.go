package validation

import (
	"fmt"
	"math"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metavalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation"
)

// This file checks what a kubelet and the scheduler report about a pod.

// A statusList are the statuses of the containers of one sort, and these containers.
type statusList struct {
	at         loc
	statuses   []corev1.ContainerStatus
	containers []corev1.Container
}

func (l *statusList) users(e *errs, system *corev1.PodOS) {
	for i, s := range l.statuses {
		if s.User == nil || s.User.Linux == nil {
			continue
		}
		p, user := l.at.Index(i).Child("user", "linux"), s.User.Linux
		switch {
		case system != nil && system.Name == corev1.Windows:
			e.forbidden(p, "cannot be set for a windows pod")
			continue
		case system != nil && system.Name != corev1.Linux:
			continue
		case user.UID < 0 || user.UID > math.MaxUint32:
			e.invalid(p.Child("uid"), user.UID, fmt.Sprintf("must be between 0 and %d, inclusive", int64(math.MaxUint32)))
		}
		e.invalids(p.Child("gid"), user.GID, validation.IsValidGroupID(user.GID))
		for j, group := range user.SupplementalGroups {
			e.invalids(p.Child("supplementalGroups").Index(j), group, validation.IsValidGroupID(group))
		}
	}
}

// allocated checks the resources that containers have got, and their health.
func (l *statusList) allocated(e *errs, claim *corev1.PodExtendedResourceClaimStatus) {
	for i, s := range l.statuses {
		k := slices.IndexFunc(l.containers, func(c corev1.Container) bool { return c.Name == s.Name })
		for j, r := range s.AllocatedResourcesStatus {
			p := l.at.Index(i).Child("allocatedResourcesStatus").Index(j)
			if k >= 0 {
				allocatedName(e, p.Child("name"), r.Name, &l.containers[k], claim)
			}
			resourceHealth(e, p.Child("resources"), r.Resources)
		}
	}
}

func allocatedName(e *errs, p loc, name corev1.ResourceName, c *corev1.Container, claim *corev1.PodExtendedResourceClaimStatus) {
	ref, claimed := strings.CutPrefix(string(name), "claim:")
	if !claimed {
		if _, ok := c.Resources.Requests[name]; !ok {
			e.invalid(p, name, "must match one of the container's resource requests")
		}
		return
	}
	if slices.ContainsFunc(c.Resources.Claims, func(r corev1.ResourceClaim) bool {
		return ref == r.Name && r.Request == "" || r.Request != "" && ref == r.Name+"/"+r.Request
	}) {
		return
	}
	of, request, _ := strings.Cut(ref, "/")
	if claim != nil && of != "" && request != "" && of == claim.ResourceClaimName &&
		slices.ContainsFunc(claim.RequestMappings, func(m corev1.ContainerExtendedResourceRequest) bool {
			q := c.Resources.Requests[corev1.ResourceName(m.ResourceName)]
			return m.ContainerName == c.Name && m.RequestName == request && !q.IsZero()
		}) {
		return
	}
	e.invalid(p, name, "must match one of the container's resource claims as 'claim:<claimName>/<requestName>' when container.resources.claims[*].request is set "+
		"or 'claim:<claimName>' when it is empty")
}

func resourceHealth(e *errs, p loc, list []corev1.ResourceHealth) {
	known := seen[corev1.ResourceID]{}
	for i, r := range list {
		p := p.Index(i)
		oneOf(e, p.Child("health"), r.Health, corev1.ResourceHealthStatusHealthy, corev1.ResourceHealthStatusUnhealthy, corev1.ResourceHealthStatusUnknown)
		if m := r.Message; m != nil && *m == "" {
			e.required(p.Child("message"), "must be non-empty if specified")
		} else if m != nil && len(*m) > corev1.ResourceHealthMessageMaxLength {
			e.tooLong(p.Child("message"), corev1.ResourceHealthMessageMaxLength)
		}
		if known.again(r.ResourceID) {
			e.duplicate(p.Child("resourceID"), r.ResourceID)
		}
	}
}

// images checks the images of volumes, which a server drops from a status without the feature.
func (l *statusList) images(e *errs) {
	for i, s := range l.statuses {
		for j, m := range s.VolumeMounts {
			if m.VolumeStatus == nil || m.VolumeStatus.Image == nil || !e.gates.Enabled("ImageVolumeWithDigest") {
				continue
			}
			p, ref := l.at.Index(i).Child("volumeMounts").Index(j).Child("volumeStatus", "imageVolumeStatus", "imageRef"), m.VolumeStatus.Image.ImageRef
			if ref == "" {
				e.required(p, "imageRef must not be empty")
			} else if len(ref) > 256 {
				e.tooLong(p, 256)
			}
		}
	}
}

// extendedClaim checks the claim that was made for the extended resources of a pod.
func extendedClaim(e *errs, p loc, s *corev1.PodExtendedResourceClaimStatus, spec *corev1.PodSpec) {
	if s == nil {
		return
	}
	mappings, named, known := p.Child("requestMappings"), p.Child("requestName"), seen[corev1.ContainerExtendedResourceRequest]{}
	if len(s.RequestMappings) == 0 {
		e.required(mappings, "at least one request mapping is required")
	}
	requests := map[string]corev1.ResourceList{}
	for _, c := range slices.Concat(spec.InitContainers, spec.Containers) {
		requests[c.Name] = c.Resources.Requests
	}
	for i, m := range s.RequestMappings {
		p := mappings.Index(i)
		if list, ok := requests[m.ContainerName]; !ok {
			e.invalid(p.Child("containerName"), m.ContainerName, "must match the name of an entry in spec.initContainers.name or spec.containers.name")
		} else if _, ok := list[corev1.ResourceName(m.ResourceName)]; !ok {
			e.invalid(p.Child("resourceName"), m.ResourceName, "must match the extended resource name of an entry in spec.initContainers.resources.requests or spec.containers.resources.requests")
		}
		e.label(named, m.RequestName) // upstream's path leaves out the entry
		if known.again(m) {
			e.duplicate(p.Child("containerName"), m.ContainerName)
			e.duplicate(p.Child("resourceName"), m.ResourceName)
			e.duplicate(p.Child("requestName"), m.RequestName)
		}
	}
	if e.present(p.Child("resourceClaimName"), s.ResourceClaimName); s.ResourceClaimName != "" {
		e.invalids(p.Child("resourceClaimName"), s.ResourceClaimName, apivalidation.NameIsDNSSubdomain(s.ResourceClaimName, false))
	}
}

// nodeClaims checks the claims by which a pod takes resources of its node.
func nodeClaims(e *errs, p loc, s *corev1.PodStatus, spec *corev1.PodSpec) {
	named := map[string]bool{}
	for _, c := range spec.ResourceClaims {
		named[deref(c.ResourceClaimName)] = true
	}
	for _, c := range s.ResourceClaimStatuses {
		named[deref(c.ResourceClaimName)] = true
	}
	name := func(p loc, name corev1.ResourceName) {
		if !nodeAllocatable(name) {
			e.invalid(p.Child("name"), name, "must be a node allocatable resource name")
		}
	}
	for i, c := range s.NodeAllocatableResourceClaimStatuses {
		p := p.Index(i)
		if c.ResourceClaimName == "" {
			continue
		}
		if !named[c.ResourceClaimName] {
			e.invalid(p.Child("resourceClaimName"), c.ResourceClaimName, "no mapping found in pod reference")
		}
		for j, m := range c.Mapping {
			p := p.Child("mapping").Index(j)
			name(p, m.Name)
			notBelow(e, p.Child("quantity"), m.Quantity, 0, "must be non-negative")
		}
		for j, o := range c.Overhead {
			p := p.Child("overhead").Index(j)
			name(p, o.Name)
			if o.PerPod == nil && o.PerContainer == nil {
				e.invalid(p, "", "at least one of perPod or perContainer must be set")
			}
			notBelow(e, p.Child("perPod"), o.PerPod, 0, "must be non-negative")
			notBelow(e, p.Child("perContainer"), o.PerContainer, 0, "must be non-negative")
		}
	}
}

func volumeHealth(e *errs, p loc, list []corev1.PodVolumeHealth, spec *corev1.PodSpec) {
	for i, v := range list {
		p := p.Index(i)
		if v.Name != "" && !slices.ContainsFunc(spec.Volumes, func(volume corev1.Volume) bool { return volume.Name == v.Name }) {
			e.notFound(p.Child("name"), v.Name)
		}
		healthConditions(e, p.Child("healthConditions"), v.HealthConditions)
	}
}

func healthConditions(e *errs, p loc, list []corev1.VolumeHealthCondition) {
	for i, c := range list {
		if c.Reason != "" {
			e.invalids(p.Index(i).Child("reason"), c.Reason, metavalidation.IsValidConditionReason(c.Reason))
		}
	}
}
