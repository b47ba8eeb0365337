package cluster

import (
	"bytes"
	"net/http"
	"regexp"
	"strings"
)

const bindings = "/api/v1/namespaces/NAMESPACE/bindings"

// boundPods plays creates of Bindings in their own collection.
func boundPods(p *play) {
	for _, name := range []string{"a", "b", "c"} {
		p.must(http.MethodPost, pods, "{apiVersion: v1, kind: Pod, metadata: {name: "+name+"}, spec: {containers: [{name: a, image: i}]}}")
	}
	binding := func(metadata, target string) string {
		return "{apiVersion: v1, kind: Binding, metadata: {" + metadata + "}, target: {" + target + "}}"
	}
	for _, bad := range []struct{ step, path, body string }{
		{"no target", bindings, binding("name: a", "name: ''")},
		{"no node", bindings, binding("name: a", "name: node, kind: Pod")},
		{"neither", bindings, binding("name: a", "kind: Pod")},
		{"absent pod", bindings, binding("name: absent", "name: node")},
		{"no name", bindings, binding("labels: {a: b}", "name: node")},
		{"generated name", bindings, binding("generateName: x", "name: node")},
		{"another namespace", bindings, binding("name: a, namespace: other", "name: node")},
		{"no namespace", "/api/v1/namespaces/absent-RUNID/bindings", binding("name: a", "name: node")},
		{"another kind", bindings, "{apiVersion: v1, kind: Pod, metadata: {name: a}}"},
		{"unknown member", bindings + "?fieldValidation=Strict", binding("name: a", "name: node, x: z")},
		{"bad option", bindings + "?dryRun=Some", binding("name: a", "name: node")},
		{"all namespaces", "/api/v1/bindings", binding("name: a", "name: node")},
		{"below a name", bindings + "/a", binding("name: a", "name: node")},
	} {
		p.do(bad.step, http.MethodPost, bad.path, bad.body)
	}
	for _, method := range []string{http.MethodGet, http.MethodPut, http.MethodPatch, http.MethodDelete} {
		p.do(method, method, bindings, "", "Content-Type: "+merge)
		p.do(method+" one", method, bindings+"/a", "", "Content-Type: "+merge)
	}
	p.do("dry run", http.MethodPost, bindings+"?dryRun=All", binding("name: a", "name: node"))
	p.do("not bound", http.MethodGet, pods+"/a", "")
	p.do("bind", http.MethodPost, bindings, binding("name: a, annotations: {x: z}, labels: {l: m}", "name: node, kind: Node"))
	p.do("bound", http.MethodGet, pods+"/a", "")
	p.do("bind again", http.MethodPost, bindings, binding("name: a", "name: node"))
	p.do("by another uid", http.MethodPost, bindings, binding("name: b, uid: x", "name: node"))
	p.do("as yaml", http.MethodPost, bindings, binding("name: c", "name: node"), "Accept: "+yamlType)
	p.do("as a table", http.MethodPost, bindings, binding("name: c", "name: node"), "Accept: application/json;as=Table;g=meta.k8s.io;v=v1")
	p.do("subresource without a node", http.MethodPost, pods+"/b/binding", binding("name: b", "name: node, kind: Pod"))
}

// components plays reads of the statuses of components. A real server lists them in no fixed order, so the scenario selects them.
func components(p *play) {
	const all = "/api/v1/componentstatuses"
	for _, path := range []string{
		"/scheduler", "/controller-manager", "/etcd-0", "/etcd-1", "?fieldSelector=metadata.name%3Detcd-0", "?labelSelector=a%3Db", "?labelSelector=%21a&fieldSelector=metadata.name%3Dscheduler",
		"?fieldSelector=foo%3Dx", "?labelSelector=%3D", "?watch=true", "?fieldSelector=metadata.name%3Detcd-0&limit=1", "/etcd-0/status", "/etcd-0?resourceVersion=9999999999", "?fieldSelector=metadata.name%3Detcd-0&resourceVersion=x",
	} {
		p.do("GET "+path, http.MethodGet, all+path, "")
	}
	for _, accept := range []string{"application/json;as=Table;g=meta.k8s.io;v=v1", "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1", yamlType} {
		p.do("one as "+accept, http.MethodGet, all+"/scheduler", "", "Accept: "+accept)
	}
	p.do("all as a table", http.MethodGet, all+"?fieldSelector=metadata.name%3Detcd-0", "", "Accept: application/json;as=Table;g=meta.k8s.io;v=v1")
	p.do("below watch", http.MethodGet, "/api/v1/watch/componentstatuses", "")
	p.do("in a namespace", http.MethodGet, "/api/v1/namespaces/NAMESPACE/componentstatuses", "")
	for _, method := range []string{http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete} {
		p.do(method, method, all, "", "Content-Type: "+merge)
		p.do(method+" one", method, all+"/etcd-0", "", "Content-Type: "+merge)
	}
}

// unreachableIP is an address of no machine, at which the server of the tests refuses connections. It was an address of the machine on
// which was recorded.
const unreachableIP = "192.0.2.2"

// proxied plays requests that a server passes on, as far as nobody answers them.
func proxied(p *play) {
	const nodes, services = "/api/v1/nodes", "/api/v1/namespaces/NAMESPACE/services"
	get := func(paths ...string) {
		for _, path := range paths {
			p.do("GET "+strings.NewReplacer(pods, "pods", services, "services", nodes, "nodes").Replace(path), http.MethodGet, path, "")
		}
	}
	p.must(http.MethodPost, nodes, "{apiVersion: v1, kind: Node, metadata: {name: n-RUNID}}")
	p.cleanup = append(p.cleanup, nodes+"/n-RUNID")
	get(nodes+"/x/proxy", nodes+"/x/proxy/metrics", nodes+"/http:x:80/proxy/", nodes+"/a:b:c:d/proxy/x", nodes+"/n-RUNID/proxy/metrics")
	p.must(http.MethodPatch, nodes+"/n-RUNID/status", `{"status":{"addresses":[{"type":"InternalIP","address":"127.0.0.1"}]}}`, "Content-Type: "+merge)
	get(nodes + "/n-RUNID/proxy/metrics")
	p.must(http.MethodPatch, nodes+"/n-RUNID/status", `{"status":{"addresses":[{"type":"InternalIP","address":"`+unreachableIP+`"}]}}`, "Content-Type: "+merge)
	get(nodes+"/n-RUNID/proxy/metrics", nodes+"/n-RUNID:1/proxy/metrics", nodes+"/https:n-RUNID:10250/proxy/")
	p.must(http.MethodPatch, nodes+"/n-RUNID/status", `{"status":{"daemonEndpoints":{"kubeletEndpoint":{"Port":1}}}}`, "Content-Type: "+merge)
	get(nodes + "/n-RUNID/proxy/metrics")

	p.must(http.MethodPost, pods, "{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {containers: [{name: a, image: i}, {name: b, image: i, ports: [{containerPort: 1}]}]}}")
	get(pods+"/absent/proxy", pods+"/absent/proxy/x", pods+"/p/proxy", pods+"/http:p:80/proxy/x", pods+"/ftp:p:80/proxy/x", pods+"/p/log/x", pods+"/p/proxy/x/y/")
	p.must(http.MethodPatch, pods+"/p/status", `{"status":{"podIP":"`+unreachableIP+`","podIPs":[{"ip":"`+unreachableIP+`"}]}}`, "Content-Type: "+merge)
	get(pods+"/p/proxy", pods+"/p:2/proxy/x", pods+"/https:p:2/proxy/x?a=b")
	for _, method := range []string{http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodOptions} {
		p.do(method+" pod", method, pods+"/p/proxy/x", "{}", "Content-Type: "+merge)
	}
	p.do("as yaml", http.MethodGet, pods+"/p/proxy/x", "", "Accept: "+yamlType)

	p.must(http.MethodPost, services, "{apiVersion: v1, kind: Service, metadata: {name: s}, spec: {clusterIP: None, ports: [{name: p, port: 80}, {name: q, port: 81}]}}")
	get(services+"/absent/proxy", services+"/absent:80/proxy/", services+"/s/proxy", services+"/s:80/proxy/x", services+"/s:82/proxy/x", services+"/a:b:c:d/proxy/")
	p.must(http.MethodPost, "/api/v1/namespaces/NAMESPACE/endpoints", `{apiVersion: v1, kind: Endpoints, metadata: {name: s}, subsets: [{addresses: [{ip: 192.0.2.2, targetRef: {kind: Pod, namespace: NAMESPACE, name: p}}], ports: [{name: p, port: 1}]}]}`)
	get(services+"/s/proxy", services+"/http:s:80/proxy/x")
	const slices = "/apis/discovery.k8s.io/v1/namespaces/NAMESPACE/endpointslices"
	p.must(http.MethodPost, slices, `{apiVersion: discovery.k8s.io/v1, kind: EndpointSlice, metadata: {name: s, labels: {kubernetes.io/service-name: s}}, addressType: IPv4, ports: [{name: p, port: 1}], endpoints: [{addresses: [192.0.2.3]},
 {addresses: [192.0.2.2], targetRef: {kind: Pod, namespace: NAMESPACE, name: p}}, {addresses: [192.0.2.2], conditions: {ready: false}, targetRef: {kind: Pod, namespace: NAMESPACE, name: p}}]}`)
	p.until("the slice", http.MethodGet, services+"/s:p/proxy/x", "", func(_ int, body []byte) bool { return bytes.Contains(body, []byte("refused")) })
	get(services+"/s/proxy/x", services+"/s:p/proxy/x", services+"/s:80/proxy/x", services+"/s:q/proxy/x", services+"/https:s:p/proxy/x", services+"/http:s:81/proxy/x")

	p.must(http.MethodPost, pods, "{apiVersion: v1, kind: Pod, metadata: {name: r}, spec: {nodeName: n-RUNID, containers: [{name: a, image: i}]}}")
	get(pods+"/r/log", pods+"/r/log?tailLines=3&timestamps=true", pods+"/r/exec?command=ls", pods+"/r/attach", pods+"/r/portforward", pods+"/r/exec/x")
	p.do("upgrade", http.MethodPost, pods+"/r/exec?command=ls&stdout=true", "", "Connection: Upgrade", "Upgrade: SPDY/3.1")
	for _, name := range []string{"p", "r"} {
		p.must(http.MethodDelete, pods+"/"+name+"?gracePeriodSeconds=0", "")
	}
}

// discovered plays the documents of discovery, as far as no definition changes them.
func discovered(p *play) {
	for _, path := range []string{
		"/api/v1", "/apis/apps", "/apis/apps/v1", "/apis/authentication.k8s.io/v1", "/apis/authorization.k8s.io/v1", "/apis/policy/v1", "/apis/batch/v1",
	} {
		p.do("GET "+path, http.MethodGet, path, "")
	}
	p.do("aggregated", http.MethodGet, "/api", "", "Accept: application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList")
}

// started plays reads of the objects that a server makes when it starts.
func started(p *play) {
	p.Norm.Replace(regexp.MustCompile(`apiserver-[a-z2-7]{26}(_[0-9a-f-]{36})?`), "{server}$1")
	p.Norm.Replace(regexp.MustCompile(`_[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`), "_{instance}")
	p.Norm.Replace(regexp.MustCompile(`(?s)^-----BEGIN CERTIFICATE-----.*-----END CERTIFICATE-----\n$`), "{certificate}")
	p.Norm.Replace(regexp.MustCompile(`^\d{4}-\d{2}-\d{2}$`), "{day}")
	for _, path := range []string{
		"/apis/scheduling.k8s.io/v1/priorityclasses/system-cluster-critical", "/apis/scheduling.k8s.io/v1/priorityclasses/system-node-critical",
		"/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas", "/apis/flowcontrol.apiserver.k8s.io/v1/prioritylevelconfigurations",
		"/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication",
		"/api/v1/namespaces/kube-system/configmaps/kube-apiserver-legacy-service-account-token-tracking",
		"/apis/coordination.k8s.io/v1/namespaces/kube-system/leases?labelSelector=apiserver.kubernetes.io%2Fidentity%3Dkube-apiserver",
		"/api/v1/namespaces/default/endpoints/kubernetes", "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices/kubernetes",
	} {
		p.do("GET "+path, http.MethodGet, path, "")
	}
}

// apiServices plays the APIServices of a server, and others that nobody serves.
func apiServices(p *play) {
	const all = "/apis/apiregistration.k8s.io/v1/apiservices"
	p.cleanup = append(p.cleanup, all+"/v1.local-RUNID.example.com", all+"/v1.remote-RUNID.example.com")
	for _, name := range []string{
		"v1.", "v1.admissionregistration.k8s.io", "v1.apiextensions.k8s.io", "v1.apps", "v1.authentication.k8s.io", "v1.authorization.k8s.io", "v1.autoscaling", "v1.batch",
		"v1.certificates.k8s.io", "v1.coordination.k8s.io", "v1.discovery.k8s.io", "v1.events.k8s.io", "v1.flowcontrol.apiserver.k8s.io", "v1.networking.k8s.io", "v1.node.k8s.io", "v1.policy",
		"v1.rbac.authorization.k8s.io", "v1.resource.k8s.io", "v1.scheduling.k8s.io", "v1.storage.k8s.io", "v2.autoscaling", "v1.apiregistration.k8s.io",
	} {
		p.do("GET "+name, http.MethodGet, all+"/"+name, "")
	}
	p.do("discovery", http.MethodGet, "/apis/apiregistration.k8s.io/v1", "")
	p.do("group", http.MethodGet, "/apis/apiregistration.k8s.io", "")
	p.do("table", http.MethodGet, all+"/v1.apps", "", "Accept: application/json;as=Table;g=meta.k8s.io;v=v1")
	service := func(name, spec string) string {
		return "{apiVersion: apiregistration.k8s.io/v1, kind: APIService, metadata: {name: " + name + "}, spec: {" + spec + "}}"
	}
	const local, priorities = "v1.local-RUNID.example.com", "groupPriorityMinimum: 100, versionPriority: 10"
	for _, bad := range []struct{ step, name, spec string }{
		{"nothing", "bad", ""},
		{"another name", "v1.x", "group: y.example.com, version: v1, " + priorities},
		{"bad group and version", "V1.-", "group: '-', version: V1, " + priorities},
		{"no group", "v2.", "version: v2, " + priorities},
		{"priorities", "v1.a.example.com", "group: a.example.com, version: v1, groupPriorityMinimum: 20001, versionPriority: 1001"},
		{"local with certificates", "v1.a.example.com", "group: a.example.com, version: v1, caBundle: YQ==, insecureSkipTLSVerify: true, " + priorities},
		{"no service", "v1.a.example.com", "group: a.example.com, version: v1, service: {}, " + priorities},
		{"bad service", "v1.a.example.com", "group: a.example.com, version: v1, service: {namespace: a, name: b, port: 0}, caBundle: YQ==, insecureSkipTLSVerify: true, " + priorities},
	} {
		p.do(bad.step, http.MethodPost, all, service(bad.name, bad.spec))
	}
	p.do("local", http.MethodPost, all, service(local, "group: local-RUNID.example.com, version: v1, "+priorities))
	p.do("status", http.MethodPatch, all+"/"+local+"/status", `{"metadata":{"labels":{"a":"b"}},"status":{"conditions":[{"type":"Available","status":"x"}]}}`, "Content-Type: "+merge)
	p.do("without a version", http.MethodPut, all+"/"+local, service(local, "group: local-RUNID.example.com, version: v1, "+priorities))
	p.do("changed", http.MethodPatch, all+"/"+local, `{"spec":{"versionPriority":11}}`, "Content-Type: "+merge)
	p.do("gone", http.MethodDelete, all+"/"+local, "")
}
