package zoo

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// volumes makes a claim for each ConfigMap, and deletes it when the ConfigMap is gone. The mistake: it believes its cache that a ConfigMap is gone, while it
// sees the claim as it is, so that it deletes the volume of a ConfigMap that its cache does not have yet.
func volumes(wrong bool) run {
	return queued(func(i *informed) (func(context.Context, string) error, error) {
		parents, claims := i.Core().V1().ConfigMaps(), i.Core().V1().PersistentVolumeClaims()
		return func(ctx context.Context, name string) error {
			parent, err := parents.Lister().ConfigMaps(namespace).Get(name)
			if !wrong {
				parent, err = i.CoreV1().ConfigMaps(namespace).Get(ctx, name, metav1.GetOptions{})
			}
			if err != nil && !apierrors.IsNotFound(err) {
				return err
			}
			wanted := err == nil
			claim, err := claims.Lister().PersistentVolumeClaims(namespace).Get(name)
			switch exists := err == nil; {
			case wanted && !exists:
				made := &corev1.PersistentVolumeClaim{
					ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"of": string(parent.UID)}},
					Spec: corev1.PersistentVolumeClaimSpec{
						AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
						Resources:   corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}},
					},
				}
				_, err := i.CoreV1().PersistentVolumeClaims(namespace).Create(ctx, made, metav1.CreateOptions{})
				return unlessExists(err)
			case exists && (!wanted || claim.Labels["of"] != string(parent.UID)) && claim.DeletionTimestamp == nil:
				return unlessGone(i.CoreV1().PersistentVolumeClaims(namespace).Delete(ctx, name, *metav1.NewPreconditionDeleteOptions(string(claim.UID))))
			}
			return nil
		}, i.queueNames(parents.Informer(), claims.Informer())
	})
}
