package plugins

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
)

// secretsOf returns the names of the secrets that a Pod names, without the secrets of projected volumes of its account's token
// (upstream: api/pod, VisitPodSecretNames).
func secretsOf(pod *corev1.Pod) (all []string) {
	add := func(name string) {
		if name != "" {
			all = append(all, name)
		}
	}
	local := func(ref *corev1.LocalObjectReference) {
		if ref != nil {
			add(ref.Name)
		}
	}
	for i := range pod.Spec.ImagePullSecrets {
		local(&pod.Spec.ImagePullSecrets[i])
	}
	eachEnv(pod, func(e corev1.EnvVarSource) {
		if e.SecretKeyRef != nil {
			add(e.SecretKeyRef.Name)
		}
	}, func(e corev1.EnvFromSource) {
		if e.SecretRef != nil {
			add(e.SecretRef.Name)
		}
	})
	for _, v := range pod.Spec.Volumes {
		switch {
		case v.AzureFile != nil:
			add(v.AzureFile.SecretName)
		case v.CephFS != nil:
			local(v.CephFS.SecretRef)
		case v.Cinder != nil:
			local(v.Cinder.SecretRef)
		case v.FlexVolume != nil:
			local(v.FlexVolume.SecretRef)
		case v.Projected != nil:
			for _, s := range v.Projected.Sources {
				if s.Secret != nil {
					add(s.Secret.Name)
				}
			}
		case v.RBD != nil:
			local(v.RBD.SecretRef)
		case v.Secret != nil:
			add(v.Secret.SecretName)
		case v.ScaleIO != nil:
			local(v.ScaleIO.SecretRef)
		case v.ISCSI != nil:
			local(v.ISCSI.SecretRef)
		case v.StorageOS != nil:
			local(v.StorageOS.SecretRef)
		case v.CSI != nil:
			local(v.CSI.NodePublishSecretRef)
		}
	}
	return all
}

// eachEnv calls the functions with the sources of the environments of all containers.
func eachEnv(pod *corev1.Pod, value func(corev1.EnvVarSource), from func(corev1.EnvFromSource)) {
	each := func(env []corev1.EnvVar, all []corev1.EnvFromSource) {
		for _, e := range all {
			from(e)
		}
		for _, e := range env {
			if e.ValueFrom != nil {
				value(*e.ValueFrom)
			}
		}
	}
	for _, c := range pod.Spec.InitContainers {
		each(c.Env, c.EnvFrom)
	}
	for _, c := range pod.Spec.Containers {
		each(c.Env, c.EnvFrom)
	}
	for _, c := range pod.Spec.EphemeralContainers {
		each(c.Env, c.EnvFrom)
	}
}

// referenced returns what objects of the API a Pod refers to, or "" (upstream: api/pod, HasAPIObjectReference).
func referenced(pod *corev1.Pod) (string, error) {
	configMaps := false
	eachEnv(pod, func(e corev1.EnvVarSource) {
		configMaps = configMaps || e.ConfigMapKeyRef != nil && e.ConfigMapKeyRef.Name != ""
	},
		func(e corev1.EnvFromSource) {
			configMaps = configMaps || e.ConfigMapRef != nil && e.ConfigMapRef.Name != ""
		})
	switch {
	case pod.Spec.ServiceAccountName != "":
		return "serviceaccounts", nil
	case len(secretsOf(pod)) > 0:
		return "secrets", nil
	case configMaps || configMapVolume(pod):
		return "configmaps", nil
	case len(pod.Spec.ResourceClaims) > 0:
		return "resourceclaims", nil
	}
	for _, v := range pod.Spec.Volumes {
		if what, err := volumeReference(&v); what != "" || err != nil {
			return what, err
		}
	}
	return "", nil
}

// configMapVolume reports whether a volume names a ConfigMap.
func configMapVolume(pod *corev1.Pod) bool {
	for _, v := range pod.Spec.Volumes {
		if v.ConfigMap != nil && v.ConfigMap.Name != "" {
			return true
		}
		if v.Projected == nil {
			continue
		}
		for _, s := range v.Projected.Sources {
			if s.ConfigMap != nil && s.ConfigMap.Name != "" {
				return true
			}
		}
	}
	return false
}

func volumeReference(v *corev1.Volume) (string, error) {
	switch {
	case v.CSI != nil:
		return "csidrivers (via CSI volumes)", nil
	case v.Glusterfs != nil:
		return "endpoints (via glusterFS volumes)", nil
	case v.PersistentVolumeClaim != nil:
		return "persistentvolumeclaims", nil
	case v.Ephemeral != nil:
		return "persistentvolumeclaims (via ephemeral volumes)", nil
	case v.AzureFile != nil:
		return "secrets (via azureFile volumes)", nil
	case v.Projected == nil:
		return "", nil
	}
	for _, s := range v.Projected.Sources {
		switch {
		case s.ServiceAccountToken != nil:
			return "serviceaccounts (via projected volumes)", nil
		case s.ClusterTrustBundle != nil:
			return "clustertrustbundles", nil
		case s.PodCertificate != nil:
			return "podcertificates", nil
		case s.DownwardAPI == nil:
			return "", fmt.Errorf("unknown source for projected volume %q", v.Name)
		}
	}
	return "", nil
}
