package cluster

import (
	"net/http"
	"strings"
)

// Scenario is a sequence of requests.
type Scenario struct {
	Name string
	play func(*play)
	// Controllers is set if the scenario needs the garbage collector and the namespace controller.
	Controllers bool
	// DualStack is set if the scenario needs a server with the ranges of dualStackRanges.
	DualStack bool
	// Alone is set if the scenario has objects that others would meet. It is played to a server of its own, and recorded by itself.
	Alone bool
	// Accounts is set if the scenario needs a server with the admission plugins ServiceAccount and NodeRestriction.
	Accounts bool
	// Gates is set if the scenario needs a server with otherGates.
	Gates bool
}

// Scenarios returns all scenarios.
func Scenarios() []Scenario {
	return append([]Scenario{
		{Name: "verbs", play: verbs},
		{Name: "rules", play: rules},
		{Name: "selectors", play: selectors},
		{Name: "equivalent", play: equivalent},
		{Name: "versions", play: versions},
		{Name: "conversions", play: conversions},
		{Name: "unreachable", play: unreachable},
		{Name: "conditions", play: conditions},
		{Name: "answers", play: answers},
		{Name: "badvalidating", play: func(p *play) { badAnswers(p, validating) }},
		{Name: "badmutating", play: func(p *play) { badAnswers(p, mutating) }},
		{Name: "patches", play: patches},
		{Name: "order", play: order},
		{Name: "validatingpolicy", play: validatingPolicies},
		{Name: "mutatingpolicy", play: mutatingPolicies},
		{Name: "namespaces", play: namespaces},
		{Name: "evictions", play: evictions},
		{Name: "reviews", play: reviews},
		{Name: "rights", play: rights},
		{Name: "deletions", play: deletions},
		{Name: "statuses", play: statuses},
		{Name: "shadows", play: shadows},
		{Name: "terminating", play: terminating},
		{Name: "labelled", play: labelled},
		{Name: "retyped", play: retyped, Alone: true}, // its addresses and ports are among those that others get at random
		{Name: "addresses", play: addressesGiven},
		{Name: "ports", play: portsGiven},
		{Name: "dualstack", play: dualStack, DualStack: true},
		{Name: "gates", play: gates},
		{Name: "othergates", play: gates, Gates: true},
		{Name: "empties", play: empties},
		{Name: "kept", play: kept},
		{Name: "adminaccess", play: adminAccess},
		{Name: "kubelets", play: kubelets},
		{Name: "issuer", play: issuer},
		{Name: "tainted", play: tainted},
		{Name: "priorities", play: priorities, Alone: true},
		{Name: "protected", play: protected},
		{Name: "defaulted", play: defaulted, Alone: true},
		{Name: "runtimes", play: runtimes},
		{Name: "limited", play: limited},
		{Name: "secured", play: secured},
		{Name: "signed", play: signed},
		{Name: "placed", play: placed},
		{Name: "rationed", play: rationed},
		{Name: "expressions", play: expressions},
		{Name: "deviceexpressions", play: deviceExpressions},
		{Name: "parameters", play: parameters},
		{Name: "podwarnings", play: podWarnings},
		{Name: "ownerwarnings", play: ownerWarnings},
		{Name: "kindwarnings", play: kindWarnings, Alone: true}, // likewise
		{Name: "bindings", play: boundPods},
		{Name: "components", play: components},
		{Name: "proxied", play: proxied},
		{Name: "discovered", play: discovered},
		{Name: "started", play: started},
		{Name: "apiservices", play: apiServices},
		{Name: "aggregated", play: aggregated, Alone: true},
		{Name: "registered", play: registered, Alone: true},
		{Name: "accounts", play: accounts, Accounts: true},
		{Name: "kubeletwrites", play: kubeletWrites, Accounts: true},
		{Name: "collector", play: collector, Controllers: true},
		{Name: "orphans", play: orphans, Controllers: true},
		{Name: "emptied", play: emptied, Controllers: true},
		{Name: "typechecks", play: typeChecks, Controllers: true},
	}, written()...)
}

const (
	deployments = "/apis/apps/v1/namespaces/NAMESPACE/deployments"
	pods        = "/api/v1/namespaces/NAMESPACE/pods"
	everything  = `rules: [{apiGroups: ["*"], apiVersions: ["*"], resources: ["*/*"], operations: ["*"], scope: Namespaced}]`
)

func deployment(name, metadata string) string {
	if metadata != "" {
		metadata = ", " + metadata
	}
	return "{apiVersion: apps/v1, kind: Deployment, metadata: {name: " + name + metadata + "}, spec: {replicas: 1, selector: {matchLabels: {app: a}}, template: {metadata: {labels: {app: a}}, spec: {containers: [{name: a, image: i}]}}}}"
}

func pod(name, metadata string) string {
	if metadata != "" {
		metadata = ", " + metadata
	}
	return "{apiVersion: v1, kind: Pod, metadata: {name: " + name + metadata + "}, spec: {nodeName: node1, containers: [{name: a, image: i}]}}"
}

// verbs plays each sort of write to webhooks.
func verbs(p *play) {
	p.configure(validating, "verbs-RUNID", hook("all", "/validate", everything))
	p.configure(mutating, "verbs-RUNID", hook("all", "/mutate", everything))
	p.on("/mutate", `{"allowed":true,"patch":[{"op":"add","path":"/metadata/annotations","value":{"seen":"yes"}}]}`)
	p.do("create", http.MethodPost, configMaps, configMap("a", ""))
	p.on("/mutate", `{"allowed":true}`)
	p.do("create, dry run", http.MethodPost, configMaps+"?dryRun=All&fieldManager=m", configMap("dry", ""))
	p.do("create again", http.MethodPost, configMaps, configMap("a", ""))
	p.do("create with a generated name", http.MethodPost, configMaps, "{apiVersion: v1, kind: ConfigMap, metadata: {generateName: NAMESPACE-gen-}}")
	p.do("create without a name", http.MethodPost, configMaps, "{apiVersion: v1, kind: ConfigMap, metadata: {}}")
	p.do("create what is not valid", http.MethodPost, configMaps, `{apiVersion: v1, kind: ConfigMap, metadata: {name: bad}, data: {"a b": c}}`)
	p.do("update", http.MethodPut, configMaps+"/a", configMap("a", "labels: {x: red}"))
	p.do("update nothing", http.MethodPut, configMaps+"/a", configMap("a", "labels: {x: red}"))
	p.do("update what is absent", http.MethodPut, configMaps+"/absent", configMap("absent", ""))
	p.patch("merge patch", configMaps+"/a", merge, `{"data":{"a":"c"}}`)
	p.patch("JSON patch", configMaps+"/a?fieldManager=j", jsonPatch, `[{"op":"add","path":"/data/b","value":"c"}]`)
	p.patch("patch of nothing", configMaps+"/a", merge, `{"data":{"a":"c"}}`)
	p.patch("patch of what is absent", configMaps+"/absent", merge, `{"data":{"a":"c"}}`)
	p.patch("apply", configMaps+"/a?fieldManager=s&force=true", apply, configMap("a", ""))
	p.patch("apply creates", configMaps+"/applied?fieldManager=s", apply, configMap("applied", ""))
	p.do("delete", http.MethodDelete, configMaps+"/applied", `{apiVersion: v1, kind: DeleteOptions, propagationPolicy: Background, gracePeriodSeconds: 3}`)
	p.do("delete, dry run", http.MethodDelete, configMaps+"/a?dryRun=All", "")
	p.do("delete what is absent", http.MethodDelete, configMaps+"/absent", "")
	p.do("delete collection", http.MethodDelete, configMaps+"?labelSelector=x%3Dred", "")
	p.do("create a deployment", http.MethodPost, deployments, deployment("d", ""))
	p.do("get scale", http.MethodGet, deployments+"/d/scale", "")
	p.patch("scale", deployments+"/d/scale", merge, `{"spec":{"replicas":3}}`)
	p.patch("status", deployments+"/d/status", merge, `{"status":{"replicas":2}}`)
	p.do("create a pod", http.MethodPost, pods, pod("p", ""))
	p.do("evict, dry run", http.MethodPost, pods+"/p/eviction", "{apiVersion: policy/v1, kind: Eviction, metadata: {name: p}, deleteOptions: {dryRun: [All]}}")
	p.do("token", http.MethodPost, "/api/v1/namespaces/NAMESPACE/serviceaccounts", "{apiVersion: v1, kind: ServiceAccount, metadata: {name: s}}")
	p.do("delete a pod", http.MethodDelete, pods+"/p", "")
	p.do("delete a pod at once", http.MethodDelete, pods+"/p?gracePeriodSeconds=0", "")
	p.do("a finalizer", http.MethodPost, configMaps, configMap("f", "finalizers: [example.com/f]"))
	p.do("delete with a finalizer", http.MethodDelete, configMaps+"/f", "")
	p.patch("the last finalizer", configMaps+"/f", merge, `{"metadata":{"finalizers":null}}`)
	p.on("/validate", `{"allowed":false,"status":{"message":"no"}}`)
	p.do("denied create", http.MethodPost, configMaps, configMap("z", ""))
	p.do("denied delete", http.MethodDelete, deployments+"/d", "")
	p.do("denied delete of a collection", http.MethodDelete, deployments, "")
	p.patch("denied scale", deployments+"/d/scale", merge, `{"spec":{"replicas":4}}`)
}

// rules plays requests that the rules of webhooks select, or do not.
func rules(p *play) {
	rule := func(name, members string) string {
		return hook(name, "/"+name, "rules: [{"+members+"}]")
	}
	p.configure(validating, "rules-RUNID",
		rule("core", `apiGroups: [""], apiVersions: ["*"], resources: ["*"], operations: [CREATE]`),
		rule("coreall", `apiGroups: [""], apiVersions: ["*"], resources: ["*/*"], operations: [CREATE, UPDATE]`),
		rule("scale", `apiGroups: [apps], apiVersions: [v1], resources: ["*/scale"], operations: [UPDATE]`),
		rule("pods", `apiGroups: [""], apiVersions: [v1], resources: ["pods/*"], operations: ["*"]`),
		rule("other", `apiGroups: [apps], apiVersions: [v1beta1], resources: ["*"], operations: ["*"]`),
		rule("clusterscope", `apiGroups: ["*"], apiVersions: ["*"], resources: [namespaces, pods], operations: ["*"], scope: Cluster`),
		rule("namespaced", `apiGroups: ["*"], apiVersions: ["*"], resources: [secrets, deployments], operations: [CREATE, DELETE], scope: Namespaced`),
		rule("connect", `apiGroups: ["*"], apiVersions: ["*"], resources: ["pods/*", "services/*"], operations: [CONNECT]`),
	)
	p.do("secret", http.MethodPost, "/api/v1/namespaces/NAMESPACE/secrets", "{apiVersion: v1, kind: Secret, metadata: {name: s}}")
	p.do("delete a secret", http.MethodDelete, "/api/v1/namespaces/NAMESPACE/secrets/s", "")
	p.do("deployment", http.MethodPost, deployments, deployment("d", ""))
	p.patch("scale", deployments+"/d/scale", merge, `{"spec":{"replicas":3}}`)
	p.patch("status", deployments+"/d/status", merge, `{"status":{"replicas":3}}`)
	p.do("pod", http.MethodPost, pods, pod("p", ""))
	p.patch("pod's status", pods+"/p/status", merge, `{"status":{"phase":"Running"}}`)
	p.patch("namespace", "/api/v1/namespaces/NAMESPACE", merge, `{"metadata":{"labels":{"a":"b"}}}`)
	p.do("bind", http.MethodPost, pods+"/p/binding", "{apiVersion: v1, kind: Binding, metadata: {name: p}, target: {kind: Node, name: node}}")
	p.do("webhook configurations are not asked about", http.MethodPost, "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations?dryRun=All", "{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingWebhookConfiguration, metadata: {name: rules-RUNID-x}}")
}

// selectors plays webhooks with a namespaceSelector or an objectSelector.
func selectors(p *play) {
	p.configure(validating, "selectors-RUNID",
		hook("red", "/red", "namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: NAMESPACE, team: red}}"),
		hook("blue", "/blue", "namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: NAMESPACE, team: blue}}"),
		hook("labelled", "/labelled", "objectSelector: {matchLabels: {active: \"yes\"}}"),
		hook("unlabelled", "/unlabelled", "objectSelector: {matchExpressions: [{key: active, operator: DoesNotExist}, {key: probe, operator: DoesNotExist}]}"),
		hook("namespaces", "/namespaces", `rules: [{apiGroups: [""], apiVersions: [v1], resources: [namespaces], operations: ["*"]}]`),
	)
	p.do("without a label", http.MethodPost, configMaps, configMap("a", ""))
	p.do("with the label", http.MethodPost, configMaps, configMap("b", `labels: {active: "yes"}`))
	p.patch("loses the label", configMaps+"/b", merge, `{"metadata":{"labels":{"active":null}}}`)
	p.patch("gets the label", configMaps+"/a", merge, `{"metadata":{"labels":{"active":"yes"}}}`)
	p.do("delete", http.MethodDelete, configMaps+"/a", "")
	p.patch("the namespace itself", "/api/v1/namespaces/NAMESPACE", merge, `{"metadata":{"labels":{"x":"y"}}}`)
}

// equivalent plays webhooks whose rules name another version of the resource.
func equivalent(p *play) {
	autoscaler := func(name, version, policy string) string {
		return hook(name, "/"+name, `rules: [{apiGroups: [autoscaling], apiVersions: [`+version+`], resources: ["horizontalpodautoscalers", "horizontalpodautoscalers/*"], operations: ["*"]}], matchPolicy: `+policy)
	}
	event := func(name, group, policy string) string {
		return hook(name, "/"+name, `rules: [{apiGroups: ["`+group+`"], apiVersions: [v1], resources: [events], operations: ["*"]}], matchPolicy: `+policy)
	}
	p.configure(validating, "equivalent-RUNID",
		autoscaler("onee", "v1", "Equivalent"), autoscaler("onex", "v1", "Exact"), autoscaler("twoe", "v2", "Equivalent"), autoscaler("both", "v2, v1", "Equivalent"),
		event("coree", "", "Equivalent"), event("corex", "", "Exact"), event("newe", "events.k8s.io", "Equivalent"))
	p.configure(mutating, "equivalent-RUNID", autoscaler("mutateone", "v1", "Equivalent"))
	p.on("/mutateone", `{"allowed":true,"patch":[{"op":"add","path":"/spec/targetCPUUtilizationPercentage","value":42}]}`)
	const two, one = "/apis/autoscaling/v2/namespaces/NAMESPACE/horizontalpodautoscalers", "/apis/autoscaling/v1/namespaces/NAMESPACE/horizontalpodautoscalers"
	p.do("create as v2", http.MethodPost, two, "{apiVersion: autoscaling/v2, kind: HorizontalPodAutoscaler, metadata: {name: h}, spec: {maxReplicas: 3, scaleTargetRef: {kind: Deployment, name: d, apiVersion: apps/v1}}}")
	p.do("create as v1", http.MethodPost, one, "{apiVersion: autoscaling/v1, kind: HorizontalPodAutoscaler, metadata: {name: g}, spec: {maxReplicas: 3, scaleTargetRef: {kind: Deployment, name: d, apiVersion: apps/v1}}}")
	p.patch("patch as v2", two+"/h", merge, `{"spec":{"maxReplicas":4}}`)
	p.patch("status as v2", two+"/h/status", merge, `{"status":{"desiredReplicas":4}}`)
	p.do("delete as v2", http.MethodDelete, two+"/h", "")
	p.do("event of core", http.MethodPost, "/api/v1/namespaces/NAMESPACE/events", "{apiVersion: v1, kind: Event, metadata: {name: e}, involvedObject: {kind: Pod, name: p, namespace: NAMESPACE}, reason: r, message: m}")
	p.do("event of events.k8s.io", http.MethodPost, "/apis/events.k8s.io/v1/namespaces/NAMESPACE/events", `{apiVersion: events.k8s.io/v1, kind: Event, metadata: {name: f}, regarding: {kind: Pod, name: p, namespace: NAMESPACE}, reason: r, action: a, type: Normal, note: n, reportingController: c, reportingInstance: i, eventTime: "2020-01-01T00:00:00.000000Z"}`)
}

// versions plays a custom resource whose versions a webhook converts, also for admission webhooks.
func versions(p *play) {
	schema := func(member string) string {
		return "schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {" + member + ": {type: integer}}}}}}"
	}
	p.must(http.MethodPost, "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", `{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: sizesRUNID.cluster.example.com}, spec: {
 group: cluster.example.com, scope: Namespaced, names: {plural: sizesRUNID, singular: sizeRUNID, kind: SizeRUNID},
 conversion: {strategy: Webhook, webhook: {conversionReviewVersions: [v1], clientConfig: {url: "WEBHOOKS/convert", caBundle: CABUNDLE}}},
 versions: [{name: v1, served: true, storage: true, `+schema("size")+`}, {name: v1beta1, served: true, storage: false, `+schema("length")+`}]}}`)
	p.cleanup = append(p.cleanup, "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/sizesRUNID.cluster.example.com")
	const one, beta = "/apis/cluster.example.com/v1/namespaces/NAMESPACE/sizesRUNID", "/apis/cluster.example.com/v1beta1/namespaces/NAMESPACE/sizesRUNID"
	for _, path := range []string{one, beta} {
		p.until("resource", http.MethodGet, path, "", func(code int, _ []byte) bool { return code == http.StatusOK })
	}
	rule := func(version string) string {
		return `rules: [{apiGroups: [cluster.example.com], apiVersions: [` + version + `], resources: ["sizesRUNID"], operations: ["*"]}]`
	}
	p.configure(validating, "versions-RUNID", hook("one", "/one", rule("v1")), hook("exact", "/exact", rule("v1")+", matchPolicy: Exact"))
	size := func(version, name, spec string) string {
		return "{apiVersion: cluster.example.com/" + version + ", kind: SizeRUNID, metadata: {name: " + name + "}, spec: {" + spec + "}}"
	}
	p.do("create as v1beta1", http.MethodPost, beta, size("v1beta1", "a", "length: 3"))
	p.do("create as v1", http.MethodPost, one, size("v1", "b", "size: 4"))
	p.do("get as v1", http.MethodGet, one+"/a", "")
	p.patch("patch as v1beta1", beta+"/a", merge, `{"spec":{"length":5}}`)
	p.on("/convert", `{"result":{"status":"Failure","message":"it is broken"}}`)
	p.do("create when the conversion fails", http.MethodPost, beta, size("v1beta1", "c", "length: 3"))
	p.do("get when the conversion fails", http.MethodGet, beta+"/b", "")
	p.on("/convert", `{"result":{"status":"Success"},"convertedObjects":[]}`)
	p.do("get when the conversion loses objects", http.MethodGet, beta+"/b", "")
	p.on("/convert", `{"result":{"status":"Success"},"convertedObjects":[{"apiVersion":"cluster.example.com/v1beta1","kind":"SizeRUNID","metadata":{"name":"other"}}]}`)
	p.do("get when the conversion renames", http.MethodGet, beta+"/b", "")
}

// conditions plays webhooks with matchConditions.
func conditions(p *play) {
	condition := func(name, expression, members string) string {
		return hook(name, "/"+name, "matchConditions: [{name: always, expression: 'true'}, {name: c, expression: '"+expression+"'}]"+members)
	}
	p.configure(validating, "conditions-RUNID",
		condition("named", `object.metadata.name.startsWith("a")`, ""),
		condition("user", `request.userInfo.username == "admin" && request.operation == "CREATE"`, ""),
		condition("ignored", `object.data.missing == "x"`, ", failurePolicy: Ignore"),
		condition("authorized", `authorizer.group("").resource("configmaps").namespace(request.namespace).check("get").allowed()`, ""))
	p.do("all match", http.MethodPost, configMaps, configMap("a", ""))
	p.do("not the name", http.MethodPost, configMaps, configMap("b", ""))
	p.patch("not the operation", configMaps+"/a", merge, `{"data":{"a":"x"}}`)
	p.do("delete", http.MethodDelete, configMaps+"/b", "")
	p.configure(validating, "conditions-RUNID-fail", condition("failed", `object.data.missing == "x"`, ""))
	p.do("an error", http.MethodPost, configMaps, configMap("c", ""))
	p.configure(validating, "conditions-RUNID-z", hook("first", "/first", "matchConditions: [{name: never, expression: 'false'}, {name: error, expression: 'object.data.missing == \"x\"'}]"))
	p.drop(validating, "conditions-RUNID-fail")
	p.do("a condition is false before an error", http.MethodPost, configMaps, configMap("d", ""))
}

// answers plays valid answers of webhooks, such as warnings and denials.
func answers(p *play) {
	p.configure(validating, "answers-RUNID", hook("one", "/one", ""), hook("two", "/two", ""))
	p.on("/one", `{"allowed":true,"warnings":["careful","`+strings.Repeat("long ", 60)+`","a \"quoted\" one"],"auditAnnotations":{"a":"b"}}`)
	p.do("warnings", http.MethodPost, configMaps, configMap("a", ""))
	p.on("/two", `{"allowed":true}`)
	p.on("/one", `{"allowed":true,"warnings":["`+strings.Repeat(strings.Repeat("w ", 125)+`","`, 20)+`end"]}`)
	p.do("too many warnings", http.MethodPost, configMaps, configMap("b", ""))
	deny := func(step, response string) {
		p.on("/one", response)
		p.do(step, http.MethodPost, configMaps, configMap("denied", ""))
	}
	deny("denied", `{"allowed":false}`)
	deny("denied with a status only", `{"allowed":false,"status":{}}`)
	deny("denied with a message", `{"allowed":false,"status":{"message":"because"}}`)
	deny("denied with a reason", `{"allowed":false,"status":{"reason":"NotFound"}}`)
	deny("denied with a code", `{"allowed":false,"status":{"code":418,"message":"teapot"}}`)
	deny("denied with a success code", `{"allowed":false,"status":{"code":200,"status":"Success","message":"fine"}}`)
	deny("denied with all", `{"allowed":false,"warnings":["w"],"status":{"metadata":{"resourceVersion":"1"},"status":"Failure","code":409,"reason":"Conflict","message":"m","details":{"name":"n","group":"g","kind":"k","causes":[{"reason":"FieldValueInvalid","message":"bad","field":"f"}],"retryAfterSeconds":7}}}`)
}

// badAnswers plays answers that a webhook must not give, with each failurePolicy.
func badAnswers(p *play, kind string) {
	kindName := strings.ToLower(kind[:3])
	p.configure(kind, kindName+"-RUNID", hook("fail", "/bad", "objectSelector: {matchLabels: {policy: fail}}, timeoutSeconds: 1"), hook("ignore", "/bad", "objectSelector: {matchLabels: {policy: ignore}}, failurePolicy: Ignore, timeoutSeconds: 1"))
	try := func(step string) {
		p.do(step, http.MethodPost, configMaps+"?dryRun=All", configMap("a", "labels: {policy: fail}"))
		p.do(step+", ignored", http.MethodPost, configMaps+"?dryRun=All", configMap("a", "labels: {policy: ignore}"))
	}
	review := func(response string) answer {
		return answer{status: 200, body: `{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","response":` + response + `}`}
	}
	for _, b := range []struct {
		step   string
		answer answer
	}{
		{"no response", answer{status: 200, body: `{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview"}`}},
		{"no uid", review(`{"allowed":true}`)},
		{"another uid", review(`{"uid":"x","allowed":true}`)},
		{"another version", answer{status: 200, body: `{"apiVersion":"admission.k8s.io/v1beta1","kind":"AdmissionReview","response":{"uid":"UID","allowed":true}}`}},
		{"another kind", answer{status: 200, body: `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x"}}`}},
		{"no apiVersion", answer{status: 200, body: `{"response":{"uid":"UID","allowed":true}}`}},
		{"rubbish", answer{status: 200, body: `rubbish`}},
		{"empty", answer{status: 200, body: ``}},
		{"a list", answer{status: 200, body: `[]`}},
		{"wrong types", review(`{"uid":"UID","allowed":"yes"}`)},
		{"unknown members", review(`{"uid":"UID","allowed":true,"unknown":1}`)},
		{"status 500", answer{status: 500, body: `it is broken`}},
		{"status 404", answer{status: 404, body: `{"kind":"Status","apiVersion":"v1","status":"Failure","message":"not here","reason":"NotFound","code":404}`}},
		{"status 201", answer{status: 201, body: `{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","response":{"uid":"UID","allowed":true}}`}},
		{"redirect", answer{status: 302, location: "/elsewhere"}},
		{"patch without patchType", review(`{"uid":"UID","allowed":true,"patch":"W10="}`)},
		{"patchType without patch", review(`{"uid":"UID","allowed":true,"patchType":"JSONPatch"}`)},
		{"another patchType", review(`{"uid":"UID","allowed":true,"patchType":"Merge","patch":"W10="}`)},
		{"a patch", review(`{"uid":"UID","allowed":true,"patchType":"JSONPatch","patch":"W10="}`)},
		{"a denial with a patch", review(`{"uid":"UID","allowed":false,"patchType":"JSONPatch","patch":"W10="}`)},
		{"bad audit annotations", review(`{"uid":"UID","allowed":true,"auditAnnotations":{"a b":"c"}}`)},
		{"hang", answer{hang: true}},
	} {
		p.raw("/bad", b.answer)
		try(b.step)
	}
	p.drop(kind, kindName+"-RUNID")
	refused := func(name, client string) {
		p.configure(kind, kindName+"-RUNID-"+name, hook(name, "/"+name, "clientConfig: {"+client+"}, objectSelector: {matchLabels: {policy: fail}}"), hook("ignore", "/ignore", "failurePolicy: Ignore, clientConfig: {"+client+"}, objectSelector: {matchLabels: {policy: ignore}}"))
		try(name)
		p.drop(kind, kindName+"-RUNID-"+name)
	}
	refused("certificate", `url: "WEBHOOKS/x", caBundle: OTHERCA`)
	refused("nocertificate", `url: "WEBHOOKS/x"`)
	refused("refused", `url: "https://127.0.0.1:1/x", caBundle: CABUNDLE`)
	refused("noservice", `service: {namespace: NAMESPACE, name: absent, path: /x}, caBundle: CABUNDLE`)
}

// patches plays patches of mutating webhooks.
func patches(p *play) {
	p.configure(mutating, "patches-RUNID", hook("patch", "/patch", ""))
	for _, b := range []struct{ step, patch string }{
		{"a label", `[{"op":"add","path":"/metadata/labels","value":{"x":"y"}}]`},
		{"data", `[{"op":"replace","path":"/data/a","value":"changed"},{"op":"add","path":"/data/c","value":"d"}]`},
		{"nothing", `[]`},
		{"what is absent", `[{"op":"remove","path":"/data/absent"}]`},
		{"absent replaced", `[{"op":"replace","path":"/data/absent","value":"x"}]`},
		{"a test fails", `[{"op":"test","path":"/data/a","value":"x"}]`},
		{"no patch", `{"op":"add"}`},
		{"an unknown op", `[{"op":"mix","path":"/data/a","value":"x"}]`},
		{"an unknown member", `[{"op":"add","path":"/unknown","value":"x"}]`},
		{"a wrong type", `[{"op":"replace","path":"/data/a","value":3}]`},
		{"not valid", `[{"op":"add","path":"/data/a b","value":"x"}]`},
		{"the name", `[{"op":"replace","path":"/metadata/name","value":"renamed"}]`},
		{"the namespace", `[{"op":"replace","path":"/metadata/namespace","value":"default"}]`},
		{"the uid", `[{"op":"add","path":"/metadata/uid","value":"00000000-0000-4000-8000-000000000001"}]`},
		{"the kind", `[{"op":"replace","path":"/kind","value":"Secret"}]`},
		{"the apiVersion", `[{"op":"replace","path":"/apiVersion","value":"v2"}]`},
		{"managedFields", `[{"op":"remove","path":"/metadata/managedFields"}]`},
		{"false managedFields", `[{"op":"replace","path":"/metadata/managedFields","value":[{"manager":"x","operation":"Bad"}]}]`},
		{"generateName", `[{"op":"add","path":"/metadata/generateName","value":"g-"}]`},
		{"resourceVersion", `[{"op":"add","path":"/metadata/resourceVersion","value":"5"}]`},
		{"creationTimestamp", `[{"op":"add","path":"/metadata/creationTimestamp","value":"2000-01-01T00:00:00Z"}]`},
		{"deletionTimestamp", `[{"op":"add","path":"/metadata/deletionTimestamp","value":"2000-01-01T00:00:00Z"}]`},
		{"the whole object", `[{"op":"replace","path":"","value":{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"whole"}}}]`},
	} {
		p.on("/patch", `{"allowed":true,"patch":`+b.patch+`}`)
		p.do(b.step, http.MethodPost, configMaps+"?dryRun=All", configMap("a", ""))
	}
	p.on("/patch", `{"allowed":true}`)
	p.do("create", http.MethodPost, configMaps, configMap("a", ""))
	for _, b := range []struct{ step, patch string }{
		{"update: the uid", `[{"op":"replace","path":"/metadata/uid","value":"00000000-0000-4000-8000-000000000001"}]`},
		{"update: resourceVersion", `[{"op":"replace","path":"/metadata/resourceVersion","value":"5"}]`},
		{"update: back to what it was", `[{"op":"replace","path":"/data/a","value":"b"}]`},
		{"update: a finalizer", `[{"op":"add","path":"/metadata/finalizers","value":["example.com/f"]}]`},
	} {
		p.on("/patch", `{"allowed":true,"patch":`+b.patch+`}`)
		p.patch(b.step, configMaps+"/a", merge, `{"data":{"a":"c"}}`)
		p.patch(b.step+", applied", configMaps+"/a?fieldManager=s&force=true&dryRun=All", apply, configMap("a", ""))
	}
	p.on("/patch", `{"allowed":true,"patch":[{"op":"add","path":"/metadata/labels","value":{"deleted":"yes"}}]}`)
	p.do("a patch of a deletion", http.MethodDelete, configMaps+"/a?dryRun=All", "")
	p.drop(mutating, "patches-RUNID")
	p.configure(mutating, "patches-RUNID-status", hook("status", "/status", `rules: [{apiGroups: [apps], apiVersions: [v1], resources: [deployments, deployments/status, deployments/scale], operations: ["*"]}]`))
	p.on("/status", `{"allowed":true,"patch":[{"op":"add","path":"/status","value":{"replicas":7}}]}`)
	p.do("status at a create", http.MethodPost, deployments, deployment("d", ""))
	p.on("/status", `{"allowed":true,"patch":[{"op":"add","path":"/spec/replicas","value":7}]}`)
	p.patch("spec at a status", deployments+"/d/status", merge, `{"status":{"replicas":1}}`)
	p.patch("scale", deployments+"/d/scale", merge, `{"spec":{"replicas":2}}`)
}

// order plays several configurations and webhooks, and webhooks that are called a second time.
func order(p *play) {
	p.hooks.ordered = true
	again := ", reinvocationPolicy: IfNeeded"
	p.configure(mutating, "order-RUNID-b", hook("third", "/3", "failurePolicy: Fail"+again), hook("fourth", "/4", "failurePolicy: Fail"))
	p.configure(mutating, "order-RUNID-a", hook("first", "/1", "failurePolicy: Fail"+again), hook("second", "/2", "failurePolicy: Fail"))
	add := func(path, key string) {
		p.on(path, `{"allowed":true,"patch":[{"op":"add","path":"/data/`+key+`","value":"x"}]}`)
	}
	add("/1", "one")
	add("/4", "four")
	p.do("patched after the first", http.MethodPost, configMaps, configMap("a", ""))
	p.on("/4", `{"allowed":true}`)
	add("/2", "two")
	p.do("patched by the second", http.MethodPost, configMaps, configMap("b", ""))
	p.on("/2", `{"allowed":true}`)
	p.do("patched by the first only", http.MethodPost, configMaps, configMap("c", ""))
	p.on("/3", `{"allowed":false,"status":{"message":"third"}}`)
	p.do("denied half-way", http.MethodPost, configMaps, configMap("d", ""))
	p.on("/3", "")
	p.on("/1", "")
	p.drop(mutating, "order-RUNID-a")
	p.drop(mutating, "order-RUNID-b")
	p.configure(mutating, "order-RUNID-dry", hook("some", "/some", "sideEffects: NoneOnDryRun"))
	p.do("dry run", http.MethodPost, configMaps+"?dryRun=All", configMap("e", ""))
}
