package cluster

import (
	"bytes"
	"fmt"
	"net/http"
	"strings"

	"github.com/kubecoord/kubecoord/internal/test/exchange"
)

const registration = "/apis/admissionregistration.k8s.io/v1/"

// policy creates a policy with a binding to the namespace, and waits until a configMap with the label probe is denied, or changed.
func (p *play) policy(kind, name, spec, binding string) {
	p.must(http.MethodPost, registration+strings.ToLower(kind[:len(kind)-1])+"ies", "{apiVersion: admissionregistration.k8s.io/v1, kind: "+kind+", metadata: {name: "+name+"}, spec: {"+spec+"}}")
	p.must(http.MethodPost, registration+strings.ToLower(kind)+"bindings", "{apiVersion: admissionregistration.k8s.io/v1, kind: "+kind+"Binding, metadata: {name: "+name+"}, spec: {policyName: "+name+", matchResources: {namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: NAMESPACE}}}"+binding+"}}")
	p.cleanup = append(p.cleanup, registration+strings.ToLower(kind)+"bindings/"+name, registration+strings.ToLower(kind[:len(kind)-1])+"ies/"+name)
}

func (p *play) forget(kind, name string) {
	p.must(http.MethodDelete, registration+strings.ToLower(kind)+"bindings/"+name, "")
	p.must(http.MethodDelete, registration+strings.ToLower(kind[:len(kind)-1])+"ies/"+name, "")
	p.until("end of policy "+name, http.MethodPost, configMaps+"?dryRun=All", configMap("probe", "labels: {probe: deny}"), func(code int, body []byte) bool {
		return code == http.StatusCreated && !bytes.Contains(body, []byte("probed-by"))
	})
}

const (
	onConfigMaps = `matchConstraints: {resourceRules: [{apiGroups: [""], apiVersions: [v1], resources: [configmaps], operations: ["*"]}]}`
	probe        = `{expression: "request.operation == 'DELETE' || !has(object.metadata.labels) || !('probe' in object.metadata.labels)", message: probed}`
)

// validatingPolicies plays policies with validations, params and actions.
func validatingPolicies(p *play) {
	const kind = "ValidatingAdmissionPolicy"
	denied := func(name string) {
		p.until("policy "+name, http.MethodPost, configMaps+"?dryRun=All", configMap("probe", "labels: {probe: deny}"), func(_ int, body []byte) bool { return bytes.Contains(body, []byte("probed")) })
	}
	del := "request.operation == 'DELETE' || "
	p.policy(kind, "one-RUNID", onConfigMaps+`, variables: [{name: a, expression: "has(object.data) && 'a' in object.data ? object.data.a : ''"}], validations: [
 {expression: "`+del+`variables.a != 'bad'", message: "a is bad"},
 {expression: "`+del+`variables.a != 'worse'", messageExpression: "'a is ' + variables.a", reason: Forbidden},
 {expression: "`+del+`variables.a != 'plain'"},
 {expression: "`+del+`variables.a != 'broken' || object.data.missing == 'x'", message: broken},
 {expression: "`+del+`variables.a != 'expression'", message: instead, messageExpression: "string(object.data.missing)"},
 {expression: "request.operation != 'DELETE' || oldObject.metadata.name != 'kept'", message: "it is kept", reason: RequestEntityTooLarge}, `+probe+`], auditAnnotations: [{key: k, valueExpression: "'v'"}]`, ", validationActions: [Deny]")
	denied("one")
	for _, v := range []string{"good", "bad", "worse", "plain", "broken", "expression"} {
		p.do("denied, "+v, http.MethodPost, configMaps+"?dryRun=All", "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {a: "+v+"}}")
	}
	p.do("kept", http.MethodPost, configMaps, configMap("kept", ""))
	p.do("delete what is kept", http.MethodDelete, configMaps+"/kept", "")
	p.patch("patch", configMaps+"/kept", merge, `{"data":{"a":"bad"}}`)
	p.forget(kind, "one-RUNID")
	p.policy(kind, "two-RUNID", onConfigMaps+`, failurePolicy: Ignore, matchConditions: [{name: m, expression: "request.operation != 'UPDATE'"}], validations: [{expression: "object.data.missing == 'x'", message: ignored}, {expression: "object.data.a != 'b'", message: "is \"b\""}, `+probe+`]`, ", validationActions: [Warn, Audit]")
	p.until("warning", http.MethodPost, configMaps+"?dryRun=All", configMap("w", ""), func(int, []byte) bool { return p.warned() })
	p.do("warned", http.MethodPost, configMaps, configMap("w", ""))
	p.patch("the condition does not match", configMaps+"/w", merge, `{"data":{"c":"d"}}`)
	p.must(http.MethodDelete, registration+"validatingadmissionpolicybindings/two-RUNID", "")
	p.until("end of warning", http.MethodPost, configMaps+"?dryRun=All", configMap("v", ""), func(int, []byte) bool { return !p.warned() })
	// A kube-apiserver never finds params of a kind again once the last policy with that paramKind was deleted, so this one stays.
	const kept = "{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingAdmissionPolicy%s, metadata: {name: cluster-keeps-params}, spec: {%s}}"
	for _, r := range []struct{ plural, kind, spec string }{
		{"policies", "", `paramKind: {apiVersion: v1, kind: ConfigMap}, matchConstraints: {resourceRules: [{apiGroups: [cluster.example.com], apiVersions: [v1], resources: [absent], operations: [CREATE]}]}, validations: [{expression: "true"}]`},
		{"policybindings", "Binding", "policyName: cluster-keeps-params, validationActions: [Deny], paramRef: {name: absent, namespace: default, parameterNotFoundAction: Allow}"},
	} {
		_, _, _ = p.Send(http.MethodPost, registration+"validatingadmission"+r.plural, fmt.Sprintf(kept, r.kind, r.spec)) // it may be there
	}
	p.must(http.MethodPost, configMaps, "{apiVersion: v1, kind: ConfigMap, metadata: {name: params}, data: {max: '3'}}")
	p.policy(kind, "three-RUNID", strings.Replace(onConfigMaps, `"*"`, "CREATE, UPDATE", 1)+`, paramKind: {apiVersion: v1, kind: ConfigMap}, validations: [{expression: "`+del+`!has(object.data) || size(object.data) <= int(params.data.max)", messageExpression: "'at most ' + params.data.max"}, `+probe+`]`, ", validationActions: [Deny], paramRef: {name: params, namespace: NAMESPACE, parameterNotFoundAction: Deny}")
	denied("three")
	p.do("few members", http.MethodPost, configMaps, configMap("few", ""))
	p.do("many members", http.MethodPost, configMaps, "{apiVersion: v1, kind: ConfigMap, metadata: {name: many}, data: {a: b, b: c, c: d, d: e}}")
	p.must(http.MethodDelete, configMaps+"/params", "")
	p.until("params are gone", http.MethodPost, configMaps+"?dryRun=All", configMap("x", ""), func(code int, _ []byte) bool { return code != http.StatusCreated })
	p.do("no params", http.MethodPost, configMaps, configMap("noparams", ""))
}

// warned reports whether the last answer that until got has a warning. It plays the request again.
func (p *play) warned() bool {
	resp, _, err := p.Send(http.MethodPost, configMaps+"?dryRun=All", configMap("w2", ""))
	return err == nil && len(resp.Header.Values("Warning")) > 0
}

// mutatingPolicies plays policies with apply configurations and JSON patches.
func mutatingPolicies(p *play) {
	const kind = "MutatingAdmissionPolicy"
	const matched = `matchConstraints: {resourceRules: [{apiGroups: [""], apiVersions: [v1], resources: [configmaps], operations: [CREATE, UPDATE]}]}`
	marked := func(mark string) {
		p.until("policy", http.MethodPost, configMaps+"?dryRun=All", configMap("probe", "labels: {probe: x}"), func(_ int, body []byte) bool { return bytes.Contains(body, []byte(mark)) })
	}
	p.policy(kind, "one-RUNID", matched+`, reinvocationPolicy: Never, variables: [{name: v, expression: "'probed-by-one'"}], mutations: [{patchType: ApplyConfiguration, applyConfiguration: {expression: "Object{metadata: Object.metadata{labels: {'one': variables.v}}}"}}]`, "")
	marked("probed-by-one")
	p.do("apply configuration", http.MethodPost, configMaps, configMap("a", "labels: {x: z}"))
	p.patch("update", configMaps+"/a", merge, `{"metadata":{"labels":{"one":"changed"}}}`)
	p.forget(kind, "one-RUNID")
	p.policy(kind, "two-RUNID", matched+`, reinvocationPolicy: IfNeeded, matchConditions: [{name: m, expression: "object.metadata.name != 'left'"}], mutations: [{patchType: JSONPatch, jsonPatch: {expression: "[JSONPatch{op: 'add', path: '/data/two', value: 'probed-by-two'}]"}}]`, "")
	marked("probed-by-two")
	p.do("JSON patch", http.MethodPost, configMaps, configMap("b", ""))
	p.do("the condition does not match", http.MethodPost, configMaps, configMap("left", ""))
	p.do("the patch fails", http.MethodPost, configMaps, "{apiVersion: v1, kind: ConfigMap, metadata: {name: c}}")
}

// namespaces plays writes into namespaces that exist, do not exist, or are being deleted.
func namespaces(p *play) {
	const all = "/api/v1/namespaces"
	p.do("create", http.MethodPost, all, "{apiVersion: v1, kind: Namespace, metadata: {name: NAMESPACE-a}}")
	p.do("create again", http.MethodPost, all, "{apiVersion: v1, kind: Namespace, metadata: {name: NAMESPACE-a}}")
	p.do("missing", http.MethodPost, all+"/NAMESPACE-missing/configmaps", configMap("a", ""))
	p.do("missing, update", http.MethodPut, all+"/NAMESPACE-missing/configmaps/a", configMap("a", ""))
	p.patch("missing, apply", all+"/NAMESPACE-missing/configmaps/a?fieldManager=s", apply, configMap("a", ""))
	p.do("missing, delete", http.MethodDelete, all+"/NAMESPACE-missing/configmaps/a", "")
	p.do("missing, list", http.MethodGet, all+"/NAMESPACE-missing/configmaps", "")
	p.do("missing, dry run", http.MethodPost, all+"/NAMESPACE-missing/configmaps?dryRun=All", configMap("a", ""))
	p.do("missing and not valid", http.MethodPost, all+"/NAMESPACE-missing/configmaps", `{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {"a b": c}}`)
	p.do("another namespace in the body", http.MethodPost, all+"/NAMESPACE-a/configmaps", configMap("a", "namespace: other"))
	for _, name := range []string{"default", "kube-system", "kube-public", "kube-node-lease"} {
		p.do("delete "+name+", dry run", http.MethodDelete, all+"/"+name+"?dryRun=All", "")
	}
	p.must(http.MethodPost, all+"/NAMESPACE-a/configmaps", configMap("kept", ""))
	p.do("delete, dry run", http.MethodDelete, all+"/NAMESPACE-a?dryRun=All", "")
	p.do("delete", http.MethodDelete, all+"/NAMESPACE-a", "")
	p.do("delete again", http.MethodDelete, all+"/NAMESPACE-a", "")
	p.until("the phase", http.MethodPost, all+"/NAMESPACE-a/configmaps?dryRun=All", configMap("probe", ""), func(code int, _ []byte) bool { return code != http.StatusCreated })
	p.do("create in it", http.MethodPost, all+"/NAMESPACE-a/configmaps", configMap("b", ""))
	p.patch("apply in it", all+"/NAMESPACE-a/configmaps/b?fieldManager=s", apply, configMap("b", ""))
	p.patch("patch in it", all+"/NAMESPACE-a/configmaps/kept", merge, `{"data":{"x":"y"}}`)
	p.do("delete in it", http.MethodDelete, all+"/NAMESPACE-a/configmaps/kept", "")
	p.do("get", http.MethodGet, all+"/NAMESPACE-a", "")
	p.patch("status", all+"/NAMESPACE-a/status", merge, `{"status":{"conditions":[{"type":"NamespaceDeletionContentFailure","status":"True","reason":"r","message":"m","lastTransitionTime":"2020-01-01T00:00:00Z"}]}}`)
	p.do("finalize with another finalizer", http.MethodPut, all+"/NAMESPACE-a/finalize", "{apiVersion: v1, kind: Namespace, metadata: {name: NAMESPACE-a}, spec: {finalizers: [example.com/f]}}")
	p.do("get finalize", http.MethodGet, all+"/NAMESPACE-a/finalize", "")
	p.do("finalize another name", http.MethodPut, all+"/NAMESPACE-a/finalize", "{apiVersion: v1, kind: Namespace, metadata: {name: other}, spec: {finalizers: []}}")
	p.do("finalize", http.MethodPut, all+"/NAMESPACE-a/finalize", "{apiVersion: v1, kind: Namespace, metadata: {name: NAMESPACE-a}, spec: {finalizers: []}}")
	p.do("get what is gone", http.MethodGet, all+"/NAMESPACE-a", "")
	p.do("deletecollection is not served", http.MethodDelete, all, "")
}

// evictions plays evictions of pods with and without a PodDisruptionBudget.
func evictions(p *play) {
	const budgets = "/apis/policy/v1/namespaces/NAMESPACE/poddisruptionbudgets"
	budget := func(name, spec string) {
		p.must(http.MethodPost, budgets, "{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: "+name+"}, spec: {"+spec+"}}")
	}
	status := func(name, status string) {
		p.must(http.MethodPatch, budgets+"/"+name+"/status", `{"status":`+status+`}`, "Content-Type: "+merge)
	}
	running := func(name, metadata, conditions string) {
		p.must(http.MethodPost, pods, pod(name, metadata))
		p.must(http.MethodPatch, pods+"/"+name+"/status", `{"status":{"phase":"Running","conditions":[`+conditions+`]}}`, "Content-Type: "+merge)
	}
	const ready = `{"type":"Ready","status":"True"}`
	evict := func(step, name, options string) {
		p.do(step, http.MethodPost, pods+"/"+name+"/eviction", "{apiVersion: policy/v1, kind: Eviction, metadata: {name: "+name+"}"+options+"}")
	}
	evict("absent", "absent", "")
	p.do("another name", http.MethodPost, pods+"/a/eviction", "{apiVersion: policy/v1, kind: Eviction, metadata: {name: b}}")
	for _, name := range []string{"a", "b", "c"} {
		running(name, "labels: {app: a}", ready)
	}
	running("unready", "labels: {app: a}", `{"type":"Ready","status":"False"}`)
	p.must(http.MethodPost, pods, pod("pending", "labels: {app: a}"))
	budget("a", "minAvailable: 2, selector: {matchLabels: {app: a}}")
	evict("not yet processed", "a", "")
	status("a", `{"observedGeneration":1,"disruptionsAllowed":1,"currentHealthy":3,"desiredHealthy":2,"expectedPods":3}`)
	evict("dry run", "a", ", deleteOptions: {dryRun: [All]}")
	evict("allowed", "a", "")
	p.do("budget after it", http.MethodGet, budgets+"/a", "")
	evict("refused", "b", "")
	evict("refused, dry run", "b", ", deleteOptions: {dryRun: [All]}")
	evict("unready", "unready", "")
	evict("pending", "pending", "")
	evict("wrong uid", "b", `, deleteOptions: {preconditions: {uid: "00000000-0000-4000-8000-000000000001"}}`)
	status("a", `{"disruptionsAllowed":1,"observedGeneration":0}`)
	evict("old generation", "b", "")
	budget("second", "maxUnavailable: 1, selector: {matchLabels: {app: a}}")
	evict("two budgets", "b", "")
	p.do("policy/v1beta1", http.MethodPost, pods+"/c/eviction", "{apiVersion: policy/v1beta1, kind: Eviction, metadata: {name: c}}")
	p.do("a get", http.MethodGet, pods+"/c/eviction", "")
	running("terminating", "labels: {app: a}, finalizers: [example.com/f]", ready)
	p.must(http.MethodDelete, pods+"/terminating", "")
	evict("terminating", "terminating", "")
	running("free", "", ready)
	evict("no budget", "free", ", deleteOptions: {gracePeriodSeconds: 0}")
}

// reviews plays reviews of users and rights, and requests for tokens.
func reviews(p *play) {
	review := func(step, group, plural, kind, spec string, headers ...string) {
		p.do(step, http.MethodPost, "/apis/"+group+"/v1/"+plural, "{apiVersion: "+group+"/v1, kind: "+kind+spec+"}", headers...)
	}
	const authn, authz = "authentication.k8s.io", "authorization.k8s.io"
	review("who am I", authn, "selfsubjectreviews", "SelfSubjectReview", "")
	review("token review of rubbish", authn, "tokenreviews", "TokenReview", ", spec: {token: rubbish}")
	review("token review without a token", authn, "tokenreviews", "TokenReview", ", spec: {}")
	review("may I", authz, "selfsubjectaccessreviews", "SelfSubjectAccessReview", ", spec: {resourceAttributes: {namespace: NAMESPACE, verb: get, resource: pods}}")
	review("may I, path", authz, "selfsubjectaccessreviews", "SelfSubjectAccessReview", ", spec: {nonResourceAttributes: {path: /healthz, verb: get}}")
	review("may I, both", authz, "selfsubjectaccessreviews", "SelfSubjectAccessReview", ", spec: {resourceAttributes: {verb: get}, nonResourceAttributes: {path: /healthz, verb: get}}")
	review("may I, neither", authz, "selfsubjectaccessreviews", "SelfSubjectAccessReview", ", spec: {}")
	review("may another", authz, "subjectaccessreviews", "SubjectAccessReview", ", spec: {user: other, groups: [g], resourceAttributes: {namespace: NAMESPACE, verb: get, resource: pods}}")
	review("may a master", authz, "subjectaccessreviews", "SubjectAccessReview", ", spec: {user: other, groups: [\"system:masters\"], resourceAttributes: {namespace: NAMESPACE, verb: get, resource: pods}}")
	review("may nobody", authz, "subjectaccessreviews", "SubjectAccessReview", ", spec: {resourceAttributes: {verb: get, resource: pods}}")
	review("rules", authz, "selfsubjectrulesreviews", "SelfSubjectRulesReview", ", spec: {namespace: NAMESPACE}")
	review("rules without a namespace", authz, "selfsubjectrulesreviews", "SelfSubjectRulesReview", ", spec: {}")
	const local = "/apis/authorization.k8s.io/v1/namespaces/NAMESPACE/localsubjectaccessreviews"
	p.do("local", http.MethodPost, local, "{apiVersion: authorization.k8s.io/v1, kind: LocalSubjectAccessReview, metadata: {namespace: NAMESPACE}, spec: {user: other, resourceAttributes: {namespace: NAMESPACE, verb: get, resource: pods}}}")
	p.do("local, another namespace", http.MethodPost, local, "{apiVersion: authorization.k8s.io/v1, kind: LocalSubjectAccessReview, metadata: {namespace: NAMESPACE}, spec: {user: other, resourceAttributes: {namespace: other, verb: get, resource: pods}}}")
	const accounts = "/api/v1/namespaces/NAMESPACE/serviceaccounts"
	p.must(http.MethodPost, accounts, "{apiVersion: v1, kind: ServiceAccount, metadata: {name: s}}")
	token := func(step, name, spec string) {
		p.do(step, http.MethodPost, accounts+"/"+name+"/token", "{apiVersion: authentication.k8s.io/v1, kind: TokenRequest, spec: {"+spec+"}}")
	}
	token("token too short", "s", "expirationSeconds: 10")
	token("token of nobody", "absent", "expirationSeconds: 600")
	token("token bound to an absent pod", "s", "boundObjectRef: {kind: Pod, apiVersion: v1, name: absent}")
	token("token bound to another kind", "s", "boundObjectRef: {kind: Node2, apiVersion: v1, name: x}")
	token("token", "s", "audiences: [\"https://127.0.0.1:8443/\"], expirationSeconds: 600")
	p.token = exchange.TextAt(p.Last, "status", "token")
	review("token review of another audience", authn, "tokenreviews", "TokenReview", ", spec: {token: \"TOKEN\", audiences: [other]}")
	review("who is the account", authn, "selfsubjectreviews", "SelfSubjectReview", "", "Authorization: Bearer TOKEN")
	p.do("what may the account", http.MethodGet, configMaps, "", "Authorization: Bearer TOKEN")
	p.do("get of a review", http.MethodGet, "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", "")
}

// rights plays requests of users who have rights by Roles and their bindings.
func rights(p *play) {
	const rbac, nobody = "/apis/rbac.authorization.k8s.io/v1/namespaces/NAMESPACE/", "Authorization: Bearer nobody-token"
	role := func(name, rules string) string {
		return "{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {name: " + name + "}, rules: [" + rules + "]}"
	}
	binding := func(name, role string) string {
		return "{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, metadata: {name: " + name + "}, subjects: [{kind: User, name: nobody, apiGroup: rbac.authorization.k8s.io}], roleRef: {kind: Role, name: " + role + ", apiGroup: rbac.authorization.k8s.io}}"
	}
	p.do("forbidden list", http.MethodGet, configMaps, "", nobody)
	p.do("forbidden get", http.MethodGet, configMaps+"/a", "", nobody)
	p.do("forbidden subresource", http.MethodGet, pods+"/a/log", "", nobody)
	p.do("forbidden cluster scope", http.MethodGet, "/api/v1/nodes/a", "", nobody)
	p.do("forbidden path", http.MethodGet, "/metrics", "", nobody)
	p.do("forbidden impersonation", http.MethodGet, configMaps, "", nobody, "Impersonate-User: admin")
	p.do("wrong token", http.MethodGet, configMaps, "", "Authorization: Bearer wrong")
	p.do("role", http.MethodPost, rbac+"roles", role("reader", `{apiGroups: ["", rbac.authorization.k8s.io], resources: [configmaps, roles, rolebindings], verbs: [get, list, create]}`))
	p.do("binding", http.MethodPost, rbac+"rolebindings", binding("reader", "reader"))
	p.until("the right", http.MethodPost, "/apis/authorization.k8s.io/v1/subjectaccessreviews", "{apiVersion: authorization.k8s.io/v1, kind: SubjectAccessReview, spec: {user: nobody, resourceAttributes: {namespace: NAMESPACE, verb: list, resource: configmaps}}}", func(_ int, body []byte) bool {
		return bytes.Contains(body, []byte(`"allowed":true`))
	})
	p.do("allowed list", http.MethodGet, configMaps, "", nobody)
	p.do("still forbidden", http.MethodDelete, configMaps+"/a", "", nobody)
	p.do("escalation by a role", http.MethodPost, rbac+"roles", role("more", `{apiGroups: [""], resources: [secrets], verbs: ["*"]}`), nobody)
	p.do("a role of the same rights", http.MethodPost, rbac+"roles", role("same", `{apiGroups: [""], resources: [configmaps], verbs: [get]}`), nobody)
	p.do("a binding of the same rights", http.MethodPost, rbac+"rolebindings", binding("same", "same"), nobody)
	p.do("a binding to an absent role", http.MethodPost, rbac+"rolebindings", binding("absent", "absent"), nobody)
	p.do("another roleRef", http.MethodPut, rbac+"rolebindings/reader", binding("reader", "other"))
	p.do("as the user", http.MethodGet, configMaps, "", "Impersonate-User: nobody")
	p.do("as a user of a group", http.MethodPost, "/apis/authentication.k8s.io/v1/selfsubjectreviews", "{apiVersion: authentication.k8s.io/v1, kind: SelfSubjectReview}", "Impersonate-User: other", "Impersonate-Group: g", "Impersonate-Extra-Reason: r")
	p.do("impersonation without a user", http.MethodGet, configMaps, "", "Impersonate-Group: g")
}

// deletions plays deletions with propagation policies, finalizers, preconditions and grace.
func deletions(p *play) {
	remove := func(step, name, options string, query ...string) {
		body := ""
		if options != "" {
			body = "{apiVersion: v1, kind: DeleteOptions, " + options + "}"
		}
		p.do(step, http.MethodDelete, configMaps+"/"+name+strings.Join(query, ""), body)
		p.do("get after: "+step, http.MethodGet, configMaps+"/"+name, "")
	}
	for i, policy := range []string{"Foreground", "Orphan", "Background", "Bad"} {
		name := "p" + string(rune('a'+i))
		p.must(http.MethodPost, configMaps, configMap(name, ""))
		remove(policy, name, "propagationPolicy: "+policy)
		remove(policy+" again", name, "propagationPolicy: Background")
	}
	p.must(http.MethodPost, configMaps, configMap("o", "finalizers: [example.com/f]"))
	remove("orphanDependents", "o", "orphanDependents: true")
	p.patch("other finalizer is gone", configMaps+"/o", merge, `{"metadata":{"finalizers":["orphan"]}}`)
	p.patch("a new finalizer", configMaps+"/o", merge, `{"metadata":{"finalizers":["orphan","example.com/new"]}}`)
	remove("foreground instead", "o", "propagationPolicy: Foreground")
	p.patch("all finalizers are gone", configMaps+"/o", merge, `{"metadata":{"finalizers":null}}`)
	p.must(http.MethodPost, configMaps, configMap("c", ""))
	remove("wrong uid", "c", `preconditions: {uid: "00000000-0000-4000-8000-000000000001"}`)
	remove("wrong version", "c", `preconditions: {resourceVersion: "1"}`)
	remove("both policies", "c", "propagationPolicy: Orphan, orphanDependents: true")
	remove("by parameters", "c", "", "?propagationPolicy=Foreground")
	for _, name := range []string{"a", "b", "d"} {
		p.must(http.MethodPost, pods, pod(name, ""))
	}
	p.do("a pod", http.MethodDelete, pods+"/a", "")
	p.do("a pod again", http.MethodDelete, pods+"/a", "")
	p.do("a pod, sooner", http.MethodDelete, pods+"/a?gracePeriodSeconds=5", "")
	p.do("a pod, later", http.MethodDelete, pods+"/a?gracePeriodSeconds=50", "")
	p.do("get the pod", http.MethodGet, pods+"/a", "")
	p.do("a pod at once", http.MethodDelete, pods+"/a?gracePeriodSeconds=0", "")
	p.do("get the pod then", http.MethodGet, pods+"/a", "")
	p.do("a negative grace", http.MethodDelete, pods+"/b?gracePeriodSeconds=-1", "")
	p.do("a pod in the foreground", http.MethodDelete, pods+"/d?propagationPolicy=Foreground", "")
	p.do("the collection", http.MethodDelete, configMaps+"?propagationPolicy=Orphan&labelSelector=none", "")
}

// owned returns a configMap that has an owner.
func (p *play) owned(name, kind, owner, members string) string {
	version := "v1"
	if kind == "Deployment" {
		version = "apps/v1"
	}
	return configMap(name, "ownerReferences: [{apiVersion: "+version+", kind: "+kind+", name: "+owner+", uid: "+p.uid(owner)+members+"}]")
}

// uid returns the uid of a configMap, or a uid that no object has.
func (p *play) uid(name string) string {
	_, data, err := p.Send(http.MethodGet, configMaps+"/"+name, "")
	if err == nil {
		if _, after, ok := bytes.Cut(data, []byte(`"uid":"`)); ok {
			return string(after[:36])
		}
	}
	return "00000000-0000-4000-8000-000000000001"
}

// collector plays deletions of owners, after which the garbage collector deletes their dependents.
func collector(p *play) {
	create := func(name string) { p.must(http.MethodPost, configMaps, configMap(name, "")) }
	depend := func(name, owner, members string) {
		p.must(http.MethodPost, configMaps, p.owned(name, "ConfigMap", owner, members))
	}
	create("a")
	depend("aa", "a", "")
	depend("aaa", "aa", "")
	w := p.follow(configMaps)
	p.do("delete in the background", http.MethodDelete, configMaps+"/a", "")
	w.settle("background")
	create("b")
	depend("ba", "b", ", blockOwnerDeletion: true")
	depend("bb", "b", "")
	depend("baa", "ba", ", blockOwnerDeletion: true")
	w = p.follow(configMaps)
	p.do("delete in the foreground", http.MethodDelete, configMaps+"/b?propagationPolicy=Foreground", "")
	w.settle("foreground")
	create("c")
	p.must(http.MethodPost, configMaps, strings.Replace(p.owned("ca", "ConfigMap", "c", ", blockOwnerDeletion: true"), "name: ca", "name: ca, finalizers: [example.com/f]", 1))
	w = p.follow(configMaps)
	p.do("delete before one with a finalizer", http.MethodDelete, configMaps+"/c?propagationPolicy=Foreground", "")
	w.settle("foreground waits")
	w = p.follow(configMaps)
	p.patch("the finalizer is gone", configMaps+"/ca", merge, `{"metadata":{"finalizers":null}}`)
	w.settle("foreground goes on")
	w = p.follow(configMaps)
	depend("lonely", "absent", "")
	w.settle("absent owner")
	w = p.follow(configMaps)
	p.must(http.MethodPost, configMaps, configMap("foreign", "ownerReferences: [{apiVersion: v1, kind: ConfigMap, name: kube-root, uid: 00000000-0000-4000-8000-000000000002}, {apiVersion: v1, kind: Namespace, name: NAMESPACE, uid: 00000000-0000-4000-8000-000000000003}]"))
	w.settle("two absent owners")
	create("d")
	depend("da", "d", "")
	p.must(http.MethodPatch, configMaps+"/d", `{"metadata":{"ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap","name":"da","uid":"`+p.uid("da")+`","blockOwnerDeletion":true}]}}`, "Content-Type: "+merge)
	w, last := p.follow(configMaps), p.follow(configMaps)
	p.do("delete in a circle", http.MethodDelete, configMaps+"/d?propagationPolicy=Foreground", "")
	// Whether the circle is seen before its first object has gone is a race of workers, which decides about the events.
	w.gone("d")
	last.gone("da")
	create("e")
	create("f")
	p.must(http.MethodPost, configMaps, configMap("ef", "ownerReferences: [{apiVersion: v1, kind: ConfigMap, name: e, uid: "+p.uid("e")+"}, {apiVersion: v1, kind: ConfigMap, name: f, uid: "+p.uid("f")+"}]"))
	w = p.follow(configMaps)
	p.do("delete one of two owners", http.MethodDelete, configMaps+"/e", "")
	w.settle("one of two owners")
}

// orphans plays deletions that leave the dependents without an owner.
func orphans(p *play) {
	p.must(http.MethodPost, configMaps, configMap("a", ""))
	p.must(http.MethodPost, configMaps, p.owned("aa", "ConfigMap", "a", ", blockOwnerDeletion: true"))
	p.must(http.MethodPost, configMaps, p.owned("ab", "ConfigMap", "a", ""))
	w := p.follow(configMaps)
	p.do("orphan", http.MethodDelete, configMaps+"/a?propagationPolicy=Orphan", "")
	w.settle("orphan")
}

// emptied plays deletions of namespaces that have objects.
func emptied(p *play) {
	const all = "/api/v1/namespaces"
	p.must(http.MethodPost, all, "{apiVersion: v1, kind: Namespace, metadata: {name: NAMESPACE-a, labels: {watched: RUNID}}}")
	p.must(http.MethodPost, all+"/NAMESPACE-a/configmaps", configMap("a", ""))
	p.must(http.MethodPost, all+"/NAMESPACE-a/secrets", "{apiVersion: v1, kind: Secret, metadata: {name: s}}")
	p.must(http.MethodPost, all+"/NAMESPACE-a/pods", pod("p", "finalizers: [example.com/f]"))
	w := p.follow(all+"/NAMESPACE-a/configmaps", all+"/NAMESPACE-a/secrets")
	p.do("delete", http.MethodDelete, all+"/NAMESPACE-a", "")
	w.settle("content")
	p.until("the conditions", http.MethodGet, all+"/NAMESPACE-a", "", func(_ int, body []byte) bool { return bytes.Contains(body, []byte("NamespaceFinalizersRemaining")) })
	p.do("what remains", http.MethodGet, all+"/NAMESPACE-a", "")
	p.do("the pod", http.MethodGet, all+"/NAMESPACE-a/pods/p", "")
	p.must(http.MethodPatch, all+"/NAMESPACE-a/pods/p", `{"metadata":{"finalizers":null}}`, "Content-Type: "+merge)
	p.must(http.MethodDelete, all+"/NAMESPACE-a/pods/p?gracePeriodSeconds=0", "")
}
