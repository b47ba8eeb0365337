package warnings

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

const noSelector = "a null labelSelector results in matching no pod"

// template warns about a template for pods.
func (l *list) template(p *field.Path, t *corev1.PodTemplateSpec) {
	if t != nil {
		l.pod(p, &t.ObjectMeta, &t.Spec)
	}
}

// pod warns about a pod, whose path is nil, or about a template.
func (l *list) pod(p *field.Path, m *metav1.ObjectMeta, s *corev1.PodSpec) {
	spec := p.Child("spec")
	l.nodeLabels(spec, s)
	l.annotations(p, m)
	for i := range s.Volumes {
		l.plugins(spec.Child("volumes").Index(i), &s.Volumes[i].VolumeSource)
	}
	for i := range s.Volumes {
		l.overlaps(&s.Volumes[i])
	}
	l.repeated(spec, s)
	l.whole(spec, "overhead", s.Overhead, corev1.ResourceMemory)
	l.whole(spec, "overhead", s.Overhead, corev1.ResourceEphemeralStorage)
	if s.SecurityContext == nil || s.SecurityContext.SeccompProfile == nil {
		l.seccomp(p, m, "seccomp.security.alpha.kubernetes.io/pod")
	}
	l.containers(p, m, s)
	if seconds := s.TerminationGracePeriodSeconds; seconds != nil && *seconds < 0 {
		l.at(spec.Child("terminationGracePeriodSeconds"), "must be >= 0; negative values are invalid and will be treated as 1")
	}
	if s.Affinity != nil {
		affinity := spec.Child("affinity")
		if a := s.Affinity.PodAffinity; a != nil {
			l.podTerms(affinity.Child("podAffinity"), a.RequiredDuringSchedulingIgnoredDuringExecution, a.PreferredDuringSchedulingIgnoredDuringExecution)
		}
		if a := s.Affinity.PodAntiAffinity; a != nil {
			l.podTerms(affinity.Child("podAntiAffinity"), a.RequiredDuringSchedulingIgnoredDuringExecution, a.PreferredDuringSchedulingIgnoredDuringExecution)
		}
	}
	if s.DNSConfig != nil {
		for i, ip := range s.DNSConfig.Nameservers {
			l.ip(spec.Child("dnsConfig", "nameservers").Index(i), ip)
		}
	}
	for i, alias := range s.HostAliases {
		l.ip(spec.Child("hostAliases").Index(i).Child("ip"), alias.IP)
	}
}

// nodeLabels warns about labels of nodes by which a pod is placed.
func (l *list) nodeLabels(spec *field.Path, s *corev1.PodSpec) {
	for _, key := range sorted(s.NodeSelector) {
		if text := oldLabel(key); text != "" {
			l.at(spec.Child("nodeSelector").Key(key), text)
		}
	}
	if s.Affinity != nil && s.Affinity.NodeAffinity != nil {
		p, a := spec.Child("affinity", "nodeAffinity"), s.Affinity.NodeAffinity
		if required := a.RequiredDuringSchedulingIgnoredDuringExecution; required != nil {
			for i, t := range required.NodeSelectorTerms {
				l.term(p.Child("requiredDuringSchedulingIgnoredDuringExecution", "nodeSelectorTerms").Index(i), t, false)
			}
		}
		for i, t := range a.PreferredDuringSchedulingIgnoredDuringExecution {
			l.term(p.Child("preferredDuringSchedulingIgnoredDuringExecution").Index(i).Child("preference"), t.Preference, true)
		}
	}
	for i, c := range s.TopologySpreadConstraints {
		p := spec.Child("topologySpreadConstraints").Index(i)
		l.isOld(p.Child("topologyKey"), c.TopologyKey)
		if c.LabelSelector == nil {
			l.at(p.Child("labelSelector"), noSelector)
		}
	}
}

func (l *list) podTerms(p *field.Path, required []corev1.PodAffinityTerm, preferred []corev1.WeightedPodAffinityTerm) {
	for i, t := range required {
		if t.LabelSelector == nil {
			l.at(p.Child("requiredDuringSchedulingIgnoredDuringExecution").Index(i).Child("labelSelector"), noSelector)
		}
	}
	for i, t := range preferred {
		if t.PodAffinityTerm.LabelSelector == nil {
			l.at(p.Child("preferredDuringSchedulingIgnoredDuringExecution").Index(i).Child("podAffinityTerm", "labelSelector"), noSelector)
		}
	}
}

func (l *list) annotations(p *field.Path, m *metav1.ObjectMeta) {
	for _, old := range []struct{ key, text string }{
		{"scheduler.alpha.kubernetes.io/critical-pod", `non-functional in v1.16+; use the "priorityClassName" field instead`},
		{"security.alpha.kubernetes.io/sysctls", `non-functional in v1.11+; use the "sysctls" field instead`},
		{"security.alpha.kubernetes.io/unsafe-sysctls", `non-functional in v1.11+; use the "sysctls" field instead`},
	} {
		if _, ok := m.Annotations[old.key]; ok {
			l.at(annotation(p, old.key), old.text)
		}
	}
}

// seccomp warns about an annotation that a field has replaced.
func (l *list) seccomp(p *field.Path, m *metav1.ObjectMeta, key string) {
	if _, ok := m.Annotations[key]; ok {
		l.at(annotation(p, key), `non-functional in v1.27+; use the "seccompProfile" field instead`)
	}
}

// plugins warns about the source of a volume whose plugin is gone, and about the claim that a volume makes.
func (l *list) plugins(p *field.Path, v *corev1.VolumeSource) {
	for _, plugin := range []struct {
		used       bool
		name, text string
	}{
		{v.PhotonPersistentDisk != nil, "photonPersistentDisk", gone16},
		{v.GitRepo != nil, "gitRepo", "deprecated in v1.11, and disabled by default in v1.33+"},
		{v.ScaleIO != nil, "scaleIO", gone22},
		{v.Flocker != nil, "flocker", gone25},
		{v.StorageOS != nil, "storageOS", gone25},
		{v.Quobyte != nil, "quobyte", gone25},
		{v.Glusterfs != nil, "glusterfs", gone26},
	} {
		if plugin.used {
			l.at(p.Child(plugin.name), plugin.text)
		}
	}
	if v.Ephemeral != nil && v.Ephemeral.VolumeClaimTemplate != nil {
		l.claim(p.Child("ephemeral", "volumeClaimTemplate", "spec"), &v.Ephemeral.VolumeClaimTemplate.Spec)
	}
	if v.CephFS != nil {
		l.at(p.Child("cephfs"), gone31)
	}
	if v.RBD != nil {
		l.at(p.Child("rbd"), gone31)
	}
}

// repeated warns about entries of lists that are there twice, and about secrets without a name.
func (l *list) repeated(spec *field.Path, s *corev1.PodSpec) {
	seen := map[string]bool{}
	for i, alias := range s.HostAliases {
		if seen[alias.IP] {
			l.at(spec.Child("hostAliases").Index(i).Child("ip"), "duplicate ip "+quoted(alias.IP))
		}
		seen[alias.IP] = true
	}
	seen = map[string]bool{}
	for i, secret := range s.ImagePullSecrets {
		if seen[secret.Name] {
			l.at(spec.Child("imagePullSecrets").Index(i).Child("name"), "duplicate name "+quoted(secret.Name))
		}
		seen[secret.Name] = true
	}
	for i, secret := range s.ImagePullSecrets {
		if secret.Name == "" {
			l.at(spec.Child("imagePullSecrets").Index(i).Child("name"), `invalid empty name ""`)
		}
	}
}

// hides reports whether a variable hides an earlier one of the same name, rather than adding to its value.
func hides(v corev1.EnvVar) bool {
	ref := "$(" + v.Name + ")"
	return v.ValueFrom != nil || v.Value == ref || !strings.Contains(v.Value, ref)
}
