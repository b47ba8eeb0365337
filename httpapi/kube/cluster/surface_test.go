package cluster_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/httpapi/apitest"
	"github.com/kubecoord/kubecoord/httpapi/kube/cluster"
)

func TestFlagsAndStatusAreShownAsTextOrAsAnObject(t *testing.T) {
	api := serve(t, cluster.Options{Flags: map[string]string{"b": "2", "a": "1"}}, apitest.Options{})
	code, text := do(t, api, request{method: http.MethodGet, path: "/flagz"})
	assert.Equal(t, http.StatusOK, code)
	assert.True(t, strings.HasPrefix(text, "\napiserver flagz\nWarning: "), text)
	assert.True(t, strings.HasSuffix(text, "purposes only.\na: 1\nb: 2\n"), text)
	accept := func(value string) http.Header { return http.Header{"Accept": {value}} }
	code, object := do(t, api, request{method: http.MethodGet, path: "/flagz", header: accept("application/json;v=v1beta1;g=config.k8s.io;as=Flagz")})
	assert.Equal(t, http.StatusOK, code)
	assert.JSONEq(t, `{"kind":"Flagz","apiVersion":"config.k8s.io/v1beta1","metadata":{"name":"apiserver"},"flags":{"a":"1","b":"2"}}`, object)
	code, refused := do(t, api, request{method: http.MethodGet, path: "/flagz", header: accept("application/json")})
	assert.Equal(t, http.StatusNotAcceptable, code)
	assert.Equal(t, "NotAcceptable", member(t, refused, "reason"))
	_, text = do(t, api, request{method: http.MethodGet, path: "/statusz"})
	assert.Contains(t, text, "\nBinary version: "+strings.Join(strings.Split(strings.TrimPrefix(httpapi.Version, "v"), ".")[:2], ".")+"\n")
	assert.Contains(t, text, "\nPaths: /flagz /healthz /livez /metrics /readyz /statusz /version\n")
	_, object = do(t, api, request{method: http.MethodGet, path: "/statusz", header: accept("application/json;v=v1beta1;g=config.k8s.io;as=Statusz")})
	assert.Equal(t, 0.0, member(t, object, "uptimeSeconds"))

	api = serve(t, cluster.Options{RBAC: true, Reviews: true}, apitest.Options{API: httpapi.Options{Authenticate: users()}})
	code, _ = do(t, api, request{token: "jane", method: http.MethodGet, path: "/flagz"})
	assert.Equal(t, http.StatusForbidden, code)
}

// TestNoWebhookIsAskedAboutReviews: an unreachable webhook for all resources would shut everybody out.
func TestNoWebhookIsAskedAboutReviews(t *testing.T) {
	api := serve(t, cluster.KubeAPIServer(), apitest.Options{})
	code, made := do(t, api, request{method: http.MethodPost, path: "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations", body: `{"metadata":{"name":"a"},"webhooks":[{
		"name":"a.example.com","sideEffects":"None","admissionReviewVersions":["v1"],"timeoutSeconds":1,"clientConfig":{"url":"https://127.0.0.1:1/"},
		"rules":[{"apiGroups":["*"],"apiVersions":["*"],"operations":["*"],"resources":["*"]}]}]}`})
	require.Equal(t, http.StatusCreated, code, made)
	code, _ = do(t, api, request{method: http.MethodPost, path: "/api/v1/namespaces/default/configmaps", body: `{"metadata":{"name":"a"}}`})
	assert.Equal(t, http.StatusInternalServerError, code)
	for path, spec := range map[string]string{
		authz + "/selfsubjectaccessreviews": `{"resourceAttributes":{"verb":"get","resource":"pods"}}`, authz + "/selfsubjectrulesreviews": `{"namespace":"default"}`,
		authz + "/subjectaccessreviews":                         `{"user":"jane","resourceAttributes":{"verb":"get","resource":"pods"}}`,
		authz + "/namespaces/default/localsubjectaccessreviews": `{"user":"jane","resourceAttributes":{"namespace":"default","verb":"get","resource":"pods"}}`,
		authn + "/tokenreviews":                                 `{"token":"x"}`, authn + "/selfsubjectreviews": `{}`,
	} {
		body := `{"spec":` + spec + `}`
		if strings.HasSuffix(path, "selfsubjectreviews") {
			body = `{}`
		}
		code, answer := do(t, api, request{method: http.MethodPost, path: path, body: body})
		assert.Equal(t, http.StatusCreated, code, "%s: %s", path, answer)
	}
}

func TestConfigurationsOfFilesAreNotCreated(t *testing.T) {
	api := serve(t, cluster.Options{}, apitest.Options{})
	code, refused := do(t, api, request{method: http.MethodPost, path: "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations", body: `{"metadata":{"name":"a.static.k8s.io"}}`})
	assert.Equal(t, http.StatusUnprocessableEntity, code)
	assert.Contains(t, refused, `names ending with \".static.k8s.io\" are reserved for static manifest-based configurations and cannot be managed via the API`)
}

func TestDefinitionsHaveTheColumnsOfKubectl(t *testing.T) {
	api := serve(t, cluster.Options{}, apitest.Options{})
	code, made := do(t, api, request{method: http.MethodPost, path: "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", body: `{"metadata":{"name":"as.example.com"},"spec":{"group":"example.com","scope":"Cluster",
		"names":{"plural":"as","kind":"A","shortNames":["x","y"]},"versions":[{"name":"v1beta1","served":true,"storage":false,"schema":{"openAPIV3Schema":{"type":"object"}}},
		{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object"}}},{"name":"v0","served":false,"storage":false,"schema":{"openAPIV3Schema":{"type":"object"}}}]}}`})
	require.Equal(t, http.StatusCreated, code, made)
	_, table := do(t, api, request{method: http.MethodGet, path: "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/as.example.com", header: http.Header{"Accept": {"application/json;as=Table;v=v1;g=meta.k8s.io"}}})
	cells := member(t, table, "rows").([]any)[0].(map[string]any)["cells"].([]any)
	assert.Equal(t, []any{"as.example.com", "Cluster", "v1(storage),v1beta1", "example.com", "A", "x,y"}, append(cells[:3:3], cells[4:7]...))
	assert.Len(t, cells, 8)
}

func TestVersionsAreSwitchedOn(t *testing.T) {
	api := serve(t, cluster.Options{Versions: func(r schema.GroupVersionResource) bool { return r.Version == "v1beta2" }}, apitest.Options{})
	for version, want := range map[string]int{"v1": http.StatusOK, "v1beta2": http.StatusOK, "v1beta1": http.StatusNotFound} {
		code, _ := do(t, api, request{method: http.MethodGet, path: "/apis/resource.k8s.io/" + version + "/deviceclasses"})
		assert.Equal(t, want, code, version)
	}
}

// TestOnlyASignerAnswersPodCertificateRequests: the right is over the signer, beside the right to write the status.
func TestOnlyASignerAnswersPodCertificateRequests(t *testing.T) {
	api := serve(t, cluster.Options{RBAC: true, Namespaces: true}, apitest.Options{API: httpapi.Options{Authenticate: users()}})
	const requests = "/apis/certificates.k8s.io/v1/namespaces/default/podcertificaterequests"
	code, made := do(t, api, request{token: "admin", method: http.MethodPost, path: requests, body: `{"metadata":{"name":"a"},"spec":{"signerName":"example.com/a","podName":"p","podUID":"1",
		"serviceAccountName":"s","serviceAccountUID":"2","nodeName":"n","nodeUID":"3","maxExpirationSeconds":3600,"stubPKCS10Request":"MH8wMwIBADAAMCowBQYDK2VwAyEAiFcohZzIUj9g/4O1kppwEerWKGgBjXr2fq60jx0aZAagADAFBgMrZXADQQDiO7EwP0h/8gjpn10w4+t4WVtGvTFphqX3ED9ziNVjWopl/i7kb76Hjxy1/+XF4zGltbu9dFNz1Ah8fcw/Cp0I"}}`})
	require.Equal(t, http.StatusCreated, code, made)
	grant := func(rule string) {
		name := map[bool]string{true: "sign", false: "status"}[strings.Contains(rule, "signers")]
		code, role := do(t, api, request{token: "admin", method: http.MethodPost, path: rbac + "/clusterroles", body: `{"metadata":{"name":"` + name + `"},"rules":[` + rule + `]}`})
		require.Equal(t, http.StatusCreated, code, role)
		code, bound := do(t, api, request{token: "admin", method: http.MethodPost, path: rbac + "/clusterrolebindings", body: `{"metadata":{"name":"` + name + `"},"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole","name":"` + name + `"},
			"subjects":[{"kind":"User","apiGroup":"rbac.authorization.k8s.io","name":"jane"}]}`})
		require.Equal(t, http.StatusCreated, code, bound)
	}
	deny := request{token: "jane", method: http.MethodPatch, path: requests + "/a/status", header: http.Header{"Content-Type": {"application/merge-patch+json"}},
		body: `{"status":{"conditions":[{"type":"Denied","status":"True","reason":"No","message":"no","lastTransitionTime":"2026-01-01T00:00:00Z"}]}}`}
	grant(`{"apiGroups":["certificates.k8s.io"],"resources":["podcertificaterequests/status"],"verbs":["patch"]}`)
	code, refused := do(t, api, deny)
	assert.Equal(t, http.StatusUnprocessableEntity, code)
	assert.Contains(t, refused, `spec.signerName: Forbidden: User \"jane\" is not permitted to \"sign\" for signer \"example.com/a\"`)
	grant(`{"apiGroups":["certificates.k8s.io"],"resources":["signers"],"resourceNames":["example.com/*"],"verbs":["sign"]}`)
	code, denied := do(t, api, deny)
	assert.Equal(t, http.StatusOK, code, denied)
	deny.body = strings.Replace(deny.body, "Denied", "Failed", 1)
	code, refused = do(t, api, deny)
	assert.Equal(t, http.StatusUnprocessableEntity, code)
	assert.Contains(t, refused, "immutable after PodCertificateRequest is issued, denied, or failed")
}
