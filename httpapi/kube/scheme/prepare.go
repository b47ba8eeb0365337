package scheme

import (
	"context"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"time"

	"github.com/google/uuid"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	resourcev1 "k8s.io/api/resource/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/meta"
)

// This file sets the fields that writers of built-in kinds cannot set, as the strategies of a kube-apiserver do (upstream:
// pkg/registry, PrepareForCreate and PrepareForUpdate). The status was removed or kept before.

func on[T any](f func(*T)) func(runtime.Object) {
	return func(o runtime.Object) { f(any(o).(*T)) }
}

func onCreate[T any](f func(*T)) func(context.Context, runtime.Object) {
	return func(_ context.Context, o runtime.Object) { f(any(o).(*T)) }
}

func onUpdate[T any](f func(obj, old *T)) func(obj, old runtime.Object) {
	return func(o, old runtime.Object) { f(any(o).(*T), any(old).(*T)) }
}

// createLimitRange gives a LimitRange without a name a random one, which follows from its uid so that a Seed repeats it.
func createLimitRange(l *corev1.LimitRange) {
	if l.Name == "" {
		l.Name = uuid.NewSHA1(uuid.NameSpaceOID, []byte(l.UID)).String()
	}
}

func createNamespace(n *corev1.Namespace) {
	n.Status = corev1.NamespaceStatus{Phase: corev1.NamespaceActive}
	for _, f := range n.Spec.Finalizers {
		if f == corev1.FinalizerKubernetes {
			nameLabel(n)
			return
		}
	}
	n.Spec.Finalizers = append(n.Spec.Finalizers, corev1.FinalizerKubernetes)
	nameLabel(n)
}

// nameLabel sets the label with the name of the namespace. Upstream does it after validation.
func nameLabel(n *corev1.Namespace) {
	if n.Name == "" {
		return
	}
	if n.Labels == nil {
		n.Labels = map[string]string{}
	}
	n.Labels[corev1.LabelMetadataName] = n.Name
}

func updateNamespace(n, old *corev1.Namespace) {
	n.Spec.Finalizers = old.Spec.Finalizers
	nameLabel(n)
}

// hasFinalizers reports whether a namespace has finalizers in its spec. Only the controller of namespaces, which does not run
// here, removes the one that each has.
func hasFinalizers(o meta.Object) bool {
	return len(value[corev1.Namespace](o).Spec.Finalizers) > 0
}

func terminateNamespace(n *corev1.Namespace) { n.Status.Phase = corev1.NamespaceTerminating }

func createPersistentVolume(pv *corev1.PersistentVolume) {
	created := pv.CreationTimestamp
	pv.Status = corev1.PersistentVolumeStatus{Phase: corev1.VolumePending, LastPhaseTransitionTime: &created}
}

// volumeStatus sets the time of a change of the phase.
func volumeStatus(pv, old *corev1.PersistentVolume) {
	now, before := &pv.Status, &old.Status
	switch same := now.Phase == before.Phase; {
	case same && now.LastPhaseTransitionTime == nil:
		now.LastPhaseTransitionTime = before.LastPhaseTransitionTime
	case !same && (now.LastPhaseTransitionTime == nil || now.LastPhaseTransitionTime.Equal(before.LastPhaseTransitionTime)):
		now.LastPhaseTransitionTime = new(metav1.NewTime(time.Now().Truncate(time.Second)))
	}
}

func deploymentStatus(d, old *appsv1.Deployment) { d.Labels = old.Labels }

// podStatus keeps the class of a pod and the generations that its kubelet has seen.
func podStatus(p, old *corev1.Pod) {
	if p.Status.QOSClass == "" {
		p.Status.QOSClass = old.Status.QOSClass
	}
	if p.Status.ObservedGeneration == 0 {
		p.Status.ObservedGeneration = old.Status.ObservedGeneration
	}
	seen := map[corev1.PodConditionType][]int64{} // validation permits several conditions of a type
	for _, c := range old.Status.Conditions {
		seen[c.Type] = append(seen[c.Type], c.ObservedGeneration)
	}
	for i := range p.Status.Conditions {
		c := &p.Status.Conditions[i]
		if generations := seen[c.Type]; len(generations) > 0 {
			seen[c.Type] = generations[1:]
			if c.ObservedGeneration == 0 {
				c.ObservedGeneration = generations[0]
			}
		}
	}
}

func createClaim(c *corev1.PersistentVolumeClaim) {
	c.Status = corev1.PersistentVolumeClaimStatus{Phase: corev1.ClaimPending}
	if c.Spec.DataSourceRef == nil && !isVolumeSource(c.Spec.DataSource) {
		c.Spec.DataSource = nil
	}
	pairDataSources(&c.Spec)
}

func updateClaim(c, old *corev1.PersistentVolumeClaim) {
	if old.Spec.DataSource == nil && old.Spec.DataSourceRef == nil && c.Spec.DataSourceRef == nil && !isVolumeSource(c.Spec.DataSource) {
		c.Spec.DataSource = nil
	}
	pairDataSources(&c.Spec)
}

// isVolumeSource reports whether a dataSource has one of the kinds that it could always have. Others are dropped; only
// dataSourceRef may have them.
func isVolumeSource(s *corev1.TypedLocalObjectReference) bool {
	if s == nil {
		return false
	}
	group := ""
	if s.APIGroup != nil {
		group = *s.APIGroup
	}
	return s.Kind == "PersistentVolumeClaim" && group == "" || s.Kind == "VolumeSnapshot" && group == "snapshot.storage.k8s.io"
}

// pairDataSources copies dataSource to dataSourceRef, or back, where one of the two is missing.
func pairDataSources(s *corev1.PersistentVolumeClaimSpec) {
	switch source, ref := s.DataSource, s.DataSourceRef; {
	case source != nil && ref == nil:
		s.DataSourceRef = &corev1.TypedObjectReference{APIGroup: source.APIGroup, Kind: source.Kind, Name: source.Name}
	case source == nil && ref != nil && (ref.Namespace == nil || *ref.Namespace == ""):
		s.DataSource = &corev1.TypedLocalObjectReference{APIGroup: ref.APIGroup, Kind: ref.Kind, Name: ref.Name}
	}
}

func updateSecret(s, old *corev1.Secret) {
	if s.Type == "" {
		s.Type = old.Type
	}
}

// cleanSecrets leaves only the names of the references to secrets.
func cleanSecrets(a *corev1.ServiceAccount) {
	for i, s := range a.Secrets {
		a.Secrets[i] = corev1.ObjectReference{Name: s.Name}
	}
}

func updateServiceAccount(a, _ *corev1.ServiceAccount) { cleanSecrets(a) }

func createDaemonSet(d *appsv1.DaemonSet) { setTemplateGeneration(d, max(templateGeneration(d), 1)) }

// updateDaemonSet keeps the generation of the template, which counts changes of the template.
func updateDaemonSet(d, old *appsv1.DaemonSet) {
	generation := templateGeneration(old)
	if !equality.Semantic.DeepEqual(d.Spec.Template, old.Spec.Template) {
		generation++
	}
	setTemplateGeneration(d, generation)
}

// daemonSetStatus keeps the generation of the template, which upstream is a part of the spec.
func daemonSetStatus(d, old *appsv1.DaemonSet) { setTemplateGeneration(d, templateGeneration(old)) }

// templateGeneration returns the generation of the template, which apps/v1 has in an annotation.
func templateGeneration(d *appsv1.DaemonSet) int64 {
	generation, _ := strconv.ParseInt(d.Annotations[appsv1.DeprecatedTemplateGeneration], 10, 64)
	return generation
}

func setTemplateGeneration(d *appsv1.DaemonSet, generation int64) {
	if d.Annotations == nil {
		d.Annotations = map[string]string{}
	}
	d.Annotations[appsv1.DeprecatedTemplateGeneration] = strconv.FormatInt(generation, 10)
}

func createJob(j *batchv1.Job) {
	if j.Spec.ManualSelector != nil && *j.Spec.ManualSelector {
		return
	}
	template := &j.Spec.Template
	shared := template.Labels != nil && reflect.ValueOf(j.Labels).UnsafePointer() == reflect.ValueOf(template.Labels).UnsafePointer()
	if template.Labels == nil {
		template.Labels = map[string]string{}
	}
	for label, value := range map[string]string{
		"job-name": j.Name, batchv1.JobNameLabel: j.Name, "controller-uid": string(j.UID), batchv1.ControllerUidLabel: string(j.UID),
	} {
		if _, ok := template.Labels[label]; !ok {
			template.Labels[label] = value
		}
	}
	if shared {
		j.Labels = maps.Clone(template.Labels) // the default took the labels of the template
	}
	if j.Spec.Selector == nil {
		j.Spec.Selector = &metav1.LabelSelector{}
	}
	if j.Spec.Selector.MatchLabels == nil {
		j.Spec.Selector.MatchLabels = map[string]string{}
	}
	if _, ok := j.Spec.Selector.MatchLabels[batchv1.ControllerUidLabel]; !ok {
		j.Spec.Selector.MatchLabels[batchv1.ControllerUidLabel] = string(j.UID)
	}
}

// createSigningRequest sets the user of the request.
func createSigningRequest(ctx context.Context, o runtime.Object) {
	spec, user := &o.(*certificatesv1.CertificateSigningRequest).Spec, store.UserOf(ctx)
	spec.Username, spec.UID, spec.Groups, spec.Extra = user.Name, user.UID, user.Groups, nil
	for name, values := range user.Extra {
		if spec.Extra == nil {
			spec.Extra = map[string]certificatesv1.ExtraValue{}
		}
		spec.Extra[name] = values
	}
}

func updateSigningRequest(r, old *certificatesv1.CertificateSigningRequest) { r.Spec = old.Spec }

// requestStatus keeps the conditions that only an approval sets.
func requestStatus(r, old *certificatesv1.CertificateSigningRequest) {
	for _, kind := range []certificatesv1.RequestConditionType{certificatesv1.CertificateApproved, certificatesv1.CertificateDenied} {
		now, before := conditionsOf(r, kind), conditionsOf(old, kind)
		if len(now) != len(before) {
			continue // the validation refuses it
		}
		for i := range now {
			*now[i] = *before[i]
		}
	}
	conditionTimes(r, old)
}

func conditionsOf(r *certificatesv1.CertificateSigningRequest, kind certificatesv1.RequestConditionType) (out []*certificatesv1.CertificateSigningRequestCondition) {
	for i := range r.Status.Conditions {
		if c := &r.Status.Conditions[i]; c.Type == kind {
			out = append(out, c)
		}
	}
	return out
}

// conditionTimes sets the times that the conditions of a request lack.
func conditionTimes(r, old *certificatesv1.CertificateSigningRequest) {
	now := metav1.NewTime(time.Now().Truncate(time.Second))
	for i := range r.Status.Conditions {
		c := &r.Status.Conditions[i]
		if c.LastUpdateTime.IsZero() {
			c.LastUpdateTime = now
		}
		if !c.LastTransitionTime.IsZero() {
			continue
		}
		c.LastTransitionTime = now
		for _, had := range old.Status.Conditions {
			if had.Type == c.Type && had.Status == c.Status && !had.LastTransitionTime.IsZero() {
				c.LastTransitionTime = had.LastTransitionTime
				break
			}
		}
	}
}

// createEndpointSlice drops the topology that v1beta1 had.
func createEndpointSlice(s *discoveryv1.EndpointSlice) {
	for i := range s.Endpoints {
		s.Endpoints[i].DeprecatedTopology = nil
	}
}

func updateEndpointSlice(s, old *discoveryv1.EndpointSlice) {
	if equality.Semantic.DeepEqual(s.Endpoints, old.Endpoints) {
		return
	}
	createEndpointSlice(s)
}

// createCSIDriver leaves a new driver without a generation, which only its updates count.
func createCSIDriver(d *storagev1.CSIDriver) { d.Generation = 0 }

// updateTaintRule makes the time of a taint follow its effect, unless the writer has set another time.
func updateTaintRule(r, old *resourcev1.DeviceTaintRule) {
	now, before := &r.Spec.Taint, &old.Spec.Taint
	if now.Effect != before.Effect && now.TimeAdded.Equal(before.TimeAdded) {
		now.TimeAdded = new(metav1.NewTime(time.Now().Truncate(time.Second)))
	}
}

// claimStatus drops what is said about devices that a claim no longer has, so that the next allocation does not begin with it.
func claimStatus(c, old *resourcev1.ResourceClaim) {
	type device struct {
		driver, pool, name string
		share              string
	}
	gone := map[device]bool{}
	for _, claim := range []*resourcev1.ResourceClaim{old, c} {
		if claim.Status.Allocation == nil {
			continue
		}
		for _, r := range claim.Status.Allocation.Devices.Results {
			gone[device{r.Driver, r.Pool, r.Device, share(r.ShareID)}] = claim == old
		}
	}
	c.Status.Devices = slices.DeleteFunc(c.Status.Devices, func(d resourcev1.AllocatedDeviceStatus) bool {
		return gone[device{d.Driver, d.Pool, d.Device, share(d.ShareID)}]
	})
	if len(c.Status.Devices) == 0 {
		c.Status.Devices = nil
	}
}

// share returns the id of a share of a device, or "".
func share[T ~string](id *T) string {
	if id == nil {
		return ""
	}
	return string(*id)
}
