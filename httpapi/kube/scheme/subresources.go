package scheme

import (
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	k8slabels "k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	upstream "k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubecoord/kubecoord/httpapi/kube/scheme/internal/gated"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/field"
	"github.com/kubecoord/kubecoord/store/kind"
	"github.com/kubecoord/kubecoord/store/meta"
)

// readWrite are the verbs of a subresource that is a part of its parent.
func readWrite() []string { return []string{"get", "patch", "update"} }

// body returns the kind of the bodies of a subresource. Without verbs they are the parent in another form.
func (b *builder) body(group, version, name string, verbs ...string) (kind.Kind, error) {
	t, v, err := b.version(schema.GroupVersionKind{Group: group, Version: version, Kind: name})
	if err != nil {
		return nil, err
	}
	d := kind.Descriptor[meta.Object]{
		Resource: kind.Resource{Group: group, Kind: name, Verbs: verbs},
		Native:   &kind.Native[meta.Object]{},
		Versions: []kind.Version[meta.Object]{v},
		Strategy: kind.Strategy[meta.Object]{Default: b.setDefaults, Update: kind.UpdateStrategy[meta.Object]{Unconditional: true}},
	}
	if name == "Eviction" {
		d.Native.BodyVersions = []string{"v1beta1"}
	}
	table(&d, t)
	return store.Compile(d)
}

// statusSubresource is the status of nearly all built-in kinds: unlike the status of custom resources, it also writes the metadata, but
// for kinds with an ownStatus (upstream: pkg/registry, the status strategies without and with ResetObjectMetaForStatus).
func (t *objectType) statusSubresource(r served, drops gated.Dropper) kind.Subresource[meta.Object] {
	resets := append([]string{"spec"}, r.statusResets...)
	if r.ownStatus {
		resets = append(resets, "metadata")
	}
	return kind.Subresource[meta.Object]{Name: "status", Verbs: readWrite(), Resets: resets, Write: func(parent, body meta.Object) error {
		before, owners := t.copyOf(parent), parent.GetObjectMeta().OwnerReferences
		t.typ.CopyMember(parent, body, "status")
		if !r.ownStatus {
			writeMetadata(parent, body)
		}
		if r.kind == "Pod" {
			parent.GetObjectMeta().OwnerReferences, parent.GetObjectMeta().DeletionTimestamp = owners, nil
		}
		if drops != nil {
			drops.Drop(valueOf(parent), before)
		}
		if r.statusUpdate != nil {
			r.statusUpdate(valueOf(parent), before)
		}
		return nil
	}}
}

// identicalStatus is the status of kinds whose strategy keeps all metadata, the identity too (upstream: registry/flowcontrol).
func (t *objectType) identicalStatus() kind.Subresource[meta.Object] {
	return kind.Subresource[meta.Object]{
		Name: "status", Verbs: readWrite(), Resets: []string{"metadata", "spec"}, Native: &kind.NativeSubresource[meta.Object]{KeepsIdentity: true},
		Write: func(parent, body meta.Object) error {
			t.typ.CopyMember(parent, body, "status")
			return nil
		},
	}
}

// writeMetadata takes over the metadata of a body of a subresource, as upstream does that changes the body and not the object. What
// an update cannot change is restored, or refused by the validation.
func writeMetadata(parent, body meta.Object) {
	m := parent.GetObjectMeta()
	version, generation := m.ResourceVersion, m.Generation
	*m = *body.GetObjectMeta()
	m.ResourceVersion, m.Generation = version, generation
}

// scale is the subresource scale of workloads with a LabelSelector.
func scale(b *builder) ([]kind.Subresource[meta.Object], error) {
	return b.scale(func(selector any) (k8slabels.Selector, error) {
		s := &metav1.LabelSelector{}
		m, _ := selector.(map[string]any)
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(m, s); err != nil {
			return nil, err
		}
		return metav1.LabelSelectorAsSelector(s)
	})
}

// controllerScale is the subresource scale of ReplicationController, whose selector is a map.
func controllerScale(b *builder) ([]kind.Subresource[meta.Object], error) {
	return b.scale(func(selector any) (k8slabels.Selector, error) {
		set := k8slabels.Set{}
		m, _ := selector.(map[string]any)
		for key, value := range m {
			set[key], _ = value.(string)
		}
		return set.AsSelector(), nil
	})
}

// scale returns the subresource scale, whose bodies have the kind Scale of the group autoscaling (upstream: registry/apps,
// ScaleREST).
func (b *builder) scale(selector func(any) (k8slabels.Selector, error)) ([]kind.Subresource[meta.Object], error) {
	scales, err := b.body("autoscaling", "v1", "Scale")
	return []kind.Subresource[meta.Object]{{
		Name: "scale", Body: scales, Verbs: readWrite(),
		Read: func(parent meta.Object) (meta.Object, error) {
			s, err := selector(at(parent, "spec", "selector"))
			if err != nil {
				return nil, meta.NewBadRequest("%v", err)
			}
			m, body := parent.GetObjectMeta(), scales.New(0)
			*body.GetObjectMeta() = meta.ObjectMeta{
				Name: m.Name, Namespace: m.Namespace, UID: m.UID, ResourceVersion: m.ResourceVersion, CreationTimestamp: m.CreationTimestamp,
			}
			scale := value[autoscalingv1.Scale](body)
			if replicas := *replicasOf(parent); replicas != nil {
				scale.Spec.Replicas = *replicas
			}
			have, _ := at(parent, "status", "replicas").(int64)
			scale.Status = autoscalingv1.ScaleStatus{Replicas: int32(have), Selector: s.String()}
			return body, nil
		},
		Write: func(parent, body meta.Object) error {
			replicas := value[autoscalingv1.Scale](body).Spec.Replicas
			if replicas < 0 {
				return field.Errors{field.Invalid("spec.replicas", replicas, "must be greater than or equal to 0")}.Status(
					meta.GroupKind{Group: "autoscaling", Kind: "Scale"}, parent.GetObjectMeta().Name)
			}
			*replicasOf(parent) = &replicas
			return nil
		},
	}}, err
}

// replicasOf returns the member spec.replicas of a workload.
func replicasOf(o meta.Object) **int32 {
	switch w := valueOf(o).(type) {
	case *appsv1.Deployment:
		return &w.Spec.Replicas
	case *appsv1.ReplicaSet:
		return &w.Spec.Replicas
	case *appsv1.StatefulSet:
		return &w.Spec.Replicas
	}
	return &value[corev1.ReplicationController](o).Spec.Replicas
}

// podSubresources returns the subresources that write pods, and the streams of a kubelet.
func podSubresources(b *builder) ([]kind.Subresource[meta.Object], error) {
	binding, err := b.body("", "v1", "Binding", "create")
	if err != nil {
		return nil, err
	}
	eviction, err := b.body("policy", "v1", "Eviction", "create")
	if err != nil {
		return nil, err
	}
	return append(append(streams(), podProxy()), []kind.Subresource[meta.Object]{
		{Name: "ephemeralcontainers", Verbs: readWrite(), Write: func(pod, body meta.Object) error {
			value[corev1.Pod](pod).Spec.EphemeralContainers = value[corev1.Pod](body).Spec.EphemeralContainers
			return nil
		}},
		{Name: "resize", Verbs: readWrite(), Write: resize},
		{Name: "binding", Body: binding, Verbs: []string{"create"}, Write: bind},
		{Name: "eviction", Body: eviction, Verbs: []string{"create"}, Write: markEvicted, Native: &kind.NativeSubresource[meta.Object]{
			Removes: true, MayRemove: mayEvict,
		}},
	}...), nil
}

// resize takes from the body the resources of the pod, and the resources and resize policies of its containers. Containers that
// were added, removed, renamed or reordered are taken as they are, and the validation refuses them (upstream: registry/core/pod,
// dropNonResizeUpdates).
func resize(pod, body meta.Object) error {
	now, want := &value[corev1.Pod](pod).Spec, value[corev1.Pod](body).Spec
	if len(now.Containers) != len(want.Containers) || len(now.InitContainers) != len(want.InitContainers) {
		*now = want
		return nil
	}
	if now.Resources = now.Resources.DeepCopy(); want.Resources != nil {
		now.Resources = want.Resources
	}
	resizeContainers(&now.Containers, want.Containers)
	resizeContainers(&now.InitContainers, want.InitContainers)
	defaultPodResources(now)
	return nil
}

func resizeContainers(now *[]corev1.Container, want []corev1.Container) {
	if !slices.EqualFunc(*now, want, func(a, b corev1.Container) bool { return a.Name == b.Name }) {
		*now = want
		return
	}
	for i := range want {
		(*now)[i].Resources, (*now)[i].ResizePolicy = want[i].Resources, want[i].ResizePolicy
	}
}

// bind assigns a pod to a node (upstream: registry/core/pod/storage, BindingREST).
func bind(o, body meta.Object) error {
	pod, b := value[corev1.Pod](o), value[corev1.Binding](body)
	resource := meta.GroupResource{Resource: "pods/binding"}
	var problem error
	switch {
	case b.Name != "" && b.Name != pod.Name:
		return meta.NewBadRequest("name in URL does not match name in Binding object")
	case targetProblems(&b.Target) != nil:
		return targetProblems(&b.Target).ToAggregate()
	case b.UID != "" && b.UID != pod.UID:
		problem = fmt.Errorf("Precondition failed: UID in precondition: %v, UID in object meta: %v", b.UID, pod.UID)
	case pod.DeletionTimestamp != nil:
		problem = fmt.Errorf("pod %s is being deleted, cannot be assigned to a host", pod.Name)
	case pod.Spec.NodeName != "":
		problem = fmt.Errorf("pod %v is already assigned to node %q", pod.Name, pod.Spec.NodeName)
	case len(pod.Spec.SchedulingGates) > 0:
		problem = fmt.Errorf("pod %v has non-empty .spec.schedulingGates", pod.Name)
	}
	if problem != nil {
		return meta.NewConflict(resource, pod.Name, problem.Error())
	}
	pod.Annotations, pod.Labels = merged(pod.Annotations, b.Annotations), merged(pod.Labels, b.Labels)
	pod.Status.NominatedNodeName, pod.Spec.NodeName = "", b.Target.Name
	setCondition(pod, corev1.PodCondition{Type: corev1.PodScheduled})
	return nil
}

// targetProblems returns the problems of the target of a Binding (upstream: ValidatePodBinding).
func targetProblems(target *corev1.ObjectReference) (errs upstream.ErrorList) {
	at := upstream.NewPath("target")
	if target.Kind != "" && target.Kind != "Node" {
		errs = append(errs, upstream.NotSupported(at.Child("kind"), target.Kind, []string{"Node", "<empty>"}))
	}
	if target.Name == "" {
		errs = append(errs, upstream.Required(at.Child("name"), ""))
	} else if len(errs) == 0 {
		for _, problem := range kind.DNSSubdomainName(target.Name, false) {
			errs = append(errs, upstream.Invalid(at.Child("name"), target.Name, problem))
		}
	}
	return errs
}

// merged returns a map with the entries of both; the entries of the second win.
func merged(a, b map[string]string) map[string]string {
	if len(b) == 0 {
		return a
	}
	out := make(map[string]string, len(a)+len(b))
	for _, m := range []map[string]string{a, b} {
		for key, value := range m {
			out[key] = value
		}
	}
	return out
}

// namespaceSubresources are finalize, by which the controller of namespaces removes its finalizer.
func namespaceSubresources(*builder) ([]kind.Subresource[meta.Object], error) {
	return []kind.Subresource[meta.Object]{{Name: "finalize", Verbs: []string{"update"}, Resets: []string{"status"}, Write: func(namespace, body meta.Object) error {
		value[corev1.Namespace](namespace).Spec.Finalizers = value[corev1.Namespace](body).Spec.Finalizers
		writeMetadata(namespace, body)
		return nil
	}}}, nil
}

// approval is the subresource by which a signing request is approved or denied.
func approval(b *builder) ([]kind.Subresource[meta.Object], error) {
	t, _, err := b.version(schema.GroupVersionKind{Group: "certificates.k8s.io", Version: "v1", Kind: "CertificateSigningRequest"})
	return []kind.Subresource[meta.Object]{{Name: "approval", Verbs: readWrite(), Resets: []string{"spec", "status.certificate"}, Write: func(o, body meta.Object) error {
		before, request := t.copyOf(o), value[certificatesv1.CertificateSigningRequest](o)
		request.Status.Conditions = value[certificatesv1.CertificateSigningRequest](body).Status.Conditions
		conditionTimes(request, before.(*certificatesv1.CertificateSigningRequest))
		writeMetadata(o, body)
		return nil
	}}}, err
}
