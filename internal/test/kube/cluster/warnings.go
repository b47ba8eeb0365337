package cluster

import (
	"net/http"
	"strings"
)

// This file has the scenarios of warnings. Nearly all writes are dry runs, which warn as other writes do and leave nothing.

// settled are members that admission gives to a pod: with them it adds nothing.
const settled = "priority: 0, preemptionPolicy: PreemptLowerPriority, tolerations: [{operator: Exists}]"

const container = "containers: [{name: a, image: i}]"

// podCases are pods that a server warns about: a name, members of the metadata, and members of the spec.
func podCases() [][3]string {
	disk := func(members string) string { return container + ", volumes: [" + members + "]" }
	node := func(members string) string { return container + ", affinity: {nodeAffinity: {" + members + "}}" }
	return [][3]string{
		{"node selector", "", container + ", nodeSelector: {beta.kubernetes.io/os: linux}"},
		{"node selector for several labels", "", container + ", nodeSelector: {node-role.kubernetes.io/master: x, kubernetes.io/os: linux}"},
		{"required terms", "", node(`requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: a, operator: Exists}, {key: beta.kubernetes.io/arch, operator: In, values: [x]}]}, {matchExpressions: [{key: failure-domain.beta.kubernetes.io/zone, operator: Exists}]}]}`)},
		{"preferred terms", "", node(`preferredDuringSchedulingIgnoredDuringExecution: [{weight: 1, preference: {matchExpressions: [{key: beta.kubernetes.io/instance-type, operator: In, values: ["-a", b, "c_"]}, {key: failure-domain.beta.kubernetes.io/region, operator: Exists}]}}]`)},
		{"spread", "", container + `, topologySpreadConstraints: [{maxSkew: 1, whenUnsatisfiable: DoNotSchedule, topologyKey: failure-domain.beta.kubernetes.io/zone}, {maxSkew: 1, whenUnsatisfiable: DoNotSchedule, topologyKey: topology.kubernetes.io/zone, labelSelector: {}}, {maxSkew: 1, whenUnsatisfiable: ScheduleAnyway, topologyKey: scheduler.alpha.kubernetes.io/preferAvoidPods, labelSelector: {}}, {maxSkew: 1, whenUnsatisfiable: ScheduleAnyway, topologyKey: app.kubernetes.io/created-by, labelSelector: {}}]`},
		{"annotations", `annotations: {scheduler.alpha.kubernetes.io/critical-pod: "", security.alpha.kubernetes.io/sysctls: "", security.alpha.kubernetes.io/unsafe-sysctls: ""}`, container},
		{"volumes", "", disk(`{name: a, photonPersistentDisk: {pdID: a}}, {name: b, gitRepo: {repository: r}}, {name: c, scaleIO: {gateway: g, system: s, volumeName: v, secretRef: {name: s}}}, {name: d, flocker: {datasetName: d}}, {name: e, storageos: {volumeName: v}}, {name: f, quobyte: {registry: "a:1", volume: v}}, {name: g, glusterfs: {endpoints: e, path: p}}, {name: h, cephfs: {monitors: [m]}}, {name: i, rbd: {monitors: [m], image: i}}`)},
		{"ephemeral volume", "", disk(`{name: a, ephemeral: {volumeClaimTemplate: {spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 100m}, limits: {storage: 1500m}}}}}}`)},
		{"overlapping paths", "", disk(`{name: a, configMap: {name: c, items: [{key: a, path: x}, {key: b, path: x}, {key: c, path: x/y}, {key: d, path: xy}]}}, {name: b, secret: {secretName: s, items: [{key: a, path: d/e/}, {key: b, path: d}]}}, {name: c, downwardAPI: {items: [{path: l, fieldRef: {fieldPath: metadata.labels}}, {path: l/m, fieldRef: {fieldPath: metadata.name}}]}}, {name: d, configMap: {name: c}}`)},
		{"projected volume", "", disk(`{name: a, projected: {sources: [{configMap: {name: c, items: [{key: a, path: x}]}}, {secret: {name: s, items: [{key: a, path: x/y}, {key: b, path: z}]}}, {downwardAPI: {items: [{path: z/q, fieldRef: {fieldPath: metadata.name}}]}}, {serviceAccountToken: {path: x, expirationSeconds: 7200}}, {secret: {name: other}}]}}`) + ", serviceAccountName: s"},
		{"projected volume with an empty source", "", disk(`{name: a, projected: {sources: [{}]}}`)},
		{"host aliases", "", container + `, hostAliases: [{ip: 192.0.2.1, hostnames: [a]}, {ip: 192.0.2.1, hostnames: [b]}, {ip: "2001:db8:0::1", hostnames: [c]}]`},
		{"pull secrets", "", container + `, imagePullSecrets: [{name: a}, {name: b}, {name: a}, {name: ""}, {}]`},
		{"overhead", "", container + ", overhead: {memory: 100m, ephemeral-storage: 1100m, cpu: 100m}"},
		{"seccomp", `annotations: {seccomp.security.alpha.kubernetes.io/pod: runtime/default, container.seccomp.security.alpha.kubernetes.io/a: runtime/default, container.seccomp.security.alpha.kubernetes.io/b: runtime/default}`, `containers: [{name: a, image: i}, {name: b, image: i, securityContext: {seccompProfile: {type: RuntimeDefault}}}]`},
		{"seccomp with the member", `annotations: {seccomp.security.alpha.kubernetes.io/pod: runtime/default, container.seccomp.security.alpha.kubernetes.io/a: runtime/default}`, container + `, securityContext: {seccompProfile: {type: RuntimeDefault}}`},
		{"AppArmor", `annotations: {container.apparmor.security.beta.kubernetes.io/a: runtime/default, container.apparmor.security.beta.kubernetes.io/b: localhost/p, container.apparmor.security.beta.kubernetes.io/c: unconfined}`, `containers: [{name: a, image: i}, {name: b, image: i, securityContext: {appArmorProfile: {type: Localhost, localhostProfile: p}}}], initContainers: [{name: c, image: i}]`},
		{"AppArmor as the pod", `annotations: {container.apparmor.security.beta.kubernetes.io/a: runtime/default, container.apparmor.security.beta.kubernetes.io/b: unconfined}`, `containers: [{name: a, image: i}, {name: b, image: i}], securityContext: {appArmorProfile: {type: RuntimeDefault}}`},
		{"AppArmor, the profile of the pod", `annotations: {container.apparmor.security.beta.kubernetes.io/a: runtime/default}`, container + ", securityContext: {appArmorProfile: {type: RuntimeDefault}}"},
		{"AppArmor of no profile", `annotations: {container.apparmor.security.beta.kubernetes.io/a: "localhost/ p"}`, container},
		{"AppArmor of Windows", `annotations: {container.apparmor.security.beta.kubernetes.io/a: runtime/default}`, container + ", os: {name: windows}"},
		{"fractions", "", `containers: [{name: a, image: i, resources: {limits: {memory: 1500m, ephemeral-storage: 2500m}, requests: {memory: 100m, ephemeral-storage: 200m, cpu: 100m}}}], initContainers: [{name: b, image: i, resources: {requests: {memory: 0.5}}}]`},
		{"variables", "", `containers: [{name: a, image: i, env: [{name: A, value: x}, {name: A, value: "$(A)y"}, {name: A, value: "$(A)"}, {name: A, value: z}, {name: A, valueFrom: {fieldRef: {fieldPath: metadata.name}}}, {name: B, value: x}]}]`},
		{"ports", "", `containers: [{name: a, image: i, ports: [{containerPort: 80, name: http}, {containerPort: 80, protocol: UDP}, {containerPort: 81, hostIP: 192.0.2.1}, {containerPort: 82, hostPort: 82}, {containerPort: 83, hostPort: 83}, {containerPort: 84, hostPort: 84}, {containerPort: 80}]}, {name: b, image: i, ports: [{containerPort: 80, name: http}, {containerPort: 82}, {containerPort: 83, hostPort: 83, hostIP: 192.0.2.2}, {containerPort: 84, hostPort: 85}]}], initContainers: [{name: c, image: i, restartPolicy: Always, ports: [{containerPort: 80, name: http}]}]`},
		{"negative grace", "", container + ", terminationGracePeriodSeconds: -1"},
		{"null selectors", "", container + `, affinity: {podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: a}, {topologyKey: a, labelSelector: {}}], preferredDuringSchedulingIgnoredDuringExecution: [{weight: 1, podAffinityTerm: {topologyKey: a}}]}, podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: a}], preferredDuringSchedulingIgnoredDuringExecution: [{weight: 1, podAffinityTerm: {topologyKey: a}}]}}`},
		{"name servers", "", container + `, dnsPolicy: None, dnsConfig: {nameservers: [192.0.2.1, "2001:DB8::1"]}`},
		{"the order", `annotations: {scheduler.alpha.kubernetes.io/critical-pod: "", container.apparmor.security.beta.kubernetes.io/a: runtime/default, seccomp.security.alpha.kubernetes.io/pod: runtime/default}`,
			`nodeSelector: {beta.kubernetes.io/os: linux}, terminationGracePeriodSeconds: -1, imagePullSecrets: [{}], hostAliases: [{ip: "2001:DB8::1", hostnames: [a]}, {ip: "2001:DB8::1", hostnames: [b]}], volumes: [{name: a, gitRepo: {repository: r}}, {name: b, configMap: {name: c, items: [{key: a, path: x}, {key: b, path: x}]}}, {name: c, cephfs: {monitors: [m]}}], containers: [{name: a, image: i, ports: [{containerPort: 80, name: p}, {containerPort: 80, name: q}], env: [{name: A}, {name: A}], resources: {limits: {memory: 0.1}}}]`},
	}
}

// podWarnings plays pods, and templates for pods with the same members.
func podWarnings(p *play) {
	for _, c := range podCases() {
		if !strings.Contains(c[2], "overhead") { // which a pod has by its RuntimeClass only
			p.do(c[0], http.MethodPost, pods+"?dryRun=All", "{apiVersion: v1, kind: Pod, metadata: {name: a, "+c[1]+"}, spec: {"+settled+", "+c[2]+"}}")
		}
		p.do(c[0]+", template", http.MethodPost, "/api/v1/namespaces/NAMESPACE/podtemplates?dryRun=All",
			"{apiVersion: v1, kind: PodTemplate, metadata: {name: a}, template: {metadata: {"+c[1]+"}, spec: {"+c[2]+"}}}")
	}
	const plain = "{apiVersion: v1, kind: Pod, metadata: {name: NAME}, spec: {" + settled + ", " + container + "}}"
	for _, name := range []string{"a.b", "generated", strings.Repeat("a", 64)} {
		p.do("name "+name, http.MethodPost, pods+"?dryRun=All", strings.Replace(plain, "NAME", name, 1))
	}
	p.do("not valid", http.MethodPost, pods+"?dryRun=All", `{apiVersion: v1, kind: Pod, metadata: {name: a, annotations: {container.apparmor.security.beta.kubernetes.io/a: runtime/default}}, spec: {`+settled+`, nodeSelector: {beta.kubernetes.io/os: linux}, containers: [{name: a, image: i}, {name: a, image: i}]}}`)
	p.do("pod", http.MethodPost, pods, "{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {"+settled+", nodeSelector: {beta.kubernetes.io/os: linux}, "+container+"}}")
	p.patch("update of a pod", pods+"/p", merge, `{"metadata":{"labels":{"a":"b"}}}`)
	p.patch("ephemeral container", pods+"/p/ephemeralcontainers", merge, `{"spec":{"ephemeralContainers":[{"name":"e","image":"i","env":[{"name":"A"},{"name":"A"}]}]}}`)
	p.patch("status of a pod", pods+"/p/status", merge, `{"status":{"podIPs":[{"ip":"2001:DB8::1"},{"ip":"192.0.2.1"}],"podIP":"2001:DB8::1","hostIPs":[{"ip":"2001:DB8::2"}],"hostIP":"2001:DB8::2"}}`)
	p.do("delete a pod", http.MethodDelete, pods+"/p?gracePeriodSeconds=0", "")
}

// ownerWarnings plays the owners of pods, by all sorts of writes.
func ownerWarnings(p *play) {
	const (
		warned   = "metadata: {labels: {a: b}}, spec: {nodeSelector: {beta.kubernetes.io/os: linux}, terminationGracePeriodSeconds: -1, restartPolicy: RESTART, containers: [{name: a, image: i}]}"
		selector = "selector: {matchLabels: {a: b}}, "
	)
	always, never := "template: {"+strings.Replace(warned, "RESTART", "Always", 1)+"}", "template: {"+strings.NewReplacer("RESTART", "Never", "labels: {a: b}", "").Replace(warned)+"}"
	apps, batch, core := "/apis/apps/v1/namespaces/NAMESPACE/", "/apis/batch/v1/namespaces/NAMESPACE/", "/api/v1/namespaces/NAMESPACE/"
	for _, o := range []struct{ path, version, kind, spec, other string }{
		{apps + "deployments", "apps/v1", "Deployment", selector + always, `"minReadySeconds":1`},
		{apps + "replicasets", "apps/v1", "ReplicaSet", selector + always, `"minReadySeconds":1`},
		{apps + "daemonsets", "apps/v1", "DaemonSet", selector + always, `"minReadySeconds":1`},
		{apps + "statefulsets", "apps/v1", "StatefulSet", selector + "serviceName: s, revisionHistoryLimit: -1, volumeClaimTemplates: [{metadata: {name: v}, spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 100m}}}}], " + always, `"minReadySeconds":1`},
		{core + "replicationcontrollers", "v1", "ReplicationController", "selector: {a: b}, " + always, `"minReadySeconds":1`},
		{batch + "jobs", "batch/v1", "Job", "completionMode: Indexed, completions: 100001, parallelism: 10001, " + never, `"suspend":true`},
		{batch + "cronjobs", "batch/v1", "CronJob", `schedule: "* * * * *", jobTemplate: {spec: {completionMode: Indexed, completions: 100001, parallelism: 10001, ` + never + "}}", `"suspend":true`},
	} {
		body := func(name string) string {
			return "{apiVersion: " + o.version + ", kind: " + o.kind + ", metadata: {name: " + name + "}, spec: {" + o.spec + "}}"
		}
		p.do(o.kind+", a name with dots", http.MethodPost, o.path+"?dryRun=All", body("a.b"))
		p.do(o.kind, http.MethodPost, o.path, body("a"))
		p.patch(o.kind+", update", o.path+"/a", merge, `{"spec":{`+o.other+"}}")
		p.patch(o.kind+", update of labels", o.path+"/a", merge, `{"metadata":{"labels":{"x":"red"}}}`)
		p.patch(o.kind+", update of annotations", o.path+"/a", merge, `{"metadata":{"annotations":{"x":"red"}}}`)
		p.patch(o.kind+", merge patch of the template", o.path+"/a?dryRun=All", merge, `{"spec":{"template":{"spec":{"nodeSelector":{"beta.kubernetes.io/arch":"x"}}}}}`)
		p.patch(o.kind+", apply", o.path+"/b?fieldManager=m&dryRun=All", apply, body("b"))
		p.patch(o.kind+", status", o.path+"/a/status", merge, `{"metadata":{"annotations":{"y":"z"}}}`)
	}
	p.do("Deployment, PUT", http.MethodPut, apps+"deployments/a", "{apiVersion: apps/v1, kind: Deployment, metadata: {name: a}, spec: {"+selector+always+"}}")
	p.do("Job with a name", http.MethodPost, batch+"jobs?dryRun=All", "{apiVersion: batch/v1, kind: Job, metadata: {name: a.b}, spec: {"+never+"}}")
	p.patch("scale", apps+"deployments/a/scale", merge, `{"spec":{"replicas":3}}`)
	p.patch("scale of a controller", core+"replicationcontrollers/a/scale", merge, `{"spec":{"replicas":3}}`)
	p.patch("controller, another template", core+"replicationcontrollers/a", merge, `{"spec":{"template":{"spec":{"nodeSelector":{"failure-domain.beta.kubernetes.io/zone":"x"}}}}}`)
	p.patch("controller, a third template", core+"replicationcontrollers/a", merge, `{"spec":{"template":{"spec":{"nodeSelector":null}}}}`)
	p.do("template", http.MethodPost, core+"podtemplates", "{apiVersion: v1, kind: PodTemplate, metadata: {name: a}, "+always+"}")
	p.patch("template, labels", core+"podtemplates/a", merge, `{"metadata":{"labels":{"x":"red"}}}`)
	p.patch("template, members", core+"podtemplates/a", merge, `{"template":{"metadata":{"labels":{"x":"red"}}}}`)
	p.do("AppArmor in a template", http.MethodPost, core+"podtemplates?dryRun=All", "{apiVersion: v1, kind: PodTemplate, metadata: {name: b}, template: {metadata: {annotations: {container.apparmor.security.beta.kubernetes.io/a: localhost/}}, spec: {"+container+"}}}")
	for _, path := range []string{apps + "deployments/a", apps + "replicasets/a", apps + "daemonsets/a", apps + "statefulsets/a", core + "podtemplates/a", batch + "cronjobs/a"} {
		p.must(http.MethodDelete, path+"?propagationPolicy=Background", "")
	}
	p.do("delete a job that is not there", http.MethodDelete, batch+"jobs/absent", "")
	p.do("delete a job, background", http.MethodDelete, batch+"jobs/a?propagationPolicy=Background&dryRun=All", "")
	p.do("delete a job, orphans", http.MethodDelete, batch+"jobs/a", "{apiVersion: v1, kind: DeleteOptions, dryRun: [All], orphanDependents: false}")
	p.do("delete jobs, background", http.MethodDelete, batch+"jobs?propagationPolicy=Background&dryRun=All", "")
	p.do("delete a job, a bad option", http.MethodDelete, batch+"jobs/a", "{apiVersion: v1, kind: DeleteOptions, dryRun: [Some]}")
	p.do("delete a job", http.MethodDelete, batch+"jobs/a?dryRun=All", "")
	p.do("delete jobs", http.MethodDelete, batch+"jobs?dryRun=All", "")
	p.do("delete no jobs", http.MethodDelete, batch+"jobs?labelSelector=x%3Dred", "")
	p.do("delete a controller", http.MethodDelete, core+"replicationcontrollers/a?dryRun=All", "")
	p.must(http.MethodDelete, core+"replicationcontrollers/a?propagationPolicy=Background", "")
	p.must(http.MethodDelete, batch+"jobs/a?propagationPolicy=Background", "")
}

// kindWarnings plays kinds of which a few members are warned about.
func kindWarnings(p *play) {
	const (
		core       = "/api/v1/"
		namespaced = "/api/v1/namespaces/NAMESPACE/"
		storage    = "/apis/storage.k8s.io/v1/"
		net        = "/apis/networking.k8s.io/v1/namespaces/NAMESPACE/"
		slices     = "/apis/discovery.k8s.io/v1/namespaces/NAMESPACE/endpointslices"
	)
	post := func(step, path, version, kind, name, metadata, members string) {
		if metadata != "" {
			metadata = ", " + metadata
		}
		p.do(step, http.MethodPost, path+"?dryRun=All", "{apiVersion: "+version+", kind: "+kind+", metadata: {name: "+name+metadata+"}, "+members+"}")
	}
	service := func(step, metadata, spec string) {
		post(step, namespaced+"services", "v1", "Service", "a", metadata, "spec: {"+spec+"}")
	}
	service("hints", "annotations: {service.kubernetes.io/topology-aware-hints: auto}", "clusterIP: None")
	service("headless", "", `clusterIP: None, sessionAffinity: ClientIP, externalIPs: [192.0.2.1], loadBalancerIP: 192.0.2.2`)
	service("headless with bad IPs", "", `clusterIP: None, externalIPs: ["2001:DB8::1"]`)
	service("external IPs", "", `type: ClusterIP, clusterIP: 10.0.0.211, ports: [{port: 80}], externalIPs: [192.0.2.1, "2001:db8:0:0::1"]`)
	service("load balancer", "", `type: LoadBalancer, clusterIP: 10.0.0.212, allocateLoadBalancerNodePorts: false, ports: [{port: 80}], loadBalancerIP: "2001:DB8::2", loadBalancerSourceRanges: ["192.0.2.0/24", "2001:DB8::/64"]`)
	service("external name", "", `type: ExternalName, externalName: a.example.com, externalIPs: [192.0.2.1]`)
	service("external name without the type", "", `clusterIP: None, externalName: a.example.com`)
	service("distribution", "", `clusterIP: None, trafficDistribution: PreferClose`)
	service("no warning", "", `clusterIP: None, trafficDistribution: PreferSameZone`)
	p.do("service", http.MethodPost, namespaced+"services", `{apiVersion: v1, kind: Service, metadata: {name: s}, spec: {clusterIP: None, trafficDistribution: PreferClose}}`)
	p.patch("service, JSON patch", namespaced+"services/s", jsonPatch, `[{"op":"add","path":"/metadata/labels","value":{"a":"b"}}]`)
	p.patch("service, merge patch of nothing", namespaced+"services/s", merge, `{"metadata":{"labels":{"a":"b"}}}`)
	p.patch("service, strategic merge patch", namespaced+"services/s", strategic, `{"metadata":{"labels":{"a":"c"}}}`)
	p.patch("service, apply", namespaced+"services/s?fieldManager=m&force=true", apply, `{apiVersion: v1, kind: Service, metadata: {name: s}, spec: {clusterIP: None, trafficDistribution: PreferClose}}`)
	p.do("service, update that is refused", http.MethodPut, namespaced+"services/s", `{apiVersion: v1, kind: Service, metadata: {name: s}, spec: {clusterIP: None, trafficDistribution: Near}}`)
	p.must(http.MethodPost, namespaced+"services", `{apiVersion: v1, kind: Service, metadata: {name: l}, spec: {type: LoadBalancer, allocateLoadBalancerNodePorts: false, clusterIP: 10.0.0.213, ports: [{port: 80}]}}`)
	p.patch("service, status", namespaced+"services/l/status", merge, `{"status":{"loadBalancer":{"ingress":[{"ip":"2001:DB8::1"},{"hostname":"a.example.com"}]}}}`)
	p.must(http.MethodDelete, namespaced+"services/l", "")
	p.do("service, delete", http.MethodDelete, namespaced+"services/s", "")

	post("Ingress", net+"ingresses", "networking.k8s.io/v1", "Ingress", "a", "annotations: {kubernetes.io/ingress.class: c}", "spec: {defaultBackend: {service: {name: s, port: {number: 80}}}}")
	post("Ingress with a class", net+"ingresses", "networking.k8s.io/v1", "Ingress", "a", "", "spec: {ingressClassName: c, defaultBackend: {service: {name: s, port: {number: 80}}}}")
	p.must(http.MethodPost, net+"ingresses", "{apiVersion: networking.k8s.io/v1, kind: Ingress, metadata: {name: a, annotations: {kubernetes.io/ingress.class: c}}, spec: {defaultBackend: {service: {name: s, port: {number: 80}}}}}")
	p.patch("Ingress, update", net+"ingresses/a", merge, `{"metadata":{"labels":{"a":"b"}}}`)
	p.patch("Ingress, status", net+"ingresses/a/status", merge, `{"status":{"loadBalancer":{"ingress":[{"hostname":"a.example.com"},{"ip":"2001:DB8::1"}]}}}`)
	p.must(http.MethodDelete, net+"ingresses/a", "")
	post("NetworkPolicy", net+"networkpolicies", "networking.k8s.io/v1", "NetworkPolicy", "a", "", `spec: {podSelector: {}, ingress: [{from: [{podSelector: {}}, {ipBlock: {cidr: "2001:DB8::/32", except: ["2001:db8:1::/48", "2001:DB8:2::/48"]}}]}], egress: [{to: [{ipBlock: {cidr: "2001:DB8::/32", except: ["2001:DB8:1::/48"]}}]}]}`)
	post("EndpointSlice", slices, "discovery.k8s.io/v1", "EndpointSlice", "a", "", `addressType: IPv6, endpoints: [{addresses: ["2001:DB8::1"]}]`)
	post("EndpointSlice of names", slices, "discovery.k8s.io/v1", "EndpointSlice", "a", "", `addressType: FQDN, endpoints: []`)

	post("Node", core+"nodes", "v1", "Node", "a-RUNID", "", `spec: {externalID: x, configSource: {configMap: {name: a, namespace: b, kubeletConfigKey: c}}, podCIDRs: ["2001:DB8::/64"], podCIDR: "2001:DB8::/64", taints: [{key: node.kubernetes.io/not-ready, effect: NoSchedule}]}`)
	volume := func(step, metadata, spec string) {
		metadata = strings.TrimSuffix("finalizers: [kubernetes.io/pv-protection], "+metadata, ", ")
		post(step, core+"persistentvolumes", "v1", "PersistentVolume", "a-RUNID", metadata, "spec: {accessModes: [ReadWriteOnce], capacity: {storage: 1Gi}, "+spec+"}")
	}
	volume("PersistentVolume", `annotations: {volume.beta.kubernetes.io/storage-class: c, volume.beta.kubernetes.io/mount-options: o}`, `persistentVolumeReclaimPolicy: Recycle, nfs: {server: s, path: /a}, nodeAffinity: {required: {nodeSelectorTerms: [{matchExpressions: [{key: beta.kubernetes.io/os, operator: Exists}]}]}}`)
	volume("PersistentVolume with mount options", `annotations: {volume.beta.kubernetes.io/mount-options: o}`, "hostPath: {path: /a}")
	for _, plugin := range []string{"cephfs: {monitors: [m]}", "photonPersistentDisk: {pdID: a}", "scaleIO: {gateway: g, system: s, volumeName: v, secretRef: {name: s, namespace: ns}}", "storageos: {volumeName: v, volumeNamespace: ns}", "glusterfs: {endpoints: e, path: p}", "rbd: {monitors: [m], image: i}"} {
		name, _, _ := strings.Cut(plugin, ":")
		volume("PersistentVolume, "+name, "", plugin)
	}
	post("PersistentVolumeClaim", namespaced+"persistentvolumeclaims", "v1", "PersistentVolumeClaim", "a", "annotations: {volume.beta.kubernetes.io/storage-class: c}, finalizers: [kubernetes.io/pvc-protection]", `spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 100m}, limits: {storage: 1500m}}}`)
	post("ResourceQuota", namespaced+"resourcequotas", "v1", "ResourceQuota", "a", "", `spec: {hard: {cpu: 3, limits.cpu: 2, requests.memory: 2Gi, memory: 1Gi, limits.memory: 1Gi, requests.ephemeral-storage: 1, limits.ephemeral-storage: 2}}`)
	post("Secret of TLS", namespaced+"secrets", "v1", "Secret", "a", "", `type: kubernetes.io/tls, data: {tls.crt: "", tls.key: ""}`)
	post("Secret of TLS, not PEM", namespaced+"secrets", "v1", "Secret", "a", "", `type: kubernetes.io/tls, stringData: {tls.crt: a, tls.key: b}`)
	post("ServiceAccount", namespaced+"serviceaccounts", "v1", "ServiceAccount", "a", `annotations: {kubernetes.io/enforce-mountable-secrets: "true"}`, "secrets: []")
	p.must(http.MethodPost, namespaced+"serviceaccounts", "{apiVersion: v1, kind: ServiceAccount, metadata: {name: a}}")
	p.patch("ServiceAccount, a new annotation", namespaced+"serviceaccounts/a", merge, `{"metadata":{"annotations":{"kubernetes.io/enforce-mountable-secrets":"true"}}}`)
	p.patch("ServiceAccount, the annotation is there", namespaced+"serviceaccounts/a", merge, `{"metadata":{"annotations":{"kubernetes.io/enforce-mountable-secrets":"false"}}}`)

	post("StorageClass", storage+"storageclasses", "storage.k8s.io/v1", "StorageClass", "a-RUNID", "", `provisioner: example.com/p, allowedTopologies: [{matchLabelExpressions: [{key: failure-domain.beta.kubernetes.io/zone, values: [a]}]}]`)
	post("CSIStorageCapacity", storage+"namespaces/NAMESPACE/csistoragecapacities", "storage.k8s.io/v1", "CSIStorageCapacity", "a", "", `storageClassName: c, nodeTopology: {matchLabels: {beta.kubernetes.io/os: linux}, matchExpressions: [{key: beta.kubernetes.io/arch, operator: Exists}]}`)
	const driver, drivers = `{apiVersion: storage.k8s.io/v1, kind: CSIDriver, metadata: {name: a-RUNID}, spec: {tokenRequests: [{audience: a}]MORE}}`, storage + "csidrivers"
	p.do("CSIDriver, tokens in secrets", http.MethodPost, drivers+"?dryRun=All", strings.Replace(driver, "MORE", ", serviceAccountTokenInSecrets: true", 1))
	p.do("CSIDriver", http.MethodPost, drivers, strings.Replace(driver, "MORE", "", 1))
	p.patch("CSIDriver, the same tokens", drivers+"/a-RUNID", merge, `{"spec":{"requiresRepublish":true}}`)
	p.patch("CSIDriver, other tokens", drivers+"/a-RUNID", merge, `{"spec":{"tokenRequests":[{"audience":"b"}]}}`)
	p.must(http.MethodDelete, drivers+"/a-RUNID", "")
	post("RuntimeClass", "/apis/node.k8s.io/v1/runtimeclasses", "node.k8s.io/v1", "RuntimeClass", "a-RUNID", "", `handler: h, scheduling: {nodeSelector: {beta.kubernetes.io/os: linux}}`)
	post("ResourceSlice", "/apis/resource.k8s.io/v1/resourceslices", "resource.k8s.io/v1", "ResourceSlice", "a-RUNID", "", `spec: {driver: Example.com, pool: {name: p, generation: 1, resourceSliceCount: 1}, allNodes: true, devices: []}`)

	const admission, version = "/apis/admissionregistration.k8s.io/v1/", "admissionregistration.k8s.io/v1"
	for _, o := range [][3]string{
		{"ValidatingWebhookConfiguration", "validatingwebhookconfigurations", "webhooks: []"},
		{"MutatingWebhookConfiguration", "mutatingwebhookconfigurations", "webhooks: []"},
		{"ValidatingAdmissionPolicyBinding", "validatingadmissionpolicybindings", "spec: {policyName: p-RUNID, validationActions: [Deny]}"},
		{"MutatingAdmissionPolicyBinding", "mutatingadmissionpolicybindings", "spec: {policyName: p-RUNID}"},
		{"ValidatingAdmissionPolicy", "validatingadmissionpolicies", `spec: {matchConstraints: {resourceRules: [{apiGroups: [example.com], apiVersions: [v1], operations: [CREATE], resources: [as]}]}, validations: [{expression: "true"}]}`},
		{"MutatingAdmissionPolicy", "mutatingadmissionpolicies", `spec: {reinvocationPolicy: Never, matchConstraints: {resourceRules: [{apiGroups: [example.com], apiVersions: [v1], operations: [CREATE], resources: [as]}]}, mutations: [{patchType: JSONPatch, jsonPatch: {expression: "[JSONPatch{op: \"remove\", path: \"/a\"}]"}}]}`},
	} {
		path, name := admission+o[1], "a-RUNID.static.k8s.io"
		p.do(o[0], http.MethodPost, path, "{apiVersion: "+version+", kind: "+o[0]+", metadata: {name: "+name+"}, "+o[2]+"}")
	}
}
