package warnings

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// containers warns about all containers of a pod: first about each one, then about their ports, then about the names of ports.
func (l *list) containers(p *field.Path, m *metav1.ObjectMeta, s *corev1.PodSpec) {
	all := eachContainer(p.Child("spec"), s)
	for _, c := range all {
		l.container(p, m, s, c)
	}
	l.ports(all)
	names := map[string]*field.Path{}
	for _, c := range all {
		ports := c.path.Child("ports")
		for i, port := range c.Ports {
			if port.Name == "" {
				continue
			}
			at := ports.Index(i)
			if first, ok := names[port.Name]; ok {
				l.at(at, fmt.Sprintf("duplicate port name %q with %s, services and probes that select ports by name will use %s", port.Name, first, first))
			} else {
				names[port.Name] = at
			}
		}
	}
}

// placed is a container with its path.
type placed struct {
	*corev1.Container
	path *field.Path
}

func eachContainer(spec *field.Path, s *corev1.PodSpec) (all []placed) {
	for i := range s.InitContainers {
		all = append(all, placed{&s.InitContainers[i], spec.Child("initContainers").Index(i)})
	}
	for i := range s.Containers {
		all = append(all, placed{&s.Containers[i], spec.Child("containers").Index(i)})
	}
	for i := range s.EphemeralContainers {
		all = append(all, placed{(*corev1.Container)(&s.EphemeralContainers[i].EphemeralContainerCommon), spec.Child("ephemeralContainers").Index(i)})
	}
	return all
}

func (l *list) container(p *field.Path, m *metav1.ObjectMeta, s *corev1.PodSpec, c placed) {
	if len(m.Annotations) > 0 && (c.SecurityContext == nil || c.SecurityContext.SeccompProfile == nil) {
		l.seccomp(p, m, "container.seccomp.security.alpha.kubernetes.io/"+c.Name)
	}
	if p != nil && len(m.Annotations) > 0 { // for pods see AppArmor
		l.appArmor(p, m, s, c)
	}
	resources := c.path.Child("resources")
	for _, name := range []corev1.ResourceName{corev1.ResourceMemory, corev1.ResourceEphemeralStorage} {
		l.whole(resources, "limits", c.Resources.Limits, name)
		l.whole(resources, "requests", c.Resources.Requests, name)
	}
	seen := make(map[string]bool, len(c.Env))
	for i, v := range c.Env {
		if seen[v.Name] && hides(v) {
			l.at(c.path.Child("env").Index(i), "hides previous definition of "+quoted(v.Name)+", which may be dropped when using apply")
		}
		seen[v.Name] = true
	}
}

// appArmor warns about the annotation of a container in a template, unless the profile of the pod says the same.
func (l *list) appArmor(p *field.Path, m *metav1.ObjectMeta, s *corev1.PodSpec, c placed) {
	if c.SecurityContext != nil && c.SecurityContext.AppArmorProfile != nil {
		return
	}
	key := corev1.DeprecatedAppArmorBetaContainerAnnotationKeyPrefix + c.Name
	text, ok := m.Annotations[key]
	if !ok {
		return
	}
	if s.SecurityContext != nil && s.SecurityContext.AppArmorProfile != nil && equality.Semantic.DeepEqual(s.SecurityContext.AppArmorProfile, Profile(text)) {
		return
	}
	l.at(annotation(p, key), deprecatedAppArmor)
}

// portKey is what two containers cannot share.
type portKey struct {
	number   int32
	protocol corev1.Protocol
}

// usedPort is a port with its path.
type usedPort struct {
	corev1.ContainerPort
	path *field.Path
}

// ports warns about ports that two containers have, or one has twice.
func (l *list) ports(all []placed) {
	used := map[portKey][]usedPort{}
	for _, c := range all {
		ports := c.path.Child("ports")
		for i, port := range c.Ports {
			at := ports.Index(i)
			if port.HostIP != "" && port.HostPort == 0 {
				l.at(at, fmt.Sprintf("hostIP set without hostPort: %+v", port))
			}
			key := portKey{port.ContainerPort, port.Protocol}
			for _, other := range used[key] {
				switch {
				case port.HostIP == other.HostIP && port.HostPort == other.HostPort:
					l.at(at, "duplicate port definition with "+other.path.String())
				case port.HostPort == 0 || other.HostPort == 0:
					l.at(at, "overlapping port definition with "+other.path.String())
				case port.HostPort == other.HostPort && (port.HostIP == "") != (other.HostIP == ""):
					l.at(at, "dangerously ambiguous port definition with "+other.path.String())
				}
			}
			used[key] = append(used[key], usedPort{port, at})
		}
	}
}
