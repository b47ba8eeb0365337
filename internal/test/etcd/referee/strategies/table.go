package main

import (
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/authorization/authorizerfactory"
	"k8s.io/apiserver/pkg/registry/rest"
	_ "k8s.io/kubernetes/pkg/controlplane" // registers every group with the scheme
	"k8s.io/kubernetes/pkg/registry/admissionregistration/mutatingadmissionpolicy"
	"k8s.io/kubernetes/pkg/registry/admissionregistration/mutatingadmissionpolicybinding"
	"k8s.io/kubernetes/pkg/registry/admissionregistration/mutatingwebhookconfiguration"
	"k8s.io/kubernetes/pkg/registry/admissionregistration/validatingadmissionpolicy"
	"k8s.io/kubernetes/pkg/registry/admissionregistration/validatingadmissionpolicybinding"
	"k8s.io/kubernetes/pkg/registry/admissionregistration/validatingwebhookconfiguration"
	"k8s.io/kubernetes/pkg/registry/apps/controllerrevision"
	"k8s.io/kubernetes/pkg/registry/apps/daemonset"
	"k8s.io/kubernetes/pkg/registry/apps/deployment"
	"k8s.io/kubernetes/pkg/registry/apps/replicaset"
	"k8s.io/kubernetes/pkg/registry/apps/statefulset"
	"k8s.io/kubernetes/pkg/registry/autoscaling/horizontalpodautoscaler"
	"k8s.io/kubernetes/pkg/registry/batch/cronjob"
	"k8s.io/kubernetes/pkg/registry/batch/job"
	"k8s.io/kubernetes/pkg/registry/certificates/certificates"
	"k8s.io/kubernetes/pkg/registry/certificates/clustertrustbundle"
	"k8s.io/kubernetes/pkg/registry/certificates/podcertificaterequest"
	"k8s.io/kubernetes/pkg/registry/coordination/lease"
	"k8s.io/kubernetes/pkg/registry/core/configmap"
	"k8s.io/kubernetes/pkg/registry/core/endpoint"
	"k8s.io/kubernetes/pkg/registry/core/event"
	"k8s.io/kubernetes/pkg/registry/core/limitrange"
	"k8s.io/kubernetes/pkg/registry/core/namespace"
	"k8s.io/kubernetes/pkg/registry/core/node"
	"k8s.io/kubernetes/pkg/registry/core/persistentvolume"
	"k8s.io/kubernetes/pkg/registry/core/persistentvolumeclaim"
	"k8s.io/kubernetes/pkg/registry/core/pod"
	"k8s.io/kubernetes/pkg/registry/core/podtemplate"
	"k8s.io/kubernetes/pkg/registry/core/replicationcontroller"
	"k8s.io/kubernetes/pkg/registry/core/resourcequota"
	"k8s.io/kubernetes/pkg/registry/core/secret"
	"k8s.io/kubernetes/pkg/registry/core/service"
	"k8s.io/kubernetes/pkg/registry/core/serviceaccount"
	"k8s.io/kubernetes/pkg/registry/discovery/endpointslice"
	"k8s.io/kubernetes/pkg/registry/flowcontrol/flowschema"
	"k8s.io/kubernetes/pkg/registry/flowcontrol/prioritylevelconfiguration"
	"k8s.io/kubernetes/pkg/registry/networking/ingress"
	"k8s.io/kubernetes/pkg/registry/networking/ingressclass"
	"k8s.io/kubernetes/pkg/registry/networking/ipaddress"
	"k8s.io/kubernetes/pkg/registry/networking/networkpolicy"
	"k8s.io/kubernetes/pkg/registry/networking/servicecidr"
	"k8s.io/kubernetes/pkg/registry/node/runtimeclass"
	"k8s.io/kubernetes/pkg/registry/policy/poddisruptionbudget"
	"k8s.io/kubernetes/pkg/registry/rbac/clusterrole"
	"k8s.io/kubernetes/pkg/registry/rbac/clusterrolebinding"
	"k8s.io/kubernetes/pkg/registry/rbac/role"
	"k8s.io/kubernetes/pkg/registry/rbac/rolebinding"
	"k8s.io/kubernetes/pkg/registry/resource/deviceclass"
	"k8s.io/kubernetes/pkg/registry/resource/devicetaintrule"
	"k8s.io/kubernetes/pkg/registry/resource/resourceclaim"
	"k8s.io/kubernetes/pkg/registry/resource/resourceclaimtemplate"
	"k8s.io/kubernetes/pkg/registry/resource/resourceslice"
	"k8s.io/kubernetes/pkg/registry/scheduling/priorityclass"
	"k8s.io/kubernetes/pkg/registry/storage/csidriver"
	"k8s.io/kubernetes/pkg/registry/storage/csinode"
	"k8s.io/kubernetes/pkg/registry/storage/csistoragecapacity"
	"k8s.io/kubernetes/pkg/registry/storage/storageclass"
	"k8s.io/kubernetes/pkg/registry/storage/volumeattachment"
	"k8s.io/kubernetes/pkg/registry/storage/volumeattributesclass"
	"k8s.io/kubernetes/pkg/registry/storagemigration/storagemigration"
	"k8s.io/utils/clock"
)

// A strategy creates (for the object itself) and updates.
type subresources map[string]rest.RESTUpdateStrategy

// strategies has the strategy of each kind by subresource; "" is the object itself.
func strategies() map[schema.GroupKind]subresources {
	kind := func(group, kind string) schema.GroupKind { return schema.GroupKind{Group: group, Kind: kind} }
	const adm, net, sto, fc, dra = "admissionregistration.k8s.io", "networking.k8s.io", "storage.k8s.io", "flowcontrol.apiserver.k8s.io", "resource.k8s.io"
	all := authorizerfactory.NewAlwaysAllowAuthorizer()
	certificate := podcertificaterequest.NewStrategy()
	vap, claims := validatingadmissionpolicy.NewStrategy(nil, nil), resourceclaim.NewStrategy(nil, all)
	return map[schema.GroupKind]subresources{
		kind(adm, "MutatingAdmissionPolicy"):          {"": mutatingadmissionpolicy.NewStrategy(nil, nil)},
		kind(adm, "MutatingAdmissionPolicyBinding"):   {"": mutatingadmissionpolicybinding.NewStrategy(nil, nil, nil)},
		kind(adm, "MutatingWebhookConfiguration"):     {"": mutatingwebhookconfiguration.Strategy},
		kind(adm, "ValidatingAdmissionPolicy"):        {"": vap, "status": validatingadmissionpolicy.NewStatusStrategy(vap)},
		kind(adm, "ValidatingAdmissionPolicyBinding"): {"": validatingadmissionpolicybinding.NewStrategy(nil, nil, nil)},
		kind(adm, "ValidatingWebhookConfiguration"):   {"": validatingwebhookconfiguration.Strategy},
		kind("apps", "ControllerRevision"):            {"": controllerrevision.Strategy},
		kind("apps", "DaemonSet"):                     {"": daemonset.Strategy, "status": daemonset.StatusStrategy},
		kind("apps", "Deployment"):                    {"": deployment.Strategy, "status": deployment.StatusStrategy},
		kind("apps", "ReplicaSet"):                    {"": replicaset.Strategy, "status": replicaset.StatusStrategy},
		kind("apps", "StatefulSet"):                   {"": statefulset.Strategy, "status": statefulset.StatusStrategy},
		kind("autoscaling", "HorizontalPodAutoscaler"): {"": horizontalpodautoscaler.Strategy,
			"status": horizontalpodautoscaler.StatusStrategy},
		kind("batch", "CronJob"): {"": cronjob.Strategy, "status": cronjob.StatusStrategy},
		kind("batch", "Job"):     {"": job.Strategy, "status": job.StatusStrategy},
		kind("certificates.k8s.io", "CertificateSigningRequest"): {"": certificates.Strategy, "status": certificates.StatusStrategy,
			"approval": certificates.ApprovalStrategy},
		kind("certificates.k8s.io", "ClusterTrustBundle"): {"": clustertrustbundle.Strategy},
		kind("certificates.k8s.io", "PodCertificateRequest"): {"": certificate,
			"status": podcertificaterequest.NewStatusStrategy(certificate, all, clock.RealClock{})},
		kind("storagemigration.k8s.io", "StorageVersionMigration"): {"": storagemigration.Strategy, "status": storagemigration.StatusStrategy},
		kind("coordination.k8s.io", "Lease"):                       {"": lease.Strategy},
		kind("", "ConfigMap"):                                      {"": configmap.Strategy},
		kind("", "Endpoints"):                                      {"": endpoint.Strategy},
		kind("", "Event"):                                          {"": event.Strategy},
		kind("events.k8s.io", "Event"):                             {"": event.Strategy},
		kind("", "LimitRange"):                                     {"": limitrange.Strategy},
		kind("", "Namespace"): {"": namespace.Strategy, "status": namespace.StatusStrategy,
			"finalize": namespace.FinalizeStrategy},
		kind("", "Node"):                  {"": node.Strategy, "status": node.StatusStrategy},
		kind("", "PersistentVolume"):      {"": persistentvolume.Strategy, "status": persistentvolume.StatusStrategy},
		kind("", "PersistentVolumeClaim"): {"": persistentvolumeclaim.Strategy, "status": persistentvolumeclaim.StatusStrategy},
		kind("", "Pod"): {"": pod.Strategy, "status": pod.StatusStrategy, "resize": pod.ResizeStrategy,
			"ephemeralcontainers": pod.EphemeralContainersStrategy},
		kind("", "PodTemplate"):                   {"": podtemplate.Strategy},
		kind("", "ReplicationController"):         {"": replicationcontroller.Strategy, "status": replicationcontroller.StatusStrategy},
		kind("", "ResourceQuota"):                 {"": resourcequota.Strategy, "status": resourcequota.StatusStrategy},
		kind("", "Secret"):                        {"": secret.Strategy},
		kind("", "Service"):                       {"": service.Strategy, "status": service.StatusStrategy},
		kind("", "ServiceAccount"):                {"": serviceaccount.Strategy},
		kind("discovery.k8s.io", "EndpointSlice"): {"": endpointslice.Strategy},
		kind(fc, "FlowSchema"):                    {"": flowschema.Strategy, "status": flowschema.StatusStrategy},
		kind(fc, "PriorityLevelConfiguration"): {"": prioritylevelconfiguration.Strategy,
			"status": prioritylevelconfiguration.StatusStrategy},
		kind(net, "Ingress"):                {"": ingress.Strategy, "status": ingress.StatusStrategy},
		kind(net, "IngressClass"):           {"": ingressclass.Strategy},
		kind(net, "IPAddress"):              {"": ipaddress.Strategy},
		kind(net, "NetworkPolicy"):          {"": networkpolicy.Strategy},
		kind(net, "ServiceCIDR"):            {"": servicecidr.Strategy, "status": servicecidr.StatusStrategy},
		kind("node.k8s.io", "RuntimeClass"): {"": runtimeclass.Strategy},
		kind("policy", "PodDisruptionBudget"): {"": poddisruptionbudget.Strategy,
			"status": poddisruptionbudget.StatusStrategy},
		kind("rbac.authorization.k8s.io", "ClusterRole"):        {"": clusterrole.Strategy},
		kind("rbac.authorization.k8s.io", "ClusterRoleBinding"): {"": clusterrolebinding.Strategy},
		kind("rbac.authorization.k8s.io", "Role"):               {"": role.Strategy},
		kind("rbac.authorization.k8s.io", "RoleBinding"):        {"": rolebinding.Strategy},
		kind(dra, "DeviceClass"):                                {"": deviceclass.Strategy},
		kind(dra, "DeviceTaintRule"):                            {"": devicetaintrule.Strategy, "status": devicetaintrule.StatusStrategy},
		kind(dra, "ResourceClaim"):                              {"": claims, "status": resourceclaim.NewStatusStrategy(claims)},
		kind(dra, "ResourceClaimTemplate"):                      {"": resourceclaimtemplate.NewStrategy(nil)},
		kind(dra, "ResourceSlice"):                              {"": resourceslice.Strategy},
		kind("scheduling.k8s.io", "PriorityClass"):              {"": priorityclass.Strategy},
		kind(sto, "CSIDriver"):                                  {"": csidriver.Strategy},
		kind(sto, "CSINode"):                                    {"": csinode.Strategy, "status": csinode.StatusStrategy},
		kind(sto, "CSIStorageCapacity"):                         {"": csistoragecapacity.Strategy},
		kind(sto, "StorageClass"):                               {"": storageclass.Strategy},
		kind(sto, "VolumeAttachment"):                           {"": volumeattachment.Strategy, "status": volumeattachment.StatusStrategy},
		kind(sto, "VolumeAttributesClass"):                      {"": volumeattributesclass.Strategy},
	}
}
