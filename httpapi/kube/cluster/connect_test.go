package cluster_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubecoord/kubecoord/httpapi/apitest"
	"github.com/kubecoord/kubecoord/httpapi/kube/cluster"
)

const onePod = `{"metadata":{"name":"p"},"spec":{"containers":[{"name":"c","image":"i"}]}}`

// policyAbout makes a policy about resources, and its binding. kind is Validating or Mutating.
func policyAbout(t *testing.T, api *apitest.API, kind, resources, operation, spec string) {
	t.Helper()
	path, actions := admissionPath+"validatingadmissionpolic", `,"validationActions":["Deny"]`
	if kind == "Mutating" {
		path, actions = admissionPath+"mutatingadmissionpolic", ""
		spec = `"reinvocationPolicy":"Never",` + spec
	}
	create(t, api, path+"ies", `{"metadata":{"name":"x"},"spec":{"matchConstraints":{"resourceRules":[{"apiGroups":["*"],"apiVersions":["*"],"resources":["`+resources+`"],"operations":["`+operation+`"]}]},`+spec+`}}`)
	create(t, api, path+"ybindings", `{"metadata":{"name":"x"},"spec":{"policyName":"x"`+actions+`}}`)
}

// The answers are those of a kube-apiserver; internal/test/kube/cluster compares more of them.
func TestAPolicyDecidesAboutConnections(t *testing.T) {
	const namespaced = "/api/v1/namespaces/default/"
	api := serve(t, cluster.KubeAPIServer(), apitest.Options{})
	create(t, api, namespaced+"pods", onePod)
	// The plugins about pods have no opinion: a pod may be in a namespace that ends, and a LimitRange is about resources.
	for path, allowed := range map[string]string{
		"pods/p/exec?command=a":      "pod p does not have a host assigned",
		"pods/p/attach":              "pod p does not have a host assigned",
		"pods/p/portforward":         "pod p does not have a host assigned",
		"pods/p/proxy/x":             "address not allowed",
		"pods/absent/proxy":          `pods "absent" not found`,
		"pods/p/exec?ports=x":        "pod p does not have a host assigned",
		"pods/p/portforward?ports=x": `cannot convert to []int32: strconv.ParseUint: parsing "x": invalid syntax`,
	} {
		_, body := do(t, api, request{method: http.MethodGet, path: namespaced + path})
		assert.Equal(t, allowed, member(t, body, "message"), path)
	}
	policyAbout(t, api, "Validating", "*/*", "CONNECT", `"validations":[{"expression":"false","messageExpression":"request.operation + ' ' + request.kind.kind + ' of ' + request.resource.resource + '/' + request.subResource + ' ' + request.name + (has(object.path) ? ' ' + object.path : '') + (request.options == null ? ' null' : '')"}]`)
	for path, said := range map[string]string{
		namespaced + "pods/p/exec?command=a":            "PodExecOptions of pods/exec p",
		namespaced + "pods/p/attach":                    "PodAttachOptions of pods/attach p",
		namespaced + "pods/absent/portforward?ports=80": "PodPortForwardOptions of pods/portforward absent",
		namespaced + "pods/p/proxy":                     "PodProxyOptions of pods/proxy p",
		namespaced + "pods/http:p:80/proxy/a/b/":        "PodProxyOptions of pods/proxy http:p:80 /a/b/",
		namespaced + "services/absent/proxy/":           "ServiceProxyOptions of services/proxy absent /",
		"/api/v1/nodes/n/proxy/metrics":                 "NodeProxyOptions of nodes/proxy n /metrics",
	} {
		for _, method := range []string{http.MethodGet, http.MethodPost} {
			code, body := do(t, api, request{method: method, path: path})
			assert.Equal(t, 422, code, path)
			assert.Contains(t, member(t, body, "message"), "denied request: CONNECT "+said+" null", path)
			assert.Equal(t, "Invalid", member(t, body, "reason"))
		}
	}
	for _, method := range []string{http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodHead, http.MethodOptions} {
		code, _ := do(t, api, request{method: method, path: namespaced + "pods/p/proxy/x", header: http.Header{"Content-Type": {"application/merge-patch+json"}}})
		assert.Equal(t, 422, code, method)
	}
	code, _ := do(t, api, request{method: http.MethodGet, path: namespaced + "pods/p/log"})
	assert.Equal(t, 204, code, "a log is read")
	code, body := do(t, api, request{method: http.MethodGet, path: "/api/v1/namespaces/absent/pods/p/exec"})
	assert.Equal(t, 404, code)
	assert.Equal(t, `namespaces "absent" not found`, member(t, body, "message"), "a policy needs the namespace")
}

func TestAPolicyMaySeeAndChangeTheOptionsOfAConnection(t *testing.T) {
	const pod = "/api/v1/namespaces/default/pods/p/"
	api := serve(t, cluster.KubeAPIServer(), apitest.Options{})
	create(t, api, "/api/v1/namespaces/default/pods", onePod)
	policyAbout(t, api, "Validating", "pods/exec", "CONNECT", `"validations":[{"expression":"object.container == 'c' && object.command == ['a', 'b'] && object.stdin && object.tty && !has(object.stdout) && !has(object.stderr)"}]`)
	for query, code := range map[string]int{
		"container=c&command=a&command=b&stdin&tty=1":                         400, // by the pod
		"container=c&command=a&command=b&stdin=true&tty=yes&stdout=0":         400,
		"container=c&command=a&command=b&stdin=true&tty=yes&stderr=False":     400,
		"container=c&command=b&command=a&stdin=true&tty=true":                 422,
		"container=c&command=a&command=b&stdin=false&tty=true":                422,
		"container=c&command=a&command=b&stdin=true&tty=true&stdout=anything": 422,
		"command=a&command=b&stdin=true&tty=true":                             422,
	} {
		got, body := do(t, api, request{method: http.MethodPost, path: pod + "exec?" + query})
		assert.Equal(t, code, got, "%s: %s", query, body)
	}
	policyAbout(t, api, "Mutating", "pods/*", "CONNECT", `"mutations":[{"patchType":"JSONPatch","jsonPatch":{"expression":"[JSONPatch{op: 'add', path: '/container', value: 'other'}]"}}]`)
	code, body := do(t, api, request{method: http.MethodPost, path: pod + "attach"})
	assert.Equal(t, 400, code)
	assert.Equal(t, "container other is not valid for pod p", member(t, body, "message"))
	code, body = do(t, api, request{method: http.MethodPost, path: pod + "exec?container=c"})
	require.Equal(t, 422, code, "the other policy sees the change: %s", body)
}

// The plugins about pods are not asked about connections: NodeRestriction would refuse the subresource (upstream: its Handler).
func TestBuiltInPluginsHaveNoOpinionAboutConnections(t *testing.T) {
	o := cluster.KubeAPIServer()
	o.Plugins = append(o.Plugins, "NodeRestriction", "ServiceAccount")
	api := serve(t, o, apitest.Options{})
	create(t, api, "/api/v1/namespaces/default/serviceaccounts", `{"metadata":{"name":"default"}}`)
	create(t, api, "/api/v1/namespaces/default/pods", onePod)
	node := http.Header{"Impersonate-User": {"system:node:n"}, "Impersonate-Group": {"system:nodes"}}
	_, body := do(t, api, request{method: http.MethodPost, path: "/api/v1/namespaces/default/pods/p/exec?command=a", header: node})
	assert.Equal(t, "pod p does not have a host assigned", member(t, body, "message"))
	_, body = do(t, api, request{method: http.MethodPost, path: "/api/v1/namespaces/default/pods/p/binding", body: `{"metadata":{"name":"p"},"target":{"name":"n"}}`, header: node})
	assert.Contains(t, member(t, body, "message"), "unexpected pod subresource")
}

// A policy about a kind of a group that is not served cannot decide, so the write is refused.
func TestAPolicyNeedsTheDocumentOfTheGroup(t *testing.T) {
	o := cluster.KubeAPIServer()
	o.Serves = func(r schema.GroupVersionResource) bool { return r.Group != "autoscaling" }
	api := serve(t, o, apitest.Options{})
	create(t, api, "/apis/apps/v1/namespaces/default/deployments", `{"metadata":{"name":"w"},"spec":{"selector":{"matchLabels":{"a":"b"}},"template":`+template+`}}`)
	policyAbout(t, api, "Mutating", "*/scale", "*", jsonPatch("JSONPatch{op: 'replace', path: '/spec/replicas', value: 7}"))
	code, body := do(t, api, request{method: http.MethodPatch, path: "/apis/apps/v1/namespaces/default/deployments/w/scale", body: `{"spec":{"replicas":3}}`, header: http.Header{"Content-Type": {"application/merge-patch+json"}}})
	assert.Equal(t, 503, code)
	assert.Contains(t, member(t, body, "message"), "Resource kind autoscaling/v1, Kind=Scale not found.")
}
