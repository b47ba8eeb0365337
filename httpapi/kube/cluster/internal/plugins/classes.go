package plugins

import (
	"cmp"
	"iter"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	writes "github.com/kubecoord/kubecoord/store/admission"
)

// defaultStorageClass is the plugin DefaultStorageClass: a new claim without a class gets the default.
func (r *reader) defaultStorageClass(_ *writes.Attributes, claim *corev1.PersistentVolumeClaim) error {
	if _, named := claim.Annotations[corev1.BetaStorageClassAnnotation]; named || claim.Spec.StorageClassName != nil {
		return nil
	}
	class := newest(r.storageClasses.All(""), func(c *storagev1.StorageClass) (*metav1.ObjectMeta, bool) {
		m := &c.ObjectMeta
		return m, m.Annotations["storageclass.kubernetes.io/is-default-class"] == "true" ||
			m.Annotations["storageclass.beta.kubernetes.io/is-default-class"] == "true"
	})
	if class != nil {
		claim.Spec.StorageClassName = new(class.Name)
	}
	return nil
}

// defaultIngressClass is the plugin DefaultIngressClass: a new Ingress without a class gets the default.
func (r *reader) defaultIngressClass(_ *writes.Attributes, ingress *networkingv1.Ingress) error {
	if _, named := ingress.Annotations["kubernetes.io/ingress.class"]; named || ingress.Spec.IngressClassName != nil {
		return nil
	}
	class := newest(r.ingressClasses.All(""), func(c *networkingv1.IngressClass) (*metav1.ObjectMeta, bool) {
		return &c.ObjectMeta, c.Annotations[networkingv1.AnnotationIsDefaultIngressClass] == "true"
	})
	if class != nil {
		ingress.Spec.IngressClassName = new(class.Name)
	}
	return nil
}

// newest returns the newest default among classes, or nil. Of the classes of one second it returns the first by name.
func newest[T any](classes iter.Seq[*T], meta func(*T) (m *metav1.ObjectMeta, isDefault bool)) (best *metav1.ObjectMeta) {
	for class := range classes {
		m, isDefault := meta(class)
		if isDefault && (best == nil || cmp.Compare(m.CreationTimestamp.UnixNano(), best.CreationTimestamp.UnixNano()) > 0) {
			best = m // classes come in the order of their names
		}
	}
	return best
}
