package warnings

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
)

const deprecatedAppArmor = `deprecated since v1.30; use the "appArmorProfile" field instead`

// Profile returns the AppArmor profile that an annotation of a container names, nil if it names none (upstream: api/pod,
// ApparmorFieldForAnnotation).
func Profile(text string) *corev1.AppArmorProfile {
	name, local := strings.CutPrefix(text, corev1.DeprecatedAppArmorBetaProfileNamePrefix)
	switch {
	case text == corev1.DeprecatedAppArmorBetaProfileNameUnconfined:
		return &corev1.AppArmorProfile{Type: corev1.AppArmorProfileTypeUnconfined}
	case text == corev1.DeprecatedAppArmorBetaProfileRuntimeDefault:
		return &corev1.AppArmorProfile{Type: corev1.AppArmorProfileTypeRuntimeDefault}
	case local && name != "":
		return &corev1.AppArmorProfile{Type: corev1.AppArmorProfileTypeLocalhost, LocalhostProfile: &name}
	}
	return nil
}

// AppArmor returns the warning about the annotation of a container of a pod. It depends on what the container had before the pod was
// prepared, so OfWrite does not have it.
func AppArmor(container string) string {
	return annotation(nil, corev1.DeprecatedAppArmorBetaContainerAnnotationKeyPrefix+container).String() + ": " + deprecatedAppArmor
}
