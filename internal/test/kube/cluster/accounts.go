package cluster

import (
	"net/http"
	"regexp"

	"github.com/kubecoord/kubecoord/internal/test/exchange"
)

const serviceAccounts = "/api/v1/namespaces/NAMESPACE/serviceaccounts"

// accounts plays the admission plugin ServiceAccount.
func accounts(p *play) {
	hideTokenVolumes(p)
	account := func(name, members string) {
		p.must(http.MethodPost, serviceAccounts, "{apiVersion: v1, kind: ServiceAccount, metadata: {name: "+name+"}"+members+"}")
	}
	create := func(step, metadata, spec string) {
		p.do(step, http.MethodPost, pods, "{apiVersion: v1, kind: Pod, metadata: {"+metadata+"}, spec: {"+spec+"}}")
	}
	const container = "containers: [{name: a, image: i}]"
	create("no account", "name: a", container)
	create("absent account", "name: a", "serviceAccountName: absent, "+container)
	account("default", ", imagePullSecrets: [{name: x}, {name: z}]")
	create("default", "name: a", container)
	create("dry run with a mount", "name: x", "initContainers: [{name: i, image: i}], containers: [{name: a, image: i, volumeMounts: [{name: v, mountPath: /var/run/secrets/kubernetes.io/serviceaccount}]}], volumes: [{name: v, emptyDir: {}}], imagePullSecrets: [{name: own}]")
	create("its own volume", "name: b", "containers: [{name: a, image: i}, {name: c, image: i, volumeMounts: [{name: kube-api-access-own, mountPath: /x}]}], volumes: [{name: kube-api-access-own, emptyDir: {}}]")
	create("without a token", "name: c", "automountServiceAccountToken: false, "+container)
	account("quiet", ", automountServiceAccountToken: false")
	create("quiet account", "name: d", "serviceAccountName: quiet, "+container)
	create("loud pod", "name: e", "serviceAccountName: quiet, automountServiceAccountToken: true, "+container)

	p.must(http.MethodPost, serviceAccounts, "{apiVersion: v1, kind: ServiceAccount, metadata: {name: strict, annotations: {kubernetes.io/enforce-mountable-secrets: 'true'}}, secrets: [{name: listed}], imagePullSecrets: [{name: x}]}")
	const strict = "serviceAccountName: strict, "
	for _, row := range []struct{ step, spec string }{
		{"listed secrets", "containers: [{name: a, image: i, env: [{name: A, valueFrom: {secretKeyRef: {name: listed, key: k}}}]}], volumes: [{name: s, secret: {secretName: listed}}]"},
		{"another volume", container + ", volumes: [{name: s, secret: {secretName: other}}]"},
		{"another variable", "containers: [{name: a, image: i, env: [{name: A, valueFrom: {secretKeyRef: {name: other, key: k}}}]}]"},
		{"other variables", "containers: [{name: a, image: i, envFrom: [{secretRef: {name: other}}]}]"},
		{"another variable of an init container", "initContainers: [{name: b, image: i, env: [{name: A, valueFrom: {secretKeyRef: {name: other, key: k}}}]}], " + container},
		{"other variables of an init container", "initContainers: [{name: b, image: i, envFrom: [{secretRef: {name: other}}]}], " + container},
		{"another pull secret", container + ", imagePullSecrets: [{name: x}, {name: other}]"},
	} {
		name := "bad"
		if row.step == "listed secrets" {
			name = "f"
		}
		create(row.step, "name: "+name, strict+row.spec)
	}
	ephemeral := func(step, members string) {
		p.patch(step, pods+"/f/ephemeralcontainers", strategic, `{"spec":{"ephemeralContainers":[{"name":"e","image":"i",`+members+`}]}}`)
	}
	ephemeral("ephemeral container with another variable", `"env":[{"name":"A","valueFrom":{"secretKeyRef":{"name":"other","key":"k"}}}]`)
	ephemeral("ephemeral container with other variables", `"envFrom":[{"secretRef":{"name":"other"}}]`)
	ephemeral("ephemeral container", `"env":[{"name":"A","valueFrom":{"secretKeyRef":{"name":"listed","key":"k"}}}]`)
	const mirror = "annotations: {kubernetes.io/config.mirror: x}"
	create("mirror", "name: m, "+mirror, "nodeName: node, "+container)
	create("mirror with an account", "name: bad, "+mirror, "nodeName: node, serviceAccountName: default, "+container)
	create("mirror with a secret", "name: bad, "+mirror, "nodeName: node, "+container+", volumes: [{name: s, secret: {secretName: x}}]")
	create("mirror with a token", "name: bad, "+mirror, "nodeName: node, "+container+", volumes: [{name: s, projected: {sources: [{serviceAccountToken: {path: t}}]}}]")
	p.must(http.MethodDelete, pods+"?gracePeriodSeconds=0", "")
}

// hideTokenVolumes replaces the names of the volumes with tokens.
func hideTokenVolumes(p *play) {
	p.Norm.Replace(regexp.MustCompile(`\b(kube-api-access-)[a-z0-9]{5}\b`), "$1{suffix}")
}

// kubeletWrites plays the admission plugin NodeRestriction. The kubelet is an administrator otherwise.
func kubeletWrites(p *play) {
	const (
		node   = "node-RUNID"
		nodes  = "/api/v1/nodes"
		leases = "/apis/coordination.k8s.io/v1/namespaces/NAMESPACE/leases"
		owned  = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases"
		claims = "/api/v1/namespaces/NAMESPACE/persistentvolumeclaims"
	)
	hideTokenVolumes(p)
	as := func(user string) []string {
		return []string{"Impersonate-User: " + user, "Impersonate-Group: system:nodes", "Impersonate-Group: system:masters"}
	}
	do := func(step, method, path, body string, headers ...string) {
		p.do(step, method, path, body, append(as("system:node:"+node), headers...)...)
	}
	p.cleanup = append(p.cleanup, nodes+"/"+node, nodes+"/other-RUNID", owned+"/"+node, "/apis/storage.k8s.io/v1/csinodes/"+node)
	nodeOf := func(name, labels, spec string) string {
		return "{apiVersion: v1, kind: Node, metadata: {name: " + name + ", labels: {" + labels + "}}, spec: {" + spec + "}}"
	}
	do("another node", http.MethodPost, nodes, nodeOf("other-RUNID", "", ""))
	p.do("nobody's node", http.MethodPost, nodes, nodeOf("other-RUNID", "", ""), as("system:node:")...)
	do("foreign labels", http.MethodPost, nodes, nodeOf(node, "a: b, foo.node-restriction.kubernetes.io/x: z, kubernetes.io/os: linux, kubernetes.io/foo: z, x.k8s.io/y: z, node.kubernetes.io/fine: z", ""))
	do("node", http.MethodPost, nodes, nodeOf(node, "kubernetes.io/hostname: x, a: b", ""))
	p.must(http.MethodPost, nodes, nodeOf("other-RUNID", "", ""))
	do("labels", http.MethodPatch, nodes+"/"+node, `{"metadata":{"labels":{"a":null,"kubernetes.io/hostname":"y","kubernetes.io/role":"z"}}}`, "Content-Type: "+merge)
	do("own labels", http.MethodPatch, nodes+"/"+node, `{"metadata":{"labels":{"a":"c","kubernetes.io/hostname":"y"}}}`, "Content-Type: "+merge)
	do("taints", http.MethodPatch, nodes+"/"+node, `{"spec":{"taints":[]}}`, "Content-Type: "+merge)
	do("owners", http.MethodPatch, nodes+"/"+node, `{"metadata":{"ownerReferences":[{"apiVersion":"v1","kind":"Pod","name":"x","uid":"y"}]}}`, "Content-Type: "+merge)
	do("status", http.MethodPatch, nodes+"/"+node+"/status", `{"status":{"nodeInfo":{"kubeletVersion":"v1"}}}`, "Content-Type: "+merge)
	do("status of another", http.MethodPatch, nodes+"/other-RUNID/status", `{"status":{"nodeInfo":{"kubeletVersion":"v1"}}}`, "Content-Type: "+merge)
	do("deletion of another", http.MethodDelete, nodes+"/other-RUNID", "")

	p.must(http.MethodPost, serviceAccounts, "{apiVersion: v1, kind: ServiceAccount, metadata: {name: default}}")
	p.must(http.MethodGet, nodes+"/"+node, "")
	uid := uidOf(p)
	create := func(step, metadata, spec string) {
		do(step, http.MethodPost, pods, "{apiVersion: v1, kind: Pod, metadata: {name: m, "+metadata+"}, spec: {"+spec+"}}")
	}
	const (
		mirror    = "annotations: {kubernetes.io/config.mirror: x}"
		container = "containers: [{name: a, image: i}]"
		on        = "nodeName: " + node + ", "
	)
	owner := func(members string) string {
		return mirror + ", ownerReferences: [{apiVersion: v1, kind: Node, name: " + node + ", uid: " + uid + members + "}]"
	}
	good := owner(", controller: true")
	create("no mirror", "labels: {a: b}", on+container)
	create("on another node", mirror, "nodeName: other-RUNID, "+container)
	create("no owner", mirror, on+container)
	create("two owners", mirror+", ownerReferences: [{apiVersion: v1, kind: Node, name: x, uid: u}, {apiVersion: v1, kind: Node, name: z, uid: z}]", on+container)
	create("another owner", mirror+", ownerReferences: [{apiVersion: v1, kind: Node, name: x, uid: u}]", on+container)
	create("no controller", owner(""), on+container)
	create("blocking owner", owner(", controller: true, blockOwnerDeletion: true"), on+container)
	create("another uid", mirror+", ownerReferences: [{apiVersion: v1, kind: Node, name: "+node+", uid: u, controller: true}]", on+container)
	for _, volume := range []string{
		"configMap: {name: x}", "csi: {driver: x.example.com}", "persistentVolumeClaim: {claimName: x}", "ephemeral: {volumeClaimTemplate: {spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}}",
		"projected: {sources: [{configMap: {name: x}}]}", "projected: {sources: [{downwardAPI: {items: [{path: p, fieldRef: {fieldPath: metadata.name}}]}}, {clusterTrustBundle: {name: x, path: p}}]}", "glusterfs: {endpoints: x, path: p}", "hostPath: {path: /}",
	} {
		create("with "+volume, good, on+container+", volumes: [{name: v, "+volume+"}]")
	}
	create("with a variable", good, on+"containers: [{name: a, image: i, envFrom: [{configMapRef: {name: x}}]}]")
	p.must(http.MethodPost, pods, pod("far", ""))
	p.must(http.MethodPost, pods, "{apiVersion: v1, kind: Pod, metadata: {name: near}, spec: {nodeName: "+node+", containers: [{name: a, image: i}], volumes: [{name: t, projected: {sources: [{serviceAccountToken: {path: t, audience: here}}]}}]}}")
	do("update", http.MethodPatch, pods+"/near", `{"metadata":{"labels":{"a":"b"}}}`, "Content-Type: "+merge)
	do("status of a pod", http.MethodPatch, pods+"/near/status", `{"status":{"phase":"Running"}}`, "Content-Type: "+merge)
	do("status of a pod elsewhere", http.MethodPatch, pods+"/far/status", `{"status":{"phase":"Running"}}`, "Content-Type: "+merge)
	do("status with a label", http.MethodPatch, pods+"/near/status", `{"metadata":{"labels":{"a":"b"}}}`, "Content-Type: "+merge)
	do("status with claims", http.MethodPatch, pods+"/near/status", `{"status":{"resourceClaimStatuses":[{"name":"a"}]}}`, "Content-Type: "+merge)
	do("binding", http.MethodPost, pods+"/near/binding", "{apiVersion: v1, kind: Binding, metadata: {name: near}, target: {name: x}}")
	do("resize", http.MethodPatch, pods+"/near/resize", `{"spec":{"containers":[{"name":"a","resources":{}}]}}`, "Content-Type: "+strategic)
	eviction := func(name string) string {
		return "{apiVersion: policy/v1, kind: Eviction, metadata: {name: " + name + "}}"
	}
	do("eviction elsewhere", http.MethodPost, pods+"/far/eviction", eviction("far"))
	do("eviction of nothing", http.MethodPost, pods+"/absent/eviction", eviction("absent"))
	do("deletion elsewhere", http.MethodDelete, pods+"/far", "")

	p.must(http.MethodGet, pods+"/near", "")
	near := uidOf(p)
	token := func(step, spec string) {
		do(step, http.MethodPost, serviceAccounts+"/default/token", "{apiVersion: authentication.k8s.io/v1, kind: TokenRequest, spec: {"+spec+"}}")
	}
	bound := func(members string) string {
		return "boundObjectRef: {kind: Pod, apiVersion: v1" + members + "}"
	}
	token("unbound token", "audiences: [here]")
	token("token of a node", "boundObjectRef: {kind: Node, apiVersion: v1, name: "+node+"}")
	token("token without a uid", bound(", name: near"))
	token("token of nothing", bound(", name: absent, uid: x"))
	token("token of another uid", bound(", name: near, uid: x"))
	p.must(http.MethodGet, pods+"/far", "")
	token("token elsewhere", bound(", name: far, uid: "+uidOf(p)))
	token("two audiences", "audiences: [a, b], "+bound(", name: near, uid: "+near))
	token("token", "audiences: [here], "+bound(", name: near, uid: "+near))
	do("account", http.MethodPatch, serviceAccounts+"/default", `{"metadata":{"labels":{"a":"b"}}}`, "Content-Type: "+merge)

	p.must(http.MethodPost, claims, "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: c}, spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}")
	do("claim", http.MethodPatch, claims+"/c", `{"metadata":{"labels":{"a":"b"}}}`, "Content-Type: "+merge)
	do("deletion of a claim", http.MethodDelete, claims+"/c", "")
	do("capacity", http.MethodPatch, claims+"/c/status", `{"status":{"capacity":{"storage":"1Gi"}}}`, "Content-Type: "+merge)
	do("phase", http.MethodPatch, claims+"/c/status", `{"status":{"phase":"Lost"}}`, "Content-Type: "+merge)

	lease := func(name string) string {
		return "{apiVersion: coordination.k8s.io/v1, kind: Lease, metadata: {name: " + name + "}}"
	}
	do("lease elsewhere", http.MethodPost, leases, lease(node))
	do("another lease", http.MethodPost, owned, lease("other-RUNID"))
	do("lease", http.MethodPost, owned, lease(node))
	do("renewal", http.MethodPatch, owned+"/"+node, `{"spec":{"holderIdentity":"x"}}`, "Content-Type: "+merge)
	do("deletion of another lease", http.MethodDelete, owned+"/other-RUNID", "")
	do("deletion of the lease", http.MethodDelete, owned+"/"+node, "")
	driver := func(name string) string {
		return "{apiVersion: storage.k8s.io/v1, kind: CSINode, metadata: {name: " + name + "}, spec: {drivers: []}}"
	}
	do("drivers of another", http.MethodPost, "/apis/storage.k8s.io/v1/csinodes", driver("other-RUNID"))
	do("drivers", http.MethodPost, "/apis/storage.k8s.io/v1/csinodes", driver(node))
	slice := func(name, of string) string {
		return "{apiVersion: resource.k8s.io/v1, kind: ResourceSlice, metadata: {name: " + name + "}, spec: {driver: d.example.com, pool: {name: p, generation: 1, resourceSliceCount: 1}, nodeName: " + of + ", devices: []}}"
	}
	const resourceSlices = "/apis/resource.k8s.io/v1/resourceslices"
	p.cleanup = append(p.cleanup, resourceSlices+"/far-RUNID", resourceSlices+"/near-RUNID")
	do("slice of another", http.MethodPost, resourceSlices, slice("far-RUNID", "other-RUNID"))
	do("slice", http.MethodPost, resourceSlices, slice("near-RUNID", node))
	p.must(http.MethodPost, resourceSlices, slice("far-RUNID", "other-RUNID"))
	do("deletion of a slice of another", http.MethodDelete, resourceSlices+"/far-RUNID", "")
	do("deletion of a slice", http.MethodDelete, resourceSlices+"/near-RUNID", "")
	do("config map", http.MethodPost, configMaps, configMap("a", ""))
	p.must(http.MethodDelete, pods+"?gracePeriodSeconds=0", "")
}

// uidOf returns the uid of the object that was read last.
func uidOf(p *play) string { return exchange.TextAt(p.Last, "metadata", "uid") }
