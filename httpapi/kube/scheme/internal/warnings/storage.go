package warnings

import (
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

const deprecatedStorageClass = `deprecated since v1.8; use "storageClassName" attribute instead`

// The ends of plugins for volumes, which pods and persistent volumes have in common.
const (
	gone16 = "deprecated in v1.11, non-functional in v1.16+"
	gone22 = "deprecated in v1.16, non-functional in v1.22+"
	gone25 = "deprecated in v1.22, non-functional in v1.25+"
	gone26 = "deprecated in v1.25, non-functional in v1.26+"
	gone31 = "deprecated in v1.28, non-functional in v1.31+"
)

func ofStorage(l *list, obj, old runtime.Object) bool {
	switch o := obj.(type) {
	case *storagev1.StorageClass:
		for i, term := range o.AllowedTopologies {
			for j, e := range term.MatchLabelExpressions {
				if text := oldLabel(e.Key); text != "" {
					l.at(field.NewPath("allowedTopologies").Index(i).Child("matchLabelExpressions").Index(j).Child("key"), text)
				}
			}
		}
	case *storagev1.CSIStorageCapacity:
		l.selector(field.NewPath("nodeTopology"), o.NodeTopology)
	case *storagev1.CSIDriver:
		driver(l, &o.Spec, kindOf[storagev1.CSIDriver](old))
	default:
		return false
	}
	return true
}

// driver warns about tokens that may be logged, unless an update leaves the requests for tokens as they are.
func driver(l *list, s *storagev1.CSIDriverSpec, old *storagev1.CSIDriver) {
	if len(s.TokenRequests) == 0 || s.ServiceAccountTokenInSecrets != nil || old != nil && equality.Semantic.DeepEqual(old.Spec.TokenRequests, s.TokenRequests) {
		return
	}
	l.add("spec.serviceAccountTokenInSecrets is unset; if supported by this CSI driver, set to true to prevent possible logging of tokens in volume attributes")
}

func volume(l *list, o *corev1.PersistentVolume) {
	spec, s := field.NewPath("spec"), &o.Spec
	for _, old := range []struct{ key, text string }{
		{corev1.BetaStorageClassAnnotation, deprecatedStorageClass},
		{corev1.MountOptionAnnotation, `deprecated since v1.31; use "mountOptions" attribute instead`},
	} {
		if _, ok := o.Annotations[old.key]; ok {
			l.at(annotation(nil, old.key), old.text)
		}
	}
	if s.PersistentVolumeReclaimPolicy == corev1.PersistentVolumeReclaimRecycle {
		l.at(spec.Child("persistentVolumeReclaimPolicy"), "The Recycle reclaim policy is deprecated. Instead, the recommended approach is to use dynamic provisioning.")
	}
	if a := s.NodeAffinity; a != nil && a.Required != nil {
		for i, t := range a.Required.NodeSelectorTerms {
			l.term(spec.Child("nodeAffinity", "required", "nodeSelectorTerms").Index(i), t, false)
		}
	}
	for _, plugin := range []struct {
		used       bool
		name, text string
	}{
		{s.CephFS != nil, "cephfs", gone31},
		{s.PhotonPersistentDisk != nil, "photonPersistentDisk", gone16},
		{s.ScaleIO != nil, "scaleIO", gone22},
		{s.StorageOS != nil, "storageOS", gone25},
		{s.Glusterfs != nil, "glusterfs", gone26},
		{s.RBD != nil, "rbd", gone31},
	} {
		if plugin.used {
			l.at(spec.Child(plugin.name), plugin.text)
		}
	}
}

// claim warns about the spec of a PersistentVolumeClaim, also in a template.
func (l *list) claim(p *field.Path, s *corev1.PersistentVolumeClaimSpec) {
	resources := p.Child("resources")
	l.whole(resources, "requests", s.Resources.Requests, corev1.ResourceStorage)
	l.whole(resources, "limits", s.Resources.Limits, corev1.ResourceStorage)
}

// whole warns about a number of bytes with a fraction, among the amounts of a member.
func (l *list) whole(p *field.Path, member string, amounts corev1.ResourceList, name corev1.ResourceName) {
	if q, ok := amounts[name]; ok && q.MilliValue()%1000 != 0 {
		l.at(p.Child(member).Key(string(name)), "fractional byte value "+quoted(q.String())+" is invalid, must be an integer")
	}
}
