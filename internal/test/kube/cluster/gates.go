package cluster

import (
	"net/http"
	"strings"
)

// otherGates are the feature gates of a server that has other ones on and off than by default.
const otherGates = "ContainerStopSignals=true,MaxUnavailableStatefulSet=false,ClusterTrustBundleProjection=false," +
	"PodCertificateRequest=false,CrossNamespaceVolumeDataSource=true,VolumeLimitScaling=false," +
	"RestartAllContainersOnContainerExits=false,ContainerRestartRules=false,DRADeviceTaints=false,DRADeviceTaintRules=false,DRAPartitionableDevices=false," +
	"DeploymentReplicaSetTerminatingReplicas=false"

// gatedPod is the spec of a pod with members of gates.
const gatedPod = `containers: [{name: a, image: i, resources: {limits: {example.com/a: "1"}}, lifecycle: {stopSignal: SIGTERM, preStop: {sleep: {seconds: 1}}}, env: [{name: A, valueFrom: {fileKeyRef: {volumeName: e, path: p, key: k}}}]}, {name: b, image: i, lifecycle: {stopSignal: SIGINT}, volumeMounts: [{name: b, mountPath: /b}]}],
	initContainers: [{name: c, image: i, restartPolicy: Always, restartPolicyRules: [{action: Restart, exitCodes: {operator: In, values: [1]}}]}],
	os: {name: linux}, hostnameOverride: a.example.com, schedulingGroup: {podGroupName: g}, resources: {limits: {cpu: "1"}},
	topologySpreadConstraints: [{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: DoNotSchedule, labelSelector: {matchLabels: {app: a}}, matchLabelKeys: [x]}],
	volumes: [{name: e, emptyDir: {}}, {name: b, projected: {sources: [{clusterTrustBundle: {name: b, path: p}}, {podCertificate: {signerName: example.com/a, keyType: ED25519, credentialBundlePath: c}}, {configMap: {name: c}}]}}]`

// gates plays members of feature gates, on create, on update and in the status.
func gates(p *play) {
	const (
		apps   = "/apis/apps/v1/namespaces/NAMESPACE/"
		claims = "/api/v1/namespaces/NAMESPACE/persistentvolumeclaims"
		slices = "/apis/resource.k8s.io/v1/resourceslices"
		owned  = "metadata: {name: a}, spec: {selector: {matchLabels: {app: a}}, template: {metadata: {labels: {app: a}}, spec: {" + gatedPod + "}}"
	)
	p.do("pod", http.MethodPost, pods, "{apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {"+gatedPod+"}}")
	p.do("pod with a stop signal alone", http.MethodPost, pods+"?dryRun=All", "{apiVersion: v1, kind: Pod, metadata: {name: x}, spec: {os: {name: linux}, containers: [{name: a, image: i, lifecycle: {stopSignal: SIGTERM}}]}}")
	p.do("pod with a projected volume alone", http.MethodPost, pods+"?dryRun=All", "{apiVersion: v1, kind: Pod, metadata: {name: x}, spec: {containers: [{name: a, image: i}], volumes: [{name: b, projected: {sources: [{clusterTrustBundle: {name: b, path: p}}]}}]}}")
	p.patch("pod, other members", pods+"/a", merge, `{"spec":{"schedulingGroup":{"podGroupName":"h"}}}`)
	p.patch("pod, a label", pods+"/a", merge, `{"metadata":{"labels":{"x":"y"}}}`)
	p.patch("pod, status", pods+"/a/status", merge, `{"status":{"extendedResourceClaimStatus":{"resourceClaimName":"c","requestMappings":[{"containerName":"a","resourceName":"example.com/a","requestName":"r"}]},
		"containerStatuses":[{"name":"a","image":"i","imageID":"i","ready":true,"restartCount":0,"allocatedResourcesStatus":[{"name":"example.com/a","resources":[{"resourceID":"r","health":"Healthy","message":"m"}]}],
		"volumeMounts":[{"name":"e","mountPath":"/e","volumeStatus":{"image":{"imageRef":"r"}}}]}]}}`)
	p.do("pod template", http.MethodPost, "/api/v1/namespaces/NAMESPACE/podtemplates", "{apiVersion: v1, kind: PodTemplate, metadata: {name: a}, template: {spec: {"+gatedPod+"}}}")
	for _, kind := range []string{"Deployment", "ReplicaSet", "DaemonSet"} {
		p.do(kind, http.MethodPost, apps+strings.ToLower(kind)+"s", "{apiVersion: apps/v1, kind: "+kind+", "+owned+"}}")
	}
	p.patch("deployment, a stop signal", apps+"deployments/a", strategic, `{"spec":{"template":{"spec":{"containers":[{"name":"b","lifecycle":{"stopSignal":"SIGHUP"}}]}}}}`)
	p.patch("deployment, apply", apps+"deployments/b?fieldManager=m", apply, "{apiVersion: apps/v1, kind: Deployment, "+strings.Replace(owned, "name: a", "name: b", 1)+"}}")
	p.patch("deployment, status", apps+"deployments/a/status", merge, `{"status":{"replicas":2,"terminatingReplicas":1}}`)
	p.patch("replica set, status", apps+"replicasets/a/status", merge, `{"status":{"replicas":2,"terminatingReplicas":1}}`)
	p.do("stateful set", http.MethodPost, apps+"statefulsets", "{apiVersion: apps/v1, kind: StatefulSet, "+owned+", updateStrategy: {type: RollingUpdate, rollingUpdate: {maxUnavailable: 2}}}}")
	p.do("stateful set without it", http.MethodPost, apps+"statefulsets", "{apiVersion: apps/v1, kind: StatefulSet, "+strings.Replace(owned, "name: a", "name: b", 1)+", updateStrategy: {type: RollingUpdate}}}")
	p.patch("stateful set, more", apps+"statefulsets/b", merge, `{"spec":{"updateStrategy":{"rollingUpdate":{"maxUnavailable":3}}}}`)
	p.do("job", http.MethodPost, jobs, "{apiVersion: batch/v1, kind: Job, metadata: {name: a}, spec: {suspend: true, template: {spec: {restartPolicy: Never, "+gatedPod+"}}}}")
	p.do("cron job", http.MethodPost, "/apis/batch/v1/namespaces/NAMESPACE/cronjobs", `{apiVersion: batch/v1, kind: CronJob, metadata: {name: a}, spec: {schedule: "* * * * *", jobTemplate: {spec: {template: {spec: {restartPolicy: Never, `+gatedPod+"}}}}}}")

	claim := func(name, source string) string {
		return "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: " + name + "}, spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}, " + source + "}}"
	}
	p.do("claim", http.MethodPost, claims, claim("a", "dataSourceRef: {apiGroup: example.com, kind: A, name: a, namespace: other}"))
	p.do("claim without a namespace", http.MethodPost, claims, claim("b", "dataSourceRef: {apiGroup: example.com, kind: A, name: a}"))
	p.do("claim with both", http.MethodPost, claims, claim("c", "dataSourceRef: {kind: PersistentVolumeClaim, name: a, namespace: other}, dataSource: {kind: PersistentVolumeClaim, name: b}"))
	p.do("driver", http.MethodPost, "/apis/storage.k8s.io/v1/csidrivers", "{apiVersion: storage.k8s.io/v1, kind: CSIDriver, metadata: {name: gates-RUNID}, spec: {preventPodSchedulingIfMissing: true}}")
	p.patch("driver, patch", "/apis/storage.k8s.io/v1/csidrivers/gates-RUNID", merge, `{"spec":{"preventPodSchedulingIfMissing":false}}`)
	p.do("node", http.MethodPost, "/api/v1/nodes", "{apiVersion: v1, kind: Node, metadata: {name: gates-RUNID}, spec: {unschedulable: false, configSource: {configMap: {name: a, namespace: a, kubeletConfigKey: k}}}, status: {declaredFeatures: [A], config: {error: e}}}")
	p.do("autoscaler", http.MethodPost, "/apis/autoscaling/v2/namespaces/NAMESPACE/horizontalpodautoscalers", `{apiVersion: autoscaling/v2, kind: HorizontalPodAutoscaler, metadata: {name: a}, spec: {maxReplicas: 2, scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: a}, behavior: {scaleUp: {tolerance: "0.2", stabilizationWindowSeconds: 1}, scaleDown: {tolerance: "0.1"}}}}`)
	p.do("device class", http.MethodPost, "/apis/resource.k8s.io/v1/deviceclasses", "{apiVersion: resource.k8s.io/v1, kind: DeviceClass, metadata: {name: gates-RUNID}, spec: {extendedResourceName: example.com/a}}")
	const request = "devices: {requests: [{name: r, exactly: {deviceClassName: c, tolerations: [{key: a, operator: Exists}], capacity: {requests: {a: 1}}}}, {name: s, firstAvailable: [{name: t, deviceClassName: c, tolerations: [{key: a, operator: Exists}], capacity: {requests: {a: 1}}}]}], constraints: [{requests: [r], distinctAttribute: example.com/a}]}"
	p.do("resource claim", http.MethodPost, "/apis/resource.k8s.io/v1/namespaces/NAMESPACE/resourceclaims", "{apiVersion: resource.k8s.io/v1, kind: ResourceClaim, metadata: {name: a}, spec: {"+request+"}}")
	p.do("resource claim template", http.MethodPost, "/apis/resource.k8s.io/v1/namespaces/NAMESPACE/resourceclaimtemplates", "{apiVersion: resource.k8s.io/v1, kind: ResourceClaimTemplate, metadata: {name: a}, spec: {spec: {"+request+"}}}")
	p.do("resource slice", http.MethodPost, slices, "{apiVersion: resource.k8s.io/v1, kind: ResourceSlice, metadata: {name: gates-RUNID}, spec: {driver: d.example.com, nodeName: node1, pool: {name: p, generation: 1, resourceSliceCount: 1}, devices: [{name: a, attributes: {b: {int: 1}}, capacity: {c: {value: 2, requestPolicy: {default: 1, validValues: [1, 2]}}}, taints: [{key: k, effect: NoSchedule}], allowMultipleAllocations: true, bindsToNode: true, bindingConditions: [a], bindingFailureConditions: [b]}]}}")
	for _, path := range []string{pods + "/a?gracePeriodSeconds=0", jobs + "/a?propagationPolicy=Background", slices + "/gates-RUNID", "/apis/resource.k8s.io/v1/deviceclasses/gates-RUNID", "/api/v1/nodes/gates-RUNID", "/apis/storage.k8s.io/v1/csidrivers/gates-RUNID"} {
		_, _, _ = p.Send(http.MethodDelete, path, "")
	}
}
