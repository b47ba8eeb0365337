package cluster

import (
	"net/http"
	"regexp"
	"strings"
)

const jobs = "/apis/batch/v1/namespaces/NAMESPACE/jobs"

func job(name, metadata, spec, template string) string {
	return "{apiVersion: batch/v1, kind: Job, metadata: {name: " + name + metadata + "}, spec: {" + spec + "template: {metadata: {" + template + "}, spec: {restartPolicy: Never, containers: [{name: a, image: i}]}}}}"
}

// labelled plays kinds whose labels have a default, with and without labels of their own.
func labelled(p *play) {
	p.do("job, dry run", http.MethodPost, jobs+"?dryRun=All", job("dry", "", "", ""))
	p.do("job", http.MethodPost, jobs, job("a", "", "", ""))
	p.do("job with labels", http.MethodPost, jobs, job("b", ", labels: {x: red}", "", ""))
	p.do("job with labels of the template", http.MethodPost, jobs, job("c", "", "", "labels: {x: red}"))
	p.do("job with labels that it gets", http.MethodPost, jobs, job("d", "", "", "labels: {job-name: other}"))
	p.do("job with a selector of its own", http.MethodPost, jobs, job("e", "", "manualSelector: true, selector: {matchLabels: {x: red}}, ", "labels: {x: red}"))
	p.do("job with a selector", http.MethodPost, jobs, job("f", "", "selector: {matchLabels: {x: red}}, ", "labels: {x: red}"))
	p.do("job, manual without a selector", http.MethodPost, jobs, job("g", "", "manualSelector: true, ", ""))
	p.do("get", http.MethodGet, jobs+"/a", "")
	for _, selector := range []string{"job-name=a", "batch.kubernetes.io/job-name=b", "x=red", "controller-uid"} {
		p.do("list "+selector, http.MethodGet, jobs+"?labelSelector="+strings.NewReplacer("=", "%3D", "/", "%2F").Replace(selector), "", "Accept: application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1")
	}
	applied := strings.Replace(job("h", "", "", ""), "name: h", "name: h, annotations: {x: red}", 1)
	p.patch("apply", jobs+"/h?fieldManager=m", apply, applied)
	p.patch("apply again", jobs+"/h?fieldManager=m", apply, applied)
	p.patch("apply by another", jobs+"/h?fieldManager=n", apply, applied)
	p.patch("labels, merge", jobs+"/a", merge, `{"metadata":{"labels":{"x":"y"}}}`)
	p.patch("no labels, merge", jobs+"/a", merge, `{"metadata":{"labels":null}}`)
	p.patch("no labels, JSON", jobs+"/a", jsonPatch, `[{"op":"remove","path":"/metadata/labels"}]`)
	p.patch("no label, strategic", jobs+"/b", strategic, `{"metadata":{"labels":{"x":null}}}`)
	p.patch("status", jobs+"/a/status", merge, `{"status":{"active":1,"startTime":"2026-01-01T00:00:00Z"},"metadata":{"labels":null}}`)
	p.do("deployment", http.MethodPost, deployments, deployment("a", ""))
	p.patch("deployment without labels", deployments+"/a", merge, `{"metadata":{"labels":null}}`)
	p.do("cron job", http.MethodPost, "/apis/batch/v1/namespaces/NAMESPACE/cronjobs", `{apiVersion: batch/v1, kind: CronJob, metadata: {name: a}, spec: {schedule: "* * * * *", jobTemplate: {spec: {template: {metadata: {labels: {x: red}}, spec: {restartPolicy: Never, containers: [{name: a, image: i}]}}}}}}`)
	for _, name := range []string{"a", "b", "c", "e", "h"} {
		p.must(http.MethodDelete, jobs+"/"+name+"?propagationPolicy=Background", "")
	}
}

// retyped plays changes of the type of a service. The IPs are the writer's.
func retyped(p *play) {
	post := func(step, name, spec string) {
		p.do(step, http.MethodPost, services, "{apiVersion: v1, kind: Service, metadata: {name: "+name+"}, spec: {"+spec+"}}")
	}
	post("external", "e", `type: ExternalName, externalName: a.example.com, internalTrafficPolicy: Local`)
	post("external with a bad policy", "x", `type: ExternalName, externalName: a.example.com, internalTrafficPolicy: Near`)
	post("headless", "a", `clusterIP: None, ports: [{port: 80}], selector: {a: b}`)
	p.patch("to external", services+"/a", merge, `{"spec":{"type":"ExternalName","externalName":"a.example.com"}}`)
	p.do("get external", http.MethodGet, services+"/a", "")
	p.patch("back to headless", services+"/a", merge, `{"spec":{"type":"ClusterIP","externalName":null,"clusterIP":"None"}}`)
	p.patch("to external with the IP", services+"/a", merge, `{"spec":{"type":"ExternalName","externalName":"a.example.com","clusterIP":"10.0.0.77"}}`)
	p.patch("to external with another policy", services+"/a", merge, `{"spec":{"type":"ExternalName","externalName":"a.example.com","internalTrafficPolicy":"Local"}}`)
	post("load balancer", "l", `type: LoadBalancer, clusterIP: 10.0.0.201, loadBalancerClass: example.com/x, externalTrafficPolicy: Local, healthCheckNodePort: 30901, allocateLoadBalancerNodePorts: false, ports: [{name: a, port: 80, nodePort: 30902}, {name: b, port: 81, nodePort: 30903}]`)
	p.patch("status of the load balancer", services+"/l/status", merge, `{"status":{"loadBalancer":{"ingress":[{"ip":"192.0.2.1"}]}}}`)
	p.do("update without node ports, dry run", http.MethodPut, services+"/l?dryRun=All", `{apiVersion: v1, kind: Service, metadata: {name: l}, spec: {type: LoadBalancer, loadBalancerClass: example.com/x, externalTrafficPolicy: Local, allocateLoadBalancerNodePorts: false, ports: [{name: b, port: 81}, {name: a, port: 80, nodePort: 30902}]}}`)
	p.patch("to node port", services+"/l", merge, `{"spec":{"type":"NodePort"}}`)
	p.do("update without a node port", http.MethodPut, services+"/l", `{apiVersion: v1, kind: Service, metadata: {name: l}, spec: {type: NodePort, ports: [{name: b, port: 81, nodePort: 30903}, {name: a, port: 80}]}}`)
	p.patch("to cluster IP", services+"/l", merge, `{"spec":{"type":"ClusterIP"}}`)
	p.patch("to cluster IP with external IPs", services+"/l", merge, `{"spec":{"externalIPs":["192.0.2.9"],"externalTrafficPolicy":"Local"}}`)
	p.patch("without external IPs", services+"/l", merge, `{"spec":{"externalIPs":null}}`)
	post("node port", "np", `type: NodePort, clusterIP: 10.0.0.202, ports: [{port: 80, nodePort: 30904}]`)
	p.patch("to cluster IP with another node port", services+"/np", merge, `{"spec":{"type":"ClusterIP","ports":[{"port":80,"nodePort":30905}]}}`)
	p.patch("node port, to external", services+"/np", merge, `{"spec":{"type":"ExternalName","externalName":"a.example.com"}}`)
	for _, name := range []string{"a", "e", "l", "np"} {
		p.must(http.MethodDelete, services+"/"+name, "")
	}
}

// empties plays empty lists and maps, which storage does not keep, where defaults or the validation can see them.
func empties(p *play) {
	const (
		scalers   = "/apis/autoscaling/v2/namespaces/NAMESPACE/horizontalpodautoscalers"
		ingresses = "/apis/networking.k8s.io/v1/namespaces/NAMESPACE/ingresses"
		policies  = "/apis/networking.k8s.io/v1/namespaces/NAMESPACE/networkpolicies"
	)
	scaler := func(name, spec string) string {
		return "{apiVersion: autoscaling/v2, kind: HorizontalPodAutoscaler, metadata: {name: " + name + "}, spec: {maxReplicas: 3, scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: x}, " + spec + "}}"
	}
	up, down := "behavior: {scaleUp: {policies: []}}", "behavior: {scaleDown: {policies: []}}"
	p.do("scaler, up", http.MethodPost, scalers, scaler("a", up))
	p.do("scaler, down, dry run", http.MethodPost, scalers+"?dryRun=All", scaler("a", down))
	p.do("scaler, null", http.MethodPost, scalers+"?dryRun=All", scaler("a", "behavior: {scaleUp: {policies: null}}"))
	p.patch("scaler, apply", scalers+"/a?fieldManager=m", apply, scaler("a", up))
	p.do("scaler without metrics", http.MethodPost, scalers, scaler("b", "metrics: []"))
	p.do("scaler, PUT", http.MethodPut, scalers+"/b", scaler("b", down))
	p.patch("scaler, merge", scalers+"/b", merge, `{"spec":{"behavior":{"scaleUp":{"policies":[]}}}}`)
	p.patch("scaler, strategic", scalers+"/b", strategic, `{"spec":{"behavior":{"scaleUp":{"policies":[]}}}}`)
	p.patch("scaler, JSON", scalers+"/b", jsonPatch, `[{"op":"add","path":"/spec/behavior","value":{"scaleDown":{"policies":[]}}}]`)
	p.patch("scaler, apply to one", scalers+"/b?fieldManager=m", apply, scaler("b", up))
	p.patch("scaler, behavior", scalers+"/b", merge, `{"spec":{"behavior":{"scaleUp":{}}}}`)
	p.patch("scaler, fewer policies", scalers+"/b", merge, `{"spec":{"behavior":{"scaleUp":{"policies":[]}}}}`)
	p.do("get scaler", http.MethodGet, scalers+"/b", "")
	policy := "{apiVersion: networking.k8s.io/v1, kind: NetworkPolicy, metadata: {name: a, labels: {}}, spec: {podSelector: {}, ingress: [], policyTypes: []}}"
	p.do("network policy", http.MethodPost, policies, policy)
	p.patch("network policy, apply", policies+"/a?fieldManager=m", apply, policy)
	ingress := func(spec string) string {
		return "{apiVersion: networking.k8s.io/v1, kind: Ingress, metadata: {name: a}, spec: {" + spec + "}}"
	}
	p.do("ingress", http.MethodPost, ingresses, ingress("rules: []"))
	p.do("ingress, null", http.MethodPost, ingresses, ingress("rules: null"))
	p.patch("ingress, apply", ingresses+"/a?fieldManager=m", apply, ingress("rules: []"))
	p.do("ingress with a rule", http.MethodPost, ingresses, ingress("rules: [{host: a.example.com}], tls: []"))
	p.do("ingress, PUT", http.MethodPut, ingresses+"/a", ingress("rules: []"))
	p.patch("ingress, merge", ingresses+"/a", merge, `{"spec":{"rules":[]}}`)
	p.do("deployment", http.MethodPost, deployments, strings.Replace(deployment("a", ""), "template: {metadata: {labels: {app: a}}", "template: {metadata: {labels: {}}", 1))
	p.do("replication controller", http.MethodPost, "/api/v1/namespaces/NAMESPACE/replicationcontrollers",
		"{apiVersion: v1, kind: ReplicationController, metadata: {name: a}, spec: {selector: {x: red}, template: {metadata: {labels: {}}, spec: {containers: [{name: a, image: i}]}}}}")
	p.do("job", http.MethodPost, jobs, job("a", "", "manualSelector: true, selector: {matchLabels: {x: red}}, ", "labels: {}"))
	p.do("job that gets labels", http.MethodPost, jobs, job("b", "", "", "labels: {}"))
	p.do("job that selects no labels", http.MethodPost, jobs, job("c", "", "manualSelector: true, selector: {matchLabels: {}}, ", "labels: {}"))
	p.do("ingress with a backend", http.MethodPost, ingresses, strings.Replace(ingress("rules: [], defaultBackend: {service: {name: a, port: {number: 80}}}"), "name: a}", "name: b}", 1))
	absent := "spec: {selector: {matchExpressions: [{key: x, operator: DoesNotExist}]}, template: {metadata: {labels: {}}, spec: {containers: [{name: a, image: i}]}}}"
	for _, kind := range []string{"Deployment", "ReplicaSet", "StatefulSet", "DaemonSet"} {
		path := strings.Replace(deployments, "deployments", strings.ToLower(kind)+"s", 1)
		body := "{apiVersion: apps/v1, kind: " + kind + ", metadata: {name: b}, " + absent + "}"
		p.do(kind+" that selects no labels", http.MethodPost, path, body)
		p.do(kind+" with other labels", http.MethodPost, path, strings.Replace(body, "DoesNotExist", "Exists", 1))
		p.patch(kind+", apply", path+"/c?fieldManager=m", apply, strings.NewReplacer("name: b", "name: c", "DoesNotExist", "Exists").Replace(body))
		p.do(kind+", PUT", http.MethodPut, path+"/b", strings.Replace(body, "DoesNotExist", "Exists", 1))
		p.patch(kind+", the same", path+"/b", merge, `{"spec":{"template":{"metadata":{"labels":{}}}}}`)
	}
}

// kept plays what a write sets, keeps and counts beside what it asks for.
func kept(p *play) {
	const (
		daemonSets = "/apis/apps/v1/namespaces/NAMESPACE/daemonsets"
		claims     = "/api/v1/namespaces/NAMESPACE/persistentvolumeclaims"
		volumes    = "/api/v1/persistentvolumes"
		roles      = "/apis/rbac.authorization.k8s.io/v1/namespaces/NAMESPACE/roles"
		budgets    = "/apis/policy/v1/namespaces/NAMESPACE/poddisruptionbudgets"
	)
	p.do("daemon set", http.MethodPost, daemonSets, "{apiVersion: apps/v1, kind: DaemonSet, metadata: {name: a}, spec: {selector: {matchLabels: {app: a}}, template: {metadata: {labels: {app: a}}, spec: {containers: [{name: a, image: i}]}}}}")
	p.patch("another strategy", daemonSets+"/a", merge, `{"spec":{"updateStrategy":{"type":"OnDelete","rollingUpdate":null}}}`)
	p.patch("another template", daemonSets+"/a", merge, `{"spec":{"template":{"metadata":{"labels":{"x":"y"}}}}}`)
	p.patch("another template generation", daemonSets+"/a", merge, `{"metadata":{"annotations":{"deprecated.daemonset.template.generation":"9"}}}`)
	p.do("stateful set", http.MethodPost, "/apis/apps/v1/namespaces/NAMESPACE/statefulsets", "{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: a}, spec: {updateStrategy: {type: OnDelete, rollingUpdate: {}}, selector: {matchLabels: {app: a}}, template: {metadata: {labels: {app: a}}, spec: {containers: [{name: a, image: i}]}}}}")

	foreign := func(member string) string {
		return "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: a}, spec: {accessModes: [ReadWriteOnce], storageClassName: c, resources: {requests: {storage: 1Gi}}, " + member + ": {apiGroup: example.com, kind: Foo, name: f}}}"
	}
	p.do("claim with a foreign source, dry run", http.MethodPost, claims+"?dryRun=All", foreign("dataSource"))
	p.do("claim with a foreign source", http.MethodPost, claims, foreign("dataSourceRef"))
	p.do("the other member", http.MethodPut, claims+"/a", foreign("dataSource"))
	p.do("neither member", http.MethodPut, claims+"/a", strings.Replace(foreign("x"), ", x: {apiGroup: example.com, kind: Foo, name: f}", "", 1))

	volume := "NAMESPACE-v"
	p.do("volume", http.MethodPost, volumes, "{apiVersion: v1, kind: PersistentVolume, metadata: {name: "+volume+"}, spec: {capacity: {storage: 1Gi}, accessModes: [ReadWriteOnce], hostPath: {path: /x}}}")
	p.patch("phase with a time", volumes+"/"+volume+"/status", merge, `{"status":{"phase":"Available","lastPhaseTransitionTime":"2020-01-01T00:00:00Z"}}`)
	p.patch("time of the phase", volumes+"/"+volume+"/status", merge, `{"status":{"lastPhaseTransitionTime":"2021-01-01T00:00:00Z"}}`)
	p.patch("phase without a time", volumes+"/"+volume+"/status", merge, `{"status":{"phase":"Available","lastPhaseTransitionTime":null}}`)
	p.must(http.MethodDelete, volumes+"/"+volume, "")

	condition := func(more string) string {
		return `{"status":{"phase":"Running","conditions":[{"type":"Ready","status":"True"` + more + `}]}}`
	}
	p.do("pod", http.MethodPost, pods, pod("a", ""))
	p.patch("condition with a generation", pods+"/a/status", merge, condition(`,"observedGeneration":3`))
	p.patch("condition without one", pods+"/a/status", merge, condition(""))
	p.patch("condition with another", pods+"/a/status", merge, condition(`,"observedGeneration":7`))
	p.patch("ended", pods+"/a/status", merge, `{"status":{"phase":"Succeeded"}}`)
	p.do("delete what has ended", http.MethodDelete, pods+"/a", "")
	p.do("get what has ended", http.MethodGet, pods+"/a", "")
	p.do("pod of two", http.MethodPost, pods, strings.Replace(pod("b", ""), "containers: [", "containers: [{name: b, image: i}, ", 1))
	p.patch("resize", pods+"/b/resize", strategic, `{"spec":{"containers":[{"name":"a","resources":{"requests":{"cpu":"1"}}}]}}`)
	p.patch("resize by another name", pods+"/b/resize", jsonPatch, `[{"op":"replace","path":"/spec/containers/0/name","value":"c"},{"op":"replace","path":"/spec/containers/0/resources","value":{"requests":{"cpu":"2"}}}]`)
	p.patch("resize in another order", pods+"/b/resize", jsonPatch, `[{"op":"replace","path":"/spec/containers/0/name","value":"a"},{"op":"replace","path":"/spec/containers/1/name","value":"b"}]`)
	p.patch("resize with a container more", pods+"/b/resize", strategic, `{"spec":{"containers":[{"name":"c","image":"i"}]},"metadata":{"labels":{"x":"y"}}}`)
	p.patch("resize of no container", pods+"/b/resize", merge, `{"spec":{"priorityClassName":"x"},"metadata":{"labels":{"x":"y"}}}`)
	p.do("pod with resources", http.MethodPost, pods, strings.Replace(pod("f", ""), "nodeName: node1", "resources: {requests: {cpu: 1}, limits: {cpu: 2}}", 1))
	p.patch("resize of the pod", pods+"/f/resize", merge, `{"spec":{"resources":{"requests":{"cpu":"2"}}}}`)
	p.patch("resize without resources of the pod", pods+"/f/resize", jsonPatch, `[{"op":"remove","path":"/spec/resources"}]`)
	p.must(http.MethodDelete, pods+"/f", "")

	free := func(name string) string { return strings.Replace(pod(name, ""), "nodeName: node1, ", "", 1) }
	bind := func(step, name string) {
		p.do(step, http.MethodPost, pods+"/"+name+"/binding", "{apiVersion: v1, kind: Binding, metadata: {name: "+name+"}, target: {kind: Node, name: node2}}")
	}
	p.do("pod without a node", http.MethodPost, pods, free("c"))
	p.patch("nominated", pods+"/c/status", merge, `{"status":{"nominatedNodeName":"n"}}`)
	bind("bind", "c")
	p.do("bound", http.MethodGet, pods+"/c", "")
	p.do("pod with a finalizer", http.MethodPost, pods, strings.Replace(free("d"), "name: d", "name: d, finalizers: [example.com/f]", 1))
	p.must(http.MethodDelete, pods+"/d", "")
	bind("bind what is deleted", "d")

	p.do("role with names and URLs", http.MethodPost, roles, `{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {name: a}, rules: [{verbs: [get], nonResourceURLs: [/x], resourceNames: [r]}]}`)
	p.do("cluster role with URLs", http.MethodPost, "/apis/rbac.authorization.k8s.io/v1/clusterroles", `{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: NAMESPACE-b}, rules: [{verbs: [get], nonResourceURLs: [/x]}]}`)
	p.do("cluster role with names and URLs", http.MethodPost, "/apis/rbac.authorization.k8s.io/v1/clusterroles", `{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: NAMESPACE-a}, rules: [{verbs: [get], nonResourceURLs: [/x], resourceNames: [r]}]}`)

	const secret = `{apiVersion: v1, kind: Secret, metadata: {name: a}, type: example.com/a}`
	p.do("secret", http.MethodPost, "/api/v1/namespaces/NAMESPACE/secrets", secret)
	p.do("secret of another type", http.MethodPut, "/api/v1/namespaces/NAMESPACE/secrets/a", strings.Replace(secret, "example.com/a", "example.com/b", 1))
	p.do("secret without a type", http.MethodPut, "/api/v1/namespaces/NAMESPACE/secrets/a", strings.Replace(secret, ", type: example.com/a", "", 1))
	for _, seconds := range []string{"0", "3600", "3601"} {
		p.do("scaler of "+seconds+" seconds", http.MethodPost, "/apis/autoscaling/v2/namespaces/NAMESPACE/horizontalpodautoscalers?dryRun=All", "{apiVersion: autoscaling/v2, kind: HorizontalPodAutoscaler, metadata: {name: a}, spec: {maxReplicas: 3, scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: x}, behavior: {scaleDown: {stabilizationWindowSeconds: "+seconds+"}}}}")
	}
	p.do("job", http.MethodPost, jobs, job("a", "", "", ""))
	p.do("delete the job", http.MethodDelete, jobs+"/a", "")
	p.do("get the job", http.MethodGet, jobs+"/a", "")

	p.do("pod that is not ready", http.MethodPost, pods, pod("e", "labels: {app: e}"))
	p.patch("not ready", pods+"/e/status", merge, `{"status":{"phase":"Running","conditions":[{"type":"Ready","status":"False"}]}}`)
	p.do("budget", http.MethodPost, budgets, "{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: a}, spec: {minAvailable: 0, selector: {matchLabels: {app: e}}}}")
	p.patch("budget that needs none", budgets+"/a/status", merge, `{"status":{"observedGeneration":1,"currentHealthy":0,"desiredHealthy":0,"disruptionsAllowed":0,"expectedPods":1}}`)
	p.do("evict where none is needed", http.MethodPost, pods+"/e/eviction", "{apiVersion: policy/v1, kind: Eviction, metadata: {name: e}}")
	for _, name := range []string{"b", "c", "e"} {
		p.must(http.MethodDelete, pods+"/"+name+"?gracePeriodSeconds=0", "")
	}
	p.patch("job without a finalizer", jobs+"/a", merge, `{"metadata":{"finalizers":null}}`)
	p.must(http.MethodDelete, "/apis/rbac.authorization.k8s.io/v1/clusterroles/NAMESPACE-b", "")
	p.patch("without a finalizer", pods+"/d", merge, `{"metadata":{"finalizers":null}}`)
}

// adminAccess plays claims that ask for admin access to devices, in a namespace without and with the label for it.
func adminAccess(p *play) {
	const group = "/apis/resource.k8s.io/v1/namespaces/NAMESPACE/"
	claim := func(kind, name, exactly string) string {
		spec := "devices: {requests: [{name: x, exactly: {deviceClassName: c}}, {name: z, exactly: {deviceClassName: c" + exactly + "}}]}"
		if kind == "ResourceClaimTemplate" {
			spec = "spec: {" + spec + "}"
		}
		return "{apiVersion: resource.k8s.io/v1, kind: " + kind + ", metadata: {name: " + name + "}, spec: {" + spec + "}}"
	}
	for _, label := range []string{"", `"no"`, `"true"`} {
		if label != "" {
			p.must(http.MethodPatch, "/api/v1/namespaces/NAMESPACE", `{"metadata":{"labels":{"resource.kubernetes.io/admin-access":`+label+`}}}`, "Content-Type: "+merge)
		}
		for _, kind := range []string{"ResourceClaim", "ResourceClaimTemplate"} {
			path := group + strings.ToLower(kind) + "s"
			p.do(kind+" "+label, http.MethodPost, path, claim(kind, "a", ", adminAccess: true"))
			p.do(kind+" without "+label, http.MethodPost, path+"?dryRun=All", claim(kind, "b", ", adminAccess: false"))
			p.patch(kind+" applied "+label, path+"/c?fieldManager=m&dryRun=All", apply, claim(kind, "c", ", adminAccess: true"))
		}
		if label == "" {
			p.must(http.MethodPost, group+"resourceclaims", claim("ResourceClaim", "s", ""))
		}
		p.patch("status "+label, group+"resourceclaims/s/status", merge, `{"status":{"allocation":{"devices":{"results":[{"request":"x","driver":"d.example.com","pool":"p","device":"d","adminAccess":true}]}}}}`)
	}
	p.must(http.MethodPatch, "/api/v1/namespaces/NAMESPACE", `{"metadata":{"labels":{"resource.kubernetes.io/admin-access":null}}}`, "Content-Type: "+merge)
	p.patch("status once granted", group+"resourceclaims/s/status", merge, `{"metadata":{"annotations":{"x":"y"}},"status":{"reservedFor":[{"resource":"pods","name":"p","uid":"u"}]}}`)
}

// kubelets plays requests that a server passes on to a kubelet, for pods that have none.
func kubelets(p *play) {
	p.must(http.MethodPost, pods, "{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {initContainers: [{name: i, image: i}], containers: [{name: a, image: i}]}}")
	p.must(http.MethodPost, pods, "{apiVersion: v1, kind: Pod, metadata: {name: q}, spec: {containers: [{name: a, image: i}, {name: b, image: i}]}}")
	p.must(http.MethodPost, pods, "{apiVersion: v1, kind: Pod, metadata: {name: r}, spec: {nodeName: absent-RUNID, containers: [{name: a, image: i}]}}")
	for _, path := range []string{
		"p/log", "p/log?container=a", "p/log?container=i", "p/log?container=x", "q/log", "q/log?container=b", "r/log", "absent/log", "p/log?tailLines=-1", "p/log?tailLines=0", "p/log?tailLines=x", "absent/log?tailLines=-1",
		"p/log?limitBytes=0&sinceSeconds=0", "p/log?sinceSeconds=1&sinceTime=2020-01-01T00:00:00Z", "p/log?sinceSeconds=0&sinceTime=2020-01-01T00:00:00Z", "p/log?sinceTime=x", "p/log?stream=All", "p/log?follow=true&previous=true",
		"p/exec", "p/exec?command=ls&stdout=true", "p/exec?container=x", "q/exec?command=ls", "r/exec?command=ls&stdout=true", "absent/exec", "p/attach?stdout=true", "q/attach", "r/attach?stdout=true", "p/portforward", "r/portforward", "q/portforward?ports=80", "absent/portforward",
	} {
		p.do("GET "+path, http.MethodGet, pods+"/"+path, "")
		p.do("POST "+path, http.MethodPost, pods+"/"+path, "")
	}
	for _, method := range []string{http.MethodPut, http.MethodPatch, http.MethodDelete} {
		p.do(method+" exec", method, pods+"/p/exec", "", "Content-Type: "+merge)
	}
	for _, name := range []string{"p", "q", "r"} {
		p.must(http.MethodDelete, pods+"/"+name+"?gracePeriodSeconds=0", "")
	}
}

// issuer plays requests for the documents about the issuer of tokens.
func issuer(p *play) {
	p.Norm.Replace(regexp.MustCompile(`^[A-Za-z0-9_-]{43}$`), "{key}") // a part of a public key, or its hash
	for _, accept := range []string{"application/json", "*/*", "application/jwk-set+json", "text/html", "application/json, application/jwk-set+json;q=0.5", "application/*", "application/yaml"} {
		for _, path := range []string{"/openid/v1/jwks", "/.well-known/openid-configuration"} {
			p.do("GET "+path+" as "+accept, http.MethodGet, path, "", "Accept: "+accept)
		}
	}
}
