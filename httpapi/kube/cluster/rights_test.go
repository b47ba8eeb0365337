package cluster_test

import (
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/httpapi/apitest"
	"github.com/kubecoord/kubecoord/httpapi/kube/cluster"
	"github.com/kubecoord/kubecoord/store/fixture"
)

// grant gives jane the rules of a new ClusterRole, which are JSON.
func grant(t testing.TB, api *apitest.API, name, rules string) {
	t.Helper()
	create(t, api, rbac+"/clusterroles", `{"metadata":{"name":"`+name+`"},"rules":`+rules+`}`)
	create(t, api, rbac+"/clusterrolebindings", `{"metadata":{"name":"`+name+`"},"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole","name":"`+name+`"},
		"subjects":[{"kind":"User","apiGroup":"rbac.authorization.k8s.io","name":"jane"}]}`)
}

func TestATokenOfAnotherAudienceIsNoCredential(t *testing.T) {
	api := serve(t, cluster.Options{Reviews: true}, apitest.Options{API: httpapi.Options{Authenticate: users()}})
	create(t, api, "/api/v1/namespaces/default/serviceaccounts", `{"metadata":{"name":"sa"}}`)
	for spec, want := range map[string]int{
		`{}`:                         201,
		`{"audiences":["other"]}`:    401,
		`{"audiences":["","other"]}`: 401,
		`{"audiences":["other","https://kubernetes.default.svc.cluster.local"]}`: 201,
	} {
		token := tokenOf(t, api, "sa", spec)
		code, body := do(t, api, request{token: token, method: "POST", path: authn + "/selfsubjectreviews", body: `{}`})
		assert.Equal(t, want, code, "%s: %s", spec, body)
		code, _ = do(t, api, request{token: token, method: "GET", path: "/api/v1/pods", header: http.Header{"Impersonate-User": {"x"}}})
		assert.Equal(t, map[int]int{201: 200, 401: 401}[want], code, "%s, as another user", spec)
	}
}

func TestATokenEndsWithItsServiceAccount(t *testing.T) {
	api := serve(t, cluster.Options{Reviews: true}, apitest.Options{API: httpapi.Options{Authenticate: users()}})
	const accounts = "/api/v1/namespaces/default/serviceaccounts"
	for _, of := range []struct{ path, body, spec, mismatch string }{
		{accounts, `{"metadata":{"name":"sa"}}`, `{}`, `service account UID (NEW) does not match claim (OLD)`},
		{"/api/v1/namespaces/default/secrets", `{"metadata":{"name":"s"}}`, `{"boundObjectRef":{"kind":"Secret","apiVersion":"v1","name":"s"}}`,
			`secret UID (NEW) does not match service account secret ref claim (OLD)`},
		{"/api/v1/namespaces/default/pods", `{"metadata":{"name":"p"},"spec":{"serviceAccountName":"sa","terminationGracePeriodSeconds":0,"containers":[{"name":"c","image":"i"}]}}`,
			`{"boundObjectRef":{"kind":"Pod","apiVersion":"v1","name":"p"}}`, `pod UID (NEW) does not match service account pod ref claim (OLD)`},
	} {
		first := create(t, api, of.path, of.body)
		token := tokenOf(t, api, "sa", of.spec)
		code, _ := do(t, api, request{token: token, method: "POST", path: authn + "/selfsubjectreviews", body: `{}`})
		require.Equal(t, 201, code)
		code, _ = do(t, api, request{token: "admin", method: "DELETE", path: of.path + "/" + member(t, first, "metadata", "name").(string)})
		require.Equal(t, 200, code)
		again := create(t, api, of.path, of.body)
		code, body := do(t, api, request{token: token, method: "POST", path: authn + "/selfsubjectreviews", body: `{}`})
		assert.Equal(t, 401, code, body)
		want := strings.NewReplacer("NEW", member(t, again, "metadata", "uid").(string), "OLD", member(t, first, "metadata", "uid").(string)).Replace(of.mismatch)
		assert.Equal(t, `{"error":"[invalid bearer token, `+want+`]","user":{}}`, reviewed(t, api, `{"token":"`+token+`"}`))
	}
}

// A request has a name if its path has one, or its fieldSelector.
func TestResourceNamesRestrictEveryVerb(t *testing.T) {
	api := serve(t, cluster.Options{Reviews: true, RBAC: true}, apitest.Options{API: httpapi.Options{Authenticate: users()}})
	grant(t, api, "one", `[{"verbs":["*"],"apiGroups":[""],"resources":["configmaps"],"resourceNames":["a"]}]`)
	const path = "/api/v1/namespaces/default/configmaps"
	create(t, api, path, `{"metadata":{"name":"a"}}`)
	create(t, api, path, `{"metadata":{"name":"b"}}`)
	for _, row := range []struct {
		method, path, body string
		code               int
	}{
		{"GET", path + "/a", "", 200},
		{"GET", path + "/b", "", 403},
		{"GET", path, "", 403},
		{"GET", "/api/v1/configmaps", "", 403},
		{"GET", path + "?watch=1&timeoutSeconds=1", "", 403},
		{"GET", path + "?fieldSelector=metadata.name%3Da", "", 200},
		{"GET", path + "?fieldSelector=metadata.name%3Db", "", 403},
		{"POST", path, `{"metadata":{"name":"a"}}`, 403},
		{"POST", path, `{"metadata":{"name":"c"}}`, 403},
		{"PUT", path + "/a", `{"metadata":{"name":"a"}}`, 200},
		{"PUT", path + "/b", `{"metadata":{"name":"b"}}`, 403},
		{"DELETE", path, "", 403},
		{"DELETE", path + "/b", "", 403},
		{"DELETE", path + "/a", "", 200},
	} {
		code, body := do(t, api, request{token: "jane", method: row.method, path: row.path, body: row.body})
		assert.Equal(t, row.code, code, "%s %s: %s", row.method, row.path, body)
	}
}

// A constrained mode needs a right for each part of the user (KEP-5284).
func TestEachPartOfAnImpersonatedUserNeedsARight(t *testing.T) {
	const (
		on     = `{"verbs":["impersonate-on:user-info:create"],"apiGroups":["*"],"resources":["selfsubjectreviews"]}`
		rule   = `{"verbs":["impersonate:user-info"],"apiGroups":["authentication.k8s.io"],"resources":["RESOURCE"],"resourceNames":["NAME"]}`
		legacy = `{"verbs":["impersonate"],"apiGroups":["","authentication.k8s.io"],"resources":["RESOURCE"],"resourceNames":["NAME"]}`
	)
	header := http.Header{"Impersonate-User": {"joe"}, "Impersonate-Uid": {"7"}, "Impersonate-Group": {"g"}, "Impersonate-Extra-K": {"v"}}
	for _, rule := range []string{rule, legacy} {
		for _, missing := range []string{"", "users", "uids", "groups", "userextras/k"} {
			api := serve(t, cluster.Options{Reviews: true, RBAC: true}, apitest.Options{API: httpapi.Options{Authenticate: users()}})
			rules := []string{on}
			for resource, name := range map[string]string{"users": "joe", "uids": "7", "groups": "g", "userextras/k": "v"} {
				if resource != missing {
					rules = append(rules, strings.NewReplacer("RESOURCE", resource, "NAME", name).Replace(rule))
				}
			}
			grant(t, api, "as", "["+strings.Join(rules, ",")+"]")
			code, body := do(t, api, request{token: "jane", method: "POST", path: authn + "/selfsubjectreviews", body: `{}`, header: header})
			if missing != "" {
				assert.Equal(t, 403, code, "without %s: %s", missing, body)
				continue
			}
			assert.Equal(t, 201, code, body)
			assert.Equal(t, `{"extra":{"k":["v"]},"groups":["g","system:authenticated"],"uid":"7","username":"joe"}`, asJSON(t, body, "status", "userInfo"))
		}
	}
}

// A write may be admitted before its namespace is deleted, and commit after that.
func TestAnObjectOfANamespaceThatIsGoneIsDeleted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := cluster.KubeAPIServer()
		o.NamespaceDeletion = true
		api, client := newServer(t, o)
		for _, name := range []string{"a", "b"} {
			_, err := client.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{})
			require.NoError(t, err)
		}
		require.NoError(t, client.CoreV1().Namespaces().Delete(t.Context(), "a", metav1.DeleteOptions{}))
		time.Sleep(10 * time.Second)
		synctest.Wait()
		require.NotContains(t, namesOf(t, client), "a")
		require.NoError(t, api.Handler().Load(t.Context(), fixture.Txtar("", []byte("-- a.yaml --\n"+
			"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: late, namespace: a}\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: kept, namespace: b}\n"))))
		synctest.Wait()
		left, err := client.CoreV1().ConfigMaps("").List(t.Context(), metav1.ListOptions{})
		require.NoError(t, err)
		left.Items = slices.DeleteFunc(left.Items, func(c corev1.ConfigMap) bool { return c.Namespace == metav1.NamespaceSystem })
		require.Len(t, left.Items, 1)
		assert.Equal(t, "kept", left.Items[0].Name)
	})
}

func TestExpirationIsAtMostTheGivenOne(t *testing.T) {
	api := serve(t, cluster.Options{Reviews: true, Tokens: cluster.Tokens{MaxExpiration: 20 * time.Minute}}, apitest.Options{API: httpapi.Options{Authenticate: users()}})
	create(t, api, "/api/v1/namespaces/default/serviceaccounts", `{"metadata":{"name":"sa"}}`)
	const shortened = `299 - "requested expiration of 3600 seconds shortened to 1200 seconds"`
	for _, c := range []struct {
		asked    string
		want     float64
		warnings []string
	}{{"3600", 1200, []string{shortened}}, {"1200", 1200, nil}, {"600", 600, nil}} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, api.Host()+"/api/v1/namespaces/default/serviceaccounts/sa/token",
			strings.NewReader(`{"spec":{"expirationSeconds":`+c.asked+`}}`))
		require.NoError(t, err)
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Authorization", "Bearer admin")
		resp, err := api.Transport().RoundTrip(req)
		require.NoError(t, err)
		body, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		assert.Equal(t, c.want, member(t, string(body), "spec", "expirationSeconds"), c.asked)
		assert.Equal(t, c.warnings, resp.Header.Values("Warning"), c.asked)
	}
}

// The right to bind may be about one role.
func TestTheRightToBindNamesARole(t *testing.T) {
	api := serve(t, cluster.Options{Reviews: true, RBAC: true}, apitest.Options{API: httpapi.Options{Authenticate: users()}})
	create(t, api, rbac+"/clusterroles", `{"metadata":{"name":"some"},"rules":[{"verbs":["get"],"apiGroups":[""],"resources":["pods"]}]}`)
	grant(t, api, "binder", `[{"verbs":["create"],"apiGroups":["rbac.authorization.k8s.io"],"resources":["rolebindings"]},
		{"verbs":["bind"],"apiGroups":["rbac.authorization.k8s.io"],"resources":["clusterroles"],"resourceNames":["some"]}]`)
	for role, want := range map[string]int{"some": 201, "cluster-admin": 403} {
		code, body := do(t, api, request{token: "jane", method: "POST", path: rbac + "/namespaces/default/rolebindings", body: `{"metadata":{"name":"` + role + `"},
			"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole","name":"` + role + `"},"subjects":[]}`})
		assert.Equal(t, want, code, body)
	}
}
