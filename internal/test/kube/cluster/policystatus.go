package cluster

import (
	"bytes"
	"net/http"
)

// typeChecks plays policies whose expressions do not fit the types that they are about, until the controller has checked them.
func typeChecks(p *play) {
	rule := func(groups, versions, resources string) string {
		return "{apiGroups: [" + groups + "], apiVersions: [" + versions + "], operations: [CREATE], resources: [" + resources + "]}"
	}
	const deployment = "apps"
	for _, c := range [][4]string{
		{"fits", rule(deployment, "v1", "deployments"), "", `{expression: "object.spec.replicas < 5", messageExpression: "string(object.metadata.name)"}`},
		{"unknown-member", rule(deployment, "v1", "deployments"), "", `{expression: "object.spec.replica < 5"}`},
		{"wrong-type", rule(deployment, "v1", "deployments"), "", `{expression: "object.spec.replicas == '5'", messageExpression: "string(object.spec.x)"}, {expression: "object.spec.template.spec.containers.all(c, c.image == 1)"}`},
		{"several", rule(`apps, ""`, "v1", "deployments, pods, statefulsets, replicationcontrollers"), "", `{expression: "object.spec.replicas < 5"}`},
		{"wildcard", rule(`"*"`, "v1", "deployments"), "", `{expression: "object.spec.x < 5"}`},
		{"no-kind", rule("example.com", "v1", "as"), "", `{expression: "object.spec.x < 5"}`},
		{"variables", rule(deployment, "v1", "deployments"), "", `{expression: "variables.a > 1"}, {expression: "variables.b == 1"}`},
		{"params", rule(`""`, "v1", "configmaps, secrets"), "paramKind: {apiVersion: v1, kind: ConfigMap}, ", `{expression: "params.data.x == object.data.x"}, {expression: "params.spec.x == 1"}`},
		{"quantities", rule(`""`, "v1", "persistentvolumeclaims, pods/status, events"), "", `{expression: "object.spec.resources.requests['storage'] == 1"}, {expression: "object.metadata.labels.a == 1"}`},
		{"strings", rule(`""`, "v1", "services"), "", `{expression: "object.spec.ports.exists(p, p.targetPort == 1 || p.targetPort == 'a')"}, {expression: "object.kind == 1 || object.apiVersion == 2"}, {expression: "object.metadata.creationTimestamp < timestamp('2026-01-01T00:00:00Z')"}, {expression: "oldObject.spec.y == 1"}`},
	} {
		name := c[0] + "-RUNID"
		variables := ""
		if c[0] == "variables" {
			variables = `variables: [{name: a, expression: "object.spec.replicas"}, {name: b, expression: "object.spec.selector"}], `
		}
		path := admissionGroup + "validatingadmissionpolicies/" + name
		p.must(http.MethodPost, admissionGroup+"validatingadmissionpolicies", "{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingAdmissionPolicy, metadata: {name: "+name+"}, spec: {"+c[2]+variables+"matchConstraints: {resourceRules: ["+c[1]+"]}, validations: ["+c[3]+"]}}")
		checked := func(generation string) {
			p.until("the status of "+name, http.MethodGet, path, "", func(code int, body []byte) bool {
				return code == http.StatusOK && bytes.Contains(bytes.ReplaceAll(body, []byte(" "), nil), []byte(`"observedGeneration":`+generation))
			})
		}
		checked("1")
		p.do(c[0], http.MethodGet, path, "")
		if c[0] == "unknown-member" {
			p.must(http.MethodPatch, path, `[{"op":"replace","path":"/spec/validations/0/expression","value":"object.spec.replicas < 5"}]`, "Content-Type: "+jsonPatch)
			checked("2")
			p.do("the mistake is gone", http.MethodGet, path, "")
		}
		p.must(http.MethodDelete, path, "")
	}
}
