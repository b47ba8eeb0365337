package cluster_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"

	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/httpapi/apitest"
	"github.com/kubecoord/kubecoord/store/kube/cluster"
	"github.com/kubecoord/kubecoord/store/kube/scheme"
)

// users has the tokens of the tests' users.
func users() httpapi.Authenticator {
	return httpapi.BearerTokens(map[string]httpapi.User{
		"admin": {Name: "admin", Groups: []string{"system:masters"}},
		"jane":  {Name: "jane", UID: "7", Groups: []string{"devs"}},
	})
}

// serve returns a server with the kinds of client-go and the options.
func serve(t testing.TB, o cluster.Options, api apitest.Options) *apitest.API {
	t.Helper()
	kinds, err := scheme.Kinds(clientgoscheme.Scheme, scheme.Options{})
	require.NoError(t, err)
	api.API.Kinds = append(kinds, api.API.Kinds...)
	require.NoError(t, o.Apply(&api.API))
	return apitest.New(t, api)
}

// request is a request of a test, with the user's token, or none.
type request struct {
	token, method, path, body string
	header                    http.Header
}

// do returns the code and the body of an answer.
func do(t testing.TB, api *apitest.API, r request) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), r.method, api.Host()+r.path, strings.NewReader(r.body))
	require.NoError(t, err)
	req.Header.Set("Content-Type", "application/json")
	for name, values := range r.header {
		req.Header[name] = values
	}
	if r.token != "" {
		req.Header.Set("Authorization", "Bearer "+r.token)
	}
	resp, err := api.Transport().RoundTrip(req)
	require.NoError(t, err)
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	return resp.StatusCode, string(body)
}

// member returns a member of a JSON text, by its path.
func member(t testing.TB, body string, path ...string) any {
	t.Helper()
	var v any
	require.NoError(t, json.NewDecoder(bytes.NewBufferString(body)).Decode(&v), body)
	for _, name := range path {
		m, _ := v.(map[string]any)
		v = m[name]
	}
	return v
}

// asJSON returns a member as JSON.
func asJSON(t testing.TB, body string, path ...string) string {
	t.Helper()
	data, err := json.Marshal(member(t, body, path...))
	require.NoError(t, err)
	return string(data)
}

const (
	authn = "/apis/authentication.k8s.io/v1"
	authz = "/apis/authorization.k8s.io/v1"
	rbac  = "/apis/rbac.authorization.k8s.io/v1"
)

// The texts are of a kube-apiserver 1.36.3.
func TestReviewsAreAnsweredAsByARealServer(t *testing.T) {
	api := serve(t, cluster.Options{Reviews: true, RBAC: true}, apitest.Options{API: httpapi.Options{Authenticate: users()}})
	for _, row := range []struct {
		name string
		request
		code   int
		member string // of the answer
		want   string
	}{
		{"whoami", request{token: "jane", path: authn + "/selfsubjectreviews", body: `{}`}, 201, "status",
			`{"userInfo":{"groups":["devs","system:authenticated"],"uid":"7","username":"jane"}}`},
		{"a token that is rubbish", request{token: "admin", path: authn + "/tokenreviews", body: `{"spec":{"token":"rubbish"}}`}, 201, "status",
			`{"error":"invalid bearer token","user":{}}`},
		{"a token of the API's own", request{token: "admin", path: authn + "/tokenreviews", body: `{"spec":{"token":"jane"}}`}, 201, "status",
			`{"audiences":["https://kubernetes.default.svc.cluster.local"],"authenticated":true,"user":{"groups":["devs","system:authenticated"],"uid":"7","username":"jane"}}`},
		{"a token for another audience", request{token: "admin", path: authn + "/tokenreviews", body: `{"spec":{"token":"jane","audiences":["other"]}}`}, 201, "status",
			`{"error":"invalid bearer token","user":{}}`},
		{"no token", request{token: "admin", path: authn + "/tokenreviews", body: `{"spec":{}}`}, 400, "message",
			`"token is required for TokenReview in authentication"`},
		{"a user without rules", request{token: "admin", path: authz + "/subjectaccessreviews",
			body: `{"spec":{"user":"jane","resourceAttributes":{"verb":"get","resource":"pods"}}}`}, 201, "status", `{"allowed":false}`},
		{"a user whom a group allows", request{token: "admin", path: authz + "/subjectaccessreviews",
			body: `{"spec":{"user":"x","groups":["system:authenticated"],"nonResourceAttributes":{"verb":"get","path":"/apis/apps"}}}`}, 201, "status",
			`{"allowed":true,"reason":"RBAC: allowed by ClusterRoleBinding \"system:discovery\" of ClusterRole \"system:discovery\" to Group \"system:authenticated\""}`},
		{"a review of nothing, with metadata", request{token: "admin", path: authz + "/subjectaccessreviews", body: `{"metadata":{"name":"x"},"spec":{}}`}, 422, "message",
			`".authorization.k8s.io \"\" is invalid: [spec.resourceAttributes: Invalid value: null: exactly one of nonResourceAttributes or resourceAttributes must be specified, spec.user: Invalid value: \"\": at least one of user or group must be specified, metadata: Invalid value: {\"name\":\"x\"}: must be empty]"`},
		{"can-i", request{token: "admin", path: authz + "/selfsubjectaccessreviews", body: `{"spec":{"resourceAttributes":{"verb":"get","resource":"pods"}}}`}, 201, "status", `{"allowed":true}`},
		{"a local review of another namespace", request{token: "admin", path: authz + "/namespaces/default/localsubjectaccessreviews",
			body: `{"spec":{"user":"jane","resourceAttributes":{"verb":"get","resource":"pods"}}}`}, 422, "message",
			`".authorization.k8s.io \"\" is invalid: spec.resourceAttributes.namespace: Invalid value: \"\": must match metadata.namespace"`},
		{"rules without a namespace", request{token: "admin", path: authz + "/selfsubjectrulesreviews", body: `{"spec":{}}`}, 400, "message", `"no namespace on request"`},
		{"rules", request{token: "jane", path: authz + "/selfsubjectrulesreviews", body: `{"spec":{"namespace":"default"}}`}, 201, "status",
			`{"incomplete":false,"nonResourceRules":[` +
				`{"nonResourceURLs":["/api","/api/*","/apis","/apis/*","/healthz","/livez","/openapi","/openapi/*","/readyz","/version","/version/"],"verbs":["get"]},` +
				`{"nonResourceURLs":["/healthz","/livez","/readyz","/version","/version/"],"verbs":["get"]}],"resourceRules":[` +
				`{"apiGroups":["authorization.k8s.io"],"resources":["selfsubjectaccessreviews","selfsubjectrulesreviews"],"verbs":["create"]},` +
				`{"apiGroups":["authentication.k8s.io"],"resources":["selfsubjectreviews"],"verbs":["create"]}]}`},
		{"a review is only created", request{token: "admin", method: "GET", path: authn + "/tokenreviews"}, 405, "message",
			`"the server does not allow this method on the requested resource"`},
	} {
		t.Run(row.name, func(t *testing.T) {
			if row.method == "" {
				row.method = "POST"
			}
			code, body := do(t, api, row.request)
			assert.Equal(t, row.code, code)
			assert.Equal(t, row.want, asJSON(t, body, row.member), body)
		})
	}
}
