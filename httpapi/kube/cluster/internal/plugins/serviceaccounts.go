package plugins

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/storage/names"

	writes "github.com/kubecoord/kubecoord/store/admission"
	"github.com/kubecoord/kubecoord/store/kind"
)

const (
	// tokenPath is where the token of a ServiceAccount is mounted, and tokenVolume the beginning of the name of its volume.
	tokenPath   = "/var/run/secrets/kubernetes.io/serviceaccount"
	tokenVolume = "kube-api-access-"
	// tokenSeconds is the life of such a token: an hour, and seven seconds by which old clients are found.
	tokenSeconds = 3607
)

// giveAccount is the plugin ServiceAccount for new Pods: they get the account default, its token, and the secrets to pull images. Other
// than upstream, it does not wait for an account default that is made just now.
func (r *reader) giveAccount(ctx context.Context, a *writes.Attributes) error {
	pod := kind.ValueOf[corev1.Pod](a.Object)
	if pod == nil || a.Subresource != "" || a.Operation != writes.Create {
		return nil
	}
	if isMirror(pod) {
		return checkMirror(a, pod)
	}
	if pod.Spec.ServiceAccountName == "" {
		pod.Spec.ServiceAccountName = "default"
	}
	account, err := r.account(a, pod)
	if err != nil {
		return err
	}
	if automounts(account, pod) {
		mountToken(pod)
	}
	if len(pod.Spec.ImagePullSecrets) == 0 {
		pod.Spec.ImagePullSecrets = slices.Clone(account.ImagePullSecrets)
	}
	return r.checkAccount(ctx, a)
}

// checkAccount is the plugin's validation: of new Pods, and of ephemeral containers.
func (r *reader) checkAccount(_ context.Context, a *writes.Attributes) error {
	pod := kind.ValueOf[corev1.Pod](a.Object)
	ephemeral := a.Subresource == "ephemeralcontainers" && a.Operation == writes.Update
	switch {
	case pod == nil, !ephemeral && (a.Subresource != "" || a.Operation != writes.Create):
		return nil
	case !ephemeral && isMirror(pod):
		return checkMirror(a, pod)
	case pod.Spec.ServiceAccountName == "":
		return refuse(a, fmt.Errorf("no service account specified for pod %s/%s", a.Namespace, pod.Name))
	}
	account, err := r.account(a, pod)
	if err != nil {
		return err
	}
	if enforced, _ := strconv.ParseBool(account.Annotations["kubernetes.io/enforce-mountable-secrets"]); !enforced {
		return nil
	}
	err = limitSecrets(account, pod, ephemeral)
	if err != nil && !ephemeral { // upstream forgets the answer 403 of ephemeral containers
		return refuse(a, err)
	}
	return err
}

// account returns the ServiceAccount of a Pod.
func (r *reader) account(a *writes.Attributes, pod *corev1.Pod) (*corev1.ServiceAccount, error) {
	name := pod.Spec.ServiceAccountName
	if account := r.serviceAccounts.Get(a.Namespace, name); account != nil {
		return account, nil
	}
	return nil, refuse(a, fmt.Errorf("error looking up service account %s/%s: %w", a.Namespace, name,
		apierrors.NewNotFound(schema.GroupResource{Resource: "serviceaccount"}, name)))
}

// isMirror reports whether a Pod mirrors one that a kubelet has from elsewhere.
func isMirror(pod *corev1.Pod) bool {
	_, is := pod.Annotations[corev1.MirrorPodAnnotationKey]
	return is
}

// checkMirror refuses what a mirror Pod may not have.
func checkMirror(a *writes.Attributes, pod *corev1.Pod) error {
	switch {
	case pod.Spec.ServiceAccountName != "":
		return refuse(a, fmt.Errorf("a mirror pod may not reference service accounts"))
	case len(secretsOf(pod)) > 0:
		return refuse(a, fmt.Errorf("a mirror pod may not reference secrets"))
	}
	for _, v := range pod.Spec.Volumes {
		if v.Projected != nil && slices.ContainsFunc(v.Projected.Sources, func(s corev1.VolumeProjection) bool { return s.ServiceAccountToken != nil }) {
			return refuse(a, fmt.Errorf("a mirror pod may not use ServiceAccountToken volume projections"))
		}
	}
	return nil
}

// automounts reports whether the containers of a Pod get the token of its account.
func automounts(account *corev1.ServiceAccount, pod *corev1.Pod) bool {
	for _, wish := range []*bool{pod.Spec.AutomountServiceAccountToken, account.AutomountServiceAccountToken} {
		if wish != nil {
			return *wish
		}
	}
	return true
}

// mountToken mounts a token into each container that has nothing at its path.
func mountToken(pod *corev1.Pod) {
	i := slices.IndexFunc(pod.Spec.Volumes, func(v corev1.Volume) bool { return strings.HasPrefix(v.Name, tokenVolume) })
	name, needed := "", false
	if i >= 0 {
		name = pod.Spec.Volumes[i].Name
	} else {
		name = names.SimpleNameGenerator.GenerateName(tokenVolume)
	}
	for _, containers := range [][]corev1.Container{pod.Spec.InitContainers, pod.Spec.Containers} {
		for i := range containers {
			c := &containers[i]
			if !slices.ContainsFunc(c.VolumeMounts, func(m corev1.VolumeMount) bool { return m.MountPath == tokenPath }) {
				c.VolumeMounts = append(slices.Clip(c.VolumeMounts), corev1.VolumeMount{Name: name, ReadOnly: true, MountPath: tokenPath})
				needed = true
			}
		}
	}
	if i < 0 && needed {
		pod.Spec.Volumes = append(slices.Clip(pod.Spec.Volumes), corev1.Volume{Name: name, VolumeSource: corev1.VolumeSource{Projected: tokenSource()}})
	}
}

// tokenSource returns the token, the certificates of the server, and the namespace.
func tokenSource() *corev1.ProjectedVolumeSource {
	return &corev1.ProjectedVolumeSource{
		DefaultMode: new(corev1.ProjectedVolumeSourceDefaultMode),
		Sources: []corev1.VolumeProjection{
			{ServiceAccountToken: &corev1.ServiceAccountTokenProjection{Path: "token", ExpirationSeconds: new(int64(tokenSeconds))}},
			{ConfigMap: &corev1.ConfigMapProjection{
				LocalObjectReference: corev1.LocalObjectReference{Name: "kube-root-ca.crt"}, Items: []corev1.KeyToPath{{Key: "ca.crt", Path: "ca.crt"}},
			}},
			{DownwardAPI: &corev1.DownwardAPIProjection{Items: []corev1.DownwardAPIVolumeFile{
				{Path: "namespace", FieldRef: &corev1.ObjectFieldSelector{APIVersion: "v1", FieldPath: "metadata.namespace"}},
			}}},
		},
	}
}

// limitSecrets refuses secrets that an account does not list: of ephemeral containers, or of the rest of a Pod.
func limitSecrets(account *corev1.ServiceAccount, pod *corev1.Pod, ephemeral bool) error {
	listed := func(name string) bool {
		return slices.ContainsFunc(account.Secrets, func(s corev1.ObjectReference) bool { return s.Name == name })
	}
	if ephemeral {
		for _, c := range pod.Spec.EphemeralContainers {
			if err := limitContainer("ephemeral container", account.Name, c.Name, c.Env, c.EnvFrom, listed); err != nil {
				return err
			}
		}
		return nil
	}
	for _, v := range pod.Spec.Volumes {
		if v.Secret != nil && !listed(v.Secret.SecretName) {
			return fmt.Errorf("volume with secret.secretName=\"%s\" is not allowed because service account %s does not reference that secret", v.Secret.SecretName, account.Name)
		}
	}
	for _, of := range []struct {
		what string
		all  []corev1.Container
	}{{"init container", pod.Spec.InitContainers}, {"container", pod.Spec.Containers}} {
		for _, c := range of.all {
			if err := limitContainer(of.what, account.Name, c.Name, c.Env, c.EnvFrom, listed); err != nil {
				return err
			}
		}
	}
	for i, s := range pod.Spec.ImagePullSecrets {
		if !slices.Contains(account.ImagePullSecrets, s) {
			return fmt.Errorf(`imagePullSecrets[%d].name="%s" is not allowed because service account %s does not reference that imagePullSecret`, i, s.Name, account.Name)
		}
	}
	return nil
}

func limitContainer(what, account, container string, env []corev1.EnvVar, from []corev1.EnvFromSource, listed func(string) bool) error {
	const because = `secret.secretName="%s" is not allowed because service account %s does not reference that secret`
	for _, e := range env {
		if e.ValueFrom != nil && e.ValueFrom.SecretKeyRef != nil && !listed(e.ValueFrom.SecretKeyRef.Name) {
			return fmt.Errorf("%s %s with envVar %s referencing "+because, what, container, e.Name, e.ValueFrom.SecretKeyRef.Name, account)
		}
	}
	for _, e := range from {
		if e.SecretRef != nil && !listed(e.SecretRef.Name) {
			return fmt.Errorf("%s %s with envFrom referencing "+because, what, container, e.SecretRef.Name, account)
		}
	}
	return nil
}
