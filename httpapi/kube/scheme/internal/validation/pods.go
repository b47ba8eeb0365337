package validation

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Annotations of pods that have rules.
const (
	mirrorAnnotation      = "kubernetes.io/config.mirror"
	tolerationsAnnotation = "scheduler.alpha.kubernetes.io/tolerations"
	appArmorAnnotation    = "container.apparmor.security.beta.kubernetes.io/"
	seccompPod            = "seccomp.security.alpha.kubernetes.io/pod"
	seccompContainer      = "container.seccomp.security.alpha.kubernetes.io/"
)

// podCreate checks a Pod, or one that its creation would make.
func podCreate(e *errs, pod *corev1.Pod) {
	p := field.NewPath("spec")
	podObject(e, pod)
	if len(pod.Spec.EphemeralContainers) > 0 {
		e.forbidden(p.Child("ephemeralContainers"), "cannot be set on create")
	}
	if pod.Spec.NodeName != "" && len(pod.Spec.SchedulingGates) > 0 {
		e.forbidden(p.Child("nodeName"), "cannot be set until all schedulingGates have been cleared")
	}
	profiles(e, p, pod.Annotations, &pod.Spec)
}

// podObject checks what holds for a Pod at any time.
func podObject(e *errs, pod *corev1.Pod) {
	p := field.NewPath("spec")
	podAnnotations(e, field.NewPath("metadata", "annotations"), pod.Annotations, &pod.Spec)
	podSpec(e, p, &pod.Spec, &pod.ObjectMeta, true)
	if pod.Spec.ServiceAccountName == "" {
		for i, v := range pod.Spec.Volumes {
			for j, source := range deref(v.Projected).Sources {
				if source.ServiceAccountToken != nil {
					e.forbidden(p.Child("volumes").Index(i).Child("projected", "sources").Index(j).Child("serviceAccountToken"),
						"must not be specified when serviceAccountName is not set")
				}
			}
		}
	}
	counts(e, p.Child("terminationGracePeriodSeconds"), pod.Spec.TerminationGracePeriodSeconds)
	for i, c := range pod.Spec.Containers {
		imageSpace(e, p.Child("containers").Index(i), c.Image)
	}
	for i, c := range pod.Spec.InitContainers {
		imageSpace(e, p.Child("initContainers").Index(i), c.Image)
	}
}

// podTemplate checks the template in the spec of a controller or of a PodTemplate.
func podTemplate(e *errs, p loc, t *corev1.PodTemplateSpec) {
	e.labels(p.Child("labels"), t.Labels)
	e.annotations(p.Child("annotations"), t.Annotations)
	podAnnotations(e, p.Child("annotations"), t.Annotations, &t.Spec)
	spec := p.Child("spec")
	podSpec(e, spec, &t.Spec, nil, false)
	profiles(e, spec, t.Annotations, &t.Spec)
	if len(t.Spec.EphemeralContainers) > 0 {
		e.forbidden(spec.Child("ephemeralContainers"), "ephemeral containers not allowed in pod template")
	}
}

func podAnnotations(e *errs, p loc, annotations map[string]string, spec *corev1.PodSpec) {
	if value, ok := annotations[mirrorAnnotation]; ok && spec.NodeName == "" {
		e.invalid(p.Key(mirrorAnnotation), value, "must set spec.nodeName if mirror pod annotation is set")
	}
	if value := annotations[tolerationsAnnotation]; value != "" {
		var list []corev1.Toleration
		if err := json.Unmarshal([]byte(value), &list); err != nil {
			e.invalid(p, tolerationsAnnotation, err.Error())
		} else {
			tolerations(e, p.Child(tolerationsAnnotation), list)
		}
	}
	if cost, ok := annotations[corev1.PodDeletionCost]; ok {
		n, err := strconv.ParseInt(cost, 10, 32)
		if err != nil || cost != "0" && (cost[0] == '+' || cost[0] == '0' || n == 0 && cost[0] == '-') {
			e.ratchet("deletion cost", func(e *errs) { e.invalid(p.Key(corev1.PodDeletionCost), cost, "must be a 32bit integer") })
		}
	}
	if value, ok := annotations[seccompPod]; ok {
		seccompName(e, p.Child(seccompPod), value)
	}
	for _, key := range sorted(annotations) {
		if strings.HasPrefix(key, seccompContainer) {
			seccompName(e, p.Child(key), annotations[key])
		}
	}
	for _, key := range sorted(annotations) {
		name, ok := strings.CutPrefix(key, appArmorAnnotation)
		if !ok {
			continue
		}
		found := false
		allContainers(spec, nil, func(_ loc, c *corev1.Container) { found = found || c.Name == name })
		if !found {
			e.invalid(p.Key(key), name, "container not found")
		}
		switch value := annotations[key]; {
		case value == "", value == "runtime/default", value == "unconfined", strings.HasPrefix(value, "localhost/"):
		default:
			e.invalid(p.Key(key), value, fmt.Sprintf("invalid AppArmor profile name: %q", value))
		}
	}
}

func seccompName(e *errs, p loc, name string) {
	if file, ok := strings.CutPrefix(name, "localhost/"); ok {
		localPath(e, p, file)
	} else if name != "runtime/default" && name != "docker/default" && name != "unconfined" {
		e.invalid(p, name, "must be a valid seccomp profile")
	}
}

// profiles checks that the old annotations for seccomp and AppArmor agree with the members that replaced them.
func profiles(e *errs, p loc, annotations map[string]string, spec *corev1.PodSpec) {
	pod := deref(spec.SecurityContext)
	if value, ok := annotations[seccompPod]; ok && pod.SeccompProfile != nil {
		s := pod.SeccompProfile
		agree(e, p.Child("securityContext", "seccompProfile"), "seccomp", value, string(s.Type), s.LocalhostProfile)
	}
	allContainers(spec, p, func(p loc, c *corev1.Container) {
		s := deref(c.SecurityContext).SeccompProfile
		if value, ok := annotations[seccompContainer+c.Name]; ok && s != nil {
			agree(e, p.Child("securityContext", "seccompProfile"), "seccomp", value, string(s.Type), s.LocalhostProfile)
		}
	})
	if spec.OS != nil && spec.OS.Name == corev1.Windows {
		return
	}
	allContainers(spec, p, func(p loc, c *corev1.Container) {
		s := deref(c.SecurityContext).AppArmorProfile
		if s == nil {
			s = pod.AppArmorProfile
		}
		if value, ok := annotations[appArmorAnnotation+c.Name]; ok && s != nil {
			agree(e, p.Child("securityContext", "appArmorProfile"), "apparmor", value, string(s.Type), s.LocalhostProfile)
		}
	})
}

func agree(e *errs, p loc, what, annotation, kind string, local *string) {
	file, isLocal := strings.CutPrefix(annotation, "localhost/")
	same := true
	switch kind {
	case "Unconfined":
		same = annotation == "unconfined"
	case "RuntimeDefault":
		same = annotation == "runtime/default" || what == "seccomp" && annotation == "docker/default"
	case "Localhost":
		if same = isLocal; same && (local == nil || *local != file) {
			e.forbidden(p.Child("localhostProfile"), what+" profile in annotation and field must match")
		}
	}
	if !same {
		e.forbidden(p.Child("type"), what+" type in annotation and field must match")
	}
}

// podSpec checks the spec of a pod; meta is nil in a template.
func podSpec(e *errs, p loc, s *corev1.PodSpec, meta *metav1.ObjectMeta, isPod bool) {
	if s.TerminationGracePeriodSeconds == nil {
		e.required(p.Child("terminationGracePeriodSeconds"), "")
	}
	pod := &podContext{PodSpec: s, isPod: isPod, claims: map[string]bool{}}
	pod.volumes = volumes(e, p.Child("volumes"), s.Volumes, meta, isPod)
	podClaims(e, p.Child("resourceClaims"), pod, meta)
	containers(e, p.Child("containers"), pod)
	initContainers(e, p.Child("initContainers"), pod)
	ephemeralContainers(e, p.Child("ephemeralContainers"), pod)
	podResources(e, p, pod)
	hostNetworkPorts(e, p.Child("containers"), pod)
	requiredOneOf(e, p.Child("restartPolicy"), s.RestartPolicy, corev1.RestartPolicyAlways, corev1.RestartPolicyOnFailure, corev1.RestartPolicyNever)
	requiredOneOf(e, p.Child("dnsPolicy"), s.DNSPolicy, corev1.DNSClusterFirstWithHostNet, corev1.DNSClusterFirst, corev1.DNSDefault, corev1.DNSNone)
	e.labels(p.Child("nodeSelector"), s.NodeSelector)
	podSecurityContext(e, p.Child("securityContext"), s)
	if s.HostPID && deref(s.ShareProcessNamespace) {
		e.invalid(p.Child("shareProcessNamespace"), true, "ShareProcessNamespace and HostPID cannot both be enabled")
	}
	affinity(e, p.Child("affinity"), s.Affinity)
	dnsConfig(e, p.Child("dnsConfig"), s)
	for i, gate := range s.ReadinessGates {
		e.qualified(p.Child("readinessGates").Index(i).Child("conditionType"), string(gate.ConditionType))
	}
	gates := map[string]bool{}
	for i, gate := range s.SchedulingGates {
		p := p.Child("schedulingGates").Index(i)
		e.qualified(p, gate.Name)
		if gates[gate.Name] {
			e.duplicate(p, gate.Name)
		}
		gates[gate.Name] = true
	}
	topologySpread(e, p.Child("topologySpreadConstraints"), s.TopologySpreadConstraints)
	hostProcess(e, p, s)
	userNamespace(e, p, pod)
	podNames(e, p, s)
	if s.ActiveDeadlineSeconds != nil {
		if n := *s.ActiveDeadlineSeconds; n < 1 || n > math.MaxInt32 {
			e.invalid(p.Child("activeDeadlineSeconds"), n, validation.InclusiveRangeError(1, math.MaxInt32))
		}
	}
	if s.Hostname != "" {
		e.label(p.Child("hostname"), s.Hostname)
	}
	if s.Subdomain != "" {
		e.label(p.Child("subdomain"), s.Subdomain)
	}
	tolerations(e, p.Child("tolerations"), s.Tolerations)
	for i, alias := range s.HostAliases {
		p := p.Child("hostAliases").Index(i)
		e.ip(p.Child("ip"), alias.IP)
		for j, name := range alias.Hostnames {
			e.subdomain(p.Child("hostnames").Index(j), name)
		}
	}
	podClasses(e, p, s)
	operatingSystem(e, p, s)
	if s.SchedulingGroup != nil && len(s.EvictionResponders) > 0 {
		e.forbidden(p.Child("schedulingGroup"), "may not be set when evictionResponders is set")
	}
	fileVolumes(e, p, s)
}

func podClaims(e *errs, p loc, pod *podContext, meta *metav1.ObjectMeta) {
	for i, claim := range pod.ResourceClaims {
		p := p.Index(i)
		if meta != nil {
			if _, ok := meta.Annotations[mirrorAnnotation]; ok {
				e.forbidden(field.NewPath(""), "static pods do not support resource claims")
				continue
			}
		}
		if claim.Name == "" {
			e.required(p.Child("name"), "")
		} else if pod.claims[claim.Name] {
			e.duplicate(p.Child("name"), claim.Name)
		} else {
			e.label(p.Child("name"), claim.Name)
			pod.claims[claim.Name] = true
		}
		name, template := claim.ResourceClaimName, claim.ResourceClaimTemplateName
		if name != nil && template != nil {
			e.invalid(p, internal{claim}, "at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified")
		}
		if name == nil && template == nil {
			e.invalid(p, internal{claim}, "must specify one of: `resourceClaimName`, `resourceClaimTemplateName`")
		}
		if name != nil {
			e.invalids(p.Child("resourceClaimName"), *name, apivalidation.NameIsDNSSubdomain(*name, false))
		}
		if template != nil {
			e.invalids(p.Child("resourceClaimTemplateName"), *template, apivalidation.NameIsDNSSubdomain(*template, false))
		}
	}
}

func hostNetworkPorts(e *errs, p loc, pod *podContext) {
	if !pod.HostNetwork {
		return
	}
	for i, c := range pod.Containers {
		for j, port := range c.Ports {
			if (pod.isPod || port.HostPort != 0) && port.HostPort != port.ContainerPort {
				e.invalid(p.Index(i).Child("ports").Index(j).Child("hostPort"), port.HostPort, "must match `containerPort` when `hostNetwork` is true")
			}
		}
	}
}

func dnsConfig(e *errs, p loc, s *corev1.PodSpec) {
	c := s.DNSConfig
	if s.DNSPolicy == corev1.DNSNone && c == nil {
		e.required(p, "must provide `dnsConfig` when `dnsPolicy` is None")
		return
	}
	if s.DNSPolicy == corev1.DNSNone && len(c.Nameservers) == 0 {
		e.required(p.Child("nameservers"), "must provide at least one DNS nameserver when `dnsPolicy` is None")
		return
	}
	if c == nil {
		return
	}
	if len(c.Nameservers) > 3 {
		e.invalid(p.Child("nameservers"), c.Nameservers, "must not have more than 3 nameservers")
	}
	for i, server := range c.Nameservers {
		e.ip(p.Child("nameservers").Index(i), server)
	}
	if len(c.Searches) > 32 {
		e.invalid(p.Child("searches"), c.Searches, "must not have more than 32 search paths")
	}
	if len(strings.Join(c.Searches, " ")) > 2048 {
		e.invalid(p.Child("searches"), c.Searches, "must not have more than 2048 characters (including spaces) in the search list")
	}
	for i, search := range c.Searches {
		if search != "." {
			search = strings.TrimSuffix(search, ".")
			e.invalids(p.Child("searches").Index(i), search, validation.IsDNS1123SubdomainWithUnderscore(search))
		}
	}
	for i, option := range c.Options {
		if option.Name == "" {
			e.required(p.Child("options").Index(i), "must not be empty")
		}
	}
}

// userNamespace checks a pod whose users are not the host's.
func userNamespace(e *errs, p loc, pod *podContext) {
	if pod.hostUsers() {
		return
	}
	const detail = "when `hostUsers` is false"
	if pod.HostNetwork && !e.gates.Enabled("UserNamespacesHostNetworkSupport") {
		e.forbidden(p.Child("hostNetwork"), detail)
	}
	if pod.HostPID {
		e.forbidden(p.Child("HostPID"), detail)
	}
	if pod.HostIPC {
		e.forbidden(p.Child("HostIPC"), detail)
	}
	allContainers(pod.PodSpec, p, func(p loc, c *corev1.Container) {
		if len(c.VolumeDevices) > 0 {
			e.ratchet("devices of users", func(e *errs) { e.forbidden(p.Child("volumeDevices"), detail) })
		}
	})
}

func podNames(e *errs, p loc, s *corev1.PodSpec) {
	if name := s.HostnameOverride; name != nil {
		p := p.Child("hostnameOverride")
		if deref(s.SetHostnameAsFQDN) {
			e.forbidden(p, "may not be specified when setHostnameAsFQDN is true")
		}
		if s.HostNetwork {
			e.forbidden(p, "may not be specified when hostNetwork is true")
		}
		if len(*name) > 64 {
			e.tooLong(p, 64)
		}
		e.subdomain(p, *name)
	}
	if s.ServiceAccountName != "" {
		e.invalids(p.Child("serviceAccountName"), s.ServiceAccountName, apivalidation.ValidateServiceAccountName(s.ServiceAccountName, false))
	}
	if s.NodeName != "" {
		e.invalids(p.Child("nodeName"), s.NodeName, apivalidation.NameIsDNSSubdomain(s.NodeName, false))
	}
}

func podClasses(e *errs, p loc, s *corev1.PodSpec) {
	if s.PriorityClassName != "" {
		e.invalids(p.Child("priorityClassName"), s.PriorityClassName, apivalidation.NameIsDNSSubdomain(s.PriorityClassName, false))
	}
	if s.RuntimeClassName != nil {
		e.invalids(p.Child("runtimeClassName"), *s.RuntimeClassName, apivalidation.NameIsDNSSubdomain(*s.RuntimeClassName, false))
	}
	if s.PreemptionPolicy != nil {
		preemption(e, p.Child("preemptionPolicy"), *s.PreemptionPolicy)
	}
	if s.Overhead != nil {
		containerResources(e, p.Child("overhead"), &corev1.ResourceRequirements{Limits: s.Overhead}, nil)
	}
}

func preemption(e *errs, p loc, policy corev1.PreemptionPolicy) {
	requiredOneOf(e, p, policy, corev1.PreemptLowerPriority, corev1.PreemptNever)
}

// fileVolumes checks that variables come from files in volumes of type emptyDir.
func fileVolumes(e *errs, p loc, s *corev1.PodSpec) {
	sources := map[string]*corev1.VolumeSource{}
	for i := range s.Volumes {
		sources[s.Volumes[i].Name] = &s.Volumes[i].VolumeSource
	}
	allContainers(s, p, func(p loc, c *corev1.Container) {
		for i, v := range c.Env {
			ref := deref(v.ValueFrom).FileKeyRef
			if ref == nil {
				continue
			}
			p := p.Child("env").Index(i).Child("valueFrom", "fileKeyRef", "volumeName")
			if source := sources[ref.VolumeName]; source == nil {
				e.notFound(p, ref.VolumeName)
			} else if source.EmptyDir == nil {
				e.invalid(p, ref.VolumeName, "referenced volume must be of type emptyDir")
			}
		}
	})
}
