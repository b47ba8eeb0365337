package cluster

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"net/http"
)

// This file has the scenarios of the plugins about what Pods and certificates may do, and of Pods on nodes.

// secured plays the plugin PodSecurity.
func secured(p *play) {
	const (
		namespaces = "/api/v1/namespaces"
		privileged = "{apiVersion: v1, kind: Pod, metadata: {name: x}, spec: {hostNetwork: true, containers: [{name: a, image: i, securityContext: {privileged: true}, ports: [{hostPort: 80, containerPort: 80}]}]}}"
		restricted = "{apiVersion: v1, kind: Pod, metadata: {name: x}, spec: {securityContext: {runAsNonRoot: true, seccompProfile: {type: RuntimeDefault}}, containers: [{name: a, image: i, securityContext: {allowPrivilegeEscalation: false, capabilities: {drop: [ALL]}}}]}}"
	)
	level := func(labels string) {
		p.must(http.MethodPatch, namespaces+"/NAMESPACE", `{"metadata":{"labels":`+labels+`}}`, "Content-Type: "+merge)
	}
	refused := func() {
		p.until("the level", http.MethodPost, pods+dry, privileged, func(code int, _ []byte) bool { return code == http.StatusForbidden })
	}
	allowed := func() {
		p.until("the level", http.MethodPost, pods+dry, privileged, func(code int, _ []byte) bool { return code == http.StatusCreated })
	}
	namespace := func(step, query, labels string) {
		p.do(step, http.MethodPost, namespaces+query, "{apiVersion: v1, kind: Namespace, metadata: {name: NAMESPACE-b, labels: {"+labels+"}}}")
	}
	namespace("namespace of an unknown level", "", "pod-security.kubernetes.io/enforce: none")
	namespace("namespace of an unknown version", "", "pod-security.kubernetes.io/warn: baseline, pod-security.kubernetes.io/warn-version: v9")
	namespace("namespace of a level", dry, "pod-security.kubernetes.io/enforce: baseline, pod-security.kubernetes.io/enforce-version: v1.20")
	p.do("privileged pod", http.MethodPost, pods+dry, privileged)
	p.must(http.MethodPost, pods, plainPod("before", "hostNetwork: true"))
	p.patch("enforce baseline", namespaces+"/NAMESPACE", merge, `{"metadata":{"labels":{"pod-security.kubernetes.io/enforce":"baseline"}}}`)
	refused()
	p.do("pod against the baseline", http.MethodPost, pods, privileged)
	p.do("pod of the baseline", http.MethodPost, pods, plainPod("a", ""))
	p.do("deployment against the baseline", http.MethodPost, deployments+dry, "{apiVersion: apps/v1, kind: Deployment, metadata: {name: d}, spec: {selector: {matchLabels: {app: a}}, template: {metadata: {labels: {app: a}}, spec: {hostPID: true, containers: [{name: a, image: i}]}}}}")
	p.patch("label of a pod from before", pods+"/before", merge, `{"metadata":{"labels":{"x":"red"}}}`)
	p.patch("image of a pod from before", pods+"/before", merge, `{"spec":{"containers":[{"name":"a","image":"j"}]}}`)
	p.patch("ephemeral container against the baseline", pods+"/a/ephemeralcontainers", strategic, `{"spec":{"ephemeralContainers":[{"name":"e","image":"i","securityContext":{"privileged":true}}]}}`)
	p.patch("ephemeral container", pods+"/a/ephemeralcontainers", strategic, `{"spec":{"ephemeralContainers":[{"name":"e","image":"i"}]}}`)
	p.patch("status", pods+"/before/status", merge, `{"status":{"phase":"Running"}}`)
	p.do("binding", http.MethodPost, pods+"/a/binding", "{apiVersion: v1, kind: Binding, metadata: {name: a}, target: {kind: Node, name: node}}")
	p.patch("enforce restricted", namespaces+"/NAMESPACE", merge, `{"metadata":{"labels":{"pod-security.kubernetes.io/enforce":"restricted","pod-security.kubernetes.io/enforce-version":"v1.24"}}}`)
	p.until("the level", http.MethodPost, pods+dry, plainPod("x", ""), func(code int, _ []byte) bool { return code == http.StatusForbidden })
	p.do("pod against restricted", http.MethodPost, pods, plainPod("x", ""))
	p.do("restricted pod", http.MethodPost, pods+dry, restricted)
	p.patch("unknown level", namespaces+"/NAMESPACE", merge, `{"metadata":{"labels":{"pod-security.kubernetes.io/audit":"some"}}}`)
	level(`{"pod-security.kubernetes.io/enforce":null,"pod-security.kubernetes.io/enforce-version":null,"pod-security.kubernetes.io/warn":"restricted"}`)
	allowed()
	p.do("pod with a warning", http.MethodPost, pods+dry, plainPod("x", "hostNetwork: true"))
	p.do("deployment with a warning", http.MethodPost, deployments+dry, deployment("d", ""))
	p.do("deployment with a warning, stored", http.MethodPost, deployments, deployment("d", ""))
	p.patch("scale", deployments+"/d/scale", merge, `{"spec":{"replicas":2}}`)
	p.patch("deployment again", deployments+"/d", merge, `{"metadata":{"labels":{"x":"red"}}}`)
	p.do("job with a warning", http.MethodPost, jobs+dry, job("j", "", "", ""))
	p.do("template with a warning", http.MethodPost, "/api/v1/namespaces/NAMESPACE/podtemplates"+dry, "{apiVersion: v1, kind: PodTemplate, metadata: {name: t}, template: {spec: {hostIPC: true, containers: [{name: a, image: i}]}}}")
	for _, name := range []string{"a", "before"} {
		p.must(http.MethodDelete, pods+"/"+name+"?gracePeriodSeconds=0", "")
	}
}

// certificateRequest returns the base64 of a certificate request of an organization.
func certificateRequest(organization string) string {
	_, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		panic(err)
	}
	der, err := x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{Subject: pkix.Name{CommonName: "u", Organization: []string{organization}}}, key)
	if err != nil {
		panic(err)
	}
	return base64.StdEncoding.EncodeToString(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: der}))
}

// signed plays the plugins CertificateApproval, CertificateSigning and CertificateSubjectRestriction.
func signed(p *play) {
	const roles, bindings = "/apis/rbac.authorization.k8s.io/v1/clusterroles", "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings"
	request := func(name, signer, organization string) string {
		return "{apiVersion: certificates.k8s.io/v1, kind: CertificateSigningRequest, metadata: {name: " + name + "}, spec: {signerName: " + signer + ", usages: [client auth], request: " + certificateRequest(organization) + "}}"
	}
	admin := []string{"Impersonate-User: admin", "Impersonate-Uid: admin-uid", "Impersonate-Group: system:masters"}
	p.do("masters", http.MethodPost, requests, request("RUNID-x", "kubernetes.io/kube-apiserver-client", "system:masters"), admin...)
	p.do("masters of another signer", http.MethodPost, requests+dry, request("RUNID-x", "example.com/s", "system:masters"), admin...)
	p.do("others", http.MethodPost, requests+dry, request("RUNID-x", "kubernetes.io/kube-apiserver-client", "guests"), admin...)
	for name, signer := range map[string]string{"RUNID-a": "example.com/s", "RUNID-b": "example.org/s"} {
		p.must(http.MethodPost, requests, request(name, signer, "guests"), admin...)
		p.cleanup = append(p.cleanup, requests+"/"+name)
	}
	p.made(roles, "RUNID-r", `{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: RUNID-r}, rules: [
		{apiGroups: [certificates.k8s.io], resources: [certificatesigningrequests/approval, certificatesigningrequests/status], verbs: [update, patch]},
		{apiGroups: [certificates.k8s.io], resources: [signers], resourceNames: ["example.org/*"], verbs: [approve, sign]}]}`)
	p.made(bindings, "RUNID-r", "{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRoleBinding, metadata: {name: RUNID-r}, roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: RUNID-r}, subjects: [{kind: User, name: RUNID-u}]}")
	as := func(step, path, body string) {
		p.do(step, http.MethodPatch, requests+path, body, "Content-Type: "+merge, "Impersonate-User: RUNID-u")
	}
	const approved = `{"status":{"conditions":[{"type":"Approved","status":"True","reason":"r","message":"m"}]}}`
	const failed = `{"status":{"conditions":[{"type":"Failed","status":"True","reason":"r","message":"m"}]}}`
	p.until("the rights", http.MethodPost, "/apis/authorization.k8s.io/v1/subjectaccessreviews",
		"{apiVersion: authorization.k8s.io/v1, kind: SubjectAccessReview, spec: {user: RUNID-u, resourceAttributes: {group: certificates.k8s.io, resource: certificatesigningrequests, subresource: status, verb: patch}}}", p.has(`"allowed":true`))
	as("approval of a signer without the right", "/RUNID-a/approval", approved)
	as("approval that changes nothing", "/RUNID-a/approval", `{}`)
	as("approval of a domain with the right", "/RUNID-b/approval", approved)
	as("signing of a signer without the right", "/RUNID-a/status", failed)
	as("annotation of its status", "/RUNID-a/status", `{"metadata":{"annotations":{"a":"b"}}}`)
	as("signing of a domain with the right", "/RUNID-b/status", failed)
	p.patch("approval by an administrator", requests+"/RUNID-a/approval", merge, approved)
}

// placed plays the plugins PodTopologyLabels, NodeDeclaredFeatureValidator and PodResizeValidator.
func placed(p *play) {
	node := func(name, labels string) {
		p.made(nodes, name, "{apiVersion: v1, kind: Node, metadata: {name: "+name+", labels: {"+labels+"}}}")
		p.must(http.MethodPatch, nodes+"/"+name+"/status", `{"status":{"allocatable":{"cpu":"2","memory":"1Gi"}}}`, "Content-Type: "+merge)
	}
	node("RUNID-a", "topology.kubernetes.io/zone: z, topology.kubernetes.io/region: r, topology.kubernetes.io/rack: k")
	node("RUNID-w", "kubernetes.io/os: windows, topology.kubernetes.io/zone: w")
	p.until("the node", http.MethodPost, pods+dry, plainPod("x", "nodeName: RUNID-w"), p.has(`"w"`))
	p.do("pod on a node", http.MethodPost, pods, sizedPod("a", "requests: {cpu: 1}", "nodeName: RUNID-a, "))
	p.do("pod on a node, with its own zone", http.MethodPost, pods+dry, "{apiVersion: v1, kind: Pod, metadata: {name: x, labels: {topology.kubernetes.io/zone: own}}, spec: {nodeName: RUNID-a, containers: [{name: a, image: i}]}}")
	p.do("pod on an unknown node", http.MethodPost, pods, sizedPod("lost", "requests: {cpu: 1}", "nodeName: RUNID-none, "))
	p.do("pod on another system", http.MethodPost, pods, sizedPod("w", "requests: {cpu: 1}", "nodeName: RUNID-w, "))
	p.must(http.MethodPost, pods, plainPod("b", ""))
	p.do("binding", http.MethodPost, pods+"/b/binding", "{apiVersion: v1, kind: Binding, metadata: {name: b, labels: {x: red, topology.kubernetes.io/zone: own}}, target: {kind: Node, name: RUNID-a}}")
	p.do("pod after it", http.MethodGet, pods+"/b", "")
	p.must(http.MethodPost, pods, plainPod("c", ""))
	p.do("binding to an unknown node", http.MethodPost, pods+"/c/binding", "{apiVersion: v1, kind: Binding, metadata: {name: c}, target: {kind: Node, name: RUNID-none}}")
	p.do("pod after that", http.MethodGet, pods+"/c", "")
	p.patch("no label", pods+"/a", merge, `{"metadata":{"labels":{"topology.kubernetes.io/zone":null}}}`)
	resize := func(step, name, requests string) {
		p.patch(step, pods+"/"+name+"/resize", strategic, `{"spec":{"containers":[{"name":"a","resources":{"requests":{`+requests+`}}}]}}`)
	}
	resize("resize", "a", `"cpu":"1500m"`)
	resize("resize to the same", "a", `"cpu":"1500m"`)
	resize("resize of what is too much", "a", `"cpu":"3"`)
	resize("resize on an unknown node", "lost", `"cpu":"500m"`)
	resize("resize on another system", "w", `"cpu":"500m"`)
	p.patch("image on an unknown node", pods+"/lost", strategic, `{"spec":{"containers":[{"name":"a","image":"j"}]}}`)
	p.must(http.MethodPost, pods, "{apiVersion: v1, kind: Pod, metadata: {name: init}, spec: {nodeName: RUNID-a, initContainers: [{name: i, image: i, resources: {requests: {cpu: 1}}}], containers: [{name: a, image: i, resources: {requests: {cpu: 1}}}]}}")
	p.patch("resize of an init container", pods+"/init/resize", strategic, `{"spec":{"initContainers":[{"name":"i","resources":{"requests":{"cpu":"500m"}}}]}}`)
	for _, name := range []string{"a", "b", "c", "w", "lost", "init"} {
		p.must(http.MethodDelete, pods+"/"+name+"?gracePeriodSeconds=0", "")
	}
}
