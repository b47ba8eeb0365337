package warnings

import (
	"crypto/tls"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

func ofCore(l *list, obj, old runtime.Object) bool {
	switch o := obj.(type) {
	case *corev1.Pod:
		if old == nil { // most updates of pods come from programs
			podName(l, o.Name)
			l.pod(nil, &o.ObjectMeta, &o.Spec)
		}
	case *corev1.PodTemplate:
		if was := kindOf[corev1.PodTemplate](old); was == nil || was.Generation != o.Generation {
			l.template(field.NewPath("template"), &o.Template)
		}
	case *corev1.ReplicationController:
		controller(l, o, kindOf[corev1.ReplicationController](old))
	case *corev1.Node:
		node(l, &o.Spec)
	case *corev1.PersistentVolume:
		volume(l, o)
	case *corev1.PersistentVolumeClaim:
		if _, ok := o.Annotations[corev1.BetaStorageClassAnnotation]; ok {
			l.at(annotation(nil, corev1.BetaStorageClassAnnotation), deprecatedStorageClass)
		}
		l.claim(field.NewPath("spec"), &o.Spec)
	case *corev1.ResourceQuota:
		if old == nil {
			quota(l, o.Spec.Hard)
		}
	case *corev1.Secret:
		if o.Type == corev1.SecretTypeTLS {
			if _, err := tls.X509KeyPair(o.Data[corev1.TLSCertKey], o.Data[corev1.TLSPrivateKeyKey]); err != nil {
				l.add(err.Error())
			}
		}
	case *corev1.Service:
		service(l, o)
	case *corev1.ServiceAccount:
		account(l, o, kindOf[corev1.ServiceAccount](old))
	default:
		return false
	}
	return true
}

// annotation returns the path of an annotation.
func annotation(p *field.Path, key string) *field.Path {
	return p.Child("metadata", "annotations").Key(key)
}

func podName(l *list, name string) {
	if problems := validation.IsDNS1123Label(name); len(problems) > 0 {
		l.add(fmt.Sprintf("metadata.name: this is used in the Pod's hostname, which can result in surprising behavior; a DNS label is recommended: %v", problems))
	}
}

// controller warns on an update about the template that is replaced, as upstream does.
func controller(l *list, o, old *corev1.ReplicationController) {
	switch {
	case old == nil:
		ownerName(l, o.Name)
		l.template(field.NewPath("spec", "template"), o.Spec.Template)
	case old.Generation != o.Generation:
		l.template(field.NewPath("spec", "template"), old.Spec.Template)
	}
}

func node(l *list, s *corev1.NodeSpec) {
	if s.ConfigSource != nil {
		l.add("spec.configSource: the feature is removed")
	}
	if s.DoNotUseExternalID != "" {
		l.add("spec.externalID: this field is deprecated, and is unused by Kubernetes")
	}
	for i, cidr := range s.PodCIDRs {
		l.cidr(field.NewPath("spec", "podCIDRs").Index(i), cidr)
	}
}

// quota warns about requests that are above the limits of the same resource. For CPU and memory the bare name is a request too.
func quota(l *list, hard corev1.ResourceList) {
	for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourceStorage, corev1.ResourceEphemeralStorage} {
		asked := "requests." + name
		request, found := hard[asked]
		if !found && (name == corev1.ResourceCPU || name == corev1.ResourceMemory) {
			asked = name
			request, found = hard[asked]
		}
		limit, limited := hard["limits."+name]
		if found && limited && request.Cmp(limit) > 0 {
			l.add(fmt.Sprintf("ResourceQuota %s (%s) should be less than %s (%s)", asked, request.String(), "limits."+name, limit.String()))
		}
	}
}

// account warns about an annotation that the object did not have before.
func account(l *list, o, old *corev1.ServiceAccount) {
	const mountable = "kubernetes.io/enforce-mountable-secrets"
	if old != nil {
		if _, ok := old.Annotations[mountable]; ok {
			return
		}
	}
	if _, ok := o.Annotations[mountable]; ok {
		l.add("metadata.annotations[" + mountable + "]: deprecated in v1.32+; prefer separate namespaces to isolate access to mounted secrets")
	}
}
