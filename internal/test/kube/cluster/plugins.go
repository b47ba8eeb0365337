package cluster

import (
	"bytes"
	"fmt"
	"net/http"
	"strings"
)

// This file has the scenarios of the admission plugins that are built in.

const (
	nodes          = "/api/v1/nodes"
	claims         = "/api/v1/namespaces/NAMESPACE/persistentvolumeclaims"
	volumes        = "/api/v1/persistentvolumes"
	classesOfPods  = "/apis/scheduling.k8s.io/v1/priorityclasses"
	storageClasses = "/apis/storage.k8s.io/v1/storageclasses"
	ingressClasses = "/apis/networking.k8s.io/v1/ingressclasses"
	ingresses      = "/apis/networking.k8s.io/v1/namespaces/NAMESPACE/ingresses"
	runtimeClasses = "/apis/node.k8s.io/v1/runtimeclasses"
	limitRanges    = "/api/v1/namespaces/NAMESPACE/limitranges"
	quotas         = "/api/v1/namespaces/NAMESPACE/resourcequotas"
	requests       = "/apis/certificates.k8s.io/v1/certificatesigningrequests"
)

// dry is the query of a dry run, whose answers have no state behind them.
const dry = "?dryRun=All"

// plainPod returns a Pod without a node.
func plainPod(name, spec string) string {
	if spec != "" {
		spec += ", "
	}
	return "{apiVersion: v1, kind: Pod, metadata: {name: " + name + "}, spec: {" + spec + "containers: [{name: a, image: i}]}}"
}

// sizedPod returns a Pod whose container has resources.
func sizedPod(name, resources, spec string) string {
	return "{apiVersion: v1, kind: Pod, metadata: {name: " + name + "}, spec: {" + spec + "containers: [{name: a, image: i, resources: {" + resources + "}}]}}"
}

func claim(name, metadata, spec, size string) string {
	return "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: " + name + metadata + "}, spec: {" + spec + "accessModes: [ReadWriteOnce], resources: {requests: {storage: " + size + "}}}}"
}

// made plays a request that makes an object of the cluster, which goes when the scenario is over.
func (p *play) made(collection, name, body string) {
	p.must(http.MethodPost, collection, body)
	p.cleanup = append(p.cleanup, collection+"/"+name)
}

// has reports whether an answer has a text.
func (p *play) has(text string) func(int, []byte) bool {
	return func(_ int, body []byte) bool { return bytes.Contains(body, []byte(p.text(text))) }
}

// hasNot reports whether an answer lacks a text.
func (p *play) hasNot(text string) func(int, []byte) bool {
	return func(_ int, body []byte) bool { return !bytes.Contains(body, []byte(p.text(text))) }
}

// tainted plays the plugin TaintNodesByCondition.
func tainted(p *play) {
	node := func(name, spec string) string {
		return "{apiVersion: v1, kind: Node, metadata: {name: " + name + "}, spec: {" + spec + "}}"
	}
	p.do("node, dry run", http.MethodPost, nodes+dry, node("RUNID-dry", ""))
	p.do("node", http.MethodPost, nodes, node("RUNID-a", ""))
	p.cleanup = append(p.cleanup, nodes+"/RUNID-a", nodes+"/RUNID-c")
	p.do("node with the taint", http.MethodPost, nodes+dry, node("RUNID-b", "taints: [{key: node.kubernetes.io/not-ready, value: x, effect: NoSchedule}]"))
	p.do("node with the taint of another effect", http.MethodPost, nodes+dry, node("RUNID-b", "taints: [{key: node.kubernetes.io/not-ready, effect: NoExecute}]"))
	p.do("node that is not valid", http.MethodPost, nodes, node("RUNID-b", "taints: [{key: a, effect: Never}]"))
	p.patch("node by apply", nodes+"/RUNID-c?fieldManager=m", apply, "{apiVersion: v1, kind: Node, metadata: {name: RUNID-c}}")
	p.patch("node by apply again", nodes+"/RUNID-c?fieldManager=m", apply, "{apiVersion: v1, kind: Node, metadata: {name: RUNID-c}}")
	p.patch("no taint", nodes+"/RUNID-a", merge, `{"spec":{"taints":null}}`)
	p.patch("status", nodes+"/RUNID-a/status", merge, `{"status":{"phase":"Running"}}`)
}

// priorities plays the plugins Priority and DefaultTolerationSeconds.
func priorities(p *play) {
	class := func(name, rest string) string {
		return "{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: " + name + "}, " + rest + "}"
	}
	p.do("pod", http.MethodPost, pods, plainPod("a", ""))
	p.do("pod of an unknown class", http.MethodPost, pods, plainPod("x", "priorityClassName: RUNID-none"))
	p.do("pod of an unknown class without a name", http.MethodPost, pods, "{apiVersion: v1, kind: Pod, metadata: {generateName: NAMESPACE-gen-}, spec: {priorityClassName: none, containers: [{name: a, image: i}]}}")
	p.do("pod of an unknown class without a name to generate", http.MethodPost, pods, "{apiVersion: v1, kind: Pod, metadata: {}, spec: {priorityClassName: none, containers: [{name: a, image: i}]}}")
	p.patch("pod of an unknown class by apply", pods+"/x?fieldManager=m", apply, plainPod("x", "priorityClassName: RUNID-none"))
	p.do("pod with a priority", http.MethodPost, pods, plainPod("x", "priority: 5"))
	p.do("pod with the default priority", http.MethodPost, pods+dry, plainPod("x", "priority: 0"))
	p.do("pod that never preempts", http.MethodPost, pods, plainPod("x", "preemptionPolicy: Never"))
	p.made(classesOfPods, "RUNID-high", class("RUNID-high", "value: 1000"))
	p.made(classesOfPods, "RUNID-polite", class("RUNID-polite", "value: -7, preemptionPolicy: Never"))
	p.until("the class", http.MethodPost, pods+dry, plainPod("x", "priorityClassName: RUNID-polite"), p.has(`"priority":-7`))
	p.do("pod of a class", http.MethodPost, pods, plainPod("b", "priorityClassName: RUNID-high"))
	p.do("pod of a class with its priority", http.MethodPost, pods+dry, plainPod("x", "priorityClassName: RUNID-high, priority: 1000"))
	p.do("pod of a class with another priority", http.MethodPost, pods, plainPod("x", "priorityClassName: RUNID-high, priority: 1"))
	p.do("pod of a polite class", http.MethodPost, pods+dry, plainPod("x", "priorityClassName: RUNID-polite"))
	p.do("pod of a polite class that preempts", http.MethodPost, pods, plainPod("x", "priorityClassName: RUNID-polite, preemptionPolicy: PreemptLowerPriority"))
	p.do("update without what the plugins gave", http.MethodPut, pods+"/a", plainPod("a", ""))
	p.patch("another priority", pods+"/a", merge, `{"spec":{"priority":1}}`)
	p.patch("no priority", pods+"/b", merge, `{"spec":{"priority":null,"preemptionPolicy":null}}`)
	p.patch("another class", pods+"/b", merge, `{"spec":{"priorityClassName":"RUNID-polite"}}`)
	p.patch("a label", pods+"/a?fieldManager=m", merge, `{"metadata":{"labels":{"x":"red"}}}`)
	p.patch("apply to it", pods+"/b?fieldManager=n", apply, "{apiVersion: v1, kind: Pod, metadata: {name: b, labels: {x: blue}}}")
	p.patch("status", pods+"/a/status?fieldManager=s", merge, `{"status":{"phase":"Running"}}`)

	p.do("default class, dry run", http.MethodPost, classesOfPods+dry, class("RUNID-default", "globalDefault: true, value: 7"))
	p.made(classesOfPods, "RUNID-default", class("RUNID-default", "globalDefault: true, value: 7"))
	p.until("the default", http.MethodPost, pods+dry, plainPod("x", ""), p.has("RUNID-default"))
	p.do("pod of the default class", http.MethodPost, pods, plainPod("c", ""))
	p.do("pod that names no class and a priority", http.MethodPost, pods, plainPod("x", "priority: 0"))
	p.do("second default", http.MethodPost, classesOfPods, class("RUNID-second", "globalDefault: true, value: 8"))
	p.patch("second default by patch", classesOfPods+"/RUNID-high", merge, `{"globalDefault":true}`)
	p.patch("default again", classesOfPods+"/RUNID-default", merge, `{"globalDefault":true,"description":"x"}`)
	p.patch("no default", classesOfPods+"/RUNID-default", merge, `{"globalDefault":false}`)
	p.until("no default", http.MethodPost, pods+dry, plainPod("x", ""), p.hasNot("RUNID-default"))
	p.do("pod without a default class", http.MethodPost, pods+dry, plainPod("x", ""))
	p.do("get of the pod of the former default", http.MethodGet, pods+"/c", "")

	for i, tolerations := range []string{
		"[{operator: Exists}]", "[{key: node.kubernetes.io/not-ready, operator: Exists}]", "[{key: node.kubernetes.io/unreachable, operator: Exists, effect: NoExecute, tolerationSeconds: 6}]",
		"[{key: node.kubernetes.io/unreachable, operator: Exists, effect: NoSchedule}]", "[{operator: Exists, effect: NoExecute}]", "[{key: a, value: b, effect: NoExecute}]",
		"[{key: node.kubernetes.io/not-ready, value: x, effect: NoExecute}, {key: node.kubernetes.io/unreachable, value: x, effect: NoExecute}]",
	} {
		p.do(fmt.Sprintf("tolerations %d", i), http.MethodPost, pods+dry, plainPod("x", "tolerations: "+tolerations))
	}
	p.patch("a toleration more", pods+"/a", jsonPatch, `[{"op":"add","path":"/spec/tolerations/-","value":{"key":"a","operator":"Exists"}}]`)
	p.patch("no tolerations", pods+"/a", merge, `{"spec":{"tolerations":[]}}`)
	p.do("pods of a deployment", http.MethodPost, deployments+dry, deployment("d", ""))
	p.do("binding", http.MethodPost, pods+"/b/binding", "{apiVersion: v1, kind: Binding, metadata: {name: b}, target: {kind: Node, name: node}}")
	for _, name := range []string{"a", "b", "c"} {
		p.must(http.MethodDelete, pods+"/"+name+"?gracePeriodSeconds=0", "")
	}
}

// protected plays the plugin StorageObjectInUseProtection.
func protected(p *play) {
	const attributes = "/apis/storage.k8s.io/v1/volumeattributesclasses"
	volume := func(name, metadata string) string {
		return "{apiVersion: v1, kind: PersistentVolume, metadata: {name: " + name + metadata + "}, spec: {capacity: {storage: 1Gi}, accessModes: [ReadWriteOnce], hostPath: {path: /a}}}"
	}
	release := func(path string) {
		p.must(http.MethodPatch, path, `{"metadata":{"finalizers":null}}`, "Content-Type: "+merge)
	}
	p.do("volume", http.MethodPost, volumes, volume("RUNID-a", ""))
	p.do("volume with the finalizer", http.MethodPost, volumes+dry, volume("RUNID-b", ", finalizers: [kubernetes.io/pv-protection]"))
	p.do("volume with another finalizer", http.MethodPost, volumes+dry, volume("RUNID-b", ", finalizers: [example.com/f]"))
	p.do("delete the volume", http.MethodDelete, volumes+"/RUNID-a", "")
	release(volumes + "/RUNID-a")
	p.do("claim", http.MethodPost, claims, claim("a", "", "", "1Gi"))
	p.patch("claim by apply", claims+"/b?fieldManager=m", apply, claim("b", "", "", "1Gi"))
	p.patch("claim by apply again", claims+"/b?fieldManager=m", apply, claim("b", ", labels: {x: red}", "", "1Gi"))
	p.do("update without the finalizer", http.MethodPut, claims+"/a", claim("a", "", "volumeMode: Filesystem, ", "1Gi"))
	p.do("delete the claim", http.MethodDelete, claims+"/a", "")
	p.do("delete the claims", http.MethodDelete, claims, "")
	release(claims + "/b")
	p.do("attributes", http.MethodPost, attributes, "{apiVersion: storage.k8s.io/v1, kind: VolumeAttributesClass, metadata: {name: RUNID-a}, driverName: d, parameters: {a: b}}")
	p.do("delete the attributes", http.MethodDelete, attributes+"/RUNID-a", "")
	release(attributes + "/RUNID-a")
}

// defaulted plays the plugins DefaultStorageClass, DefaultIngressClass and PersistentVolumeClaimResize.
func defaulted(p *play) {
	storage := func(name, annotations, rest string) string {
		return "{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: " + name + ", annotations: {" + annotations + "}}, provisioner: p" + rest + "}"
	}
	const isDefault, isBeta = `storageclass.kubernetes.io/is-default-class: "true"`, `storageclass.beta.kubernetes.io/is-default-class: "true"`
	p.do("claim without a default class", http.MethodPost, claims+dry, claim("x", "", "", "1Gi"))
	p.made(storageClasses, "RUNID-b", storage("RUNID-b", isBeta, ", allowVolumeExpansion: true"))
	p.until("the class", http.MethodPost, claims+dry, claim("x", "", "", "1Gi"), p.has("RUNID-b"))
	p.do("claim", http.MethodPost, claims, claim("a", "", "", "1Gi"))
	p.do("claim of no class", http.MethodPost, claims, claim("none", "", `storageClassName: "", `, "1Gi"))
	p.do("claim of another class", http.MethodPost, claims, claim("other", "", "storageClassName: other, ", "1Gi"))
	p.do("claim with the annotation", http.MethodPost, claims+dry, claim("x", ", annotations: {volume.beta.kubernetes.io/storage-class: other}", "", "1Gi"))
	p.made(storageClasses, "RUNID-c", storage("RUNID-c", `storageclass.kubernetes.io/is-default-class: "false"`, ""))
	p.patch("larger before it is bound", claims+"/a", merge, `{"spec":{"resources":{"requests":{"storage":"2Gi"}}}}`)
	for _, name := range []string{"a", "none", "other"} {
		p.must(http.MethodPatch, claims+"/"+name+"/status", `{"status":{"phase":"Bound","capacity":{"storage":"1Gi"},"accessModes":["ReadWriteOnce"]}}`, "Content-Type: "+merge)
		p.must(http.MethodPatch, claims+"/"+name, `{"spec":{"volumeName":"v"}}`, "Content-Type: "+merge)
		p.patch("larger: "+name, claims+"/"+name, merge, `{"spec":{"resources":{"requests":{"storage":"2Gi"}}}}`)
		p.patch("smaller: "+name, claims+"/"+name, merge, `{"spec":{"resources":{"requests":{"storage":"1Mi"}}}}`)
	}
	p.patch("larger, dry run", claims+"/a"+dry, strategic, `{"spec":{"resources":{"requests":{"storage":"3Gi"}}}}`)
	p.patch("class may not expand", storageClasses+"/RUNID-b", merge, `{"allowVolumeExpansion":false}`)
	p.until("the change", http.MethodPatch, claims+"/a"+dry, `{"spec":{"resources":{"requests":{"storage":"4Gi"}}}}`, func(code int, _ []byte) bool { return code != http.StatusOK })
	p.patch("larger without permission", claims+"/a", merge, `{"spec":{"resources":{"requests":{"storage":"4Gi"}}}}`)

	ingress := func(name, metadata, spec string) string {
		return "{apiVersion: networking.k8s.io/v1, kind: Ingress, metadata: {name: " + name + metadata + "}, spec: {" + spec + "defaultBackend: {service: {name: s, port: {number: 80}}}}}"
	}
	class := func(name, annotations string) string {
		return "{apiVersion: networking.k8s.io/v1, kind: IngressClass, metadata: {name: " + name + ", annotations: {" + annotations + "}}, spec: {controller: example.com/c}}"
	}
	p.do("ingress without a default class", http.MethodPost, ingresses+dry, ingress("x", "", ""))
	p.made(ingressClasses, "RUNID-b", class("RUNID-b", `ingressclass.kubernetes.io/is-default-class: "true"`))
	p.made(ingressClasses, "RUNID-c", class("RUNID-c", `ingressclass.kubernetes.io/is-default-class: "1"`))
	p.until("the class", http.MethodPost, ingresses+dry, ingress("x", "", ""), p.has("RUNID-b"))
	p.do("ingress", http.MethodPost, ingresses, ingress("a", "", ""))
	p.do("ingress of another class", http.MethodPost, ingresses+dry, ingress("x", "", "ingressClassName: other, "))
	p.do("ingress with the annotation", http.MethodPost, ingresses+dry, ingress("x", `, annotations: {kubernetes.io/ingress.class: ""}`, ""))
	p.patch("no class", ingresses+"/a", merge, `{"spec":{"ingressClassName":null}}`)
}

// runtimes plays the plugin RuntimeClass.
func runtimes(p *play) {
	class := func(name, rest string) {
		p.made(runtimeClasses, name, "{apiVersion: node.k8s.io/v1, kind: RuntimeClass, metadata: {name: "+name+"}, handler: h"+rest+"}")
	}
	named := func(name, spec string) string {
		if spec != "" {
			spec = ", " + spec
		}
		return plainPod("x", "runtimeClassName: RUNID-"+name+spec)
	}
	p.do("unknown class", http.MethodPost, pods, named("none", ""))
	p.do("overhead without a class", http.MethodPost, pods, plainPod("x", "overhead: {cpu: 1}"))
	p.do("empty overhead without a class", http.MethodPost, pods+dry, plainPod("x", "overhead: {}"))
	class("RUNID-plain", "")
	class("RUNID-heavy", ", overhead: {podFixed: {cpu: 250m, memory: 64Mi}}")
	class("RUNID-placed", ", scheduling: {nodeSelector: {a: b, c: d}, tolerations: [{key: a, operator: Exists}, {key: b, value: c, effect: NoSchedule}]}")
	p.until("the class", http.MethodPost, pods+dry, named("placed", ""), p.has(`"c":"d"`))
	p.do("class", http.MethodPost, pods+dry, named("plain", ""))
	p.do("overhead of a class without one", http.MethodPost, pods, named("plain", "overhead: {cpu: 1}"))
	p.do("class with an overhead", http.MethodPost, pods+dry, named("heavy", ""))
	p.do("class with the same overhead", http.MethodPost, pods+dry, named("heavy", "overhead: {cpu: 0.25, memory: 64Mi}"))
	p.do("class with another overhead", http.MethodPost, pods, named("heavy", "overhead: {cpu: 1}"))
	p.do("class with scheduling", http.MethodPost, pods+dry, named("placed", ""))
	p.do("class with the same selector", http.MethodPost, pods+dry, named("placed", "nodeSelector: {a: b, e: f}"))
	p.do("class with another selector", http.MethodPost, pods, named("placed", "nodeSelector: {a: x}"))
	p.do("class with covering tolerations", http.MethodPost, pods+dry, named("placed", "tolerations: [{operator: Exists}]"))
	p.do("class with covered tolerations", http.MethodPost, pods+dry, named("placed", "tolerations: [{key: a, value: z}, {key: b, operator: Equal, value: c}, {key: a, operator: Exists}, {key: q, operator: Exists, effect: NoExecute, tolerationSeconds: 5}, {key: q, operator: Exists, effect: NoExecute, tolerationSeconds: 9}]"))
	p.do("pod of a deployment", http.MethodPost, deployments+dry, deployment("d", ""))
}

// limited plays the plugin LimitRanger.
func limited(p *play) {
	limits := func(name, spec string) {
		p.must(http.MethodPost, limitRanges, "{apiVersion: v1, kind: LimitRange, metadata: {name: "+name+"}, spec: {limits: ["+spec+"]}}")
	}
	drop := func(name string) {
		p.must(http.MethodDelete, limitRanges+"/"+name, "")
		p.until(name+" to go", http.MethodPost, pods+dry, sizedPod("x", "", ""), func(code int, body []byte) bool {
			return code == http.StatusCreated && !bytes.Contains(body, []byte("limit-ranger"))
		})
	}
	seen := func(what string) { p.until("the limit", http.MethodPost, pods+dry, sizedPod("x", "", ""), p.has(what)) }
	p.do("pod without limits", http.MethodPost, pods+dry, sizedPod("x", "", ""))
	limits("defaults", "{type: Container, default: {cpu: 500m, memory: 64Mi}, defaultRequest: {cpu: 100m}}")
	seen("limit-ranger")
	p.do("pod", http.MethodPost, pods, sizedPod("a", "", ""))
	p.do("pod with a request", http.MethodPost, pods+dry, sizedPod("x", "requests: {cpu: 200m}", ""))
	p.do("pod with limits", http.MethodPost, pods+dry, sizedPod("x", "limits: {cpu: 1, memory: 1Gi}, requests: {cpu: 1m}", ""))
	p.do("pod with an annotation", http.MethodPost, pods+dry, strings.Replace(sizedPod("x", "", ""), "{name: x", "{name: x, annotations: {a: b, kubernetes.io/limit-ranger: own}", 1))
	p.do("pod with two containers", http.MethodPost, pods+dry, "{apiVersion: v1, kind: Pod, metadata: {name: x}, spec: {initContainers: [{name: i, image: i}, {name: s, image: i, restartPolicy: Always}], containers: [{name: a, image: i}, {name: b, image: i, resources: {limits: {cpu: 1}}}]}}")
	p.patch("pod by apply", pods+"/applied?fieldManager=m", apply, sizedPod("applied", "", ""))
	p.patch("pod by apply again", pods+"/applied?fieldManager=m", apply, sizedPod("applied", "", ""))
	p.patch("a label", pods+"/a", merge, `{"metadata":{"labels":{"x":"red"}}}`)
	p.patch("resize", pods+"/a/resize", strategic, `{"spec":{"containers":[{"name":"a","resources":{"requests":{"cpu":"200m"}}}]}}`)
	p.do("deployment", http.MethodPost, deployments+dry, deployment("d", ""))
	drop("defaults")
	limits("bounds", "{type: Container, min: {cpu: 100m}, max: {cpu: 1}}")
	p.until("the limit", http.MethodPost, pods+dry, sizedPod("x", "requests: {cpu: 1m}, limits: {cpu: 1}", ""), p.has("minimum"))
	p.do("no request", http.MethodPost, pods+dry, sizedPod("x", "", ""))
	p.do("request below the minimum", http.MethodPost, pods, sizedPod("x", "requests: {cpu: 50m}, limits: {cpu: 1}", ""))
	p.do("limit below the minimum", http.MethodPost, pods, sizedPod("x", "requests: {cpu: 50m}, limits: {cpu: 60m}", ""))
	p.do("limit above the maximum", http.MethodPost, pods, sizedPod("x", "requests: {cpu: 500m}, limits: {cpu: 2}", ""))
	p.do("request above the maximum", http.MethodPost, pods, sizedPod("x", "requests: {cpu: 3}, limits: {cpu: 4}", ""))
	p.do("within", http.MethodPost, pods, sizedPod("b", "requests: {cpu: 500m}, limits: {cpu: 1}", ""))
	p.patch("resize above the maximum", pods+"/b/resize", strategic, `{"spec":{"containers":[{"name":"a","resources":{"limits":{"cpu":"2"}}}]}}`)
	p.patch("label of a pod", pods+"/b", merge, `{"metadata":{"labels":{"x":"red"}}}`)
	p.do("init container", http.MethodPost, pods, sizedPod("x", "requests: {cpu: 500m}, limits: {cpu: 1}", "initContainers: [{name: i, image: i, resources: {limits: {cpu: 2}}}], "))
	drop("bounds")
	limits("ratio", "{type: Container, maxLimitRequestRatio: {memory: 2}}")
	p.until("the limit", http.MethodPost, pods+dry, sizedPod("x", "requests: {memory: 1Mi}, limits: {memory: 3Mi}", ""), p.has("ratio"))
	p.do("ratio", http.MethodPost, pods, sizedPod("x", "requests: {memory: 2Mi}, limits: {memory: 5Mi}", ""))
	p.do("ratio without a request", http.MethodPost, pods, sizedPod("x", "", ""))
	p.do("ratio without a limit", http.MethodPost, pods, sizedPod("x", "requests: {memory: 1Mi}", ""))
	p.do("ratio that is allowed", http.MethodPost, pods+dry, sizedPod("x", "requests: {memory: 2Mi}, limits: {memory: 4Mi}", ""))
	drop("ratio")
	limits("pods", "{type: Pod, max: {memory: 10Mi}}")
	p.until("the limit", http.MethodPost, pods+dry, sizedPod("x", "limits: {memory: 30Mi}", ""), p.has("maximum"))
	p.do("pod above the maximum", http.MethodPost, pods, "{apiVersion: v1, kind: Pod, metadata: {name: x}, spec: {containers: [{name: a, image: i, resources: {limits: {memory: 6Mi}}}, {name: b, image: i, resources: {limits: {memory: 5Mi}}}]}}")
	p.do("pod within by an init container", http.MethodPost, pods+dry, "{apiVersion: v1, kind: Pod, metadata: {name: x}, spec: {initContainers: [{name: i, image: i, resources: {limits: {memory: 9Mi}}}], containers: [{name: a, image: i, resources: {limits: {memory: 6Mi}}}]}}")
	p.do("pod above by a sidecar", http.MethodPost, pods, "{apiVersion: v1, kind: Pod, metadata: {name: x}, spec: {initContainers: [{name: i, image: i, restartPolicy: Always, resources: {limits: {memory: 6Mi}}}], containers: [{name: a, image: i, resources: {limits: {memory: 6Mi}}}]}}")
	p.do("pod above by its own resources", http.MethodPost, pods, sizedPod("x", "limits: {memory: 6Mi}", "resources: {limits: {memory: 20Mi}}, "))
	p.must(http.MethodDelete, limitRanges+"/pods", "")
	limits("claims", "{type: PersistentVolumeClaim, min: {storage: 1Gi}, max: {storage: 5Gi}}")
	p.until("the limit", http.MethodPost, claims+dry, claim("x", "", "", "1Mi"), p.has("minimum"))
	p.do("claim below the minimum", http.MethodPost, claims, claim("x", "", "", "512Mi"))
	p.do("claim above the maximum", http.MethodPost, claims, claim("x", "", "", "6Gi"))
	p.do("claim", http.MethodPost, claims, claim("a", "", "", "2Gi"))
	p.patch("label of a claim", claims+"/a", merge, `{"metadata":{"labels":{"x":"red"}}}`)
	limits("second", "{type: PersistentVolumeClaim, max: {storage: 1Gi}}")
	p.until("the limit", http.MethodPost, claims+dry, claim("x", "", "", "2Gi"), p.has("maximum"))
	p.patch("label of a claim that is too large", claims+"/a", merge, `{"metadata":{"labels":{"x":"blue"}}}`)
	p.do("delete the claim", http.MethodDelete, claims+"/a", "")
	p.patch("claim that is being deleted", claims+"/a", merge, `{"metadata":{"labels":{"x":"green"},"finalizers":null}}`)
	for _, name := range []string{"a", "b", "applied"} {
		p.must(http.MethodDelete, pods+"/"+name+"?gracePeriodSeconds=0", "")
	}
}
