package scheme

import (
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
		to.Annotations, to.Finalizers = from.Annotations, from.Finalizers
		return nil
	}})
}

// keepsMetadata reports whether a write of the status of a kind leaves the metadata as it is.
func keepsMetadata(group, kind string) bool {
	switch group + "/" + kind {
	case "networking.k8s.io/ServiceCIDR", "storage.k8s.io/VolumeAttachment", "admissionregistration.k8s.io/ValidatingAdmissionPolicy":
		return true
	}
	return group == "flowcontrol.apiserver.k8s.io" || group == "resource.k8s.io"
}
