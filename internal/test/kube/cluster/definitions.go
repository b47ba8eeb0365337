package cluster

import (
	"bytes"
	"cmp"
	"net/http"
	"slices"
	"strings"

	"github.com/kubecoord/kubecoord/internal/test/exchange"
)

const (
	definitionsPath = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
	leasesPath      = "/apis/coordination.k8s.io/v1/namespaces/NAMESPACE/leases"
)

// definition returns a definition that is approved for groups of Kubernetes.
func definition(plural, group, kind, scope, metadata string, versions ...string) string {
	var of []string
	for i, v := range versions {
		storage := "false"
		if i == 0 {
			storage = "true"
		}
		of = append(of, "{name: "+v+", served: true, storage: "+storage+", subresources: {status: {}}, schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {n: {type: integer}}}, status: {type: object, properties: {n: {type: integer}}}}}}}")
	}
	return `{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: ` + plural + `.` + group + `, annotations: {api-approved.kubernetes.io: "https://github.com/kubernetes/kubernetes/pull/1"}` + metadata + `},
 spec: {group: ` + group + `, scope: ` + scope + `, names: {plural: ` + plural + `, kind: ` + kind + `}, versions: [` + strings.Join(of, ", ") + `]}}`
}

// define creates a definition and waits until it is established.
func (p *play) define(step, name, text string) {
	p.do(step, http.MethodPost, definitionsPath, text)
	p.cleanup = append(p.cleanup, definitionsPath+"/"+name)
	p.until(name, http.MethodGet, definitionsPath+"/"+name, "", contains("InitialNamesAccepted"))
}

// conditions adds the conditions of a definition as an answer: by type, since the controllers that write them race.
func (p *play) conditions(step, name string) {
	p.until(name, http.MethodGet, definitionsPath+"/"+name, "", contains("ApprovedAnnotation"))
	p.must(http.MethodGet, definitionsPath+"/"+name, "")
	if p.Err != nil {
		return
	}
	all, _ := exchange.At(p.Last, "status", "conditions").([]any)
	slices.SortFunc(all, func(a, b any) int { return cmp.Compare(exchange.TextAt(a, "type"), exchange.TextAt(b, "type")) })
	p.Answers = append(p.Answers, exchange.Answer{Step: step, Request: "conditions", Status: http.StatusOK, Body: p.Norm.Body(all)})
}

func contains(text string) func(int, []byte) bool {
	return func(_ int, body []byte) bool { return bytes.Contains(body, []byte(text)) }
}

func isGone(code int, _ []byte) bool { return code == http.StatusNotFound }

// shadows plays definitions in the groups of built-in kinds: they are established and have no effect.
func shadows(p *play) {
	const hold = ", finalizers: [cluster.example.com/hold]"
	lease := func(name, seconds string) string {
		return "{apiVersion: coordination.k8s.io/v1, kind: Lease, metadata: {name: " + name + "}, spec: {leaseDurationSeconds: " + seconds + "}}"
	}
	p.do("a lease", http.MethodPost, leasesPath, lease("kept", "15"))
	names := []string{
		"leases.coordination.k8s.io", "customresourcedefinitions.apiextensions.k8s.io", "networkpolicies.networking.k8s.io",
		"roless.rbac.authorization.k8s.io", "locksRUNID.coordination.k8s.io",
	}
	p.define("define leases", names[0], definition("leases", "coordination.k8s.io", "Lease", "Namespaced", hold, "v1"))
	p.define("define definitions", names[1], definition("customresourcedefinitions", "apiextensions.k8s.io", "CustomResourceDefinition", "Cluster", hold, "v1"))
	p.define("define network policies", names[2], definition("networkpolicies", "networking.k8s.io", "NetworkPolicy", "Namespaced", "", "v1"))
	p.define("define a built-in kind under another plural", names[3], definition("roless", "rbac.authorization.k8s.io", "Role", "Namespaced", "", "v1"))
	p.define("define a kind of a built-in group", names[4], definition("locksRUNID", "coordination.k8s.io", "LockRUNID", "Namespaced", "", "v1", "v7"))
	for _, name := range names {
		p.conditions("conditions of "+name, name)
	}
	p.do("a lease that is not valid", http.MethodPost, leasesPath, lease("bad", "-15"))
	p.do("another lease", http.MethodPost, leasesPath, lease("other", "15"))
	p.do("leases", http.MethodGet, leasesPath, "")
	p.patch("a patch of a lease", leasesPath+"/kept", merge, `{"spec":{"leaseDurationSeconds":0}}`)
	p.do("a network policy", http.MethodPost, "/apis/networking.k8s.io/v1/namespaces/NAMESPACE/networkpolicies", "{apiVersion: networking.k8s.io/v1, kind: NetworkPolicy, metadata: {name: a}, spec: {podSelector: {}}}")
	p.do("a network policy that is not valid", http.MethodPost, "/apis/networking.k8s.io/v1/namespaces/NAMESPACE/networkpolicies", "{apiVersion: networking.k8s.io/v1, kind: NetworkPolicy, metadata: {name: b}, spec: {podSelector: {}, policyTypes: [x]}}")
	const locks = "/apis/coordination.k8s.io/v1/namespaces/NAMESPACE/locksRUNID"
	p.do("locks", http.MethodGet, locks, "")
	p.do("create a lock", http.MethodPost, locks, "{apiVersion: coordination.k8s.io/v1, kind: LockRUNID, metadata: {name: a}}")
	p.do("all locks", http.MethodGet, "/apis/coordination.k8s.io/v1/locksRUNID", "")
	p.do("locks of another version", http.MethodGet, "/apis/coordination.k8s.io/v7/namespaces/NAMESPACE/locksRUNID", "")
	p.do("create a lock of another version", http.MethodPost, "/apis/coordination.k8s.io/v7/namespaces/NAMESPACE/locksRUNID", "{apiVersion: coordination.k8s.io/v7, kind: LockRUNID, metadata: {name: a}}")
	p.do("the other version", http.MethodGet, "/apis/coordination.k8s.io/v7", "")
	p.do("roless", http.MethodGet, "/apis/rbac.authorization.k8s.io/v1/namespaces/NAMESPACE/roless", "")
	for _, path := range []string{"/apis/coordination.k8s.io/v1", "/apis/coordination.k8s.io", "/apis/rbac.authorization.k8s.io/v1", "/apis/networking.k8s.io/v1"} {
		p.do("discovery of "+path, http.MethodGet, path, "")
	}
	for _, name := range names {
		p.must(http.MethodDelete, definitionsPath+"/"+name, "")
	}
	for _, name := range names[:2] {
		p.until(name, http.MethodGet, definitionsPath+"/"+name, "", func(_ int, body []byte) bool {
			return !bytes.Contains(body, []byte("customresourcecleanup"))
		})
		p.conditions("conditions of the deleted "+name, name)
		p.must(http.MethodPatch, definitionsPath+"/"+name, `{"metadata":{"finalizers":null}}`, "Content-Type: "+merge)
	}
	for _, name := range names {
		p.until(name, http.MethodGet, definitionsPath+"/"+name, "", isGone)
	}
	p.do("leases in the end", http.MethodGet, leasesPath, "")
	p.do("network policies in the end", http.MethodGet, "/apis/networking.k8s.io/v1/namespaces/NAMESPACE/networkpolicies", "")
}

// terminating plays writes of objects while their definition terminates, and paths of a group of definitions that nothing has.
func terminating(p *play) {
	const group, name = "terminating.cluster.example.com", "parts.terminating.cluster.example.com"
	const parts, second = "/apis/" + group + "/v1/namespaces/NAMESPACE/parts", "/apis/" + group + "/v2/namespaces/NAMESPACE/parts"
	part := func(version, metadata, rest string) string {
		return "{apiVersion: " + group + "/" + version + ", kind: Part, metadata: {" + metadata + "}" + rest + "}"
	}
	text := definition("parts", group, "Part", "Namespaced", "", "v1", "v2")
	p.define("define", name, text)
	for _, path := range []string{parts, second, "/apis/" + group, "/apis/" + group + "/v1"} {
		p.until("resource", http.MethodGet, path, "", func(code int, _ []byte) bool { return code == http.StatusOK })
	}
	for _, path := range []string{
		"", "/", "//", "/v1", "/v1/", "/v1//", "//v1", "/v1//parts", "/v1/parts/", "/v3", "/v3/", "/v3/parts", "/v1/nosuch", "/v1/nosuch/x",
		"/v1/namespaces/NAMESPACE/nosuch", "/v1/namespaces/NAMESPACE/nosuch/x", "/v1/namespaces/NAMESPACE/nosuch/x/status", "/v1/watch/nosuch", "/v1/namespaces", "/v1/namespaces/NAMESPACE",
		"/v1/namespaces/NAMESPACE/", "/v1/watch/namespaces", "/v1/watch", "/v1/proxy/parts", "/v1/parts/x", "/v1/parts/x/y/z", "/v1/namespaces/NAMESPACE/parts/x/nosuch",
	} {
		for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete} {
			if method != http.MethodGet && strings.Contains(path, "/parts") && !strings.HasPrefix(path, "/v3") {
				continue
			}
			p.do(method+" "+path, method, "/apis/"+group+path, "")
		}
	}
	for _, accept := range []string{"text/html", "application/*", "application/yaml"} {
		for _, path := range []string{"", "/v1", "/v3", "/v1/nosuch"} {
			p.do("GET "+path+" as "+accept, http.MethodGet, "/apis/"+group+path, "", "Accept: "+accept)
		}
	}
	p.do("create what stays", http.MethodPost, parts, part("v1", "name: held, finalizers: [cluster.example.com/hold]", ", spec: {n: 1}"))
	p.do("create what goes", http.MethodPost, parts, part("v1", "name: free", ", spec: {n: 1}"))
	p.do("delete the definition", http.MethodDelete, definitionsPath+"/"+name, "")
	p.until("the deletion", http.MethodGet, definitionsPath+"/"+name, "", contains("InstanceDeletionInProgress"))
	p.until("discovery", http.MethodGet, "/apis/"+group+"/v1", "", func(_ int, body []byte) bool { return !bytes.Contains(body, []byte("create")) })
	p.until("the objects", http.MethodGet, parts+"/free", "", isGone)
	p.do("discovery", http.MethodGet, "/apis/"+group+"/v1", "")
	p.do("list", http.MethodGet, parts, "")
	p.do("create", http.MethodPost, parts, part("v1", "name: a", ", spec: {n: 1}"))
	p.do("create, dry run", http.MethodPost, parts+"?dryRun=All", part("v1", "name: a", ", spec: {n: 1}"))
	p.do("create, another version", http.MethodPost, second, part("v2", "name: a", ""))
	p.do("create with a generated name", http.MethodPost, parts, part("v1", "generateName: a-", ""))
	p.do("create without a name", http.MethodPost, parts, part("v1", "", ""))
	p.do("create what is not valid", http.MethodPost, parts, part("v1", "name: a", ", spec: {n: x}"))
	p.do("create with a bad name", http.MethodPost, parts, part("v1", "name: A_B", ""))
	p.do("create with an unknown field", http.MethodPost, parts+"?fieldValidation=Strict", part("v1", "name: a", ", x: 1"))
	p.do("create another kind", http.MethodPost, parts, strings.Replace(part("v1", "name: a", ""), "Part", "Other", 1))
	p.do("create in another namespace", http.MethodPost, parts, part("v1", "name: a, namespace: other", ""))
	p.do("create what is there", http.MethodPost, parts, part("v1", "name: held", ""))
	p.do("update what is absent", http.MethodPut, parts+"/a", part("v1", "name: a", ""))
	p.patch("patch of what is absent", parts+"/a", merge, `{"spec":{"n":2}}`)
	p.patch("apply creates", parts+"/a?fieldManager=m", apply, part("v1", "name: a", ", spec: {n: 1}"))
	p.patch("apply creates, dry run", parts+"/a?fieldManager=m&dryRun=All", apply, part("v1", "name: a", ", spec: {n: 1}"))
	p.patch("apply creates with an unknown field", parts+"/a?fieldManager=m&fieldValidation=Strict", apply, part("v1", "name: a", ", x: 1"))
	p.patch("apply creates with another name", parts+"/a?fieldManager=m", apply, part("v1", "name: b", ""))
	p.patch("apply", parts+"/held?fieldManager=m&force=true", apply, part("v1", "name: held", ", spec: {n: 2}"))
	p.patch("patch", parts+"/held", merge, `{"spec":{"n":3}}`)
	p.patch("status", parts+"/held/status", merge, `{"status":{"n":3}}`)
	p.patch("apply of the status of what is absent", parts+"/a/status?fieldManager=m", apply, part("v1", "name: a", ", status: {n: 1}"))
	p.do("delete the definition again", http.MethodDelete, definitionsPath+"/"+name, "")
	p.patch("the last finalizer", parts+"/held", merge, `{"metadata":{"finalizers":null}}`)
	p.until("the definition", http.MethodGet, definitionsPath+"/"+name, "", isGone)
	p.until("the group", http.MethodGet, "/apis/"+group+"/v1", "", isGone)
	p.do("list when the definition is gone", http.MethodGet, parts, "")
	p.do("the version when the definition is gone", http.MethodGet, "/apis/"+group+"/v1", "")
	p.define("define again", name, text)
	p.until("resource", http.MethodGet, parts, "", func(code int, _ []byte) bool { return code == http.StatusOK })
	p.do("list again", http.MethodGet, parts, "")
	p.do("create again", http.MethodPost, parts, part("v1", "name: a", ", spec: {n: 1}"))
	p.do("delete again", http.MethodDelete, definitionsPath+"/"+name, "")
	p.until("the definition", http.MethodGet, definitionsPath+"/"+name, "", isGone)
}
