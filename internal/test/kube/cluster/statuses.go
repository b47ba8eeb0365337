package cluster

import (
	"net/http"
	"strings"
)

// signingRequest is a request for a certificate, in PEM and base64.
const signingRequest = "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KTUlISE1HNENBUUF3RERFS01BZ0dBMVVFQXd3QllUQlpNQk1HQnlxR1NNNDlBZ0VHQ0NxR1NNNDlBd0VIQTBJQQpCS2JicDlxdmQ4RjVsb2NDQ3NOSm5QZDFsRVB3Vy9kLzFKR3VyM1JtL05FRjQ4ZTdyNVJ4TW5UWDd1OTNCblFoCktWMEd6eGUrb3FUQ3cvdTU0bUVlZEs2Z0FEQUtCZ2dxaGtqT1BRUURBZ05KQURCR0FpRUF6MUlHUURXVWMrSXcKNE9aMFNCRjZ0VjYzaUMyWS9YWktuQzgrVXBaZEY1a0NJUURGaGNucVRhc0RHcnlqSjk0UmY3VzJ6NktkY3JMMApjZU5IQ1hPb2hBckIzQT09Ci0tLS0tRU5EIENFUlRJRklDQVRFIFJFUVVFU1QtLS0tLQo="

// statuses are writes of subresources with metadata that the subresource does not own.
func statuses(p *play) {
	for _, of := range []struct{ kind, apiVersion, path, spec, status string }{
		{"Deployment", "apps/v1", deployments, `{"selector":{"matchLabels":{"app":"a"}},"template":{"metadata":{"labels":{"app":"a"}},"spec":{"containers":[{"name":"a","image":"i"}]}}}`, `{"observedGeneration":1}`},
		{"Pod", "v1", pods, `{"containers":[{"name":"a","image":"i"}]}`, `{"message":"m"}`},
		{"PodDisruptionBudget", "policy/v1", "/apis/policy/v1/namespaces/NAMESPACE/poddisruptionbudgets", `{"selector":{},"maxUnavailable":1}`, `{"expectedPods":0}`},
		{"ResourceQuota", "v1", "/api/v1/namespaces/NAMESPACE/resourcequotas", `{"hard":{"pods":"1"}}`, `{"used":{"pods":"0"}}`},
	} {
		metadata := func(n string) string {
			return `"metadata":{"name":"s","labels":{"a":"` + n + `"},"ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap","name":"o","uid":"uid-` + n + `"}]}`
		}
		head := `{"apiVersion":"` + of.apiVersion + `","kind":"` + of.kind + `",`
		object, path := head+metadata("1")+`,"spec":`+of.spec+"}", of.path+"/s"
		p.patch(of.kind, path+"?fieldManager=object", apply, object)
		p.patch(of.kind+", status", path+"/status", merge, "{"+metadata("2")+`,"status":`+of.status+"}")
		p.patch(of.kind+", applied status", path+"/status?fieldManager=status&force=true", apply, head+metadata("3")+`,"status":`+of.status+"}")
		p.patch(of.kind+" again", path+"?fieldManager=object&force=true", apply, object)
		p.must(http.MethodDelete, path+"?gracePeriodSeconds=0", "")
	}
	signingRequests(p)
}

// signingRequests have two subresources, each with a part of the status.
func signingRequests(p *play) {
	const all = "/apis/certificates.k8s.io/v1/certificatesigningrequests"
	const one, head = all + "/NAMESPACE", `{"apiVersion":"certificates.k8s.io/v1","kind":"CertificateSigningRequest","metadata":{"name":"NAMESPACE","labels":{"a":"1"}},`
	status := func(condition string) string {
		return strings.Replace(`"status":{"conditions":[{"type":"TYPE","status":"True","reason":"r","message":"m"}]}}`, "TYPE", condition, 1)
	}
	p.do("signing request", http.MethodPost, all, head+`"spec":{"request":"`+signingRequest+`","signerName":"example.com/s","usages":["client auth"]}}`)
	p.patch("approval", one+"/approval", merge, "{"+status("Approved"))
	p.patch("applied status", one+"/status?fieldManager=status&force=true", apply, head+status("Failed"))
	p.patch("applied approval", one+"/approval?fieldManager=approval&force=true", apply, head+status("Approved"))
	p.patch("applied request", one+"?fieldManager=object&force=true", apply, strings.TrimSuffix(head, ",")+"}")
	p.must(http.MethodDelete, one, "")
}
