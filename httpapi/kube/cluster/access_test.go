package cluster_test

import (
	"bytes"
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/httpapi/apitest"
	"github.com/kubecoord/kubecoord/httpapi/kube/cluster"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/clock"
)

// users has the tokens of the tests' users.
func users() httpapi.Authenticator {
	return httpapi.BearerTokens(map[string]httpapi.User{
		"admin": {Name: "admin", Groups: []string{"system:masters"}},
		"jane":  {Name: "jane", UID: "7", Groups: []string{"devs"}},
	})
}

// serve returns a server with the options.
func serve(t testing.TB, o cluster.Options, api apitest.Options) *apitest.API {
	t.Helper()
	var err error
	api.API, err = o.API(api.API)
	require.NoError(t, err)
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

// The texts are of a kube-apiserver.
func TestReviewsAreAnsweredAsByARealServer(t *testing.T) {
	api := serve(t, cluster.Options{Reviews: true, RBAC: true}, apitest.Options{API: httpapi.Options{Authenticate: users()}})
	for _, row := range []struct {
		name string
		request
		code   int
		member string // of the answer
		want   string
	}{
		{"a token of the API's own", request{token: "admin", path: authn + "/tokenreviews", body: `{"spec":{"token":"jane"}}`}, 201, "status",
			`{"audiences":["https://kubernetes.default.svc.cluster.local"],"authenticated":true,"user":{"groups":["devs","system:authenticated"],"uid":"7","username":"jane"}}`},
		{"a user whom a group allows", request{token: "admin", path: authz + "/subjectaccessreviews",
			body: `{"spec":{"user":"x","groups":["system:authenticated"],"nonResourceAttributes":{"verb":"get","path":"/apis/apps"}}}`}, 201, "status",
			`{"allowed":true,"reason":"RBAC: allowed by ClusterRoleBinding \"system:discovery\" of ClusterRole \"system:discovery\" to Group \"system:authenticated\""}`},
		{"a review of nothing, with metadata", request{token: "admin", path: authz + "/subjectaccessreviews", body: `{"metadata":{"name":"x"},"spec":{}}`}, 422, "message",
			`".authorization.k8s.io \"\" is invalid: [spec: Invalid value: null: exactly one of nonResourceAttributes or resourceAttributes must be specified, spec.user: Invalid value: \"\": at least one of user or group must be specified, metadata: Invalid value: {\"name\":\"x\"}: must be empty]"`},
		{"metadata of the request", request{token: "jane", path: authn + "/selfsubjectreviews", body: `{"metadata":{"name":"x","labels":{"a":"b"}}}`}, 201, "spec", `null`},
		{"a table", request{token: "jane", path: authn + "/selfsubjectreviews", body: `{}`, header: http.Header{"Accept": {"application/json;as=Table;v=v1;g=meta.k8s.io"}}}, 406, "message",
			`"only the following media types are accepted: application/json, application/yaml, application/vnd.kubernetes.protobuf"`},
		{"selectors that cannot be read", request{token: "admin", path: authz + "/subjectaccessreviews",
			body: `{"spec":{"user":"x","resourceAttributes":{"verb":"list","resource":"pods","fieldSelector":{"requirements":[{"key":"c","operator":"Foo"},{"key":"d","operator":"In","values":["x"]}]},"labelSelector":{"rawSelector":"a in (b"}}}}`}, 201, "status",
			`{"allowed":false,"evaluationError":"spec.resourceAttributes.fieldSelector partially ignored due to parse error; spec.resourceAttributes.labelSelector ignored due to parse error"}`},
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

// create makes an object as the administrator.
func create(t testing.TB, api *apitest.API, path, body string) string {
	t.Helper()
	code, answer := do(t, api, request{token: "admin", method: "POST", path: path, body: body})
	require.Equal(t, 201, code, answer)
	return answer
}

// tokenOf returns a new token of a ServiceAccount.
func tokenOf(t testing.TB, api *apitest.API, account, spec string) string {
	t.Helper()
	answer := create(t, api, "/api/v1/namespaces/default/serviceaccounts/"+account+"/token", `{"spec":`+spec+`}`)
	return member(t, answer, "status", "token").(string)
}

// reviewed returns the status of a TokenReview.
func reviewed(t testing.TB, api *apitest.API, spec string) string {
	t.Helper()
	return asJSON(t, create(t, api, authn+"/tokenreviews", `{"spec":`+spec+`}`), "status")
}

func TestATokenIsItsServiceAccountUntilItExpires(t *testing.T) {
	manual := clock.NewManual(time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC))
	api := serve(t, cluster.Options{Reviews: true}, apitest.Options{API: httpapi.Options{Authenticate: users()}, Store: store.Options{Clock: manual}})
	account := create(t, api, "/api/v1/namespaces/default/serviceaccounts", `{"metadata":{"name":"sa"}}`)
	uid := member(t, account, "metadata", "uid").(string)

	answer := create(t, api, "/api/v1/namespaces/default/serviceaccounts/sa/token", `{"spec":{"expirationSeconds":600}}`)
	assert.Equal(t, `{"audiences":["https://kubernetes.default.svc.cluster.local"],"boundObjectRef":null,"expirationSeconds":600}`, asJSON(t, answer, "spec"))
	assert.Equal(t, "2030-01-01T00:10:00Z", member(t, answer, "status", "expirationTimestamp"))
	assert.Equal(t, uid, member(t, answer, "metadata", "uid"))
	token := member(t, answer, "status", "token").(string)
	payload, err := base64.RawURLEncoding.DecodeString(strings.Split(token, ".")[1])
	require.NoError(t, err)
	id := member(t, string(payload), "jti").(string)
	assert.Equal(t, `{"aud":["https://kubernetes.default.svc.cluster.local"],"exp":1893456600,"iat":1893456000,"iss":"https://kubernetes.default.svc.cluster.local","jti":"`+id+
		`","kubernetes.io":{"namespace":"default","serviceaccount":{"name":"sa","uid":"`+uid+`"}},"nbf":1893456000,"sub":"system:serviceaccount:default:sa"}`, string(payload))

	user := `{"extra":{"authentication.kubernetes.io/credential-id":["JTI=` + id + `"]},"groups":["system:serviceaccounts","system:serviceaccounts:default","system:authenticated"],"uid":"` + uid +
		`","username":"system:serviceaccount:default:sa"}`
	whoami := func(api *apitest.API) (int, string) {
		return do(t, api, request{token: token, method: "POST", path: authn + "/selfsubjectreviews", body: `{}`})
	}
	code, body := whoami(api)
	require.Equal(t, 201, code, body)
	assert.Equal(t, user, asJSON(t, body, "status", "userInfo"))
	assert.Equal(t, `{"audiences":["https://kubernetes.default.svc.cluster.local"],"authenticated":true,"user":`+user+`}`, reviewed(t, api, `{"token":"`+token+`"}`))
	code, _ = whoami(api.Fork(t))
	assert.Equal(t, 201, code, "a fork has the key")

	api.FastForward(11 * time.Minute)
	code, _ = whoami(api)
	assert.Equal(t, 201, code, "within the leeway of a minute")
	api.FastForward(time.Second)
	code, body = whoami(api)
	assert.Equal(t, 401, code, body)
	assert.Equal(t, `{"error":"[invalid bearer token, service account token has expired]","user":{}}`, reviewed(t, api, `{"token":"`+token+`"}`))
}

// The texts are of a kube-apiserver.
func TestTokensAreCheckedAsByARealServer(t *testing.T) {
	api := serve(t, cluster.Options{Reviews: true}, apitest.Options{API: httpapi.Options{Authenticate: users()}})
	other := serve(t, cluster.Options{Reviews: true}, apitest.Options{API: httpapi.Options{Authenticate: users()}})
	for _, a := range []*apitest.API{api, other} {
		create(t, a, "/api/v1/namespaces/default/serviceaccounts", `{"metadata":{"name":"sa"}}`)
	}
	create(t, api, "/api/v1/namespaces/default/serviceaccounts", `{"metadata":{"name":"gone"}}`)
	create(t, api, "/api/v1/namespaces/default/secrets", `{"metadata":{"name":"bound"}}`)
	token := tokenOf(t, api, "sa", `{}`)
	gone := tokenOf(t, api, "gone", `{}`)
	bound := tokenOf(t, api, "sa", `{"boundObjectRef":{"kind":"Secret","apiVersion":"v1","name":"bound"}}`)
	code, _ := do(t, api, request{token: "admin", method: "DELETE", path: "/api/v1/namespaces/default/serviceaccounts/gone"})
	require.Equal(t, 200, code)
	assert.Contains(t, reviewed(t, api, `{"token":"`+bound+`"}`), `"authenticated":true`)
	code, _ = do(t, api, request{token: "admin", method: "DELETE", path: "/api/v1/namespaces/default/secrets/bound"})
	require.Equal(t, 200, code)
	for _, row := range []struct{ name, spec, want string }{
		{"another audience", `{"token":"` + token + `","audiences":["other"]}`,
			`[invalid bearer token, token audiences [\"https://kubernetes.default.svc.cluster.local\"] is invalid for the target audiences [\"other\"]]`},
		{"another signature", `{"token":"` + token[:len(token)-5] + `AAAAA"}`, `[invalid bearer token, go-jose/go-jose: error in cryptographic primitive]`},
		{"another key", `{"token":"` + tokenOf(t, other, "sa", `{}`) + `"}`, `[invalid bearer token, go-jose/go-jose: error in cryptographic primitive]`},
		{"a token for others", `{"token":"` + tokenOf(t, api, "sa", `{"audiences":["other"]}`) + `"}`,
			`[invalid bearer token, token audiences [\"other\"] is invalid for the target audiences [\"https://kubernetes.default.svc.cluster.local\"]]`},
		{"a ServiceAccount that is gone", `{"token":"` + gone + `"}`, `[invalid bearer token, serviceaccounts \"gone\" not found]`},
		{"a secret that is gone", `{"token":"` + bound + `"}`, `[invalid bearer token, service account token has been invalidated]`},
		{"two parts", `{"token":"` + token[:strings.LastIndex(token, ".")] + `"}`, `invalid bearer token`},
		{"not in base64", `{"token":"a.b.c"}`, `invalid bearer token`},
		{"long", `{"token":"` + strings.Repeat("a", 1<<20) + `.b.c"}`, `invalid bearer token`},
		{"a header of another algorithm", `{"token":"` + base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"none"}`)) + token[strings.Index(token, "."):] + `"}`,
			`[invalid bearer token, go-jose/go-jose: error in cryptographic primitive]`},
	} {
		t.Run(row.name, func(t *testing.T) {
			assert.Equal(t, `{"error":"`+row.want+`","user":{}}`, reviewed(t, api, row.spec))
		})
	}
}

// The texts are of a kube-apiserver.
func TestTokenRequestsAreChecked(t *testing.T) {
	api := serve(t, cluster.Options{Reviews: true}, apitest.Options{API: httpapi.Options{Authenticate: users()}})
	create(t, api, "/api/v1/namespaces/default/serviceaccounts", `{"metadata":{"name":"sa"}}`)
	create(t, api, "/api/v1/namespaces/default/pods", `{"metadata":{"name":"p"},"spec":{"serviceAccountName":"other","containers":[{"name":"c","image":"i"}]}}`)
	const path = "/api/v1/namespaces/default/serviceaccounts/"
	for _, row := range []struct {
		name, path, body string
		code             int
		want             string
	}{
		{"too long", path + "sa/token", `{"spec":{"expirationSeconds":4294967297}}`, 422,
			`TokenRequest.authentication.k8s.io "" is invalid: spec.expirationSeconds: Invalid value: 4294967297: may not specify a duration larger than 2^32 seconds`},
		{"another namespace", path + "sa/token", `{"metadata":{"namespace":"y"}}`, 400, `the namespace of the provided object does not match the namespace sent on the request`},
		{"another name", path + "sa/token", `{"metadata":{"name":"x"}}`, 422,
			`TokenRequest.authentication.k8s.io "sa" is invalid: metadata.name: Invalid value: "x": must match the service account name if specified`},
		{"a pod of another account", path + "sa/token", `{"spec":{"boundObjectRef":{"kind":"Pod","apiVersion":"v1","name":"p"}}}`, 400,
			`cannot bind token for serviceaccount "sa" to pod running with different serviceaccount name.`},
	} {
		t.Run(row.name, func(t *testing.T) {
			code, body := do(t, api, request{token: "admin", method: "POST", path: row.path, body: row.body})
			assert.Equal(t, row.code, code)
			assert.Equal(t, row.want, member(t, body, "message"))
		})
	}
}

func TestTokensMayHaveAKeyOfTheUser(t *testing.T) {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	require.NoError(t, err)
	p384, err := ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
	require.NoError(t, err)
	for _, k := range []crypto.Signer{key, p384} {
		api := serve(t, cluster.Options{Reviews: true, Tokens: cluster.Tokens{Issuer: "https://me", Audiences: []string{"api"}, Key: k, MaxExpiration: time.Hour}}, apitest.Options{})
		create(t, api, "/api/v1/namespaces/default/serviceaccounts", `{"metadata":{"name":"sa"}}`)
		token := tokenOf(t, api, "sa", `{"expirationSeconds":7200}`)
		code, body := do(t, api, request{token: token, method: "POST", path: authn + "/selfsubjectreviews", body: `{}`})
		assert.Equal(t, 201, code)
		assert.Equal(t, "system:serviceaccount:default:sa", member(t, body, "status", "userInfo", "username"))
		code, _ = do(t, api, request{token: token[:len(token)-8] + "AAAAAAAA", method: "GET", path: "/api"})
		assert.Equal(t, 401, code)
	}
}

// The texts are of a kube-apiserver.
func TestImpersonationIsAuthorized(t *testing.T) {
	api := serve(t, cluster.Options{RBAC: true, Reviews: true}, apitest.Options{API: httpapi.Options{Authenticate: users()}})
	create(t, api, rbac+"/clusterroles", `{"metadata":{"name":"as"},"rules":[{"verbs":["impersonate"],"apiGroups":[""],"resources":["users"],"resourceNames":["joe"]},
		{"verbs":["impersonate-on:serviceaccount:create"],"apiGroups":["*"],"resources":["*"]},{"verbs":["impersonate:serviceaccount"],"apiGroups":["authentication.k8s.io"],"resources":["serviceaccounts"]}]}`)
	create(t, api, rbac+"/clusterrolebindings", `{"metadata":{"name":"as"},"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole","name":"as"},
		"subjects":[{"kind":"User","apiGroup":"rbac.authorization.k8s.io","name":"jane"}]}`)
	whoami := authn + "/selfsubjectreviews"
	for _, row := range []struct {
		name, token, method, path string
		header                    http.Header
		code                      int
		want                      string
	}{
		{"an administrator", "admin", "POST", whoami, http.Header{"Impersonate-User": {"joe"}, "Impersonate-Extra-A%2fb": {"v"}, "Impersonate-Uid": {"7"}}, 201,
			`{"userInfo":{"extra":{"a/b":["v"]},"groups":["system:authenticated"],"uid":"7","username":"joe"}}`},
		{"a ServiceAccount", "admin", "POST", whoami, http.Header{"Impersonate-User": {"system:serviceaccount:ns:sa"}}, 201,
			`{"userInfo":{"groups":["system:serviceaccounts","system:serviceaccounts:ns","system:authenticated"],"username":"system:serviceaccount:ns:sa"}}`},
		{"system:anonymous", "admin", "POST", whoami, http.Header{"Impersonate-User": {"system:anonymous"}}, 403,
			`selfsubjectreviews.authentication.k8s.io is forbidden: User "system:anonymous" cannot create resource "selfsubjectreviews" in API group "authentication.k8s.io" at the cluster scope`},
		{"a user that the rules name", "jane", "POST", whoami, http.Header{"Impersonate-User": {"joe"}}, 201, `{"userInfo":{"groups":["system:authenticated"],"username":"joe"}}`},
		{"a mode that the rules name", "jane", "POST", whoami, http.Header{"Impersonate-User": {"system:serviceaccount:ns:sa"}}, 201,
			`{"userInfo":{"groups":["system:serviceaccounts","system:serviceaccounts:ns","system:authenticated"],"username":"system:serviceaccount:ns:sa"}}`},
		{"another user", "jane", "GET", "/api/v1/pods", http.Header{"Impersonate-User": {"ann"}}, 403,
			`pods is forbidden: User "jane" cannot impersonate-on:user-info:list resource "pods" in API group "" at the cluster scope`},
		{"a group with the user", "jane", "GET", "/api/v1/pods", http.Header{"Impersonate-User": {"joe"}, "Impersonate-Group": {"g"}}, 403,
			`pods is forbidden: User "jane" cannot impersonate-on:user-info:list resource "pods" in API group "" at the cluster scope`},
		{"the other user's rules", "admin", "GET", "/api/v1/pods", http.Header{"Impersonate-User": {"joe"}}, 403,
			`pods is forbidden: User "joe" cannot list resource "pods" in API group "" at the cluster scope`},
		{"no user", "admin", "GET", "/api/v1/pods", http.Header{"Impersonate-Group": {"joe"}}, 400,
			`requested &user.DefaultInfo{Name:"", UID:"", Groups:[]string{"joe"}, Extra:map[string][]string(nil)} without impersonating a user name`},
		{"no credentials", "", "GET", "/api/v1/pods", http.Header{"Impersonate-User": {"joe"}}, 401, `Unauthorized`},
	} {
		t.Run(row.name, func(t *testing.T) {
			code, body := do(t, api, request{token: row.token, method: row.method, path: row.path, header: row.header, body: `{}`})
			assert.Equal(t, row.code, code)
			if code == 201 {
				assert.Equal(t, row.want, asJSON(t, body, "status"))
			} else {
				assert.Equal(t, row.want, member(t, body, "message"))
			}
		})
	}
}

// The texts are of a kube-apiserver.
func TestRBACRefusesAndAllowsAsARealServer(t *testing.T) {
	api := serve(t, cluster.Options{RBAC: true, Reviews: true}, apitest.Options{API: httpapi.Options{Authenticate: users()}})
	jane := `"subjects":[{"kind":"User","apiGroup":"rbac.authorization.k8s.io","name":"jane"}]`
	create(t, api, rbac+"/clusterroles", `{"metadata":{"name":"some"},"rules":[{"verbs":["get"],"apiGroups":[""],"resources":["pods","*/status"],"resourceNames":["a"]},
		{"verbs":["*"],"apiGroups":["*"],"resources":["configmaps"]},{"verbs":["get"],"nonResourceURLs":["/metrics/*"]}]}`)
	create(t, api, rbac+"/clusterrolebindings", `{"metadata":{"name":"gone"},"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole","name":"access-gone"},`+jane+`}`)
	create(t, api, rbac+"/namespaces/default/rolebindings", `{"metadata":{"name":"gone2"},"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"Role","name":"access-gone2"},`+jane+`}`)
	create(t, api, rbac+"/namespaces/team/rolebindings", `{"metadata":{"name":"some"},"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole","name":"some"},`+jane+`}`)
	create(t, api, rbac+"/namespaces/team/rolebindings", `{"metadata":{"name":"robot"},"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole","name":"some"},
		"subjects":[{"kind":"ServiceAccount","name":"sa","namespace":"default"}]}`)
	create(t, api, "/api/v1/namespaces/team/pods", `{"metadata":{"name":"a"},"spec":{"containers":[{"name":"c","image":"i"}]}}`)
	create(t, api, "/api/v1/namespaces/default/serviceaccounts", `{"metadata":{"name":"sa"}}`)
	const missing = `: rbac: RBAC: clusterrole.rbac.authorization.k8s.io "access-gone" not found`
	for _, row := range []struct {
		name, token, path string
		code              int
		want              string
	}{
		{"a namespace", "jane", "/api/v1/namespaces/default/secrets", 403, `secrets is forbidden: User "jane" cannot list resource "secrets" in API group "" in the namespace "default": rbac: RBAC: [clusterrole.rbac.authorization.k8s.io "access-gone" not found, role.rbac.authorization.k8s.io "access-gone2" not found]`},
		{"the cluster", "jane", "/api/v1/secrets", 403, `secrets is forbidden: User "jane" cannot list resource "secrets" in API group "" at the cluster scope` + missing},
		{"a path", "jane", "/metrics", 403, `forbidden: User "jane" cannot get path "/metrics"` + missing},
		{"a name that the rules have", "jane", "/api/v1/namespaces/team/pods/a", 200, ""},
		{"a subresource of any resource", "jane", "/api/v1/namespaces/team/pods/a/status", 200, ""},
		{"a list of the name", "jane", "/api/v1/namespaces/team/pods?fieldSelector=metadata.name%3Da", 403, `pods "a" is forbidden: User "jane" cannot list resource "pods" in API group "" in the namespace "team"` + missing},
		{"another name", "jane", "/api/v1/namespaces/team/pods/b", 403, `pods "b" is forbidden: User "jane" cannot get resource "pods" in API group "" in the namespace "team"` + missing},
		{"any verb", "jane", "/api/v1/namespaces/team/configmaps", 200, ""},
		{"another namespace", "jane", "/api/v1/namespaces/other/configmaps", 403, `configmaps is forbidden: User "jane" cannot list resource "configmaps" in API group "" in the namespace "other"` + missing},
		{"a ServiceAccount", tokenOf(t, api, "sa", `{}`), "/api/v1/namespaces/team/configmaps", 200, ""},
		{"discovery", "jane", "/apis", 200, ""},
		{"system:masters", "admin", "/api/v1/secrets", 200, ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			code, body := do(t, api, request{token: row.token, method: "GET", path: row.path})
			assert.Equal(t, row.code, code)
			if row.want != "" {
				assert.Equal(t, row.want, member(t, body, "message"))
			}
		})
	}
	// A change counts from the next request on, in one fork only.
	fork := api.Fork(t)
	code, _ := do(t, fork, request{token: "admin", method: "DELETE", path: rbac + "/clusterroles/some"})
	require.Equal(t, 200, code)
	code, _ = do(t, fork, request{token: "jane", method: "GET", path: "/api/v1/namespaces/team/configmaps"})
	assert.Equal(t, 403, code)
	code, _ = do(t, api, request{token: "jane", method: "GET", path: "/api/v1/namespaces/team/configmaps"})
	assert.Equal(t, 200, code)
}

// An Authenticator may know the user by the connection. A review is about the token alone.
func TestATokenReviewDoesNotSeeTheUserWhoAsks(t *testing.T) {
	type userKey struct{}
	api := serve(t, cluster.Options{Reviews: true}, apitest.Options{API: httpapi.Options{
		Authenticate: func(r *http.Request) (httpapi.User, bool) {
			u, ok := r.Context().Value(userKey{}).(httpapi.User)
			return u, ok
		},
		Middleware: func(next http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), userKey{}, httpapi.User{Name: "root"})))
			})
		},
	}})
	assert.Equal(t, `{"error":"invalid bearer token","user":{}}`, reviewed(t, api, `{"token":"rubbish"}`))
}

func TestWithoutAnAuthenticatorRequestsAreTheAdministrators(t *testing.T) {
	api := serve(t, cluster.Options{Reviews: true, RBAC: true}, apitest.Options{})
	code, body := do(t, api, request{method: "POST", path: authn + "/selfsubjectreviews", body: `{}`})
	assert.Equal(t, 201, code)
	assert.Equal(t, `{"userInfo":{"groups":["system:masters","system:authenticated"],"username":"admin"}}`, asJSON(t, body, "status"))
	code, _ = do(t, api, request{method: "GET", path: "/api/v1/secrets"})
	assert.Equal(t, 200, code)
	code, _ = do(t, api, request{method: "GET", path: "/api/v1/secrets", header: http.Header{"Impersonate-User": {"jane"}}})
	assert.Equal(t, 403, code)
}

// The documents about the issuer have a path with a slash too, and only GET (upstream: pkg/routes/openidmetadata.go).
func TestDocumentsOfTheIssuerAreOnlyRead(t *testing.T) {
	api := serve(t, cluster.Options{Reviews: true, RBAC: true}, apitest.Options{})
	for path, part := range map[string]string{"/openid/v1/jwks": `"keys":`, "/.well-known/openid-configuration": `"issuer":`} {
		code, document := do(t, api, request{method: "GET", path: path})
		assert.Equal(t, 200, code)
		assert.Contains(t, document, part)
		code, body := do(t, api, request{method: "GET", path: path + "/"})
		assert.Equal(t, 200, code)
		assert.Equal(t, document, body)
		code, body = do(t, api, request{method: "POST", path: path})
		assert.Equal(t, 405, code)
		assert.Equal(t, `"MethodNotAllowed"`, asJSON(t, body, "reason"))
		code, _ = do(t, api, request{method: "GET", path: path + "/x"})
		assert.Equal(t, 404, code)
	}
}

func TestReviewsAndTokensMayBeInProtobuf(t *testing.T) {
	api := serve(t, cluster.Options{Reviews: true, RBAC: true}, apitest.Options{})
	config := &rest.Config{Host: api.Host(), Transport: api.Transport(), ContentConfig: rest.ContentConfig{ContentType: "application/vnd.kubernetes.protobuf"}}
	client, err := kubernetes.NewForConfig(config)
	require.NoError(t, err)
	_, err = client.CoreV1().ServiceAccounts("default").Create(t.Context(), &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "sa"}}, metav1.CreateOptions{})
	require.NoError(t, err)
	token, err := client.CoreV1().ServiceAccounts("default").CreateToken(t.Context(), "sa", &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
	require.NoError(t, err)
	review, err := client.AuthenticationV1().TokenReviews().Create(t.Context(), &authenticationv1.TokenReview{Spec: authenticationv1.TokenReviewSpec{Token: token.Status.Token}}, metav1.CreateOptions{})
	require.NoError(t, err)
	assert.Equal(t, "system:serviceaccount:default:sa", review.Status.User.Username)
	rules, err := client.AuthorizationV1().SelfSubjectRulesReviews().Create(t.Context(), &authorizationv1.SelfSubjectRulesReview{
		Spec: authorizationv1.SelfSubjectRulesReviewSpec{Namespace: "default"}}, metav1.CreateOptions{})
	require.NoError(t, err)
	assert.NotEmpty(t, rules.Status.ResourceRules)
}

// The texts are of a kube-apiserver.
func TestAUserMustNotGiveMoreThanItHas(t *testing.T) {
	for _, namespaces := range []bool{false, true} { // with and without other plugins of admission
		t.Run(fmt.Sprintf("Namespaces=%t", namespaces), func(t *testing.T) {
			api := serve(t, cluster.Options{RBAC: true, Namespaces: namespaces}, apitest.Options{API: httpapi.Options{Authenticate: users()}})
			create(t, api, rbac+"/clusterroles", `{"metadata":{"name":"make"},"rules":[{"verbs":["create","update","patch"],"apiGroups":["rbac.authorization.k8s.io"],"resources":["*"]},
				{"verbs":["get"],"apiGroups":[""],"resources":["pods"]}]}`)
			create(t, api, rbac+"/clusterrolebindings", `{"metadata":{"name":"make"},"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole","name":"make"},
				"subjects":[{"kind":"User","apiGroup":"rbac.authorization.k8s.io","name":"jane"}]}`)
			const refusal = ` is forbidden: user "jane" (groups=["devs" "system:authenticated"]) is attempting to grant RBAC permissions not currently held:` + "\n"
			for _, row := range []struct {
				name, method, path, body string
				code                     int
				want                     string
			}{
				{"held", "POST", "/namespaces/default/roles", `{"metadata":{"name":"ok"},"rules":[{"verbs":["get"],"apiGroups":[""],"resources":["pods"]}]}`, 201, ""},
				{"not held", "POST", "/namespaces/default/roles", `{"metadata":{"name":"r"},"rules":[{"verbs":["get"],"apiGroups":["apps"],"resources":["deployments"]}]}`, 403,
					`roles.rbac.authorization.k8s.io "r"` + refusal + `{APIGroups:["apps"], Resources:["deployments"], Verbs:["get"]}`},
				{"not held, by a patch", "PATCH", "/namespaces/default/roles/ok", `{"rules":[{"verbs":["*"],"apiGroups":["*"],"resources":["*"]}]}`, 403,
					`roles.rbac.authorization.k8s.io "ok"` + refusal + `{APIGroups:["*"], Resources:["*"], Verbs:["*"]}`},
				{"not held, by an update that creates", "PUT", "/clusterroles/new", `{"metadata":{"name":"new"},"rules":[{"verbs":["get"],"nonResourceURLs":["/x"]}]}`, 403,
					`clusterroles.rbac.authorization.k8s.io "new"` + refusal + `{NonResourceURLs:["/x"], Verbs:["get"]}`},
				{"a binding to more", "POST", "/namespaces/default/rolebindings", `{"metadata":{"name":"rb"},"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole","name":"cluster-admin"}}`, 403,
					`rolebindings.rbac.authorization.k8s.io "rb"` + refusal + `{APIGroups:["*"], Resources:["*"], Verbs:["*"]}` + "\n" + `{NonResourceURLs:["*"], Verbs:["*"]}`},
				{"a finalizer", "PATCH", "/clusterroles/cluster-admin", `{"metadata":{"finalizers":["a/b"]}}`, 200, ""},
			} {
				t.Run(row.name, func(t *testing.T) {
					r := request{token: "jane", method: row.method, path: rbac + row.path, body: row.body}
					if row.method == "PATCH" {
						r.header = http.Header{"Content-Type": {"application/merge-patch+json"}}
					}
					code, body := do(t, api, r)
					require.Equal(t, row.code, code, body)
					if row.want != "" {
						assert.Equal(t, row.want, member(t, body, "message"))
					}
				})
			}
		})
	}
}
