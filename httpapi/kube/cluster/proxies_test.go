package cluster_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/httpapi/apitest"
	"github.com/kubecoord/kubecoord/httpapi/kube/cluster"
)

// The answers of this file are those of a kube-apiserver 1.37.2.

const (
	podsPath     = "/api/v1/namespaces/default/pods"
	servicesPath = "/api/v1/namespaces/default/services"
	slicesPath   = "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices"
)

// behind returns a server that has a pod with the address 192.0.2.7, a headless service for it, and a node with the address 192.0.2.6. They
// reach what there dials.
func behind(t *testing.T, there *elsewhere) *apitest.API {
	o := cluster.Options{Dial: there.Dial}
	api := serve(t, o, apitest.Options{})
	create(t, api, "/api/v1/nodes", `{"metadata":{"name":"n"}}`)
	patchStatus(t, api, "/api/v1/nodes/n", `{"addresses":[{"type":"InternalIP","address":"192.0.2.6"}]}`)
	create(t, api, podsPath, `{"metadata":{"name":"p"},"spec":{"nodeName":"n","containers":[{"name":"c","image":"i","ports":[{"containerPort":8080}]}]}}`)
	patchStatus(t, api, podsPath+"/p", `{"podIP":"192.0.2.7","podIPs":[{"ip":"192.0.2.7"}]}`)
	create(t, api, servicesPath, `{"metadata":{"name":"s"},"spec":{"clusterIP":"None","ports":[{"name":"web","port":80},{"name":"other","port":81}]}}`)
	return api
}

func patchStatus(t *testing.T, api *apitest.API, path, status string) {
	t.Helper()
	code, text := do(t, api, request{method: http.MethodPatch, path: path + "/status", body: `{"status":` + status + `}`,
		header: http.Header{"Content-Type": {"application/merge-patch+json"}}})
	require.Equal(t, http.StatusOK, code, text)
}

// slice returns an EndpointSlice of the service, with an endpoint.
func slice(endpoint string) string {
	return `{"metadata":{"name":"s-1","labels":{"kubernetes.io/service-name":"s"}},"addressType":"IPv4","endpoints":[` + endpoint + `],"ports":[{"name":"web","port":8080}]}`
}

// echo answers with what it was asked.
func echo(w http.ResponseWriter, r *http.Request) {
	fmt.Fprint(w, r.Method, " ", r.Host, r.URL, " ", r.Header["Authorization"], r.Header["X-Forwarded-Host"])
}

func TestAServiceIsReachedAtTheReadyPodsOfItsSlices(t *testing.T) {
	const (
		pod  = `"addresses":["192.0.2.7"],"targetRef":{"kind":"Pod","namespace":"default","name":"p"}`
		none = `503 no endpoints available for service "s"`
		good = "200 GET apitest/x?a=b [] []"
	)
	for name, row := range map[string]struct {
		slice string // or ""
		to    string // the name in the path
		want  string
	}{
		"no service":              {"", "absent", `503 no endpoints available for service "absent"`},
		"no service, by name":     {"", "absent:web", `503 no endpoints available for service "absent"`},
		"no service, by number":   {"", "absent:80", `404 services "absent" not found`},
		"no service, by scheme":   {"", "https:absent:web", `503 no endpoints available for service "absent"`},
		"a bad name":              {"", "a:b:c:d", `400 invalid service request "a:b:c:d"`},
		"a bad scheme":            {"", "ftp:s:web", `400 invalid service request "ftp:s:web"`},
		"no slice":                {"", "s:web", none},
		"no slice, by number":     {"", "s:80", none},
		"no such port":            {"", "s:82", `503 no service port 82 found for service "s"`},
		"a negative port":         {"", "s:-1", `503 no service port -1 found for service "s"`},
		"a port that is too big":  {"", "s:99999999999999999999", none},
		"no endpoint":             {slice(""), "s:web", none},
		"an address of nobody":    {slice(`{"addresses":["192.0.2.7"]}`), "s:web", none},
		"not ready":               {slice(`{"conditions":{"ready":false},` + pod + `}`), "s:web", none},
		"terminating":             {slice(`{"conditions":{"ready":false,"serving":true,"terminating":true},` + pod + `}`), "s:web", none},
		"another address":         {slice("{" + strings.Replace(pod, "192.0.2.7", "192.0.2.8", 1) + "}"), "s:web", none},
		"another namespace":       {slice("{" + strings.Replace(pod, `"default"`, `"other"`, 1) + "}"), "s:web", none},
		"a pod that is gone":      {slice("{" + strings.Replace(pod, `"p"`, `"q"`, 1) + "}"), "s:web", none},
		"another port":            {slice("{" + pod + "}"), "s:other", none},
		"no port":                 {slice("{" + pod + "}"), "s", none},
		"a port without a number": {strings.Replace(slice("{"+pod+"}"), `,"port":8080`, "", 1), "s:web", none},
		"of another service":      {strings.Replace(slice("{"+pod+"}"), `name":"s"`, `name":"z"`, 1), "s:web", none},
		"by name":                 {slice("{" + pod + "}"), "s:web", good},
		"by number":               {slice("{" + pod + "}"), "s:80", good},
		"by scheme":               {slice(`{"conditions":{"ready":true},` + pod + "}"), "http:s:web", good},
		"without a name":          {strings.Replace(slice("{"+pod+"}"), `"name":"web",`, "", 1), "s", good},
		"plain for https":         {slice("{" + pod + "}"), "https:s:web", "503 error trying to reach service: tls: first record does not look like a TLS handshake"},
	} {
		t.Run(name, bubbled(func(t *testing.T) {
			there := (&elsewhere{}).serve(t, false, echo)
			api := behind(t, there)
			// Endpoints alone lead nowhere.
			create(t, api, "/api/v1/namespaces/default/endpoints", `{"metadata":{"name":"s"},"subsets":[{"addresses":[{"ip":"192.0.2.7",
"targetRef":{"kind":"Pod","namespace":"default","name":"p"}}],"ports":[{"name":"web","port":8080}]}]}`)
			if row.slice != "" {
				create(t, api, slicesPath, row.slice)
			}
			code, text := do(t, api, request{method: http.MethodGet, path: servicesPath + "/" + row.to + "/proxy/x?a=b",
				header: http.Header{"Authorization": {"Bearer secret"}}})
			if code != http.StatusOK {
				text = member(t, text, "message").(string)
			}
			assert.Equal(t, row.want, fmt.Sprint(code, " ", text))
			if code == http.StatusOK {
				assert.Equal(t, []string{"192.0.2.7:8080"}, there.addresses())
			}
		}))
	}
}

// Only the port of the kubelet speaks TLS unless the path says so.
func TestANodeIsReachedByItsScheme(t *testing.T) {
	for to, secure := range map[string]bool{"n": true, "n:10250": true, "http:n:10250": true, "n:8080": false, "http:n:8080": false, "https:n:8080": true} {
		t.Run(to, bubbled(func(t *testing.T) {
			there := (&elsewhere{}).serve(t, secure, echo)
			code, text := do(t, behind(t, there), request{method: http.MethodGet, path: "/api/v1/nodes/" + to + "/proxy/x", header: http.Header{"Authorization": {"Bearer secret"}}})
			assert.Equal(t, "200 GET apitest/x [] []", fmt.Sprint(code, " ", text))
			port := "10250"
			if strings.Contains(to, "8080") {
				port = "8080"
			}
			assert.Equal(t, []string{"192.0.2.6:" + port}, there.addresses())
		}))
	}
}

// What is passed on to a pod, a service or a node gets its redirect, and the client decides. A redirect within the other server leads to its
// path here.
func TestRedirectsArePassedOn(t *testing.T) {
	for location, want := range map[string]string{"http://192.0.2.9/internal": "http://192.0.2.9/internal", "/there": "PROXY/there", "there": "there"} {
		t.Run(location, bubbled(func(t *testing.T) {
			there := (&elsewhere{}).serve(t, false, func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Location", location)
				w.WriteHeader(http.StatusTemporaryRedirect)
			})
			api := behind(t, there)
			create(t, api, slicesPath, slice(`{"addresses":["192.0.2.7"],"targetRef":{"kind":"Pod","namespace":"default","name":"p"}}`))
			for _, path := range []string{podsPath + "/p/proxy", servicesPath + "/s:web/proxy", "/api/v1/nodes/n:8080/proxy"} {
				for _, method := range []string{http.MethodGet, http.MethodPost} {
					req, err := http.NewRequestWithContext(t.Context(), method, api.Host()+path+"/x", http.NoBody)
					require.NoError(t, err)
					resp, err := api.Transport().RoundTrip(req)
					require.NoError(t, err)
					resp.Body.Close()
					assert.Equal(t, http.StatusTemporaryRedirect, resp.StatusCode, path)
					assert.Equal(t, strings.Replace(want, "PROXY", path, 1), resp.Header.Get("Location"))
				}
			}
			assert.Equal(t, []string{"192.0.2.7:8080", "192.0.2.6:8080"}, there.addresses())
		}))
	}
}

// The server itself reads logs, and opens streams, at the kubelet: it follows no redirect there, and makes a Status of an error.
func TestAKubeletRedirectsNobody(t *testing.T) {
	type answer struct {
		code           int
		location, want string
	}
	for _, row := range []answer{
		{200, "", "200 text"},
		{206, "", "200 text"},
		{302, "http://192.0.2.9/internal", `500 {"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"Get \"http://192.0.2.9/internal\": redirects forbidden","code":500}`},
		{307, "/internal", `500 {"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"Get \"/internal\": redirects forbidden","code":500}`},
		{302, "", `302 {"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"the server responded with the status code 302 but did not return more information ( pods/log p)","details":{"name":"p","kind":"pods/log"},"code":302}`},
		{400, "", `400 {"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"text","reason":"BadRequest","code":400}`},
		{404, "", `404 {"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"the server could not find the requested resource ( pods/log p)","reason":"NotFound","details":{"name":"p","kind":"pods/log"},"code":404}`},
		{500, "", `500 {"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"Internal error occurred: text","reason":"InternalError","details":{"causes":[{"message":"text"}]},"code":500}`},
	} {
		t.Run(fmt.Sprint(row.code, row.location), bubbled(func(t *testing.T) {
			there := (&elsewhere{}).serve(t, true, func(w http.ResponseWriter, r *http.Request) {
				assert.Contains(t, r.URL.Path, "/default/p/c")
				assert.Empty(t, r.Header["Authorization"])
				if row.location != "" {
					w.Header().Set("Location", row.location)
				}
				w.WriteHeader(row.code)
				_, _ = io.WriteString(w, "text")
			})
			api := behind(t, there)
			code, text := do(t, api, request{method: http.MethodGet, path: podsPath + "/p/log", header: http.Header{"Authorization": {"Bearer secret"}}})
			assert.Equal(t, row.want, fmt.Sprint(code, " ", strings.TrimSpace(text)))
			if row.code < 400 {
				code, text = do(t, api, request{method: http.MethodPost, path: podsPath + "/p/exec?command=ls", header: http.Header{"Connection": {"Upgrade"}, "Upgrade": {"SPDY/3.1"}}})
				assert.Contains(t, text, fmt.Sprint("invalid upgrade response: status code ", row.code), code)
			}
			assert.Equal(t, []string{"192.0.2.6:10250"}, there.addresses())
		}))
	}
}

// Webhooks get no credentials, and a kube-apiserver follows their redirects: with the review, unless the code makes a GET of it.
func TestRedirectsOfWebhooksAreFollowed(t *testing.T) {
	for code, kept := range map[int]bool{302: false, 303: false, 307: true, 308: true} {
		t.Run(fmt.Sprint(code), bubbled(func(t *testing.T) {
			there := (&elsewhere{}).serve(t, true, func(w http.ResponseWriter, r *http.Request) {
				assert.Empty(t, r.Header["Authorization"])
				if r.URL.Path == "/hook" {
					http.Redirect(w, r, "https://example.com:444/moved", code)
					return
				}
				assert.Equal(t, kept, r.Method == http.MethodPost)
				var review struct {
					APIVersion string `json:"apiVersion"`
					Kind       string `json:"kind"`
					Request    struct {
						UID               string           `json:"uid"`
						DesiredAPIVersion string           `json:"desiredAPIVersion"`
						Objects           []map[string]any `json:"objects"`
					} `json:"request"`
				}
				_ = json.NewDecoder(r.Body).Decode(&review) // a GET has none
				for _, o := range review.Request.Objects {
					o["apiVersion"] = review.Request.DesiredAPIVersion
				}
				_ = json.NewEncoder(w).Encode(map[string]any{"apiVersion": review.APIVersion, "kind": review.Kind, "response": map[string]any{
					"uid": review.Request.UID, "allowed": true, "result": map[string]string{"status": "Success"}, "convertedObjects": review.Request.Objects,
				}})
			})
			o := cluster.Options{Webhooks: true, Dial: there.Dial}
			api := serve(t, o, apitest.Options{})
			client := `"clientConfig":{"url":"https://example.com/hook","caBundle":"` + base64.StdEncoding.EncodeToString(there.certificate) + `"}`
			create(t, api, "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations", `{"metadata":{"name":"hook"},"webhooks":[{"name":"hook.example.com","sideEffects":"None",
"admissionReviewVersions":["v1"],`+client+`,"rules":[{"apiGroups":[""],"apiVersions":["v1"],"resources":["configmaps"],"operations":["CREATE"]}]}]}`)
			create(t, api, "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", `{"metadata":{"name":"things.example.com"},"spec":{"group":"example.com","scope":"Cluster",
"names":{"plural":"things","kind":"Thing"},"conversion":{"strategy":"Webhook","webhook":{"conversionReviewVersions":["v1"],`+client+`}},
"versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object"}}},{"name":"v2","served":true,"storage":false,"schema":{"openAPIV3Schema":{"type":"object"}}}]}}`)
			synctest.Wait()
			header := http.Header{"Authorization": {"Bearer secret"}}
			got, text := do(t, api, request{method: http.MethodPost, path: "/api/v1/namespaces/default/configmaps", body: `{"metadata":{"name":"a"}}`, header: header})
			assert.Equal(t, map[bool]int{true: 201, false: 500}[kept], got, text)
			create(t, api, "/apis/example.com/v1/things", `{"apiVersion":"example.com/v1","kind":"Thing","metadata":{"name":"a"}}`)
			got, text = do(t, api, request{method: http.MethodGet, path: "/apis/example.com/v2/things/a", header: header})
			assert.Equal(t, map[bool]int{true: 200, false: 500}[kept], got, text)
			assert.Equal(t, []string{"example.com:443", "example.com:444"}, there.addresses())
		}))
	}
}
