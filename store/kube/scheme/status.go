package scheme

import (
	"maps"

	appsv1 "k8s.io/api/apps/v1"

	"github.com/kubecoord/kubecoord/internal/kinds"
	"github.com/kubecoord/kubecoord/store"
)

// setStatus lets writes of the status change the metadata too, as most built-in kinds do (upstream: pkg/registry, PrepareForUpdate of
// the status strategies). Custom resources and newer kinds do not.
func setStatus(d *kinds.Descriptor) {
	if !d.Status || keepsMetadata(d.Group, d.Name) {
		return
	}
	d.Subresources = append(d.Subresources, kinds.Subresource{Name: "status", Verbs: readWrite(), Resets: []string{"spec"}, Write: func(parent, body kinds.Object) error {
		to, from := parent.(*store.Unstructured), body.(*store.Unstructured)
		class := at(to, "status", "qosClass")
		if status, ok := from.Content["status"]; ok {
			to.Content["status"] = status
		} else {
			delete(to.Content, "status")
		}
		if d.Name != "Deployment" {
			to.Labels = from.Labels
		}
		if d.Name != "Pod" {
			to.OwnerReferences = from.OwnerReferences
		}
		generation, counted := to.Annotations[appsv1.DeprecatedTemplateGeneration]
		to.Annotations, to.Finalizers = from.Annotations, from.Finalizers
		if d.Name == "DaemonSet" && counted {
			// Upstream it is a part of the spec.
			to.Annotations = maps.Clone(to.Annotations)
			if to.Annotations == nil {
				to.Annotations = map[string]string{}
			}
			to.Annotations[appsv1.DeprecatedTemplateGeneration] = generation
		}
		return keepQOS(d, to, class)
	}})
}

// keepQOS keeps the class of a pod if a status lacks it.
func keepQOS(d *kinds.Descriptor, pod kinds.Object, class any) error {
	if d.Name != "Pod" || class == nil || at(pod, "status", "qosClass") != nil {
		return nil
	}
	return set(pod, class, "status", "qosClass")
}

// keepsMetadata reports whether a write of the status of a kind leaves the metadata as it is.
func keepsMetadata(group, kind string) bool {
	switch group + "/" + kind {
	case "networking.k8s.io/ServiceCIDR", "storage.k8s.io/VolumeAttachment", "admissionregistration.k8s.io/ValidatingAdmissionPolicy":
		return true
	}
	return group == "flowcontrol.apiserver.k8s.io" || group == "resource.k8s.io"
}
