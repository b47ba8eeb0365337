package cluster_test

import (
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/httpapi/apitest"
	"github.com/kubecoord/kubecoord/httpapi/kube/cluster"
)

func TestTheStatusOfAQuotaIsWhatIsUsed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := cluster.KubeAPIServer()
		o.QuotaStatus, o.NamespaceDeletion = true, false
		api := serve(t, o, apitest.Options{})
		send := func(at *apitest.API, method, path, body string, want int) string {
			t.Helper()
			header := http.Header{}
			if method == http.MethodPatch {
				header.Set("Content-Type", "application/merge-patch+json")
			}
			code, text := do(t, at, request{method: method, path: "/api/v1/namespaces/default/" + path, body: body, header: header})
			require.Equal(t, want, code, text)
			synctest.Wait()
			return text
		}
		status := func(at *apitest.API) string {
			t.Helper()
			return asJSON(t, send(at, http.MethodGet, "resourcequotas/q", "", 200), "status")
		}
		send(api, http.MethodPost, "configmaps", `{"metadata":{"name":"before"}}`, 201)
		send(api, http.MethodPost, "resourcequotas", `{"metadata":{"name":"q"},"spec":{"hard":{"configmaps":"2","pods":"2","requests.cpu":"3","count/leases.coordination.k8s.io":"1","services.nodeports":"5"}}}`, 201)
		assert.JSONEq(t, `{"hard":{"configmaps":"2","pods":"2","requests.cpu":"3","count/leases.coordination.k8s.io":"1","services.nodeports":"5"},
			"used":{"configmaps":"1","pods":"0","requests.cpu":"0","count/leases.coordination.k8s.io":"0","services.nodeports":"0"}}`, status(api))
		fork := api.Fork(t)
		pod := func(name string) string {
			return `{"metadata":{"name":"` + name + `"},"spec":{"containers":[{"name":"a","image":"i","resources":{"requests":{"cpu":"1"}}}]}}`
		}
		send(api, http.MethodPost, "configmaps", `{"metadata":{"name":"a"}}`, 201)
		send(api, http.MethodPost, "pods", pod("a"), 201)
		send(api, http.MethodPost, "pods", pod("b"), 201)
		send(api, http.MethodPost, "configmaps", `{"metadata":{"name":"b"}}`, 403)
		assert.Contains(t, status(api), `"used":{"configmaps":"2","count/leases.coordination.k8s.io":"0","pods":"2","requests.cpu":"2"`)
		send(api, http.MethodDelete, "configmaps/a", "", 200)
		send(api, http.MethodPatch, "pods/a/status", `{"status":{"phase":"Succeeded"}}`, 200)
		assert.Contains(t, status(api), `"used":{"configmaps":"1","count/leases.coordination.k8s.io":"0","pods":"1","requests.cpu":"1"`, "what has ended is not used")
		assert.Contains(t, status(fork), `"used":{"configmaps":"1","count/leases.coordination.k8s.io":"0","pods":"0"`, "a fork counts its own")

		// A node that is lost never ends the Pod.
		send(api, http.MethodPost, "pods/b/binding", `{"metadata":{"name":"b"},"target":{"name":"n"}}`, 201)
		send(api, http.MethodDelete, "pods/b", "", 200)
		assert.Contains(t, status(api), `"pods":"1"`)
		time.Sleep(5 * time.Minute)
		synctest.Wait()
		assert.Contains(t, status(api), `"used":{"configmaps":"1","count/leases.coordination.k8s.io":"0","pods":"0","requests.cpu":"0"`)

		send(api, http.MethodPatch, "resourcequotas/q", `{"spec":{"hard":{"configmaps":null,"secrets":"1"}}}`, 200)
		assert.JSONEq(t, `{"hard":{"secrets":"1","pods":"2","requests.cpu":"3","count/leases.coordination.k8s.io":"1","services.nodeports":"5"},
			"used":{"secrets":"0","pods":"0","requests.cpu":"0","count/leases.coordination.k8s.io":"0","services.nodeports":"0"}}`, status(api))
		_, lease := do(t, api, request{method: http.MethodPost, path: "/apis/coordination.k8s.io/v1/namespaces/default/leases", body: `{"metadata":{"name":"l"}}`})
		assert.Equal(t, "l", member(t, lease, "metadata", "name"))
		send(api, http.MethodPatch, "resourcequotas/q/status", `{"status":{"used":{"count/leases.coordination.k8s.io":"0"}}}`, 200)
		time.Sleep(5 * time.Minute)
		synctest.Wait()
		assert.Contains(t, status(api), `"count/leases.coordination.k8s.io":"1"`, "it counts again")
	})
}

func TestAClaimForExtendedResourcesCountsOnceWithItsPod(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := cluster.KubeAPIServer()
		o.QuotaStatus = true
		api := serve(t, o, apitest.Options{})
		send := func(method, path, body string) string {
			t.Helper()
			code, text := do(t, api, request{method: method, path: path, body: body})
			require.Less(t, code, 300, text)
			synctest.Wait()
			return text
		}
		const namespaced = "/api/v1/namespaces/default/"
		send(http.MethodPost, "/apis/resource.k8s.io/v1/deviceclasses", `{"metadata":{"name":"gpu"},"spec":{"extendedResourceName":"example.com/gpu"}}`)
		send(http.MethodPost, namespaced+"resourcequotas", `{"metadata":{"name":"q"},"spec":{"hard":{"requests.example.com/gpu":"5","gpu.deviceclass.resource.k8s.io/devices":"5"}}}`)
		pod := send(http.MethodPost, namespaced+"pods", `{"metadata":{"name":"p"},"spec":{"containers":[{"name":"a","image":"i","resources":{"requests":{"example.com/gpu":"2"},"limits":{"example.com/gpu":"2"}}}]}}`)
		claim := func(name, metadata string) {
			send(http.MethodPost, "/apis/resource.k8s.io/v1/namespaces/default/resourceclaims", `{"metadata":{"name":"`+name+`"`+metadata+`},"spec":{"devices":{"requests":[{"name":"r","exactly":{"deviceClassName":"gpu","count":2}}]}}}`)
		}
		used := func() string {
			return asJSON(t, send(http.MethodGet, namespaced+"resourcequotas/q", ""), "status", "used")
		}
		uid, _ := member(t, pod, "metadata", "uid").(string)
		owned := `,"annotations":{"resource.kubernetes.io/extended-resource-claim":"true"},"ownerReferences":[{"apiVersion":"v1","kind":"Pod","name":"p","uid":"` + uid + `","controller":true}]`
		claim("a", owned)
		assert.JSONEq(t, `{"requests.example.com/gpu":"2","gpu.deviceclass.resource.k8s.io/devices":"2"}`, used())
		claim("b", owned) // a second claim is not the Pod's
		assert.JSONEq(t, `{"requests.example.com/gpu":"4","gpu.deviceclass.resource.k8s.io/devices":"4"}`, used())
	})
}
