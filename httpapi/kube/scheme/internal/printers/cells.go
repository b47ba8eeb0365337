package printers

import (
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	certificatesv1 "k8s.io/api/certificates/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	eventsv1 "k8s.io/api/events/v1"
	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	networkingv1 "k8s.io/api/networking/v1"
	nodev1 "k8s.io/api/node/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	resourcev1 "k8s.io/api/resource/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	storagev1 "k8s.io/api/storage/v1"
	storagemigrationv1 "k8s.io/api/storagemigration/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// Cells returns the cells of an object's row in a Table, in the order of Columns. Ages are relative to now. An IPAddress has
// one cell more than columns, its age, as in kube-apiserver. Objects of kinds without a printer of their own have two cells,
// the name and the time of creation. Cells returns nil if obj has no metadata.
func Cells(obj runtime.Object, now time.Time) []any {
	for _, group := range []func(runtime.Object, clock) []any{coreCells, workloadCells, networkCells, otherCells, apiServiceCells} {
		if cells := group(obj, clock(now)); cells != nil {
			return cells
		}
	}
	m, err := meta.Accessor(obj)
	if err != nil {
		return nil
	}
	return []any{m.GetName(), m.GetCreationTimestamp().UTC().Format(time.RFC3339)}
}

// Conditions returns the conditions of an object's row in a Table. Only pods that have ended have one.
func Conditions(obj runtime.Object) []metav1.TableRowCondition {
	p, ok := obj.(*corev1.Pod)
	if !ok {
		return nil
	}
	done := metav1.TableRowCondition{Type: metav1.RowCompleted, Status: metav1.ConditionTrue, Reason: string(p.Status.Phase)}
	switch p.Status.Phase {
	case corev1.PodSucceeded:
		done.Message = "The pod has completed successfully."
	case corev1.PodFailed:
		done.Message = "The pod failed."
	default:
		return nil
	}
	return []metav1.TableRowCondition{done}
}

// coreCells returns the cells of kinds of the core group, and of Events of both groups.
func coreCells(obj runtime.Object, c clock) []any {
	switch o := obj.(type) {
	case *corev1.ConfigMap:
		return []any{o.Name, int64(len(o.Data) + len(o.BinaryData)), c.age(o)}
	case *corev1.Secret:
		return []any{o.Name, string(o.Type), int64(len(o.Data)), c.age(o)}
	case *corev1.Namespace:
		return []any{o.Name, string(o.Status.Phase), c.age(o)}
	case *corev1.ServiceAccount:
		return []any{o.Name, c.age(o)}
	case *corev1.Pod:
		return podCells(o, c)
	case *corev1.Node:
		return nodeCells(o, c)
	case *corev1.PersistentVolume:
		return volumeCells(o, c)
	case *corev1.PersistentVolumeClaim:
		return claimCells(o, c)
	case *corev1.ResourceQuota:
		return quotaCells(o, c)
	case *corev1.ComponentStatus:
		return componentCells(o)
	case *corev1.Event:
		return eventCells(o, c)
	case *eventsv1.Event:
		return eventCells(coreEvent(o), c)
	}
	return nil
}

// workloadCells returns the cells of kinds that have a pod template or scale one.
func workloadCells(obj runtime.Object, c clock) []any {
	switch o := obj.(type) {
	case *corev1.PodTemplate:
		names, images := containers(o.Template.Spec)
		return []any{o.Name, names, images, formatLabels(o.Template.Labels)}
	case *corev1.ReplicationController:
		return replicationControllerCells(o, c)
	case *appsv1.ReplicaSet:
		names, images := containers(o.Spec.Template.Spec)
		return []any{
			o.Name, int64(deref(o.Spec.Replicas)), int64(o.Status.Replicas), int64(o.Status.ReadyReplicas), c.age(o),
			names, images, formatSelector(o.Spec.Selector),
		}
	case *appsv1.Deployment:
		return deploymentCells(o, c)
	case *appsv1.StatefulSet:
		names, images := containers(o.Spec.Template.Spec)
		return []any{o.Name, fraction(o.Status.ReadyReplicas, deref(o.Spec.Replicas)), c.age(o), names, images}
	case *appsv1.DaemonSet:
		return daemonSetCells(o, c)
	case *appsv1.ControllerRevision:
		return revisionCells(o, c)
	case *batchv1.Job:
		return jobCells(o, c)
	case *batchv1.CronJob:
		return cronJobCells(o, c)
	case *policyv1.PodDisruptionBudget:
		return []any{
			o.Name, intOrNotAvailable(o.Spec.MinAvailable), intOrNotAvailable(o.Spec.MaxUnavailable),
			int64(o.Status.DisruptionsAllowed), c.age(o),
		}
	case *autoscalingv2.HorizontalPodAutoscaler:
		return autoscalerCells(o, c)
	case *autoscalingv1.Scale:
		return []any{o.Name, int64(o.Spec.Replicas), int64(o.Status.Replicas), c.age(o)}
	}
	return nil
}

// networkCells returns the cells of kinds about traffic.
func networkCells(obj runtime.Object, c clock) []any {
	switch o := obj.(type) {
	case *corev1.Service:
		return serviceCells(o, c)
	case *corev1.Endpoints:
		return []any{o.Name, formatSubsets(o.Subsets), c.age(o)}
	case *discoveryv1.EndpointSlice:
		return []any{o.Name, string(o.AddressType), formatSlicePorts(o.Ports), formatSliceEndpoints(o.Endpoints), c.age(o)}
	case *networkingv1.Ingress:
		return ingressCells(o, c)
	case *networkingv1.IngressClass:
		return ingressClassCells(o, c)
	case *networkingv1.NetworkPolicy:
		return []any{o.Name, formatSelector(&o.Spec.PodSelector), c.age(o)}
	case *networkingv1.ServiceCIDR:
		return []any{o.Name, join(o.Spec.CIDRs), c.age(o)}
	case *networkingv1.IPAddress:
		return []any{o.Name, formatParent(o.Spec.ParentRef), c.age(o)}
	}
	return nil
}

// otherCells returns the cells of kinds about access, storage and the cluster.
func otherCells(obj runtime.Object, c clock) []any {
	switch o := obj.(type) {
	case *rbacv1.RoleBinding:
		return bindingCells(o.Name, o.RoleRef, c.age(o), o.Subjects)
	case *rbacv1.ClusterRoleBinding:
		return bindingCells(o.Name, o.RoleRef, c.age(o), o.Subjects)
	case *certificatesv1.CertificateSigningRequest:
		return signingRequestCells(o, c)
	case *certificatesv1.ClusterTrustBundle, *certificatesv1.PodCertificateRequest:
		return trustCells(obj)
	case *storagemigrationv1.StorageVersionMigration:
		return migrationCells(o)
	case *coordinationv1.Lease:
		return []any{o.Name, deref(o.Spec.HolderIdentity), c.age(o)}
	case *schedulingv1.PriorityClass:
		return []any{o.Name, int64(o.Value), o.GlobalDefault, c.age(o), string(deref(o.PreemptionPolicy))}
	case *nodev1.RuntimeClass:
		return []any{o.Name, o.Handler, c.age(o)}
	case *storagev1.StorageClass, *storagev1.VolumeAttributesClass, *storagev1.VolumeAttachment, *storagev1.CSINode, *storagev1.CSIDriver:
		return storageCells(obj, c)
	case *admissionv1.MutatingWebhookConfiguration, *admissionv1.ValidatingWebhookConfiguration,
		*admissionv1.ValidatingAdmissionPolicy, *admissionv1.ValidatingAdmissionPolicyBinding,
		*admissionv1.MutatingAdmissionPolicy, *admissionv1.MutatingAdmissionPolicyBinding:
		return admissionCells(obj, c)
	case *flowcontrolv1.FlowSchema:
		return flowSchemaCells(o, c)
	case *flowcontrolv1.PriorityLevelConfiguration:
		return priorityLevelCells(o, c)
	case *resourcev1.DeviceClass:
		return []any{o.Name, c.age(o)}
	case *resourcev1.DeviceTaintRule:
		t := o.Spec.Taint
		return []any{o.Name, t.Key, t.Value, string(t.Effect), c.since(deref(t.TimeAdded).Time), c.age(o)}
	case *resourcev1.ResourceClaim:
		return []any{o.Name, resourceClaimState(o), c.age(o)}
	case *resourcev1.ResourceClaimTemplate:
		return []any{o.Name, c.age(o)}
	case *resourcev1.ResourceSlice:
		return []any{o.Name, deref(o.Spec.NodeName), o.Spec.Driver, o.Spec.Pool.Name, c.age(o)}
	}
	return nil
}
