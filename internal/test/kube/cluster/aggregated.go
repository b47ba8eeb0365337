package cluster

import (
	"bytes"
	"net/http"
	"strings"
)

const (
	apiServicesPath = "/apis/apiregistration.k8s.io/v1/apiservices"
	aggregatedType  = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
)

// aggregated plays an APIService whose group another server answers: the webhook server of the play.
func aggregated(p *play) {
	const (
		group    = "remote-RUNID.example.com"
		one      = apiServicesPath + "/v1." + group
		services = "/api/v1/namespaces/NAMESPACE/services"
		slices   = "/apis/discovery.k8s.io/v1/namespaces/NAMESPACE/endpointslices"
		things   = "/apis/" + group + "/v1/namespaces/NAMESPACE/things"
	)
	p.port = p.hooks.port()
	p.cleanup = append(p.cleanup, one)
	reason := func(want string) {
		p.until(want, http.MethodGet, one, "", func(_ int, body []byte) bool { return bytes.Contains(body, []byte(`"reason":"`+want+`"`)) })
		p.do(want, http.MethodGet, one, "")
	}
	listed := func(when string) {
		p.do("groups "+when, http.MethodGet, "/apis", "")
		p.do("group "+when, http.MethodGet, "/apis/"+group, "")
		p.do("group with a slash "+when, http.MethodGet, "/apis/"+group+"/", "")
		p.do("version "+when, http.MethodGet, "/apis/"+group+"/v1", "")
		p.do("object "+when, http.MethodGet, things+"/a", "")
	}
	discovered := func(when string, resources bool) {
		p.until("discovery "+when, http.MethodGet, "/apis", "", func(int, []byte) bool {
			resp, data, err := p.Send(http.MethodGet, "/apis", "", "Accept: "+aggregatedType)
			at := bytes.Index(data, []byte(p.text(group)))
			return err == nil && resp.StatusCode == http.StatusOK && at > 0 && bytes.Contains(data[at:], []byte(`"resource":"things"`)) == resources
		})
		p.do("discovery "+when, http.MethodGet, "/apis", "", "Accept: "+aggregatedType)
	}
	p.do("remote", http.MethodPost, apiServicesPath, "{apiVersion: apiregistration.k8s.io/v1, kind: APIService, metadata: {name: v1."+group+"}, spec: {group: "+group+
		", version: v1, groupPriorityMinimum: 17450, versionPriority: 10, insecureSkipTLSVerify: true, service: {namespace: NAMESPACE, name: remote}}}")
	reason("ServiceNotFound")
	listed("without a service")
	discovered("without a service", false)
	p.must(http.MethodPost, services, "{apiVersion: v1, kind: Service, metadata: {name: remote}, spec: {ports: [{name: web, port: 80}]}}")
	reason("ServicePortError")
	p.must(http.MethodPatch, services+"/remote", `{"spec":{"ports":[{"name":"web","port":443}]}}`, "Content-Type: "+merge)
	reason("EndpointsNotFound")
	p.must(http.MethodPost, slices, "{apiVersion: discovery.k8s.io/v1, kind: EndpointSlice, metadata: {name: remote, labels: {kubernetes.io/service-name: remote}}, addressType: IPv4, endpoints: [{addresses: [192.0.2.3], conditions: {ready: false}}], ports: [{name: web, port: 443}]}")
	reason("MissingEndpoints")
	p.must(http.MethodDelete, services+"/remote", "")
	reason("ServiceNotFound")

	// The service is the webhook server of the play.
	p.raw("/apis/"+p.text(group)+"/v1", answer{status: http.StatusNotFound, body: "no\n"})
	p.must(http.MethodPatch, one, `{"spec":{"service":{"port":HOOKPORT}}}`, "Content-Type: "+merge)
	p.must(http.MethodPost, services, `{apiVersion: v1, kind: Service, metadata: {name: remote}, spec: {type: ExternalName, externalName: "127.0.0.1"}}`)
	reason("FailedDiscoveryCheck")
	listed("that has failed")
	p.raw("/apis/"+p.text(group)+"/v1", answer{status: http.StatusOK, body: p.text(`{"kind":"APIResourceList","apiVersion":"v1","groupVersion":"` + group + `/v1","resources":[
		{"name":"things","singularName":"thing","namespaced":true,"kind":"Thing","verbs":["get","create"],"shortNames":["th"]},{"name":"things/status","singularName":"","namespaced":true,"kind":"Thing","verbs":["get"]}]}`)})
	p.raw(p.text(things), answer{status: http.StatusCreated, body: `{"kind":"Thing"}`})
	p.raw(p.text(things)+"/a", answer{status: http.StatusConflict, body: `{"kind":"Status"}`})
	p.until("Passed", http.MethodGet, one, "", func(_ int, body []byte) bool {
		// A change of the object makes a server look again.
		_, _, _ = p.Send(http.MethodPatch, one, `{"metadata":{"annotations":{"x":null}}}`, "Content-Type: "+merge)
		_, _, _ = p.Send(http.MethodPatch, one, `{"metadata":{"annotations":{"x":"z"}}}`, "Content-Type: "+merge)
		return bytes.Contains(body, []byte(`"reason":"Passed"`))
	})
	reason("Passed")
	p.do("table", http.MethodGet, one, "", "Accept: application/json;as=Table;g=meta.k8s.io;v=v1")
	listed("that answers")
	discovered("that answers", true)
	p.do("create", http.MethodPost, things+"?a=b&a=c%2Fd", "{kind: Thing}", "X-Other: z", "Accept: "+yamlType)
	p.do("as another user", http.MethodGet, things+"/a", "", "Impersonate-User: someone", "Impersonate-Group: system:masters", "Impersonate-Extra-Scopes: view")
	p.do("as a user without rights", http.MethodGet, things+"/a", "", "Impersonate-User: someone")
	p.do("forbidden", http.MethodGet, things+"/a", "", "Authorization: Bearer nobody-token")
	p.do("forbidden group", http.MethodPost, things, "{}", "Authorization: Bearer nobody-token")
	p.do("unknown path", http.MethodGet, "/apis/"+group+"/v2", "")
	p.do("groups as yaml", http.MethodGet, "/apis/"+group, "", "Accept: "+yamlType)
	p.do("groups as text", http.MethodGet, "/apis/"+group, "", "Accept: text/html")
	p.do("groups by another method", http.MethodPost, "/apis/"+group, "{}")
	p.must(http.MethodDelete, services+"/remote", "")
	reason("ServiceNotFound")
	listed("whose service is gone")
	p.must(http.MethodDelete, one, "")
	p.until("end of the group", http.MethodGet, "/apis/"+group, "", func(code int, _ []byte) bool { return code == http.StatusNotFound })
	listed("that is gone")
}

// registered plays the APIServices of local groups: with nobody behind, and of definitions.
func registered(p *play) {
	const (
		local       = "local-RUNID.example.com"
		own         = "own-RUNID.example.com"
		definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
		of          = definitions + "/owns." + own
	)
	p.cleanup = append(p.cleanup, apiServicesPath+"/v1."+local, of, apiServicesPath+"/v9.apps")
	p.do("local", http.MethodPost, apiServicesPath, "{apiVersion: apiregistration.k8s.io/v1, kind: APIService, metadata: {name: v1."+local+"}, spec: {group: "+local+", version: v1, groupPriorityMinimum: 100, versionPriority: 10}}")
	wait := func(path string, want int) {
		p.until(path, http.MethodGet, path, "", func(code int, _ []byte) bool { return code == want })
	}
	wait("/apis/"+local, http.StatusOK)
	p.do("a version of a built-in group", http.MethodPost, apiServicesPath, "{apiVersion: apiregistration.k8s.io/v1, kind: APIService, metadata: {name: v9.apps}, spec: {group: apps, version: v9, groupPriorityMinimum: 100, versionPriority: 10}}")
	p.until("v9", http.MethodGet, "/apis/apps", "", func(_ int, body []byte) bool { return bytes.Contains(body, []byte("v9")) })
	p.do("groups", http.MethodGet, "/apis", "")
	for _, path := range []string{"/apis/" + local, "/apis/" + local + "/v1", "/apis/" + local + "/v1/things", "/apis/apps", "/apis/apps/v9"} {
		p.do("GET "+strings.ReplaceAll(path, local, "local"), http.MethodGet, path, "")
	}
	version := func(name string, served, storage bool) string {
		yes := func(b bool) string { return map[bool]string{true: "true", false: "false"}[b] }
		return "{name: " + name + ", served: " + yes(served) + ", storage: " + yes(storage) + ", schema: {openAPIV3Schema: {type: object}}}"
	}
	p.must(http.MethodPost, definitions, "{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: owns."+own+"}, spec: {group: "+own+", scope: Namespaced, names: {plural: owns, singular: own, kind: Own, listKind: OwnList}, versions: ["+
		version("v1beta1", true, false)+", "+version("v1", true, true)+", "+version("v2", false, false)+"]}}")
	wait(apiServicesPath+"/v1beta1."+own, http.StatusOK)
	wait(apiServicesPath+"/v1."+own, http.StatusOK)
	wait("/apis/"+own+"/v1", http.StatusOK)
	p.do("definition", http.MethodGet, apiServicesPath+"/v1."+own, "")
	p.do("older version", http.MethodGet, apiServicesPath+"/v1beta1."+own, "")
	p.do("unserved version", http.MethodGet, apiServicesPath+"/v2."+own, "")
	p.do("group of the definition", http.MethodGet, "/apis/"+own, "")
	p.do("groups with the definition", http.MethodGet, "/apis", "")
	p.must(http.MethodPatch, apiServicesPath+"/v1."+own, `{"spec":{"groupPriorityMinimum":5}}`, "Content-Type: "+merge)
	p.until("the priority", http.MethodGet, apiServicesPath+"/v1."+own, "", func(_ int, body []byte) bool { return bytes.Contains(body, []byte(`"groupPriorityMinimum":1000`)) })
	p.do("changed back", http.MethodGet, apiServicesPath+"/v1."+own, "")
	p.must(http.MethodDelete, apiServicesPath+"/v1."+own, "")
	wait(apiServicesPath+"/v1."+own, http.StatusOK)
	p.do("made again", http.MethodGet, apiServicesPath+"/v1."+own, "")
	p.must(http.MethodPatch, apiServicesPath+"/v1."+own, `{"metadata":{"labels":{"kube-aggregator.kubernetes.io/automanaged":null}},"spec":{"groupPriorityMinimum":6}}`, "Content-Type: "+merge)
	p.must(http.MethodPatch, of, `{"spec":{"versions":[`+strings.Join([]string{
		`{"name":"v1beta1","served":false,"storage":false,"schema":{"openAPIV3Schema":{"type":"object"}}}`,
		`{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object"}}}`,
		`{"name":"v2","served":true,"storage":false,"schema":{"openAPIV3Schema":{"type":"object"}}}`}, ",")+`]}}`, "Content-Type: "+merge)
	wait(apiServicesPath+"/v1beta1."+own, http.StatusNotFound)
	wait(apiServicesPath+"/v2."+own, http.StatusOK)
	p.until("end of v1beta1", http.MethodGet, "/apis/"+own, "", func(_ int, body []byte) bool { return !bytes.Contains(body, []byte("v1beta1")) })
	p.do("newer version", http.MethodGet, apiServicesPath+"/v2."+own, "")
	p.do("no longer managed", http.MethodGet, apiServicesPath+"/v1."+own, "")
	p.do("group with other versions", http.MethodGet, "/apis/"+own, "")
	p.must(http.MethodDelete, of, "")
	wait(apiServicesPath+"/v2."+own, http.StatusNotFound)
	p.do("left", http.MethodGet, apiServicesPath+"/v1."+own, "")
	p.do("group that is left", http.MethodGet, "/apis/"+own, "")
	p.must(http.MethodDelete, apiServicesPath+"/v1."+own, "")
	wait("/apis/"+own, http.StatusNotFound)
	p.must(http.MethodDelete, apiServicesPath+"/v1."+local, "")
	wait("/apis/"+local, http.StatusNotFound)
	p.must(http.MethodDelete, apiServicesPath+"/v9.apps", "")
	p.until("no v9", http.MethodGet, "/apis/apps", "", func(_ int, body []byte) bool { return !bytes.Contains(body, []byte("v9")) })
	p.do("groups at the end", http.MethodGet, "/apis", "")
}
