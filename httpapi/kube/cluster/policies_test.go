package cluster_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/httpapi/apitest"
	"github.com/kubecoord/kubecoord/httpapi/kube/cluster"
)

const admissionPath = "/apis/admissionregistration.k8s.io/v1/"

// deny is a policy about all resources, and its binding.
func deny(expression string) (policy, binding string) {
	return `{"metadata":{"name":"deny"},"spec":{"matchConstraints":{"resourceRules":[{"apiGroups":["*"],"apiVersions":["*"],"resources":["*"],"operations":["*"]}]},
		"validations":[{"expression":"` + expression + `","message":"no"}]}}`, `{"metadata":{"name":"deny"},"spec":{"policyName":"deny","validationActions":["Deny"]}}`
}

// Otherwise a policy that denies all could never be removed.
func TestNoPolicyIsAboutPolicies(t *testing.T) {
	api := serve(t, cluster.Options{Namespaces: true, Policies: true, Reviews: true}, apitest.Options{})
	policy, binding := deny("false")
	create(t, api, admissionPath+"validatingadmissionpolicies", policy)
	create(t, api, admissionPath+"validatingadmissionpolicybindings", binding)
	code, body := do(t, api, request{method: http.MethodPost, path: "/api/v1/namespaces/default/configmaps", body: `{"metadata":{"name":"a"}}`})
	require.Equal(t, 422, code, body)
	create(t, api, authz+"/selfsubjectaccessreviews", `{"spec":{"resourceAttributes":{"verb":"get","resource":"pods"}}}`)
	create(t, api, admissionPath+"mutatingadmissionpolicies", `{"metadata":{"name":"m"},"spec":{"reinvocationPolicy":"Never","matchConstraints":{"resourceRules":[{"apiGroups":[""],"apiVersions":["v1"],"resources":["pods"],"operations":["CREATE"]}]},
		"mutations":[{"patchType":"JSONPatch","jsonPatch":{"expression":"[JSONPatch{op: 'remove', path: '/metadata/labels'}]"}}]}}`)
	create(t, api, admissionPath+"mutatingadmissionpolicybindings", `{"metadata":{"name":"m"},"spec":{"policyName":"m"}}`)
	for _, path := range []string{"mutatingadmissionpolicybindings/m", "mutatingadmissionpolicies/m", "validatingadmissionpolicies/deny", "validatingadmissionpolicybindings/deny"} {
		code, body := do(t, api, request{method: http.MethodDelete, path: admissionPath + path})
		assert.Equal(t, 200, code, "%s: %s", path, body)
	}
	create(t, api, "/api/v1/namespaces/default/configmaps", `{"metadata":{"name":"a"}}`)
}

func TestAChangedPolicyCountsFromTheNextWriteOn(t *testing.T) {
	api := serve(t, cluster.Options{Namespaces: true, Policies: true}, apitest.Options{})
	policy, binding := deny("object.metadata.name != 'a'")
	create(t, api, admissionPath+"validatingadmissionpolicies", policy)
	create(t, api, admissionPath+"validatingadmissionpolicybindings", binding)
	codes := func() (out []int) {
		for _, name := range []string{"a", "b"} {
			code, _ := do(t, api, request{method: http.MethodPost, path: "/api/v1/namespaces/default/configmaps?dryRun=All", body: `{"metadata":{"name":"` + name + `"}}`})
			out = append(out, code)
		}
		return out
	}
	assert.Equal(t, []int{422, 201}, codes())
	code, body := do(t, api, request{method: http.MethodPatch, path: admissionPath + "validatingadmissionpolicies/deny", header: http.Header{"Content-Type": {"application/json-patch+json"}},
		body: `[{"op":"replace","path":"/spec/validations/0/expression","value":"object.metadata.name != 'b'"}]`})
	require.Equal(t, 200, code, body)
	assert.Equal(t, []int{201, 422}, codes())
}
