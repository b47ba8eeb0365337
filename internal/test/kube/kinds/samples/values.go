package main

// named returns the value of a type, of a member "Type.member", or of a string "string.member".
func named(name string) (any, bool) {
	v, ok := values()[name]
	return v, ok
}

type m = map[string]any

func selector() m {
	return m{"matchLabels": m{"app": "a"}, "matchExpressions": []any{m{"key": "app", "operator": "In", "values": []any{"a"}}}}
}

// values has what cannot be guessed from a type. A nil leaves the member out.
func values() map[string]any {
	probe := func(handler string, value any) m {
		return m{handler: value, "initialDelaySeconds": 1, "timeoutSeconds": 2, "periodSeconds": 3, "successThreshold": 1, "failureThreshold": 4, "terminationGracePeriodSeconds": 5}
	}
	return map[string]any{
		"Probe.livenessProbe":        probe("exec", m{"command": []any{"a"}}),
		"Probe.readinessProbe":       probe("httpGet", m{"path": "/a", "port": "a", "host": "a.example.com", "scheme": "HTTP", "httpHeaders": []any{m{"name": "A", "value": "b"}}}),
		"Probe.startupProbe":         probe("tcpSocket", m{"port": 80, "host": "a"}),
		"LifecycleHandler.postStart": m{"exec": m{"command": []any{"a"}}}, "LifecycleHandler.preStop": m{"httpGet": m{"port": 80}},
		"[]EnvVar.env": []any{m{"name": "a", "value": "b"}, m{"name": "b", "valueFrom": m{"fieldRef": m{"apiVersion": "v1", "fieldPath": "metadata.name"}}}, m{"name": "c", "valueFrom": m{"resourceFieldRef": m{"containerName": "a", "resource": "limits.cpu", "divisor": "1"}}},
			m{"name": "d", "valueFrom": m{"configMapKeyRef": m{"name": "a", "key": "b", "optional": true}}}, m{"name": "e", "valueFrom": m{"secretKeyRef": m{"name": "a", "key": "b"}}}},
		"[]VolumeMount.volumeMounts":           []any{m{"name": "emptydir", "mountPath": "/a", "subPath": "b"}, m{"name": "hostpath", "mountPath": "/b", "readOnly": true, "recursiveReadOnly": "IfPossible", "mountPropagation": "None"}},
		"[]VolumeDevice.volumeDevices":         []any{m{"name": "persistentvolumeclaim", "devicePath": "/dev/a"}},
		"[]ContainerResizePolicy.resizePolicy": []any{m{"resourceName": "cpu", "restartPolicy": "NotRequired"}},
		"v1.ContainerPort":                     m{"name": "a", "containerPort": 8080, "hostPort": 8080, "protocol": "UDP", "hostIP": "192.168.0.1"},
		"v1.HostPathType":                      "Directory", "bool.hostPID": nil, "v1.CompletionMode": "Indexed", "string.managedBy": "example.com/a", "v1.PodReplacementPolicy": "Failed",
		"v1.CrossVersionObjectReference": m{"apiVersion": "apps/v1", "kind": "Deployment", "name": "a"}, "v2.CrossVersionObjectReference": m{"apiVersion": "apps/v1", "kind": "Deployment", "name": "a"},
		"v2.ContainerResourceMetricSource": m{"name": "cpu", "container": "a", "target": m{"type": "Utilization", "averageUtilization": 50}},
		"v2.ResourceMetricSource":          m{"name": "memory", "target": m{"type": "AverageValue", "averageValue": "1Gi"}},
		"IngressBackend.defaultBackend":    m{"resource": m{"apiGroup": "example.com", "kind": "A", "name": "a"}}, "IngressBackend.backend": m{"service": m{"name": "a", "port": m{"name": "b"}}},
		"v1.NodeSelectorTerm":            m{"matchExpressions": []any{m{"key": "a", "operator": "In", "values": []any{"b"}}}, "matchFields": []any{m{"key": "metadata.name", "operator": "In", "values": []any{"a"}}}},
		"PreferredSchedulingTerm.weight": 1, "string.loadBalancerClass": "example.com/a", "ServiceExternalTrafficPolicy.externalTrafficPolicy": "Local", "VolumeSource.medium": "Memory",
		"v1.DownwardAPIVolumeFile": m{"path": "a", "fieldRef": m{"fieldPath": "metadata.labels", "apiVersion": "v1"}, "mode": 256}, "v1.KeyToPath": m{"key": "a", "path": "b", "mode": 256}, "v1.ServiceAccountTokenProjection": m{"path": "a", "audience": "b", "expirationSeconds": 600}, "v1.ClusterTrustBundleProjection": m{"signerName": "example.com/a", "path": "c", "optional": true, "labelSelector": selector()}, "v1.SecretReference": m{"name": "a", "namespace": "b"}, "v1.ResourceFieldSelector": m{"containerName": "a", "resource": "limits.memory", "divisor": "1Mi"}, "int32.defaultMode": 420, "int32.mode": 256,
		"ServiceAccountTokenProjection.expirationSeconds": 600, "int64.expirationSeconds": 3600, "string.signerName": "example.com/a", "PodCertificateProjection.podCertificate": nil,
		"int64.tokenExpirationSeconds": 600, "v1.PullPolicy": "IfNotPresent", "int32.maxReplicas": 5, "int32.completions": 3, "int32.parallelism": 2,
		"v1.AzureDiskVolumeSource": m{"diskName": "a", "diskURI": "/subscriptions/a", "kind": "Managed", "cachingMode": "None", "fsType": "ext4", "readOnly": true},
		"v1.FlockerVolumeSource":   m{"datasetName": "a"}, "v1.FCVolumeSource": m{"targetWWNs": []any{"50060e801049cfd1"}, "lun": 1, "fsType": "ext4", "readOnly": true},
		"string.iqn": "iqn.2001-04.com.example:a", "string.initiatorName": "iqn.2001-04.com.example:b", "string.registry": "a:1",
		"[]string.matchLabelKeys": []any{"b"}, "[]string.mismatchLabelKeys": []any{"c"}, "[]string.nameservers": []any{"192.168.0.53"},
		"v1.SecretProjection": m{"name": "a", "items": []any{m{"key": "a", "path": "s"}}, "optional": true}, "v1.ConfigMapProjection": m{"name": "a", "items": []any{m{"key": "a", "path": "m", "mode": 256}}},
		"v1.DownwardAPIProjection": m{"items": []any{m{"path": "d", "resourceFieldRef": m{"containerName": "a", "resource": "limits.memory", "divisor": "1Mi"}}}},
		"v1.Time":                  "2020-01-02T03:04:05Z", "v1.MicroTime": "2020-01-02T03:04:05.000006Z", "v1.Duration": "1s",
		"resource.Quantity": "1", "intstr.IntOrString": 1, "v1.FieldsV1": nil, "v1.ManagedFieldsEntry": nil,
		"runtime.RawExtension": m{"kind": "A", "apiVersion": "example.com/v1", "b": m{"c": 1}}, "v1.LabelSelector": selector(),
		"ObjectMeta.metadata":                  m{"labels": m{"app": "a"}, "annotations": m{"example.com/note": "a"}},
		"v1.NodeSelectorRequirement":           m{"key": "a", "operator": "In", "values": []any{"b"}},
		"v1.ScopedResourceSelectorRequirement": m{"operator": "In", "scopeName": "PriorityClass", "values": []any{"a"}},
		"v1.ResourceList":                      m{"cpu": "1", "memory": "1Gi"}, "v1.ResourceRequirements": m{"limits": m{"cpu": "1000m", "memory": "1Gi"}, "requests": m{"cpu": "0.5", "memory": "0.5Gi"}},
		"v1.VolumeResourceRequirements": m{"requests": m{"storage": "1Gi"}, "limits": m{"storage": "2Gi"}},
		"v1.Protocol":                   "TCP", "v1.URIScheme": "HTTP", "v1.TaintEffect": "NoSchedule", "v1.PodFSGroupChangePolicy": "OnRootMismatch",
		"v1.PersistentVolumeAccessMode": "ReadWriteOnce", "v1.Capability": "NET_ADMIN", "v1.Signal": nil, "v1.SELinuxOptions": m{"level": "s0", "role": "r", "type": "t", "user": "u"},
		"v1.PreemptionPolicy": nil, "PodSpec.hostUsers": nil, "ContainerPort.hostPort": 8080,
		"v1.ServiceType": "LoadBalancer", "v1.IPFamily": "IPv4", "v1.IPFamilyPolicy": "SingleStack",
		"v1.LimitRangeItem": m{"type": "Container", "default": m{"cpu": "1"}, "defaultRequest": m{"cpu": "500m"}, "max": m{"cpu": "2"}, "min": m{"cpu": "100m"}, "maxLimitRequestRatio": m{"cpu": "4"}},
		"string.namespace":  nil, "string.kind": "Pod", "string.apiVersion": "v1", "string.apiGroup": "example.com", "string.uid": "00000000-0000-4000-8000-000000000001",
		"string.resourceVersion": nil, "string.fieldPath": "metadata.name", "string.hostIP": "192.168.0.1", "string.ip": "192.168.0.1", "string.podIP": "192.168.0.1",
		"string.podCIDR": "10.244.1.0/24", "string.podCIDRs": "10.244.1.0/24", "string.cidr": "10.244.0.0/16", "string.except": "10.244.9.0/24", "string.path": "/a", "string.mountPath": "/mnt",
		"string.subPathExpr": nil, "string.clusterIP": nil, "string.clusterIPs": nil, "string.hostnames": "a.example.com", "string.host": "a.example.com", "string.hosts": "a.example.com",
		"string.schedule": "*/5 * * * *", "string.timeZone": "Etc/UTC", "string.schedulerName": "s", "string.sysctls": "a", "string.targetWWNs": "50060e801049cfd1",
		"string.devicePath": "/dev/a", "string.containerID": "containerd://a", "string.externalIPs": "192.168.0.2", "string.loadBalancerIP": "192.168.0.3",
		"string.loadBalancerSourceRanges": "10.0.0.0/8", "string.externalName": nil, "string.sessionAffinity": "ClientIP", "string.cidrs": "2001:db8:RUNID::/64",
		"string.addresses": "192.168.0.1", "string.addressType": "IPv4", "AddressType.addressType": "IPv4", "string.roleRef": "a", "string.verbs": "get", "string.nonResourceURLs": nil,
		"string.controller": "example.com/a", "string.provisioner": "example.com/a", "string.driver": "example.com", "string.driverName": "example.com", "string.attacher": "example.com",
		"string.volumeName": "a", "string.volumeAttributesClassName": "a", "string.ownerReferences": nil, "string.strategy": "OldestFirst", "Time.deletionTimestamp": nil,
		"RBDVolumeSource.image": "a", "string.reason": "Reason", "string.appProtocol": "example.com/a", "string.trafficDistribution": "PreferClose",
		"RollingUpdateDeployment.rollingUpdate": m{"maxSurge": "25%", "maxUnavailable": 1}, "RollingUpdateDaemonSet.rollingUpdate": m{"maxSurge": 0, "maxUnavailable": "10%"},
		"v1.DaemonSetUpdateStrategyType": "RollingUpdate", "v1.DeploymentStrategyType": "RollingUpdate", "v1.StatefulSetUpdateStrategyType": "RollingUpdate",
		"v1.PersistentVolumeReclaimPolicy": "Retain", "v1.PersistentVolumeMode": "Filesystem", "v1.VolumeBindingMode": "WaitForFirstConsumer",
		"v1.RestartPolicy": "Never", "RestartPolicy.restartPolicy": "Never", "v1.DNSPolicy": "ClusterFirst", "v1.ContainerRestartPolicy": "Always",
		"v1.ConditionStatus": "True", "v1.NodeInclusionPolicy": "Honor", "v1.UnsatisfiableConstraintAction": "DoNotSchedule",
		"v1.PodManagementPolicyType": "Parallel", "PodFailurePolicyRule.rules": nil,
		"v2.MetricTarget": m{"type": "AverageValue", "averageValue": "100m"}, "v1.ServicePort": m{"name": "a", "port": 80, "protocol": "TCP", "targetPort": "a", "nodePort": 0, "appProtocol": "example.com/a"},
		"v1.EphemeralContainer": nil, "v1.PodOS": m{"name": "linux"}, "v1.WindowsSecurityContextOptions": nil, "string.procMount": "Default", "v1.ProcMountType": "Default",
		"v1.SeccompProfile": m{"type": "Localhost", "localhostProfile": "a.json"}, "v1.AppArmorProfile": m{"type": "RuntimeDefault"},
		"v1.PodResourceClaim": nil, "v1.ResourceClaim": nil, "v1.PodSchedulingGate": nil, "v1.PodReadinessGate": m{"conditionType": "example.com/a"},
		"v1.Sysctl": m{"name": "kernel.shm_rmid_forced", "value": "1"}, "v1.HostAlias": m{"ip": "192.168.0.9", "hostnames": []any{"a.example.com"}},
		"v1.Toleration":                      m{"key": "a", "operator": "Equal", "value": "b", "effect": "NoExecute", "tolerationSeconds": 5},
		"v1.SuccessPolicy":                   m{"rules": []any{m{"succeededIndexes": "0", "succeededCount": 1}}},
		"v1.PodFailurePolicy":                m{"rules": []any{m{"action": "FailIndex", "onExitCodes": m{"containerName": "a", "operator": "In", "values": []any{1, 2}}}, m{"action": "Ignore", "onPodConditions": []any{m{"type": "a", "status": "True"}}}}},
		"v1.Scale":                           nil,
		"v1.NetworkPolicyPort":               m{"protocol": "TCP", "port": 80, "endPort": 90},
		"v1.IngressClassParametersReference": m{"apiGroup": "example.com", "kind": "A", "name": "a", "scope": "Namespace", "namespace": "b"},
		"v1.ParentReference":                 m{"group": "example.com", "resource": "as", "namespace": "b", "name": "a"},
		"v1.RoleRef":                         m{"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "a"},
		"v1.Subject":                         m{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "a"},
		"v1.TopologySelectorTerm":            m{"matchLabelExpressions": []any{m{"key": "a", "values": []any{"b"}}}},
		"v1.NodeAddress":                     m{"type": "InternalIP", "address": "192.168.0.1"}, "v1.PodIP": m{"ip": "192.168.0.1"}, "v1.HostIP": m{"ip": "192.168.0.1"},
		"v1.PodCondition": m{"type": "Ready", "status": "True", "lastProbeTime": "2020-01-02T03:04:05Z", "lastTransitionTime": "2020-01-02T03:04:05Z", "reason": "R", "message": "m", "observedGeneration": 1},
		"v1.Condition":    m{"type": "Ready", "status": "True", "lastTransitionTime": "2020-01-02T03:04:05Z", "reason": "R", "message": "m", "observedGeneration": 1},
	}
}

// unions are the types of items of which only one of some members may be set.
func unions() map[string][]string {
	return map[string][]string{
		"Volume": {"gitRepo", "hostPath", "emptyDir", "gcePersistentDisk", "awsElasticBlockStore", "secret", "nfs", "iscsi", "glusterfs", "persistentVolumeClaim", "rbd", "flexVolume", "cinder", "cephfs", "flocker",
			"downwardAPI", "fc", "azureFile", "configMap", "vsphereVolume", "quobyte", "azureDisk", "photonPersistentDisk", "projected", "portworxVolume", "scaleIO", "storageos", "csi", "ephemeral", "image"},
		"VolumeProjection":  {"secret", "downwardAPI", "configMap", "serviceAccountToken", "clusterTrustBundle"},
		"EnvVar":            {"value", "valueFrom"},
		"EnvFromSource":     {"configMapRef", "secretRef"},
		"MetricSpec":        {"object", "pods", "resource", "containerResource", "external"},
		"MetricStatus":      {"object", "pods", "resource", "containerResource", "external"},
		"NetworkPolicyPeer": {"podSelector,namespaceSelector", "ipBlock"},
		"HTTPIngressPath":   {},
	}
}

// objects are the members of whole objects that no type decides, by kind or file and path.
func objects(name string) map[string]any {
	switch name {
	case "PersistentVolume":
		only := m{"spec.capacity": m{"storage": "1Gi"}}
		for _, source := range []string{"gcePersistentDisk", "awsElasticBlockStore", "hostPath", "glusterfs", "nfs", "rbd", "iscsi", "cinder", "cephfs", "fc", "flocker", "flexVolume",
			"azureFile", "vsphereVolume", "quobyte", "azureDisk", "photonPersistentDisk", "portworxVolume", "scaleIO", "local", "storageos"} {
			only["spec."+source] = nil
		}
		return only
	case "Pod":
		// A priority class and a runtime class would have to exist.
		return m{"spec.priorityClassName": nil, "spec.priority": nil, "spec.runtimeClassName": nil, "spec.overhead": nil, "spec.nodeName": "a"}
	case "ReplicationController":
		return m{"spec.selector": m{"app": "a"}}
	case "StatefulSet":
		return m{"spec.volumeClaimTemplates.0.metadata.name": "vct", "spec.volumeClaimTemplates.0.status": nil}
	case "CronJob":
		return m{"spec.jobTemplate.spec.manualSelector": nil, "spec.jobTemplate.spec.selector": nil}
	case "Node":
		return m{"spec.configSource": nil, "spec.externalID": nil}
	case "ConfigMap":
		return m{"data": m{"b": "c"}, "immutable": nil}
	case "Secret":
		return m{"type": "example.com/a", "immutable": nil, "stringData": m{"b": "c"}}
	case "core-v1-events":
		return m{"involvedObject.namespace": "NAMESPACE", "eventTime": nil, "series": nil, "type": "Warning"}
	case "events-v1-events":
		return m{"regarding.namespace": "NAMESPACE", "type": "Normal", "deprecatedCount": nil, "deprecatedFirstTimestamp": nil, "deprecatedLastTimestamp": nil, "deprecatedSource": nil, "series.count": 2}
	case "PersistentVolumeClaim":
		return m{"status.allocatedResourceStatuses": m{"storage": "NodeResizePending"}, "status.allocatedResources": m{"storage": "1Gi"}, "status.capacity": m{"storage": "1Gi"}}
	case "CSINode":
		return m{"status": nil}
	case "PodDisruptionBudget":
		return m{"spec.maxUnavailable": nil}
	case "VolumeAttachment":
		return m{"spec.source.inlineVolumeSpec": nil, "spec.source.persistentVolumeName": "a"}
	case "Service":
		return m{"spec.healthCheckNodePort": nil}
	case "CSIDriver":
		return m{"spec.tokenRequests": []any{m{"audience": "a", "expirationSeconds": 600}}, "spec.nodeAllocatableUpdatePeriodSeconds": 10}
	case "ResourceQuota":
		return m{"spec.scopes": []any{"NotBestEffort"}, "spec.hard": m{"cpu": "1", "pods": "10"}}
	}
	return nil
}
