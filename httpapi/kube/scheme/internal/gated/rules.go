package gated

import (
	"slices"
	"strings"
)

// rule is what a gate is about: while it is off, members are dropped, unless the state before has one of them.
type rule struct {
	// gate is the name of the gate, or "" for members that no version has any more. With several names, separated by spaces, all must be on.
	gate string
	// drops are the paths of the members; uses are the paths that say that the state before has them. Nil means the same.
	drops, uses []string
	// when, if not "", is the path of a member that must be there, too.
	when string
}

// eachContainer returns the paths of a member of all containers.
func eachContainer(member string) []string {
	return []string{"containers[]." + member, "initContainers[]." + member, "ephemeralContainers[]." + member}
}

// eachStatus returns the paths of a member of the statuses of all containers.
func eachStatus(member string) []string {
	return []string{"status.containerStatuses[]." + member, "status.initContainerStatuses[]." + member, "status.ephemeralContainerStatuses[]." + member}
}

// below returns rules for what is at a path.
func below(prefix string, rules []rule) (out []rule) {
	add := func(paths []string) (out []string) {
		for _, p := range paths {
			out = append(out, prefix+p)
		}
		return out
	}
	for _, r := range rules {
		r.drops, r.uses = add(r.drops), add(r.uses)
		out = append(out, r)
	}
	return out
}

// podSpec has the rules of the specs of pods (upstream: pkg/api/pod, dropDisabledFields).
func podSpec() []rule {
	return []rule{
		{gate: "PodLevelResources", drops: []string{"resources"}},
		{gate: "MatchLabelKeysInPodTopologySpread", drops: []string{"topologySpreadConstraints[].matchLabelKeys"}},
		{gate: "ClusterTrustBundleProjection", drops: []string{"volumes[].projected.sources[].clusterTrustBundle"}},
		{gate: "PodCertificateRequest", drops: []string{"volumes[].projected.sources[].podCertificate"}},
		{gate: "GenericWorkload", drops: []string{"schedulingGroup"}},
		{gate: "ContainerRestartRules",
			drops: append(eachContainer("restartPolicyRules"), "containers[].restartPolicy", "initContainers[].restartPolicy!Always", "ephemeralContainers[].restartPolicy"),
			uses:  []string{"containers[].restartPolicy", "initContainers[].restartPolicy!Always", "initContainers[].restartPolicyRules"}},
		{gate: "EnvFiles", drops: eachContainer("env[].valueFrom.fileKeyRef")},
		{gate: "ContainerStopSignals", drops: eachContainer("lifecycle?.stopSignal")},
		{gate: "EmptyDirVolumeMode", drops: []string{"volumes[].emptyDir.mode"}},
		{gate: "AtomicWriteVolumeUserFields", drops: []string{
			"volumes[].secret.defaultUser", "volumes[].configMap.defaultUser", "volumes[].downwardAPI.defaultUser", "volumes[].projected.defaultUser",
			"volumes[].secret.items[].user", "volumes[].configMap.items[].user", "volumes[].downwardAPI.items[].user",
			"volumes[].projected.sources[].secret.items[].user", "volumes[].projected.sources[].configMap.items[].user",
			"volumes[].projected.sources[].downwardAPI.items[].user", "volumes[].projected.sources[].serviceAccountToken.user",
			"volumes[].projected.sources[].clusterTrustBundle.user", "volumes[].projected.sources[].podCertificate.user"}},
		{gate: "VolumeBindMountOptions", drops: eachContainer("volumeMounts[].bindMountOptions")},
		{gate: "H2CContainerProbe", drops: slices.Concat(eachContainer("livenessProbe.httpGet.protocol"), eachContainer("readinessProbe.httpGet.protocol"),
			eachContainer("startupProbe.httpGet.protocol"), eachContainer("lifecycle.postStart.httpGet.protocol"), eachContainer("lifecycle.preStop.httpGet.protocol"))},
		{gate: "GRPCContainerProbeTLS", drops: slices.Concat(eachContainer("livenessProbe.grpc.mode"), eachContainer("readinessProbe.grpc.mode"), eachContainer("startupProbe.grpc.mode"))},
		{gate: "EvictionRequestAPI", drops: []string{"evictionResponders"}},
	}
}

// podStatus has the rules of the status of a pod (upstream: pkg/api/pod, dropDisabledPodStatusFields).
func podStatus() []rule {
	return []rule{
		{gate: "InPlacePodLevelResourcesVerticalScaling", drops: []string{"status.resources", "status.allocatedResources"}},
		{gate: "ResourceHealthStatus", drops: eachStatus("allocatedResourcesStatus")},
		{gate: "ResourceHealthStatusMessage", drops: eachStatus("allocatedResourcesStatus[].resources[].message")},
		{gate: "ImageVolumeWithDigest", drops: eachStatus("volumeMounts[].volumeStatus")},
		{gate: "DRANodeAllocatableResources", drops: []string{"status.nodeAllocatableResourceClaimStatuses"}},
		{gate: "CSIVolumeHealth", drops: []string{"status.volumeHealth"}},
	}
}

// claimSpec has the rules of the specs of ResourceClaims (upstream: pkg/api/resourceclaimspec).
func claimSpec() []rule {
	return []rule{
		{gate: "DRADeviceTaints", drops: []string{"devices.requests[].exactly.tolerations", "devices.requests[].firstAvailable[].tolerations"}},
		{gate: "DRAConsumableCapacity", drops: []string{"devices.constraints[].distinctAttribute", "devices.requests[].exactly.capacity", "devices.requests[].firstAvailable[].capacity"}},
		{gate: "DRADerivedAttributes", drops: []string{"devices.requests[].exactly.derivedAttributes", "devices.requests[].firstAvailable[].derivedAttributes"}},
	}
}

// kinds are the kinds that have rules.
func kinds() []string {
	return strings.Fields(`Pod PodTemplate ReplicationController DaemonSet Deployment ReplicaSet Job CronJob StatefulSet PersistentVolumeClaim Node
		CSIDriver CSINode ResourceClaim ResourceClaimTemplate ResourceSlice`)
}

// specs returns the rules of a create and an update of a kind (upstream: pkg/registry, PrepareForCreate and PrepareForUpdate). Rules of
// gates that are locked in this version are not among them.
func specs(kind string) []rule {
	switch kind {
	case "Pod":
		return below("spec.", podSpec())
	case "PodTemplate":
		return below("template.spec.", podSpec())
	case "ReplicationController", "DaemonSet", "Deployment", "ReplicaSet":
		return below("spec.template.spec.", podSpec())
	case "Job":
		return append(below("spec.template.spec.", podSpec()), rule{gate: "WorkloadWithJob", drops: []string{"spec.scheduling"}})
	case "CronJob":
		return append(below("spec.jobTemplate.spec.template.spec.", podSpec()), rule{gate: "WorkloadWithJob", drops: []string{"spec.jobTemplate.spec.scheduling"}})
	case "StatefulSet":
		return append(below("spec.template.spec.", podSpec()),
			rule{gate: "MaxUnavailableStatefulSet", drops: []string{"spec.updateStrategy.rollingUpdate.maxUnavailable"}})
	case "PersistentVolumeClaim":
		return []rule{{gate: "CrossNamespaceVolumeDataSource", drops: []string{"spec.dataSourceRef"}, when: "spec.dataSourceRef.namespace!"}}
	case "Node":
		return []rule{
			{drops: []string{"spec.configSource"}}, {drops: []string{"status.config"}},
			{gate: "InPlacePodVerticalScalingSchedulerPreemption", drops: []string{"spec.podPreemptionPolicy"}},
		}
	case "CSINode":
		return []rule{{gate: "CSIVolumeHealth", drops: []string{"status.storageHealth"}}}
	case "CSIDriver":
		return []rule{{gate: "VolumeLimitScaling", drops: []string{"spec.preventPodSchedulingIfMissing"}}}
	case "ResourceClaim":
		return below("spec.", claimSpec())
	case "ResourceClaimTemplate":
		return below("spec.spec.", claimSpec())
	case "ResourceSlice":
		const device = "spec.devices[]."
		return []rule{
			{gate: "DRADeviceTaints", drops: []string{device + "taints"}},
			{gate: "DRAPartitionableDevices", drops: []string{"spec.sharedCounters", "spec.perDeviceNodeSelection",
				device + "consumesCounters", device + "nodeName", device + "nodeSelector", device + "allNodes"}},
			{gate: "DRADeviceBindingConditions", drops: []string{device + "bindingConditions", device + "bindingFailureConditions", device + "bindsToNode"}},
			{gate: "DRAConsumableCapacity", drops: []string{device + "allowMultipleAllocations", device + "capacity{}.requestPolicy"}},
			{gate: "DRANodeAllocatableResources", drops: []string{device + "nodeAllocatableResources"}},
			{gate: "DRAPartitionableDevicesType", drops: []string{"spec.partitionTypeAttribute"}},
			{gate: "DRAOptionalNodeOperations", drops: []string{"spec.skipNodeOperations"}},
			{gate: "DRADeviceCompatibilityGroups", drops: []string{device + "consumesCounters[].compatibilityGroups"}},
			{gate: "DRAListTypeAttributes", drops: []string{device + "attributes{}.ints", device + "attributes{}.bools", device + "attributes{}.strings", device + "attributes{}.versions"}},
		}
	}
	return nil
}

// statuses returns the rules of a write of the status of a kind.
func statuses(kind string) []rule {
	switch kind {
	case "Pod":
		return podStatus()
	case "PersistentVolumeClaim":
		return []rule{{gate: "CSIVolumeHealth", drops: []string{"status.healthStatus"}}}
	case "CSINode":
		return specs(kind)
	case "Deployment", "ReplicaSet":
		return []rule{{gate: "DeploymentReplicaSetTerminatingReplicas", drops: []string{"status.terminatingReplicas"}}}
	case "ResourceClaim":
		const result = "status.allocation.devices.results[]."
		return []rule{
			{gate: "DRAConsumableCapacity", drops: []string{result + "shareID", result + "consumedCapacity", "status.devices[].shareID"},
				uses: append([]string{result + "shareID", result + "consumedCapacity", "status.devices[].shareID"}, below("spec.", claimSpec()[1:2])[0].drops...)},
			{gate: "DRADeviceBindingConditions", drops: []string{result + "bindingConditions", result + "bindingFailureConditions"}},
			{gate: "DRAOptionalNodeOperations", drops: []string{result + "skipNodeOperations"}},
		}
	}
	return nil
}
