package admission

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/admission"

	writes "github.com/kubecoord/kubecoord/store/admission"
)

// namespaces is the resource of namespaces.
var namespaces = corev1.SchemeGroupVersion.WithResource("namespaces")

// admitNamespace is the plugin NamespaceLifecycle (upstream: admission/plugin/namespace/lifecycle, which waits 50 ms for a
// namespace that it does not know; here the store knows all).
func (c *Chain) admitNamespace(ctx context.Context, a *writes.Attributes) error {
	resource := a.Resource.Info()
	switch isNamespace := resource.Group == "" && resource.Plural == namespaces.Resource; {
	case isNamespace && a.Operation == writes.Delete && isImmortal(a.Name):
		return apierrors.NewForbidden(namespaces.GroupResource(), a.Name, fmt.Errorf("this namespace may not be deleted"))
	case isNamespace, a.Namespace == "", a.Operation != writes.Create:
		return nil
	case resource.Group == "authorization.k8s.io" && resource.Plural == "localsubjectaccessreviews":
		return nil // who may not see a namespace must not learn of it
	}
	in := c.namespaces.Objects()
	if in == nil {
		return apierrors.NewNotFound(namespaces.GroupResource(), a.Namespace)
	}
	ns := in.Get("", a.Namespace)
	if ns == nil {
		return apierrors.NewNotFound(namespaces.GroupResource(), a.Namespace)
	}
	if in.Kind().FieldValue(ns, "status.phase") != string(corev1.NamespaceTerminating) {
		return nil
	}
	attr, err := newAttributes(ctx, a)
	if err != nil {
		return err
	}
	err = admission.NewForbidden(attr, fmt.Errorf("unable to create new content in namespace %s because it is being terminated", a.Namespace))
	if refusal, ok := err.(*apierrors.StatusError); ok {
		refusal.ErrStatus.Details.Causes = append(refusal.ErrStatus.Details.Causes, metav1.StatusCause{
			Type: corev1.NamespaceTerminatingCause, Field: "metadata.namespace", Message: fmt.Sprintf("namespace %s is being terminated", a.Namespace),
		})
	}
	return err
}

// isImmortal reports whether a namespace cannot be deleted.
func isImmortal(name string) bool {
	return name == metav1.NamespaceDefault || name == metav1.NamespaceSystem || name == metav1.NamespacePublic
}
