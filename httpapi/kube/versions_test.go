package kube_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"

	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/httpapi/apitest"
	"github.com/kubecoord/kubecoord/httpapi/kube/scheme"
)

// tell sends a request with a body of JSON, and returns the code and the answer.
func tell(t *testing.T, api *apitest.API, method, path, accept, body string) (int, map[string]any) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, api.Host()+path, strings.NewReader(body))
	require.NoError(t, err)
	req.Header.Set("Accept", accept)
	req.Header.Set("Content-Type", "application/json")
	if method == http.MethodPatch {
		req.Header.Set("Content-Type", "application/merge-patch+json")
	}
	resp, err := (&http.Client{Transport: api.Transport()}).Do(req)
	require.NoError(t, err)
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	var out map[string]any
	d := json.NewDecoder(bytes.NewReader(data))
	require.NoError(t, d.Decode(&out), string(data))
	return resp.StatusCode, out
}

const plain = "application/json"

// switchedOn returns a server with all versions that are off by default.
func switchedOn(t *testing.T) *apitest.API {
	all, err := scheme.Kinds(clientgoscheme.Scheme, scheme.Options{Versions: func(schema.GroupVersionResource) bool { return true }})
	require.NoError(t, err)
	return apitest.New(t, apitest.Options{API: httpapi.Options{Kinds: all}})
}

func TestVersionsThatAreOffAreServedIfAsked(t *testing.T) {
	off := []string{
		"admissionregistration.k8s.io/v1beta1/validatingadmissionpolicies", "admissionregistration.k8s.io/v1beta1/mutatingadmissionpolicybindings",
		"admissionregistration.k8s.io/v1alpha1/mutatingadmissionpolicies", "certificates.k8s.io/v1beta1/podcertificaterequests",
		"certificates.k8s.io/v1alpha1/clustertrustbundles", "networking.k8s.io/v1beta1/servicecidrs", "resource.k8s.io/v1beta1/deviceclasses",
		"resource.k8s.io/v1beta2/resourceslices", "resource.k8s.io/v1alpha3/devicetaintrules", "storage.k8s.io/v1beta1/volumeattributesclasses",
		"storagemigration.k8s.io/v1beta1/storageversionmigrations",
	}
	bare, all := newBuiltins(t), switchedOn(t)
	for _, path := range off {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, bare.Host()+"/apis/"+path, nil)
		require.NoError(t, err)
		resp, err := (&http.Client{Transport: bare.Transport()}).Do(req)
		require.NoError(t, err)
		resp.Body.Close()
		assert.Equal(t, http.StatusNotFound, resp.StatusCode, path)
		code, list := tell(t, all, http.MethodGet, "/apis/"+path, plain, "")
		assert.Equal(t, http.StatusOK, code, path)
		assert.Contains(t, path, list["apiVersion"])
	}
}

// TestTheOldestVersionOfClaimsHasOtherMembers: v1beta1 has the members of a request beside its name, and the members of a device in "basic".
func TestTheOldestVersionOfClaimsHasOtherMembers(t *testing.T) {
	api := switchedOn(t)
	const claims = "/namespaces/default/resourceclaims"
	code, _ := tell(t, api, http.MethodPost, "/apis/resource.k8s.io/v1beta1"+claims, plain, `{"metadata":{"name":"a"},"spec":{"devices":{"requests":[
		{"name":"r","deviceClassName":"c","count":2},{"name":"s","firstAvailable":[{"name":"t","deviceClassName":"c"}]}]}}}`)
	require.Equal(t, http.StatusCreated, code)
	requests := func(version string) any {
		code, claim := tell(t, api, http.MethodGet, "/apis/resource.k8s.io/"+version+claims+"/a", plain, "")
		require.Equal(t, http.StatusOK, code)
		assert.Equal(t, "resource.k8s.io/"+version, claim["apiVersion"])
		return claim["spec"].(map[string]any)["devices"].(map[string]any)["requests"]
	}
	exactly := map[string]any{"deviceClassName": "c", "count": 2.0, "allocationMode": "ExactCount"}
	first := []any{map[string]any{"name": "t", "deviceClassName": "c", "count": 1.0, "allocationMode": "ExactCount"}}
	newer := []any{map[string]any{"name": "r", "exactly": exactly}, map[string]any{"name": "s", "firstAvailable": first}}
	assert.Equal(t, newer, requests("v1"))
	assert.Equal(t, newer, requests("v1beta2"))
	assert.Equal(t, []any{
		map[string]any{"name": "r", "deviceClassName": "c", "count": 2.0, "allocationMode": "ExactCount"},
		map[string]any{"name": "s", "deviceClassName": "", "firstAvailable": first},
	}, requests("v1beta1"))
	code, refused := tell(t, api, http.MethodPost, "/apis/resource.k8s.io/v1beta1"+claims, plain, `{"metadata":{"name":"b"},"spec":{"devices":{"requests":[{"name":"R","deviceClassName":"c"}]}}}`)
	assert.Equal(t, http.StatusUnprocessableEntity, code)
	assert.Contains(t, refused["message"], "spec.devices.requests[0].name", "it is validated in its stored form")

	code, slice := tell(t, api, http.MethodPost, "/apis/resource.k8s.io/v1/resourceslices", plain, `{"metadata":{"name":"a"},"spec":{"driver":"d.example.com","nodeName":"n",
		"pool":{"name":"p","generation":1,"resourceSliceCount":1},"devices":[{"name":"d","attributes":{"b":{"int":1}}}]}}`)
	require.Equal(t, http.StatusCreated, code, slice)
	_, slice = tell(t, api, http.MethodGet, "/apis/resource.k8s.io/v1beta1/resourceslices/a", plain, "")
	assert.Equal(t, []any{map[string]any{"name": "d", "basic": map[string]any{"attributes": map[string]any{"b": map[string]any{"int": 1.0}}}}},
		slice["spec"].(map[string]any)["devices"])
}

func TestAListMarksOnlyTheNewestDefaultClass(t *testing.T) {
	api := newBuiltins(t)
	const classes = "/apis/storage.k8s.io/v1/storageclasses"
	for _, name := range []string{"b", "a", "c"} {
		code, _ := tell(t, api, http.MethodPost, classes, plain, `{"metadata":{"name":"`+name+`","annotations":{"storageclass.kubernetes.io/is-default-class":"`+
			map[bool]string{true: "true", false: "false"}[name != "c"]+`"}},"provisioner":"example.com/p"}`)
		require.Equal(t, http.StatusCreated, code)
	}
	const table = "application/json;as=Table;v=v1;g=meta.k8s.io"
	names := func(path string) (names []any) {
		code, list := tell(t, api, http.MethodGet, path, table, "")
		require.Equal(t, http.StatusOK, code)
		for _, row := range list["rows"].([]any) {
			names = append(names, row.(map[string]any)["cells"].([]any)[0])
		}
		return names
	}
	assert.Equal(t, []any{"a (default)", "b", "c"}, names(classes), "both were made in one second: the first by name")
	assert.Equal(t, []any{"a"}, names(classes+"/a"), "only a list")
}

func TestAutoscalersHaveAGeneration(t *testing.T) {
	api := newBuiltins(t)
	const all = "/namespaces/default/horizontalpodautoscalers"
	generation := func(code int, h map[string]any) any {
		require.Less(t, code, 300, h)
		return h["metadata"].(map[string]any)["generation"]
	}
	spec := `"spec":{"maxReplicas":3,"scaleTargetRef":{"kind":"Deployment","name":"d","apiVersion":"apps/v1"}}`
	assert.Equal(t, 1.0, generation(tell(t, api, http.MethodPost, "/apis/autoscaling/v2"+all, plain, `{"metadata":{"name":"a"},`+spec+`}`)))
	assert.Equal(t, 1.0, generation(tell(t, api, http.MethodPatch, "/apis/autoscaling/v2"+all+"/a", plain, `{"metadata":{"labels":{"a":"b"}}}`)))
	assert.Equal(t, 2.0, generation(tell(t, api, http.MethodPatch, "/apis/autoscaling/v1"+all+"/a", plain, `{"spec":{"maxReplicas":4}}`)))
	code, _ := tell(t, api, http.MethodPost, "/apis/autoscaling/v1"+all, plain, `{"metadata":{"name":"b","annotations":{"autoscaling.alpha.kubernetes.io/behavior":"{\"ScaleUp\":{\"StabilizationWindowSeconds\":1}}"}},`+spec+`}`)
	assert.Equal(t, http.StatusUnprocessableEntity, code, "v1 gives the behaviour no default")

	kinds, err := scheme.Kinds(clientgoscheme.Scheme, scheme.Options{FeatureGates: map[string]bool{"HPAGeneration": false}})
	require.NoError(t, err)
	api = apitest.New(t, apitest.Options{API: httpapi.Options{Kinds: kinds}})
	assert.Nil(t, generation(tell(t, api, http.MethodPost, "/apis/autoscaling/v2"+all, plain, `{"metadata":{"name":"a"},`+spec+`}`)))
}

func TestResourcesOfAPodAreTakenFromItsContainers(t *testing.T) {
	api := newBuiltins(t)
	const pods = "/api/v1/namespaces/default/pods"
	made := func(path, body string) (spec, status map[string]any) {
		code, pod := tell(t, api, http.MethodPost, path, plain, body)
		require.Equal(t, http.StatusCreated, code, pod)
		return pod["spec"].(map[string]any), pod["status"].(map[string]any)
	}
	full := `"resources":{"limits":{"cpu":"1","memory":"1Gi"}}`
	spec, status := made(pods, `{"metadata":{"name":"a"},"spec":{"resources":{"requests":{"cpu":"3"}},"containers":[{"name":"a","image":"i",`+full+`},{"name":"b","image":"i",`+full+`}]}}`)
	assert.Equal(t, map[string]any{"requests": map[string]any{"cpu": "3", "memory": "2Gi"}, "limits": map[string]any{"cpu": "3", "memory": "2Gi"}}, spec["resources"])
	assert.Equal(t, "Guaranteed", status["qosClass"])
	_, status = made(pods, `{"metadata":{"name":"b"},"spec":{"resources":{},"containers":[{"name":"a","image":"i",`+full+`}]}}`)
	assert.Equal(t, "Guaranteed", status["qosClass"], "no resources are as none")
	spec, _ = made(pods, `{"metadata":{"name":"c"},"spec":{"resources":{"limits":{"cpu":"3"}},"containers":[{"name":"a","image":"i"}]}}`)
	assert.Equal(t, map[string]any{"requests": map[string]any{"cpu": "3"}, "limits": map[string]any{"cpu": "3"}}, spec["resources"])
	code, pod := tell(t, api, http.MethodPatch, pods+"/c", plain, `{"metadata":{"labels":{"a":"b"}},"spec":{"resources":null}}`)
	require.Equal(t, http.StatusOK, code, pod)
	assert.NotNil(t, pod["spec"].(map[string]any)["resources"], "a writer that does not know them")
	code, pod = tell(t, api, http.MethodPatch, pods+"/a/resize", plain, `{"spec":{"resources":{"requests":{"cpu":"4"},"limits":{"cpu":"4"}}}}`)
	require.Equal(t, http.StatusOK, code, pod)
}

func TestAnnotationsOfOldKubeletsGo(t *testing.T) {
	api := newBuiltins(t)
	const old = `"annotations":{"pod.beta.kubernetes.io/init-containers":"x","a":"b"}`
	code, pod := tell(t, api, http.MethodPost, "/api/v1/namespaces/default/pods", plain, `{"metadata":{"name":"a",`+old+`},"spec":{"containers":[{"name":"a","image":"i"}]}}`)
	require.Equal(t, http.StatusCreated, code, pod)
	assert.Equal(t, map[string]any{"a": "b"}, pod["metadata"].(map[string]any)["annotations"])
	code, job := tell(t, api, http.MethodPost, "/apis/batch/v1/namespaces/default/cronjobs", plain, `{"metadata":{"name":"a"},"spec":{"schedule":"* * * * *","jobTemplate":{"spec":{"template":{"metadata":{`+old+`},
		"spec":{"restartPolicy":"Never","containers":[{"name":"a","image":"i"}]}}}}}}`)
	require.Equal(t, http.StatusCreated, code, job)
	for _, name := range []string{"spec", "jobTemplate", "spec", "template", "metadata"} {
		job = job[name].(map[string]any)
	}
	assert.Equal(t, map[string]any{"a": "b"}, job["annotations"])
}

// TestDevicesOfAClaimGoWithTheirAllocation: what is said about a device that stays, or that was never allocated, stays.
func TestDevicesOfAClaimGoWithTheirAllocation(t *testing.T) {
	api := newBuiltins(t)
	const claims = "/apis/resource.k8s.io/v1/namespaces/default/resourceclaims"
	code, _ := tell(t, api, http.MethodPost, claims, plain, `{"metadata":{"name":"a"},"spec":{"devices":{"requests":[{"name":"r","exactly":{"deviceClassName":"c"}}]}}}`)
	require.Equal(t, http.StatusCreated, code)
	device := `{"driver":"d.example.com","pool":"p","device":"d"}`
	code, claim := tell(t, api, http.MethodPatch, claims+"/a/status", plain, `{"metadata":{"labels":{"a":"b"}},"status":{"allocation":{"devices":{"results":[
		{"request":"r","driver":"d.example.com","pool":"p","device":"d"}]}},"devices":[`+device+`]}}`)
	require.Equal(t, http.StatusOK, code, claim)
	assert.Len(t, claim["status"].(map[string]any)["devices"], 1)
	assert.NotContains(t, claim["metadata"], "labels", "a write of the status keeps the metadata")
	code, claim = tell(t, api, http.MethodPatch, claims+"/a/status", plain, `{"status":{"allocation":null}}`)
	require.Equal(t, http.StatusOK, code, claim)
	assert.NotContains(t, claim["status"], "devices")
}

func TestATaintIsAsOldAsItsEffect(t *testing.T) {
	api := newBuiltins(t)
	const rules = "/apis/resource.k8s.io/v1/devicetaintrules"
	added := func(code int, rule map[string]any) any {
		require.Less(t, code, 300, rule)
		return rule["spec"].(map[string]any)["taint"].(map[string]any)["timeAdded"]
	}
	const old = "2020-01-01T00:00:00Z"
	assert.Equal(t, old, added(tell(t, api, http.MethodPost, rules, plain, `{"metadata":{"name":"a"},"spec":{"taint":{"key":"a/b","effect":"None","timeAdded":"`+old+`"}}}`)))
	assert.Equal(t, old, added(tell(t, api, http.MethodPatch, rules+"/a", plain, `{"spec":{"taint":{"value":"c"}}}`)))
	assert.NotEqual(t, old, added(tell(t, api, http.MethodPatch, rules+"/a", plain, `{"spec":{"taint":{"effect":"NoExecute"}}}`)))
	assert.Equal(t, old, added(tell(t, api, http.MethodPatch, rules+"/a", plain, `{"spec":{"taint":{"effect":"NoSchedule","timeAdded":"`+old+`"}}}`)), "the writer's time")
	code, status := tell(t, api, http.MethodPut, rules+"/a", plain, `{"metadata":{"name":"a"},"spec":{"taint":{"key":"a/b","effect":"None"}}}`)
	assert.Equal(t, http.StatusUnprocessableEntity, code)
	assert.Contains(t, status["message"], "resourceVersion")
}
