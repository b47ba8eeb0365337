package httpapi_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/store"
)

func guardedAPI(t *testing.T, opts httpapi.Options) *httpapi.API {
	t.Helper()
	st := store.New(store.Options{})
	api := httpapi.New(st, opts)
	t.Cleanup(func() { api.Close(); st.Close() })
	return api
}

func TestOnlyHealthAnswersWithoutCredentials(t *testing.T) {
	api := guardedAPI(t, httpapi.Options{Authenticate: httpapi.BearerTokens(map[string]httpapi.User{"s3cret": {Name: "alice"}, "": {Name: "nobody"}})})
	for _, row := range []struct {
		path, header string
		code         int
	}{
		{"/healthz", "", 200},
		{"/readyz/ping", "", 200},
		{"/", "", 401},
		{"/apis", "", 401},
		{"/version", "", 401},
		{"/openapi/v3", "", 401},
		{"/nope", "", 401},
		{leases, "", 401},
		{leases, "Bearer wrong", 401},
		{leases, "Bearer ", 401},
		{leases, "Basic s3cret", 401},
		{leases, "s3cret", 401},
		{leases, "Bearer s3cret", 200},
		{leases, " bearer s3cret ", 200},
		{leases, "BEARER s3cret x", 200},
		{leases, "Bearer s3cret  and more", 200},
		{leases, "Bearer  s3cret", 401},
		{leases, "Bearer x s3cret", 401},
		{leases, "Bearer\ts3cret", 401},
		{leases, "Bearer s3cret,x", 401},
	} {
		t.Run(row.path+" "+row.header, func(t *testing.T) {
			r := httptest.NewRequest("GET", row.path, nil)
			r.Header.Set("Authorization", row.header)
			w := httptest.NewRecorder()
			api.ServeHTTP(w, r)
			assert.Equal(t, row.code, w.Code, w.Body)
			if row.code == 401 {
				assert.JSONEq(t, `{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"Unauthorized","reason":"Unauthorized","code":401}`, w.Body.String())
			}
		})
	}
}

func TestRequestsThatAreNotAllowedAreForbidden(t *testing.T) {
	var asked httpapi.Attributes
	api := guardedAPI(t, httpapi.Options{Authorize: func(a httpapi.Attributes) (bool, string) {
		asked = a
		return false, "because"
	}})
	const group = "/apis/coordination.k8s.io/v1"
	for _, row := range []struct{ method, target, verb, message string }{
		{"GET", group + "/namespaces/ns/leases/a", "get", `leases.coordination.k8s.io "a" is forbidden: User "" cannot get resource "leases" in API group "coordination.k8s.io" in the namespace "ns": because`},
		{"GET", group + "/leases", "list", `leases.coordination.k8s.io is forbidden: User "" cannot list resource "leases" in API group "coordination.k8s.io" at the cluster scope: because`},
		{"GET", group + "/leases?watch=true", "watch", `leases.coordination.k8s.io is forbidden: User "" cannot watch resource "leases" in API group "coordination.k8s.io" at the cluster scope: because`},
		{"HEAD", group + "/leases", "list", `leases.coordination.k8s.io is forbidden: User "" cannot list resource "leases" in API group "coordination.k8s.io" at the cluster scope: because`},
		{"HEAD", group + "/leases?watch=1", "watch", `leases.coordination.k8s.io is forbidden: User "" cannot watch resource "leases" in API group "coordination.k8s.io" at the cluster scope: because`},
		{"HEAD", group + "/namespaces/ns/leases/a", "get", `leases.coordination.k8s.io "a" is forbidden: User "" cannot get resource "leases" in API group "coordination.k8s.io" in the namespace "ns": because`},
		{"GET", group + "/namespaces/ns/leases/a?watch=true", "get", `leases.coordination.k8s.io "a" is forbidden: User "" cannot get resource "leases" in API group "coordination.k8s.io" in the namespace "ns": because`},
		{"GET", group + "/leases?watch=0", "list", `leases.coordination.k8s.io is forbidden: User "" cannot list resource "leases" in API group "coordination.k8s.io" at the cluster scope: because`},
		{"GET", group + "/leases?watch=False", "list", `leases.coordination.k8s.io is forbidden: User "" cannot list resource "leases" in API group "coordination.k8s.io" at the cluster scope: because`},
		{"GET", group + "/leases?watch=", "watch", `leases.coordination.k8s.io is forbidden: User "" cannot watch resource "leases" in API group "coordination.k8s.io" at the cluster scope: because`},
		{"GET", group + "/watch/namespaces/ns/leases/a", "watch", `leases.coordination.k8s.io "a" is forbidden: User "" cannot watch resource "leases" in API group "coordination.k8s.io" in the namespace "ns": because`},
		{"POST", group + "/namespaces/ns/leases", "create", `leases.coordination.k8s.io is forbidden: User "" cannot create resource "leases" in API group "coordination.k8s.io" in the namespace "ns": because`},
		{"DELETE", "/api/v1/namespaces/ns/endpoints", "deletecollection", `endpoints is forbidden: User "" cannot deletecollection resource "endpoints" in API group "" in the namespace "ns": because`},
		{"GET", "/api/v1/endpoints", "list", `endpoints is forbidden: User "" cannot list resource "endpoints" in API group "" at the cluster scope: because`},
		{"GET", group + "/namespaces/ns/leases?fieldSelector=metadata.name%3Da", "list", `leases.coordination.k8s.io "a" is forbidden: User "" cannot list resource "leases" in API group "coordination.k8s.io" in the namespace "ns": because`},
		{"GET", group + "/namespaces/ns/leases?watch=1&fieldSelector=metadata.name%3Da", "watch", `leases.coordination.k8s.io "a" is forbidden: User "" cannot watch resource "leases" in API group "coordination.k8s.io" in the namespace "ns": because`},
		{"GET", group + "/namespaces/ns/leases?fieldSelector=metadata.name!%3Da", "list", `leases.coordination.k8s.io is forbidden: User "" cannot list resource "leases" in API group "coordination.k8s.io" in the namespace "ns": because`},
		{"GET", group + "/namespaces/ns/leases?fieldSelector=metadata.name%3Da/b", "list", `leases.coordination.k8s.io is forbidden: User "" cannot list resource "leases" in API group "coordination.k8s.io" in the namespace "ns": because`},
		{"GET", group + "/watch/namespaces/ns/leases?fieldSelector=metadata.name%3Da", "watch", `leases.coordination.k8s.io is forbidden: User "" cannot watch resource "leases" in API group "coordination.k8s.io" in the namespace "ns": because`},
		{"DELETE", group + "/namespaces/ns/leases?fieldSelector=metadata.name%3Da", "deletecollection", `leases.coordination.k8s.io is forbidden: User "" cannot deletecollection resource "leases" in API group "coordination.k8s.io" in the namespace "ns": because`},
		{"GET", "/api/v1", "get", `forbidden: User "" cannot get path "/api/v1": because`},
		{"GET", group, "get", `forbidden: User "" cannot get path "/apis/coordination.k8s.io/v1": because`},
		{"GET", "/version", "get", `forbidden: User "" cannot get path "/version": because`},
	} {
		t.Run(row.method+" "+row.target, func(t *testing.T) {
			w := httptest.NewRecorder()
			api.ServeHTTP(w, httptest.NewRequest(row.method, row.target, nil))
			assertStatus(t, answer{Code: w.Code, Header: w.Header(), Body: w.Body.String()}, http.StatusForbidden, "Forbidden", row.message)
			assert.Equal(t, "nosniff", w.Header().Get("X-Content-Type-Options"))
			assert.Equal(t, row.verb, asked.Verb)
		})
	}
}

func TestUpdateThatCreatesNeedsTheRightToCreate(t *testing.T) {
	const lease = "/apis/coordination.k8s.io/v1/namespaces/ns/leases/a"
	for _, row := range []struct{ method, contentType, body string }{
		{"PUT", "application/json", `{"metadata":{"name":"a"}}`},
		{"PATCH", "application/apply-patch+yaml", `{"apiVersion":"coordination.k8s.io/v1","kind":"Lease","metadata":{"name":"a"}}`},
	} {
		t.Run(row.method, func(t *testing.T) {
			var asked []string
			creates := false
			api := guardedAPI(t, httpapi.Options{Authorize: func(a httpapi.Attributes) (bool, string) {
				asked = append(asked, a.Verb+" "+a.Name)
				return creates || a.Verb != "create", ""
			}})
			do := func() *httptest.ResponseRecorder {
				asked = nil
				r := httptest.NewRequest(row.method, lease+"?fieldManager=me", strings.NewReader(row.body))
				r.Header.Set("Content-Type", row.contentType)
				w := httptest.NewRecorder()
				api.ServeHTTP(w, r)
				return w
			}
			w := do()
			assertStatus(t, answer{Code: w.Code, Header: w.Header(), Body: w.Body.String()}, http.StatusForbidden, "Forbidden",
				`leases.coordination.k8s.io "a" is forbidden: User "" cannot create resource "leases" in API group "coordination.k8s.io" in the namespace "ns"`)
			creates = true
			assert.Equal(t, http.StatusCreated, do().Code)
			assert.Contains(t, asked, "create a")
			creates = false
			assert.NotEqual(t, http.StatusForbidden, do().Code, "there is one now")
			assert.NotContains(t, asked, "create a")
		})
	}
}

func TestLogHasTheAttributesOfARequest(t *testing.T) {
	var logged httpapi.LogEntry
	api := guardedAPI(t, httpapi.Options{
		Authenticate: httpapi.BearerTokens(map[string]httpapi.User{"s3cret": {Name: "alice", Groups: []string{"g"}}}),
		Log:          func(e httpapi.LogEntry) { logged = e },
	})
	for _, row := range []struct {
		token string
		user  httpapi.User
	}{{"s3cret", httpapi.User{Name: "alice", Groups: []string{"g"}}}, {"wrong", httpapi.User{}}} {
		r := httptest.NewRequest("GET", "/apis/coordination.k8s.io/v1/namespaces/ns/leases/a", nil)
		r.Header.Set("Authorization", "Bearer "+row.token)
		api.ServeHTTP(httptest.NewRecorder(), r)
		want := httpapi.AttributesOf(r)
		want.User = row.user
		assert.Equal(t, want, logged.Attributes)
		assert.Equal(t, "get", logged.Attributes.Verb)
	}
}

func TestClientCertificateNamesTheUser(t *testing.T) {
	r := httptest.NewRequest("GET", "/", nil)
	_, ok := httpapi.ClientCertificates(r)
	assert.False(t, ok, "a plain connection")
	cert := &x509.Certificate{Subject: pkix.Name{CommonName: "alice", Organization: []string{"admins"}}}
	r.TLS = &tls.ConnectionState{PeerCertificates: []*x509.Certificate{cert}}
	_, ok = httpapi.ClientCertificates(r)
	assert.False(t, ok, "a certificate that nobody verified")
	r.TLS.VerifiedChains = [][]*x509.Certificate{{cert}}
	cert.Subject.CommonName = ""
	_, ok = httpapi.ClientCertificates(r)
	assert.False(t, ok, "a certificate without a name")
	cert.Subject.CommonName = "alice"
	either := httpapi.AnyOf(httpapi.BearerTokens(nil), httpapi.ClientCertificates)
	u, ok := either(r)
	assert.True(t, ok)
	assert.Equal(t, httpapi.User{Name: "alice", Groups: []string{"admins"}}, u)
}

func TestGuardChecksCredentialsLikeTheAPI(t *testing.T) {
	var logged []int
	api := guardedAPI(t, httpapi.Options{
		Authenticate: httpapi.BearerTokens(map[string]httpapi.User{"s3cret": {Name: "alice"}, "other": {Name: "bob"}}),
		Authorize:    func(a httpapi.Attributes) (bool, string) { return a.User.Name == "alice" && a.Path != "/private", "" },
		Log:          func(e httpapi.LogEntry) { logged = append(logged, e.Code) },
	})
	var ctx context.Context
	guarded := api.Guard(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx = r.Context()
		w.WriteHeader(http.StatusTeapot)
		assert.NoError(t, http.NewResponseController(w).Flush())
	}))
	for _, row := range []struct {
		path, token string
		code        int
	}{
		{"/debug", "", 401},
		{"/debug", "wrong", 401},
		{"/healthz", "", 401},
		{"/readyz/ping", "", 401},
		{"/debug", "other", 403},
		{"/private", "s3cret", 403},
		{"/debug", "s3cret", 418},
		{"/healthz", "s3cret", 418},
	} {
		t.Run(row.path+" "+row.token, func(t *testing.T) {
			r := httptest.NewRequest("GET", row.path, nil)
			r.Header.Set("Authorization", "Bearer "+row.token)
			w := httptest.NewRecorder()
			guarded.ServeHTTP(w, r)
			assert.Equal(t, row.code, w.Code, w.Body)
			assert.NotEmpty(t, w.Header().Get("Audit-Id"))
			assert.Equal(t, row.code, logged[len(logged)-1])
		})
	}
	assert.Error(t, ctx.Err(), "the API keeps no request that was answered")
}

func TestCloseEndsGuardedRequests(t *testing.T) {
	api := guardedAPI(t, httpapi.Options{})
	began, ended := make(chan struct{}), make(chan struct{})
	guarded := api.Guard(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		close(began)
		<-r.Context().Done()
	}))
	go func() {
		defer close(ended)
		guarded.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", "/debug", nil))
	}()
	<-began
	api.Close()
	<-ended
}
