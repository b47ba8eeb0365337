package provisioner_test

import (
	"context"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"sigs.k8s.io/sig-storage-lib-external-provisioner/v13/controller"

	"github.com/kubecoord/kubecoord/httpapi/apitest/explore"
	"github.com/kubecoord/kubecoord/internal/test/explorereal"
)

// disks is a storage system whose disks are ConfigMaps in a namespace of their own, so that one that is left over is seen. It follows the rules for
// provisioners: a call that is repeated has the effect of one.
type disks struct{ kubernetes.Interface }

const storage = "kube-system"

// Provision makes the disk of a claim.
func (d disks) Provision(ctx context.Context, o controller.ProvisionOptions) (*corev1.PersistentVolume, controller.ProvisioningState, error) {
	disk := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: o.PVName}}
	if _, err := d.CoreV1().ConfigMaps(storage).Create(ctx, disk, metav1.CreateOptions{}); err != nil && !apierrors.IsAlreadyExists(err) {
		return nil, controller.ProvisioningInBackground, err
	}
	return &corev1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{Name: o.PVName},
		Spec: corev1.PersistentVolumeSpec{
			PersistentVolumeReclaimPolicy: *o.StorageClass.ReclaimPolicy, AccessModes: o.PVC.Spec.AccessModes,
			Capacity:               corev1.ResourceList{corev1.ResourceStorage: o.PVC.Spec.Resources.Requests[corev1.ResourceStorage]},
			PersistentVolumeSource: corev1.PersistentVolumeSource{NFS: &corev1.NFSVolumeSource{Server: "disks", Path: "/" + o.PVName}},
		},
	}, controller.ProvisioningFinished, nil
}

// Delete deletes the disk of a volume.
func (d disks) Delete(ctx context.Context, pv *corev1.PersistentVolume) error {
	if err := d.CoreV1().ConfigMaps(storage).Delete(ctx, pv.Name, metav1.DeleteOptions{}); err != nil && !apierrors.IsNotFound(err) {
		return err
	}
	return nil
}

const provisioner = "example.com/disks"

func TestProvisioner(t *testing.T) {
	class := &storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: "disks"}, Provisioner: provisioner}
	annotations := map[string]string{"volume.kubernetes.io/storage-provisioner": provisioner} // by a loop of kube-controller-manager
	claim := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: explorereal.Namespace, Name: "data", Annotations: annotations}, Spec: corev1.PersistentVolumeClaimSpec{
		StorageClassName: new("disks"), AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
		Resources: corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}},
	}}
	more := claim.DeepCopy()
	more.Name = "more"
	explorereal.Explore(t, explore.Scenario{
		API: explorereal.Serve(t),
		Controllers: []explore.Controller{{Name: "provisioner", Run: func(ctx context.Context, c explore.Conn) error {
			k, err := kubernetes.NewForConfig(explorereal.Config(c))
			if err != nil {
				return err
			}
			controller.NewProvisionController(ctx, k, provisioner, disks{k}, controller.LeaderElection(false), controller.AddFinalizer(true)).Run(ctx)
			return nil
		}}},
		World: binder,
		Steps: []explore.Step{explorereal.BuiltIn().Create(class), explorereal.BuiltIn().Create(claim), explorereal.BuiltIn().Create(more), explorereal.BuiltIn().Delete(claim), explorereal.BuiltIn().Create(claim)},
	}, explore.Options{
		Quiet:    3 * time.Minute, // the first error is tried again after 15 s, the third after a minute
		Parallel: 1,               // NewProvisionController writes into the scheme of client-go
	})
}

// binder is a World that binds volumes to claims, releases those whose claims are gone, and lets deleted claims and volumes go, as the loops of
// kube-controller-manager for volumes.
func binder(ctx context.Context, c explore.Conn) error {
	k, err := kubernetes.NewForConfig(explorereal.Config(c))
	if err != nil {
		return err
	}
	changed := make(chan struct{}, 1)
	poke := func() {
		select {
		case changed <- struct{}{}:
		default:
		}
	}
	go explorereal.Follow(ctx, k.CoreV1().PersistentVolumes().Watch, func(*corev1.PersistentVolume, bool) { poke() })
	go explorereal.Follow(ctx, k.CoreV1().PersistentVolumeClaims("").Watch, func(*corev1.PersistentVolumeClaim, bool) { poke() })
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-changed:
			explorereal.Pause(ctx)
			bind(ctx, k)
		}
	}
}

// bind makes one step for each volume and each claim. A write that fails because another came first is made after its event.
func bind(ctx context.Context, k kubernetes.Interface) {
	explorereal.LetClaimsGo(ctx, k)
	volumes, err := k.CoreV1().PersistentVolumes().List(ctx, metav1.ListOptions{})
	if err != nil {
		return
	}
	for _, pv := range volumes.Items {
		if pv.DeletionTimestamp != nil {
			pv.Finalizers = slices.DeleteFunc(pv.Finalizers, func(f string) bool { return f == "kubernetes.io/pv-protection" })
			_, _ = k.CoreV1().PersistentVolumes().Update(ctx, &pv, metav1.UpdateOptions{})
			continue
		}
		claim, err := k.CoreV1().PersistentVolumeClaims(pv.Spec.ClaimRef.Namespace).Get(ctx, pv.Spec.ClaimRef.Name, metav1.GetOptions{})
		switch {
		case apierrors.IsNotFound(err) || err == nil && claim.UID != pv.Spec.ClaimRef.UID:
			setPhase(ctx, k, &pv, corev1.VolumeReleased)
		case err == nil && claim.Spec.VolumeName == "":
			claim.Spec.VolumeName = pv.Name
			_, _ = k.CoreV1().PersistentVolumeClaims(claim.Namespace).Update(ctx, claim, metav1.UpdateOptions{})
		case err == nil && claim.Status.Phase != corev1.ClaimBound:
			_, _ = k.CoreV1().PersistentVolumeClaims(claim.Namespace).Patch(ctx, claim.Name, types.MergePatchType, []byte(`{"status":{"phase":"Bound"}}`),
				metav1.PatchOptions{}, "status")
		case err == nil:
			setPhase(ctx, k, &pv, corev1.VolumeBound)
		}
	}
}

func setPhase(ctx context.Context, k kubernetes.Interface, pv *corev1.PersistentVolume, phase corev1.PersistentVolumePhase) {
	if pv.Status.Phase != phase {
		_, _ = k.CoreV1().PersistentVolumes().Patch(ctx, pv.Name, types.MergePatchType, []byte(`{"status":{"phase":"`+string(phase)+`"}}`), metav1.PatchOptions{}, "status")
	}
}
