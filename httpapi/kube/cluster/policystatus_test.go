package cluster_test

import (
	"net/http"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/httpapi/apitest"
	"github.com/kubecoord/kubecoord/httpapi/kube/cluster"
)

// statusOf returns the status of the policy p as it is when nothing happens any more.
func statusOf(t *testing.T, api *apitest.API) any {
	t.Helper()
	synctest.Wait()
	code, body := do(t, api, request{method: http.MethodGet, path: admissionPath + "validatingadmissionpolicies/p"})
	require.Equal(t, 200, code, body)
	return member(t, body, "status")
}

// A policy about custom resources is checked by the schema of their definition. That is not there when the first policy is checked,
// which is not checked again until it changes, as upstream.
func TestTypesOfCustomResourcesAreChecked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		api := serve(t, cluster.Options{PolicyStatus: true}, apitest.Options{})
		create(t, api, admissionPath+"validatingadmissionpolicies", `{"metadata":{"name":"p"},"spec":{"matchConstraints":{"resourceRules":[
			{"apiGroups":["example.com"],"apiVersions":["v1"],"resources":["widgets"],"operations":["*"]}]},"validations":[{"expression":"object.spec.sise == 1"}]}}`)
		assert.Equal(t, map[string]any{"observedGeneration": float64(1), "typeChecking": map[string]any{}}, statusOf(t, api))
		create(t, api, "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", `{"metadata":{"name":"widgets.example.com"},"spec":{"group":"example.com","scope":"Namespaced",
			"names":{"plural":"widgets","kind":"Widget"},"versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object",
			"properties":{"spec":{"type":"object","properties":{"size":{"type":"integer"}}}}}}}]}}`)
		synctest.Wait()
		code, body := do(t, api, request{method: http.MethodPatch, path: admissionPath + "validatingadmissionpolicies/p", header: http.Header{"Content-Type": {"application/merge-patch+json"}},
			body: `{"spec":{"failurePolicy":"Ignore"}}`})
		require.Equal(t, 200, code, body)
		assert.Equal(t, map[string]any{"observedGeneration": float64(2), "typeChecking": map[string]any{"expressionWarnings": []any{map[string]any{
			"fieldRef": "spec.validations[0].expression",
			"warning":  "example.com/v1, Kind=Widget: ERROR: <input>:1:12: undefined field 'sise'\n | object.spec.sise == 1\n | ...........^\n",
		}}}}, statusOf(t, api))
	})
}

func TestABareServerDoesNotCheckTypes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		api := serve(t, cluster.KubeAPIServer(), apitest.Options{})
		policy, _ := deny("object.x == 1")
		create(t, api, admissionPath+"validatingadmissionpolicies", policy)
		synctest.Wait()
		_, body := do(t, api, request{method: http.MethodGet, path: admissionPath + "validatingadmissionpolicies/deny"})
		assert.Empty(t, member(t, body, "status"))
	})
}
