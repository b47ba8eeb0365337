package cluster

import (
	"net/http"
	"strings"
)

// This file has the scenario of expressions that are compiled when they are written. Nearly all writes are dry runs.

const admissionGroup = "/apis/admissionregistration.k8s.io/v1/"

// ofExample are rules of policies for a kind that nobody writes.
const ofExample = `matchConstraints: {resourceRules: [{apiGroups: [example.com], apiVersions: [v1], operations: [CREATE], resources: [as]}]}`

func validatingPolicy(name, spec string) string {
	return "{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingAdmissionPolicy, metadata: {name: " + name + "}, spec: {" + ofExample + ", " + spec + "}}"
}

func mutatingPolicy(name, spec string) string {
	return "{apiVersion: admissionregistration.k8s.io/v1, kind: MutatingAdmissionPolicy, metadata: {name: " + name + "}, spec: {reinvocationPolicy: Never, " + ofExample + ", " + spec + "}}"
}

// expressions plays expressions that compile, that do not, and that have the wrong type.
func expressions(p *play) {
	const (
		params  = "paramKind: {apiVersion: v1, kind: ConfigMap}, "
		allowed = `validations: [{expression: "true"}]`
	)
	for _, c := range [][2]string{
		{"a validation", `validations: [{expression: "object.spec.replicas < 5 && request.operation == 'CREATE' && namespaceObject.metadata.name != ''"}]`},
		{"syntax", `validations: [{expression: "object.spec.replicas <"}, {expression: "  1 +  "}, {expression: "a b"}]`},
		{"two lines", `validations: [{expression: "object.x &&\n  object.y &&"}]`},
		{"types of validations", `validations: [{expression: "1"}, {expression: "object.x"}, {expression: "'a'"}, {expression: "null"}, {expression: "[true]"}]`},
		{"unknown names", `validations: [{expression: "objekt.x == 1"}, {expression: "request.verb == 'a'"}, {expression: "namespaceObject.spec.replicas == 1"}, {expression: "f(1)"}]`},
		{"params without a kind", `validations: [{expression: "params.x == 1"}]`},
		{"params", params + `validations: [{expression: "params.x == 1", messageExpression: "params.y"}], matchConditions: [{name: a, expression: "params.z"}]`},
		{"libraries", `validations: [{expression: "isQuantity('1Gi') && quantity('1Gi').isGreaterThan(quantity('1Mi')) && ip('192.0.2.1').family() == 4 && format.dns1123Label().validate('a').hasValue() == false"}, {expression: "[1, 2].transformMap(i, v, i + v) == {}"}, {expression: "semver('1.2.3').isLessThan(semver('2.0.0'))"}, {expression: "url('https://a').getHost() == 'a' && 'a'.matches('[a-z]') && sets.contains([1], [1]) && [1].isSorted()"}]`},
		{"literals", `validations: [{expression: "'a'.matches('[')"}, {expression: "duration('x') == duration('1s')"}, {expression: "timestamp('x') == timestamp('2026-01-01T00:00:00Z')"}, {expression: "[1, 'a'] == []"}]`},
		{"authorizer", `validations: [{expression: "authorizer.group('').resource('pods').check('create').allowed() && authorizer.requestResource.check('x').allowed() && authorizer.group('').resource('pods').fieldSelector('a=b').check('list').allowed()"}]`},
		{"messages", `validations: [{expression: "true", messageExpression: "'a' + string(1)"}, {expression: "true", messageExpression: "1"}, {expression: "true", messageExpression: " "}, {expression: "true", messageExpression: "authorizer.group('')"}, {expression: "true", messageExpression: "object.x +"}, {expression: " ", messageExpression: "2", message: "a\nb", reason: Other}]`},
		{"match conditions", allowed + `, matchConditions: [{name: a, expression: "true"}, {name: b, expression: " 1 "}, {name: "", expression: "x"}, {name: c, expression: "variables.a"}, {name: c, expression: "object.x =="}, {name: d, expression: " "}]`},
		{"variables", `variables: [{name: a, expression: "object.spec.replicas"}, {name: b, expression: "variables.a + 1"}, {name: c, expression: "[1, 2, 3]"}], validations: [{expression: "variables.b > 1 && variables.c.all(x, x > 0)", messageExpression: "string(variables.b)"}]`},
		{"variables out of order", `variables: [{name: a, expression: "variables.b"}, {name: b, expression: "1"}], validations: [{expression: "variables.a == 1"}]`},
		{"types of variables", `variables: [{name: a, expression: "1"}, {name: b, expression: "variables.a == 'x'"}, {name: c, expression: "'x'"}], validations: [{expression: "variables.c"}, {expression: "variables.d"}, {expression: "variables.a + variables.c == 1"}]`},
		{"bad variables", `variables: [{name: "", expression: "1"}, {name: "in", expression: "1"}, {name: "a-b", expression: ""}, {name: e, expression: "1 +"}, {name: e, expression: "2"}], ` + allowed},
		{"variables without validations", `variables: [{name: a, expression: "1 +"}]`},
		{"annotations", `auditAnnotations: [{key: a, valueExpression: "'x'"}, {key: b, valueExpression: "null"}, {key: c, valueExpression: "1"}, {key: d, valueExpression: "object.x"}, {key: e, valueExpression: " 'x "}, {key: a, valueExpression: "true ? 'a' : null"}, {key: f, valueExpression: ""}]`},
		{"annotations with variables", `variables: [{name: a, expression: "'x'"}], auditAnnotations: [{key: a, valueExpression: "variables.a"}]`},
		{"all at once", `failurePolicy: Never, ` + `matchConditions: [{name: "a b", expression: "1"}], variables: [{name: a, expression: "x"}], validations: [{expression: "y", messageExpression: "z", reason: R}], auditAnnotations: [{key: "a b", valueExpression: "w"}]`},
	} {
		p.do(c[0], http.MethodPost, admissionGroup+"validatingadmissionpolicies?dryRun=All", validatingPolicy("a-RUNID", c[1]))
	}
	long := "true" + strings.Repeat(" || true", 700)
	p.do("long", http.MethodPost, admissionGroup+"validatingadmissionpolicies?dryRun=All", validatingPolicy("a-RUNID", `validations: [{expression: "`+long+`"}], auditAnnotations: [{key: a, valueExpression: "`+long+`"}]`))
	// Expressions that are too long or too deep to be parsed, and a policy of many.
	for _, c := range [][2]string{
		{"too long", "true" + strings.Repeat(" || true", 13_000)},
		{"too deep", strings.Repeat("(", 300) + "true" + strings.Repeat(")", 300)},
		{"deep", strings.Repeat("!(", 100) + "true" + strings.Repeat(")", 100)},
		{"a long list", "[" + strings.Repeat("1, ", 5_000) + "1] == []"},
		{"lists in lists", strings.Repeat("[1, 2, 3].all(x, ", 12) + "true" + strings.Repeat(")", 12)},
	} {
		p.do(c[0], http.MethodPost, admissionGroup+"validatingadmissionpolicies?dryRun=All&fieldManager=m", validatingPolicy("a-RUNID", `validations: [{expression: "`+c[1]+`"}]`), "Accept: application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1")
	}
	p.do("many variables", http.MethodPost, admissionGroup+"validatingadmissionpolicies?dryRun=All", validatingPolicy("a-RUNID",
		`variables: [{name: a, expression: "1"}`+strings.Repeat(`, {name: a, expression: "variables.a + 1"}`, 200)+`], validations: [{expression: "variables.a == 1"}]`))

	const patch, configuration = `mutations: [{patchType: JSONPatch, jsonPatch: {expression: "EXPRESSION"}}]`, `mutations: [{patchType: ApplyConfiguration, applyConfiguration: {expression: "EXPRESSION"}}]`
	for _, c := range [][3]string{
		{"a patch", patch, `[JSONPatch{op: 'add', path: '/metadata/labels/' + jsonpatch.escapeKey('a/b'), value: Object.metadata{labels: {'a': 'b'}}}]`},
		{"a list of anything", patch, `[]`},
		{"a list of numbers", patch, `[1]`},
		{"a patch that is none", patch, `JSONPatch{op: 'add', path: '/a'}`},
		{"members of a patch", patch, `[JSONPatch{operation: 'add'}]`},
		{"syntax of a patch", patch, ` [JSONPatch{op: 'add' `},
		{"no patch", patch, ` `},
		{"a configuration", configuration, `Object{metadata: Object.metadata{labels: {'a': 'b'}}, spec: Object.spec{replicas: 3}}`},
		{"a configuration of another type", configuration, `Object.spec{replicas: 3}`},
		{"a map", configuration, `{'spec': 1}`},
		{"a configuration with a variable", configuration, `Object{spec: Object.spec{replicas: variables.a}}`},
		{"params of a mutation", configuration, `Object{spec: Object.spec{replicas: params.a}}`},
		{"authorizer of a mutation", configuration, `authorizer.group('').resource('pods').check('x').allowed() ? Object{} : Object{spec: Object.spec{}}`},
		{"no configuration", configuration, ``},
	} {
		p.do(c[0], http.MethodPost, admissionGroup+"mutatingadmissionpolicies?dryRun=All", mutatingPolicy("a-RUNID", strings.Replace(c[1], "EXPRESSION", c[2], 1)))
	}
	p.do("a mutation with variables", http.MethodPost, admissionGroup+"mutatingadmissionpolicies?dryRun=All", mutatingPolicy("a-RUNID", params+
		`variables: [{name: a, expression: "object.spec.replicas + 1"}, {name: b, expression: "variables.c"}, {name: c, expression: "params.x"}], matchConditions: [{name: a, expression: "params.x == 1 && variables.a"}], mutations: [{patchType: ApplyConfiguration, applyConfiguration: {expression: "Object{spec: Object.spec{replicas: variables.a, x: params.y}}"}}, {patchType: Other}, {patchType: JSONPatch, applyConfiguration: {expression: "1"}}]`))

	for _, o := range [][2]string{{"ValidatingWebhookConfiguration", "validatingwebhookconfigurations"}, {"MutatingWebhookConfiguration", "mutatingwebhookconfigurations"}} {
		hooks := func(conditions string) string {
			return "{apiVersion: admissionregistration.k8s.io/v1, kind: " + o[0] + ", metadata: {name: expressions-RUNID}, webhooks: [{name: a.example.com, sideEffects: None, admissionReviewVersions: [v1], failurePolicy: Ignore, clientConfig: {url: 'https://127.0.0.1:1/'}, matchConditions: [" + conditions + "]}]}"
		}
		p.do(o[0], http.MethodPost, admissionGroup+o[1]+"?dryRun=All", hooks(`{name: a, expression: "request.operation == 'CREATE' && authorizer.group('').resource('pods').check('x').allowed()"}, {name: b, expression: "object.x"}, {name: c, expression: "1"}, {name: d, expression: "params.x == 1"}, {name: e, expression: "variables.x"}, {name: f, expression: "  object. "}`))
		p.must(http.MethodPost, admissionGroup+o[1], hooks(`{name: a, expression: "true"}`))
		p.patch(o[0]+", update", admissionGroup+o[1]+"/expressions-RUNID?dryRun=All", merge, `{"metadata":{"labels":{"a":"b"}}}`)
		p.patch(o[0]+", a bad condition", admissionGroup+o[1]+"/expressions-RUNID?dryRun=All", jsonPatch, `[{"op":"replace","path":"/webhooks/0/matchConditions/0/expression","value":"1"}]`)
		p.must(http.MethodDelete, admissionGroup+o[1]+"/expressions-RUNID", "")
	}

	policy := admissionGroup + "validatingadmissionpolicies/expressions-RUNID"
	p.do("policy", http.MethodPost, admissionGroup+"validatingadmissionpolicies", validatingPolicy("expressions-RUNID", params+`variables: [{name: a, expression: "params.x"}], matchConditions: [{name: a, expression: "params.x == 1"}], validations: [{expression: "variables.a == 1"}]`))
	p.patch("policy without its kind of params", policy+"?dryRun=All", merge, `{"spec":{"paramKind":null}}`)
	p.patch("policy without variables", policy+"?dryRun=All", merge, `{"spec":{"variables":null}}`)
	p.patch("policy, labels", policy, merge, `{"metadata":{"labels":{"a":"b"}}}`)
	p.patch("status, type checking", policy+"/status", merge, `{"status":{"typeChecking":{"expressionWarnings":[{"fieldRef":"spec.validations[0].expression","warning":"w"}]}}}`)
	p.patch("status, bad type checking", policy+"/status", merge, `{"status":{"typeChecking":{"expressionWarnings":[{"fieldRef":" ","warning":""},{"fieldRef":"spec[","warning":"w"}]}}}`)
	p.must(http.MethodDelete, policy, "")
}

// deviceExpressions plays the selectors of devices.
func deviceExpressions(p *play) {
	const devices, claims = "/apis/resource.k8s.io/v1/", "/apis/resource.k8s.io/v1/namespaces/NAMESPACE/"
	all := []string{
		`device.driver == 'example.com'`, `device.attributes['example.com'].model == 'a' && device.capacity['example.com'].memory.isGreaterThan(quantity('1Gi'))`,
		`1`, `device.x`, `device.driver ==`, `device.attributes`, `object.x`, ``, `device.allowMultipleAllocations`, `device.attributes['a'].version.isLessThan(semver('1.0.0'))`,
		`device.attributes['a'].list.includes('x')`,
		`device.attributes.all(a, device.attributes.all(b, device.attributes.all(c, device.attributes.all(d, a + b + c + d != ''))))`,
		`device.driver == '` + strings.Repeat("a", 10<<10) + `'`,
	}
	var selectors []string
	for _, text := range all {
		selectors = append(selectors, `{cel: {expression: "`+text+`"}}`)
	}
	list := "[" + strings.Join(selectors, ", ") + ", {}]"
	p.do("class", http.MethodPost, devices+"deviceclasses?dryRun=All", "{apiVersion: resource.k8s.io/v1, kind: DeviceClass, metadata: {name: a-RUNID}, spec: {selectors: "+list+"}}")
	p.do("claim", http.MethodPost, claims+"resourceclaims?dryRun=All", "{apiVersion: resource.k8s.io/v1, kind: ResourceClaim, metadata: {name: a}, spec: {devices: {requests: [{name: r, exactly: {deviceClassName: c, selectors: "+list+"}}]}}}")
	p.do("alternatives", http.MethodPost, claims+"resourceclaims?dryRun=All", "{apiVersion: resource.k8s.io/v1, kind: ResourceClaim, metadata: {name: a}, spec: {devices: {requests: [{name: r, firstAvailable: [{name: s, deviceClassName: c, selectors: "+list+"}]}]}}}")
	p.do("template", http.MethodPost, claims+"resourceclaimtemplates?dryRun=All", "{apiVersion: resource.k8s.io/v1, kind: ResourceClaimTemplate, metadata: {name: a}, spec: {spec: {devices: {requests: [{name: r, exactly: {deviceClassName: c, selectors: "+list+"}}]}}}}")
	class := "{apiVersion: resource.k8s.io/v1, kind: DeviceClass, metadata: {name: a-RUNID}, spec: {selectors: [" + selectors[0] + "]}}"
	p.do("good class", http.MethodPost, devices+"deviceclasses", class)
	p.patch("class, labels", devices+"deviceclasses/a-RUNID", merge, `{"metadata":{"labels":{"a":"b"}}}`)
	p.patch("class, a bad selector", devices+"deviceclasses/a-RUNID", merge, `{"spec":{"selectors":[{"cel":{"expression":"device.x"}}]}}`)
	p.must(http.MethodDelete, devices+"deviceclasses/a-RUNID", "")
}

// parameters plays policies and bindings of a user who may not read their parameters.
func parameters(p *play) {
	const jane = "Impersonate-User: jane-RUNID"
	roles, bindings := "/apis/rbac.authorization.k8s.io/v1/clusterroles", "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings"
	p.must(http.MethodPost, roles, `{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: parameters-RUNID}, rules: [{apiGroups: [admissionregistration.k8s.io], resources: ["*"], verbs: ["*"]}, {apiGroups: [""], resources: [configmaps], resourceNames: [mine], verbs: [get]}, {apiGroups: [""], resources: [secrets], verbs: [get]}]}`)
	p.must(http.MethodPost, bindings, `{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRoleBinding, metadata: {name: parameters-RUNID}, roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: parameters-RUNID}, subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: jane-RUNID}]}`)
	p.until("the right", http.MethodPost, "/apis/authorization.k8s.io/v1/subjectaccessreviews", `{apiVersion: authorization.k8s.io/v1, kind: SubjectAccessReview, spec: {user: jane-RUNID, resourceAttributes: {verb: get, resource: secrets}}}`, func(_ int, body []byte) bool {
		return strings.Contains(string(body), `"allowed":true`) || strings.Contains(string(body), `"allowed": true`)
	})
	for _, sort := range []struct{ policies, bindings, kind, rest, more string }{
		{"validatingadmissionpolicies", "validatingadmissionpolicybindings", "ValidatingAdmissionPolicy", `validations: [{expression: "true"}]`, ", validationActions: [Deny]"},
		{"mutatingadmissionpolicies", "mutatingadmissionpolicybindings", "MutatingAdmissionPolicy", `reinvocationPolicy: Never, mutations: [{patchType: ApplyConfiguration, applyConfiguration: {expression: "Object{}"}}]`, ""},
	} {
		policy := func(name, params string) string {
			return "{apiVersion: admissionregistration.k8s.io/v1, kind: " + sort.kind + ", metadata: {name: " + name + "}, spec: {" + ofExample + ", " + sort.rest + params + "}}"
		}
		binding := func(policy, ref string) string {
			return "{apiVersion: admissionregistration.k8s.io/v1, kind: " + sort.kind + "Binding, metadata: {name: b-RUNID}, spec: {policyName: " + policy + ", paramRef: {parameterNotFoundAction: Deny, " + ref + "}" + sort.more + "}}"
		}
		for _, c := range [][2]string{
			{"no parameters", ""},
			{"secrets", ", paramKind: {apiVersion: v1, kind: Secret}"},
			{"config maps", ", paramKind: {apiVersion: v1, kind: ConfigMap}"},
			{"no such kind", ", paramKind: {apiVersion: example.com/v1, kind: A}"},
		} {
			p.do(sort.kind+", "+c[0], http.MethodPost, admissionGroup+sort.policies+"?dryRun=All", policy("a-RUNID", c[1]), jane)
		}
		p.must(http.MethodPost, admissionGroup+sort.policies, policy("maps-RUNID", ", paramKind: {apiVersion: v1, kind: ConfigMap}"))
		p.must(http.MethodPost, admissionGroup+sort.policies, policy("as-RUNID", ", paramKind: {apiVersion: example.com/v1, kind: A}"))
		p.do(sort.kind+", labels", http.MethodPatch, admissionGroup+sort.policies+"/maps-RUNID?dryRun=All", `{"metadata":{"labels":{"a":"b"}}}`, jane, "Content-Type: "+merge)
		p.do(sort.kind+", another kind", http.MethodPatch, admissionGroup+sort.policies+"/maps-RUNID?dryRun=All", `{"spec":{"paramKind":{"kind":"Pod"}}}`, jane, "Content-Type: "+merge)
		for _, c := range [][3]string{
			{"the own object", "maps-RUNID", "name: mine, namespace: default"},
			{"another object", "maps-RUNID", "name: other, namespace: default"},
			{"a selector", "maps-RUNID", "selector: {}"},
			{"no such policy", "absent-RUNID", "name: mine"},
			{"no such kind", "as-RUNID", "name: mine"},
			{"not valid", "as-RUNID", "name: mine, selector: {}"},
		} {
			p.do(sort.kind+"Binding, "+c[0], http.MethodPost, admissionGroup+sort.bindings+"?dryRun=All", binding(c[1], c[2]), jane)
		}
		p.do(sort.kind+"Binding of an administrator", http.MethodPost, admissionGroup+sort.bindings, binding("maps-RUNID", "name: other, namespace: default"))
		p.do(sort.kind+"Binding, labels", http.MethodPatch, admissionGroup+sort.bindings+"/b-RUNID?dryRun=All", `{"metadata":{"labels":{"a":"b"}}}`, jane, "Content-Type: "+merge)
		p.must(http.MethodDelete, admissionGroup+sort.bindings+"/b-RUNID", "")
		p.must(http.MethodDelete, admissionGroup+sort.policies+"/maps-RUNID", "")
		p.must(http.MethodDelete, admissionGroup+sort.policies+"/as-RUNID", "")
	}
	p.must(http.MethodDelete, bindings+"/parameters-RUNID", "")
	p.must(http.MethodDelete, roles+"/parameters-RUNID", "")
}
