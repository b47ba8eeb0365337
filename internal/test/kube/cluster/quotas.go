package cluster

import (
	"net/http"
	"strings"
)

// quota makes a ResourceQuota whose status is what the controller of quotas would have made of it, and waits until it counts: writes in
// a namespace with a quota of no Secrets are refused. used may have fewer resources than hard.
// A quota with scopes is for Pods only, and is not waited for.
func (p *play) quota(name, hard, used, scopes string) {
	if scopes == "" {
		hard, used = hard+", secrets: 0", used+", secrets: 0"
	}
	p.must(http.MethodPost, quotas, "{apiVersion: v1, kind: ResourceQuota, metadata: {name: "+name+"}, spec: {hard: {"+hard+"}"+scopes+"}}")
	p.must(http.MethodPut, quotas+"/"+name+"/status", "{apiVersion: v1, kind: ResourceQuota, metadata: {name: "+name+"}, status: {hard: {"+hard+"}, used: {"+used+"}}}")
	if scopes == "" {
		p.until("the quota", http.MethodPost, secrets+dry, "{apiVersion: v1, kind: Secret, metadata: {name: x}}", p.has("quota: "+name))
	}
}

// noQuota deletes a quota, and waits until it does not count.
func (p *play) noQuota(name string) {
	p.must(http.MethodDelete, quotas+"/"+name, "")
	p.until("no quota", http.MethodPost, secrets+dry, "{apiVersion: v1, kind: Secret, metadata: {name: x}}", p.hasNot("quota: "+name))
}

const secrets = "/api/v1/namespaces/NAMESPACE/secrets"

// rationed plays the plugin ResourceQuota.
func rationed(p *play) {
	after := func(step, name string) { p.do(step, http.MethodGet, quotas+"/"+name, "") }
	service := func(name, spec string) string {
		return "{apiVersion: v1, kind: Service, metadata: {name: " + name + "}, spec: {" + spec + "ports: [{name: a, port: 80}, {name: b, port: 81}]}}"
	}
	p.must(http.MethodPost, quotas, "{apiVersion: v1, kind: ResourceQuota, metadata: {name: new}, spec: {hard: {pods: 0}}}")
	p.do("pod beside a quota without a status", http.MethodPost, pods+dry, plainPod("x", ""))
	p.must(http.MethodDelete, quotas+"/new", "")

	p.quota("pods", "pods: 2, count/pods: 9, requests.cpu: 2, limits.memory: 1Gi", "pods: 0, count/pods: 0, requests.cpu: 0, limits.memory: 0", "")
	p.do("pod without resources", http.MethodPost, pods, plainPod("x", ""))
	p.do("pod without a limit", http.MethodPost, pods, sizedPod("x", "requests: {cpu: 1}", "initContainers: [{name: i, image: i}], "))
	p.do("pod, dry run", http.MethodPost, pods+dry, sizedPod("x", "requests: {cpu: 1}, limits: {memory: 1Mi}", ""))
	after("after the dry run", "pods")
	p.do("pod", http.MethodPost, pods, sizedPod("a", "requests: {cpu: 1}, limits: {memory: 1Mi}", ""))
	after("after a pod", "pods")
	p.do("pod that asks for too much", http.MethodPost, pods, sizedPod("x", "requests: {cpu: 1500m}, limits: {memory: 2Gi}", ""))
	after("after a refusal", "pods")
	p.do("pod that exists", http.MethodPost, pods, sizedPod("a", "requests: {cpu: 1m}, limits: {memory: 1Mi}", ""))
	after("after a failure", "pods")
	p.must(http.MethodPatch, quotas+"/pods/status", `{"status":{"used":{"pods":"1","count/pods":"1","requests.cpu":"1","limits.memory":"1Mi"}}}`, "Content-Type: "+merge)
	p.until("the change", http.MethodPost, pods+dry, sizedPod("x", "requests: {cpu: 5}, limits: {memory: 1Mi}", ""), p.has("requests.cpu=1,"))
	p.patch("pod by apply", pods+"/b?fieldManager=m", apply, sizedPod("b", "requests: {cpu: 500m}, limits: {memory: 1Mi}", ""))
	after("after an apply", "pods")
	p.do("third pod", http.MethodPost, pods, sizedPod("x", "requests: {cpu: 1m}, limits: {memory: 1Mi}", ""))
	p.do("third pod with a generated name", http.MethodPost, pods, strings.Replace(sizedPod("x", "requests: {cpu: 1m}, limits: {memory: 1Mi}", ""), "name: x", "generateName: NAMESPACE-gen-", 1))
	p.do("pod that is not valid", http.MethodPost, pods, sizedPod("X", "requests: {cpu: 1m}, limits: {memory: 1Mi}", ""))
	p.patch("resize", pods+"/b/resize", strategic, `{"spec":{"containers":[{"name":"a","resources":{"requests":{"cpu":"700m"}}}]}}`)
	p.patch("resize of what is too much", pods+"/b/resize", strategic, `{"spec":{"containers":[{"name":"a","resources":{"requests":{"cpu":"1500m"}}}]}}`)
	after("after a resize", "pods")
	p.patch("label", pods+"/b", merge, `{"metadata":{"labels":{"x":"red"}}}`)
	p.patch("status", pods+"/b/status", merge, `{"status":{"phase":"Succeeded"}}`)
	p.must(http.MethodDelete, pods+"/a?gracePeriodSeconds=0", "")
	p.must(http.MethodDelete, pods+"/b?gracePeriodSeconds=0", "")
	after("after a deletion", "pods")
	p.noQuota("pods")

	p.quota("unknown", "pods: 2, cpu: 1", "pods: 0", "")
	p.do("pod beside a quota whose usage is not known", http.MethodPost, pods, sizedPod("x", "requests: {cpu: 1}", ""))
	p.noQuota("unknown")

	p.quota("first", "pods: 5", "pods: 0", "")
	p.quota("second", "pods: 1", "pods: 1", ", scopes: [NotTerminating]")
	p.until("the quota", http.MethodPost, pods+dry, plainPod("x", ""), p.has("quota: second"))
	p.do("pod that one of two quotas refuses", http.MethodPost, pods, plainPod("x", ""))
	after("first quota", "first")
	p.must(http.MethodDelete, quotas+"/second", "")
	p.noQuota("first")

	p.quota("extended", "requests.example.com/gpu: 1, hugepages-2Mi: 4Mi, requests.ephemeral-storage: 1Gi, example.com/other: 1", "requests.example.com/gpu: 0, hugepages-2Mi: 0, requests.ephemeral-storage: 0", "")
	p.do("extended resource", http.MethodPost, pods, sizedPod("e", "requests: {example.com/gpu: 1, hugepages-2Mi: 2Mi, cpu: 1, ephemeral-storage: 1Mi}, limits: {example.com/gpu: 1, hugepages-2Mi: 2Mi, cpu: 1}", ""))
	p.do("more of an extended resource", http.MethodPost, pods, sizedPod("x", "limits: {example.com/gpu: 1}", ""))
	after("after an extended resource", "extended")
	p.must(http.MethodDelete, pods+"/e?gracePeriodSeconds=0", "")
	p.noQuota("extended")

	scoped := func(name, scopes string) { p.quota(name, "pods: 0", "pods: 0", ", "+scopes) }
	scoped("terminating", "scopes: [Terminating]")
	scoped("best", "scopes: [BestEffort]")
	scoped("affine", "scopeSelector: {matchExpressions: [{scopeName: CrossNamespacePodAffinity, operator: Exists}]}")
	scoped("critical", "scopeSelector: {matchExpressions: [{scopeName: PriorityClass, operator: In, values: [RUNID-c, RUNID-d]}]}")
	p.made(classesOfPods, "RUNID-c", "{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: RUNID-c}, value: 5}")
	p.until("the quota", http.MethodPost, pods+dry, sizedPod("x", "requests: {cpu: 1}", "priorityClassName: RUNID-c, "), p.has("quota: critical"))
	p.do("pod of no scope", http.MethodPost, pods+dry, sizedPod("x", "requests: {cpu: 1}", ""))
	p.do("pod with a deadline", http.MethodPost, pods, sizedPod("x", "requests: {cpu: 1}", "activeDeadlineSeconds: 5, "))
	p.do("pod of best effort", http.MethodPost, pods, plainPod("x", ""))
	p.do("pod with an affinity to other namespaces", http.MethodPost, pods, sizedPod("x", "requests: {cpu: 1}", "affinity: {podAntiAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: 1, podAffinityTerm: {topologyKey: a, namespaces: [n]}}]}}, "))
	p.do("pod with an affinity", http.MethodPost, pods+dry, sizedPod("x", "requests: {cpu: 1}", "affinity: {podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: a}]}}, "))
	p.do("pod of a class", http.MethodPost, pods, sizedPod("x", "requests: {cpu: 1}", "priorityClassName: RUNID-c, "))
	p.must(http.MethodPost, pods, sizedPod("late", "requests: {cpu: 1}", ""))
	p.patch("a deadline that comes later", pods+"/late", merge, `{"spec":{"activeDeadlineSeconds":5}}`)
	p.must(http.MethodDelete, pods+"/late?gracePeriodSeconds=0", "")
	for _, name := range []string{"terminating", "best", "affine", "critical"} {
		p.must(http.MethodDelete, quotas+"/"+name, "")
	}

	p.quota("services", "services: 3, services.nodeports: 3, services.loadbalancers: 1", "services: 0, services.nodeports: 0, services.loadbalancers: 0", "")
	p.do("service", http.MethodPost, "/api/v1/namespaces/NAMESPACE/services", service("a", "clusterIP: None, "))
	after("after a service", "services")
	p.do("load balancer without node ports, dry run", http.MethodPost, "/api/v1/namespaces/NAMESPACE/services"+dry, service("x", "clusterIP: 10.0.0.12, type: LoadBalancer, allocateLoadBalancerNodePorts: false, "))
	p.must(http.MethodPatch, quotas+"/services/status", `{"status":{"used":{"services.nodeports":"2","services.loadbalancers":"1"}}}`, "Content-Type: "+merge)
	p.until("the change", http.MethodPost, "/api/v1/namespaces/NAMESPACE/services"+dry, service("x", "clusterIP: 10.0.0.12, type: NodePort, "), p.has("exceeded"))
	p.do("node ports", http.MethodPost, "/api/v1/namespaces/NAMESPACE/services", service("x", "clusterIP: 10.0.0.13, type: NodePort, "))
	p.do("second load balancer", http.MethodPost, "/api/v1/namespaces/NAMESPACE/services", service("x", "clusterIP: 10.0.0.13, type: LoadBalancer, allocateLoadBalancerNodePorts: false, "))
	p.must(http.MethodDelete, "/api/v1/namespaces/NAMESPACE/services/a", "")
	p.noQuota("services")

	p.quota("claims", "persistentvolumeclaims: 2, requests.storage: 5Gi, gold.storageclass.storage.k8s.io/requests.storage: 1Gi", "persistentvolumeclaims: 0, requests.storage: 0, gold.storageclass.storage.k8s.io/requests.storage: 0", "")
	p.do("claim", http.MethodPost, claims, claim("a", "", "", "2Gi"))
	p.do("claim of a class that asks for too much", http.MethodPost, claims, claim("x", "", "storageClassName: gold, ", "2Gi"))
	p.do("claim of a class", http.MethodPost, claims, claim("b", "", "storageClassName: gold, ", "1.5"))
	after("after two claims", "claims")
	p.do("third claim", http.MethodPost, claims, claim("x", "", "", "1Gi"))
	p.patch("status of a claim", claims+"/a/status", merge, `{"status":{"phase":"Bound","allocatedResources":{"storage":"3Gi"}}}`)
	after("after what is allocated", "claims")
	for _, name := range []string{"a", "b"} {
		p.must(http.MethodDelete, claims+"/"+name, "")
		p.must(http.MethodPatch, claims+"/"+name, `{"metadata":{"finalizers":null}}`, "Content-Type: "+merge)
	}
	p.noQuota("claims")

	p.quota("counts", "configmaps: 2, count/deployments.apps: 1, count/widgets.example.com: 1", "configmaps: 1, count/deployments.apps: 1", "")
	p.do("config map", http.MethodPost, configMaps, configMap("a", ""))
	after("after a config map", "counts")
	p.do("config map by update", http.MethodPut, configMaps+"/x", configMap("x", ""))
	p.do("second config map", http.MethodPost, configMaps, configMap("x", ""))
	p.do("update of a config map", http.MethodPut, configMaps+"/a", configMap("a", "labels: {x: red}"))
	p.do("deployment", http.MethodPost, deployments, deployment("d", ""))
	p.do("secret", http.MethodPost, secrets, "{apiVersion: v1, kind: Secret, metadata: {name: x}}")
	p.do("event", http.MethodPost, "/api/v1/namespaces/NAMESPACE/events"+dry, "{apiVersion: v1, kind: Event, metadata: {name: x}, involvedObject: {namespace: NAMESPACE}}")
	p.do("lease", http.MethodPost, "/apis/coordination.k8s.io/v1/namespaces/NAMESPACE/leases"+dry, "{apiVersion: coordination.k8s.io/v1, kind: Lease, metadata: {name: x}}")
	p.must(http.MethodDelete, configMaps+"/a", "")
	p.noQuota("counts")
	p.do("quota of a negative number", http.MethodPost, quotas, "{apiVersion: v1, kind: ResourceQuota, metadata: {name: x}, spec: {hard: {pods: -1}}}")
}
