package scheme

import (
	"errors"
	"fmt"
	"slices"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	k8slabels "k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubecoord/kubecoord/internal/kinds"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/field"
	"github.com/kubecoord/kubecoord/store/meta"
)

// readWrite are the verbs of a subresource that is a part of its parent.
func readWrite() []string { return []string{"get", "patch", "update"} }

// body returns the kind of the bodies of a subresource. Without verbs they are the parent in another form.
func (b *builder) body(group, version, kind string, verbs ...string) (*kinds.Kind, *objectType, error) {
	t, v, err := b.version(schema.GroupVersionKind{Group: group, Version: version, Kind: kind})
	if err != nil {
		return nil, nil, err
	}
	d := kinds.Descriptor{
		Group: group, Name: kind, New: newObject, Versions: []kinds.Version{v}, Native: true, UnconditionalUpdate: true, Default: b.defaulter(t), Verbs: verbs,
	}
	if kind == "Eviction" {
		d.BodyVersions = []string{"v1beta1"}
	}
	table(&d, t)
	k, err := kinds.NewKind(d)
	return k, t, err
}

// statusSubresource is the status of nearly all built-in kinds: unlike the one of custom resources, it also writes the metadata
// (upstream: pkg/registry, the status strategies without ResetObjectMetaForStatus).
func (t *objectType) statusSubresource(r served) kinds.Subresource {
	return kinds.Subresource{Name: "status", Verbs: readWrite(), Resets: append([]string{"spec"}, r.statusResets...), Write: func(parent, body kinds.Object) error {
		before := t.typedOrNil(parent)
		if err := replace(parent, body, "status"); err != nil {
			return err
		}
		m, b := parent.GetObjectMeta(), body.GetObjectMeta()
		m.Labels, m.Annotations, m.Finalizers = b.Labels, b.Annotations, b.Finalizers
		if r.kind != "Pod" {
			m.OwnerReferences = b.OwnerReferences
		}
		if r.statusUpdate != nil && before != nil {
			t.change(parent, func(obj runtime.Object) { r.statusUpdate(obj, before) })
		}
		t.complete(parent, "status")
		return nil
	}}
}

// scale is the subresource scale of workloads with a LabelSelector.
func scale(b *builder) ([]kinds.Subresource, error) {
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
func controllerScale(b *builder) ([]kinds.Subresource, error) {
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
func (b *builder) scale(selector func(any) (k8slabels.Selector, error)) ([]kinds.Subresource, error) {
	kind, _, err := b.body("autoscaling", "v1", "Scale")
	return []kinds.Subresource{{
		Name: "scale", Body: kind, Verbs: readWrite(),
		Read: func(parent kinds.Object) (kinds.Object, error) {
			s, err := selector(at(parent, "spec", "selector"))
			if err != nil {
				return nil, meta.NewBadRequest("%v", err)
			}
			content, err := contentOf(&autoscalingv1.Scale{
				Spec:   autoscalingv1.ScaleSpec{Replicas: count(parent, "spec", "replicas")},
				Status: autoscalingv1.ScaleStatus{Replicas: count(parent, "status", "replicas"), Selector: s.String()},
			})
			m := parent.GetObjectMeta()
			return &store.Unstructured{Content: content, ObjectMeta: meta.ObjectMeta{
				Name: m.Name, Namespace: m.Namespace, UID: m.UID, ResourceVersion: m.ResourceVersion, CreationTimestamp: m.CreationTimestamp,
			}}, err
		},
		Write: func(parent, body kinds.Object) error {
			replicas := count(body, "spec", "replicas")
			if replicas < 0 {
				return field.Errors{field.Invalid("spec.replicas", replicas, "must be greater than or equal to 0")}.Status(
					meta.GroupKind{Group: "autoscaling", Kind: "Scale"}, parent.GetObjectMeta().Name)
			}
			return set(parent, int64(replicas), "spec", "replicas")
		},
	}}, err
}

// count returns a number in a tree, or 0.
func count(o kinds.Object, path ...string) int32 {
	n, _ := at(o, path...).(int64)
	return int32(n)
}

// set sets a member in the tree of an object.
func set(o kinds.Object, value any, path ...string) error {
	u := o.(*store.Unstructured)
	if u.Content == nil {
		u.Content = map[string]any{}
	}
	return unstructured.SetNestedField(u.Content, value, path...)
}

// replace copies a member from one tree to another, or removes it.
func replace(to, from kinds.Object, path ...string) error {
	value := at(from, path...)
	if value == nil {
		unstructured.RemoveNestedField(to.(*store.Unstructured).Content, path...)
		return nil
	}
	return set(to, value, path...)
}

// podSubresources returns the subresources that write pods, and the streams of a kubelet.
func podSubresources(b *builder) ([]kinds.Subresource, error) {
	binding, _, err := b.body("", "v1", "Binding", "create")
	if err != nil {
		return nil, err
	}
	eviction, _, err := b.body("policy", "v1", "Eviction", "create")
	if err != nil {
		return nil, err
	}
	pod, _, err := b.version(corev1.SchemeGroupVersion.WithKind("Pod"))
	return append(streams(pod), []kinds.Subresource{
		{Name: "ephemeralcontainers", Verbs: readWrite(), Resets: []string{"status"}, Write: func(pod, body kinds.Object) error {
			return replace(pod, body, "spec", "ephemeralContainers")
		}},
		{Name: "resize", Verbs: readWrite(), Resets: []string{"status"}, Write: resize},
		{Name: "binding", Body: binding, Verbs: []string{"create"}, Write: bind},
		{Name: "eviction", Body: eviction, Verbs: []string{"create"}, Removes: true, Write: markEvicted, MayRemove: mayEvict(pod)},
	}...), err
}

// resize takes from the body the resources of the pod, and the resources and resize policies of its containers. Containers that
// were added, removed, renamed or reordered are taken as they are, and the validation refuses them (upstream: registry/core/pod,
// dropNonResizeUpdates).
func resize(pod, body kinds.Object) error {
	lists := []string{"containers", "initContainers"}
	for _, list := range lists {
		now, _ := at(pod, "spec", list).([]any)
		want, _ := at(body, "spec", list).([]any)
		if len(now) != len(want) {
			return replace(pod, body, "spec")
		}
	}
	if err := replace(pod, body, "spec", "resources"); err != nil {
		return err
	}
	for _, list := range lists {
		now, _ := at(pod, "spec", list).([]any)
		want, _ := at(body, "spec", list).([]any)
		if !slices.EqualFunc(now, want, sameName) {
			if err := replace(pod, body, "spec", list); err != nil {
				return err
			}
			continue
		}
		for i := range now {
			to, from := now[i].(map[string]any), want[i].(map[string]any)
			for _, member := range []string{"resources", "resizePolicy"} {
				if from[member] == nil {
					delete(to, member)
					continue
				}
				to[member] = from[member]
			}
		}
	}
	return nil
}

// sameName reports whether two objects have the same name.
func sameName(a, b any) bool {
	one, ok := a.(map[string]any)
	other, also := b.(map[string]any)
	return ok && also && one["name"] == other["name"]
}

// bind assigns a pod to a node (upstream: registry/core/pod/storage, BindingREST).
func bind(pod, body kinds.Object) error {
	m, b := pod.GetObjectMeta(), body.GetObjectMeta()
	resource := meta.GroupResource{Resource: "pods/binding"}
	node := text("target", "name")(body)
	var problem error
	switch {
	case b.Name != "" && b.Name != m.Name:
		return meta.NewBadRequest("name in URL does not match name in Binding object")
	case node == "":
		return errors.New(`target.name: Required value`)
	case b.UID != "" && b.UID != m.UID:
		problem = fmt.Errorf("Precondition failed: UID in precondition: %v, UID in object meta: %v", b.UID, m.UID)
	case m.DeletionTimestamp != nil:
		problem = fmt.Errorf("pod %s is being deleted, cannot be assigned to a host", m.Name)
	case text("spec", "nodeName")(pod) != "":
		problem = fmt.Errorf("pod %v is already assigned to node %q", m.Name, text("spec", "nodeName")(pod))
	case at(pod, "spec", "schedulingGates") != nil:
		problem = fmt.Errorf("pod %v has non-empty .spec.schedulingGates", m.Name)
	}
	if problem != nil {
		return meta.NewConflict(resource, m.Name, problem.Error())
	}
	m.Annotations, m.Labels = merged(m.Annotations, b.Annotations), merged(m.Labels, b.Labels)
	unstructured.RemoveNestedField(pod.(*store.Unstructured).Content, "status", "nominatedNodeName")
	if err := set(pod, node, "spec", "nodeName"); err != nil {
		return err
	}
	return setCondition(pod, corev1.PodScheduled)
}

// merged returns a map with the entries of both; those of the second win.
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
func namespaceSubresources(*builder) ([]kinds.Subresource, error) {
	return []kinds.Subresource{{Name: "finalize", Verbs: []string{"update"}, Resets: []string{"status"}, Write: func(namespace, body kinds.Object) error {
		return replace(namespace, body, "spec", "finalizers")
	}}}, nil
}

// approval is the subresource by which a signing request is approved or denied.
func approval(b *builder) ([]kinds.Subresource, error) {
	t, _, err := b.version(schema.GroupVersionKind{Group: "certificates.k8s.io", Version: "v1", Kind: "CertificateSigningRequest"})
	return []kinds.Subresource{{Name: "approval", Verbs: readWrite(), Resets: []string{"spec", "status.certificate"}, Write: func(request, body kinds.Object) error {
		before := t.typedOrNil(request)
		err := replace(request, body, "status", "conditions")
		if err == nil && before != nil {
			t.change(request, func(obj runtime.Object) { onUpdate(conditionTimes)(obj, before) })
		}
		return err
	}}}, err
}
