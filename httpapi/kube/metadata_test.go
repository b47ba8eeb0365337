package kube_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"io"
	"net/http"
	"os"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/httpapi/apitest"
	"github.com/kubecoord/kubecoord/httpapi/kube/crd"
	"github.com/kubecoord/kubecoord/httpapi/kube/scheme"
	"github.com/kubecoord/kubecoord/store/meta"
)

var metadataURL = flag.String("metadata.url", "", "record testdata/metadata.json from the kube-apiserver at this URL, which asks for no credentials")

// metadataRow is an object, and how many causes a kube-apiserver gives for bad metadata of it.
type metadataRow struct {
	Path   string          `json:"path"`
	Object json.RawMessage `json:"object"`
	// Causes are by subresource: of a patch of a label, of a finalizer and of the uid. Create is the number for a new object with
	// the label and the finalizer.
	Causes map[string][]int `json:"causes"`
	Create int              `json:"create"`
}

// A server reports a problem of the metadata once, except for the kinds that do not validate declaratively, and looks at
// finalizers for most kinds.
func TestProblemsOfMetadataAreReportedAsOften(t *testing.T) {
	const file = "testdata/metadata.json"
	data, err := os.ReadFile(file)
	require.NoError(t, err)
	var rows []metadataRow
	require.NoError(t, json.Unmarshal(data, &rows))
	services, err := scheme.APIServices()
	require.NoError(t, err)
	all, err := everyKind()
	require.NoError(t, err)
	var o apitest.Options
	o.API.Kinds = append(slices.Clip(all), services, crd.Definitions())
	api := apitest.New(t, o)
	host, transport := api.Host(), http.RoundTripper(api.Transport())
	if *metadataURL != "" {
		host, transport = *metadataURL, http.DefaultTransport
	}
	var recorded [][]byte
	for _, row := range rows {
		t.Run(row.Path, func(t *testing.T) {
			got := row.measured(t, func(method, path, contentType string, body []byte) (int, []byte) {
				return askOf(t, transport, method, host+path, contentType, body)
			})
			if *metadataURL == "" {
				assert.Equal(t, row, got)
			}
			line, err := json.Marshal(got)
			require.NoError(t, err)
			recorded = append(recorded, line)
		})
	}
	if *metadataURL != "" {
		require.NoError(t, os.WriteFile(file, slices.Concat([]byte("[\n "), bytes.Join(recorded, []byte(",\n ")), []byte("\n]\n")), 0o644))
	}
}

// measured returns the row with the numbers of a server.
func (row metadataRow) measured(t *testing.T, ask func(method, path, contentType string, body []byte) (int, []byte)) metadataRow {
	causes := func(method, path, contentType string, body []byte) int {
		code, text := ask(method, path, contentType, body)
		if code < 300 {
			return 0
		}
		var s meta.Status
		require.NoError(t, json.Unmarshal(text, &s), "%s", text)
		require.NotNil(t, s.Details, "%s", text)
		return len(s.Details.Causes)
	}
	var object map[string]any
	require.NoError(t, json.Unmarshal(row.Object, &object))
	m := object["metadata"].(map[string]any)
	name := m["name"].(string)
	code, text := ask("POST", row.Path, "application/json", row.Object)
	require.Equal(t, http.StatusCreated, code, "%s", text)
	got := metadataRow{Path: row.Path, Object: row.Object, Causes: map[string][]int{}}
	for sub := range row.Causes {
		for _, bad := range []string{`{"labels":{"/x":"v"}}`, `{"finalizers":["bad"]}`, `{"uid":"abc"}`} {
			number := causes("PATCH", path.Join(row.Path, name, sub)+"?dryRun=All", "application/merge-patch+json", []byte(`{"metadata":`+bad+`}`))
			got.Causes[sub] = append(got.Causes[sub], number)
		}
	}
	m["name"], m["labels"], m["finalizers"] = "second", map[string]any{"/x": "v"}, []any{"bad"}
	body, err := json.Marshal(object)
	require.NoError(t, err)
	got.Create = causes("POST", row.Path+"?dryRun=All", "application/json", body)
	ask("DELETE", row.Path+"/"+name+"?gracePeriodSeconds=0", "application/json", nil)
	return got
}

// ask sends a request to a server in this process, and returns the code and the body of the answer.
func ask(t *testing.T, api *apitest.API, method, path, contentType, body string) (int, string) {
	t.Helper()
	code, data := askOf(t, api.Transport(), method, api.Host()+path, contentType, []byte(body))
	return code, string(data)
}

func askOf(t *testing.T, transport http.RoundTripper, method, url, contentType string, body []byte) (int, []byte) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, bytes.NewReader(body))
	require.NoError(t, err)
	req.Header.Set("Content-Type", contentType)
	resp, err := transport.RoundTrip(req)
	require.NoError(t, err)
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	return resp.StatusCode, data
}

// A PodDisruptionBudget is validated before its metadata, which is not looked at then.
func TestMetadataIsLast(t *testing.T) {
	code, body := ask(t, serve(t, apitest.Options{}), "POST", "/apis/policy/v1/namespaces/a/poddisruptionbudgets", "application/json",
		`{"metadata":{"name":"a","labels":{"/x":"v"}},"spec":{"minAvailable":-1}}`)
	assert.Equal(t, http.StatusUnprocessableEntity, code)
	assert.NotContains(t, body, "metadata.labels")
}

func TestAnAppliedQuantityMayBeANumber(t *testing.T) {
	code, body := ask(t, serve(t, apitest.Options{}), "PATCH", "/api/v1/namespaces/a/pods/a?fieldManager=m", "application/apply-patch+yaml",
		`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"},"spec":{"containers":[{"name":"a","image":"b","resources":{"requests":{"cpu":1}}}]}}`)
	assert.Equal(t, http.StatusCreated, code, body)
	assert.Contains(t, body, `"requests":{"cpu":"1"}`)
}

// The keys of built-in kinds have no group, as errors of the storage show.
func TestKeysOfBuiltInKinds(t *testing.T) {
	api := serve(t, apitest.Options{})
	const roles = "/apis/rbac.authorization.k8s.io/v1/namespaces/a/roles"
	code, body := ask(t, api, "POST", roles, "application/json", `{"metadata":{"name":"a"}}`)
	require.Equal(t, http.StatusCreated, code, body)
	code, body = ask(t, api, "PUT", roles+"/a", "application/json", `{"metadata":{"name":"a","uid":"other"}}`)
	assert.Equal(t, http.StatusConflict, code)
	assert.Contains(t, body, "Key: /registry/roles/a/a,")
}

// A strategy that keeps the metadata of an object still leaves the identity of the body, which is then validated (upstream: apimachinery,
// meta/v1, ResetObjectMetaForStatus). Only the strategies of flowcontrol keep all of it, and most others none.
func TestTheStatusHasTheIdentityOfItsBody(t *testing.T) {
	api := serve(t, apitest.Options{})
	for path, body := range map[string]string{
		"/apis/storage.k8s.io/v1/volumeattachments":            `"spec":{"attacher":"a.b","nodeName":"n","source":{"persistentVolumeName":"p"}}}`,
		"/api/v1/persistentvolumes":                            `"spec":{"capacity":{"storage":"1"},"accessModes":["ReadWriteOnce"],"hostPath":{"path":"/a"}}}`,
		"/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas":    `"spec":{"priorityLevelConfiguration":{"name":"exempt"},"matchingPrecedence":500}}`,
		"/apis/networking.k8s.io/v1/namespaces/a/ingresses":    `"spec":{"defaultBackend":{"service":{"name":"a","port":{"number":1}}}}}`,
		"/apis/networking.k8s.io/v1/servicecidrs":              `"spec":{"cidrs":["10.0.0.0/24"]}}`,
		"/apis/resource.k8s.io/v1/namespaces/a/resourceclaims": `"spec":{}}`,
	} {
		keeps := strings.Contains(path, "flowcontrol")
		code, text := ask(t, api, "POST", path, "application/json", `{"metadata":{"name":"a"},`+body)
		require.Equal(t, http.StatusCreated, code, text)
		change := func(metadata string) (int, string) {
			return ask(t, api, "PATCH", path+"/a/status", "application/merge-patch+json", `{"metadata":`+metadata+`}`)
		}
		for metadata, member := range map[string]string{`{"uid":"x"}`: "metadata.uid", `{"deletionGracePeriodSeconds":5}`: "metadata.deletionGracePeriodSeconds"} {
			code, text := change(metadata)
			if keeps {
				assert.Equal(t, http.StatusOK, code, text)
				continue
			}
			assert.Equal(t, http.StatusUnprocessableEntity, code, path+text)
			assert.Contains(t, text, member+": Invalid value")
		}
		code, text = change(`{"generateName":"x","creationTimestamp":"2001-01-01T00:00:00Z"}`)
		assert.Equal(t, http.StatusOK, code, text)
		assert.Equal(t, !keeps, strings.Contains(text, `"generateName":"x"`), path+text)
		assert.NotContains(t, text, "2001")
	}
}

// The annotation of a DaemonSet stands for a field, which upstream makes of it. What shows only metadata does not have it.
func TestMetadataHasNoAnnotationOfAField(t *testing.T) {
	api := serve(t, apitest.Options{})
	const path, annotation = "/apis/apps/v1/namespaces/a/daemonsets", "deprecated.daemonset.template.generation"
	code, text := ask(t, api, "POST", path, "application/json", `{"metadata":{"name":"a","annotations":{"b":"c"}},"spec":{"selector":{"matchLabels":
{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i"}]}}}}`)
	require.Equal(t, http.StatusCreated, code, text)
	assert.Contains(t, text, `"annotations":{"b":"c","`+annotation+`":"1"}`)
	const table, partial = "application/json;as=Table;v=v1;g=meta.k8s.io", "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io"
	for _, accept := range []string{table, partial} {
		code, text := show(t, api, path+"/a", accept)
		require.Equal(t, http.StatusOK, code, text)
		assert.Contains(t, text, `"annotations":{"b":"c"}`)
	}
	_, text = show(t, api, path+"/a?includeObject=Object", table)
	assert.Contains(t, text, annotation+`":"1"`)
}

func TestBothGroupsOfEventsHaveOneInternalType(t *testing.T) {
	code, text := show(t, serve(t, apitest.Options{}), "/apis/events.k8s.io/v1/events", "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io")
	assert.Equal(t, http.StatusNotAcceptable, code)
	assert.Contains(t, text, "(*core.EventList)")
}

// Some storages of upstream have no Table, and a LimitRange has the Table of a kind without columns of its own.
func TestTablesThatUpstreamLacks(t *testing.T) {
	api := serve(t, apitest.Options{})
	const table = "application/json;as=Table;v=v1;g=meta.k8s.io"
	for path, want := range map[string]int{
		"/api/v1/namespaces/a/pods/a": 404, "/api/v1/namespaces/a/pods/a/status": 404, "/api/v1/namespaces/a/pods/a/resize": 406,
		"/api/v1/namespaces/a/pods/a/ephemeralcontainers": 406, "/apis/resource.k8s.io/v1/namespaces/a/resourceclaims/a/status": 406,
		"/apis/certificates.k8s.io/v1/certificatesigningrequests/a/approval": 406, "/apis/certificates.k8s.io/v1/certificatesigningrequests/a/status": 404,
	} {
		code, text := show(t, api, path, table)
		assert.Equal(t, want, code, path+text)
	}
	_, text := show(t, api, "/api/v1/limitranges", table)
	assert.Contains(t, text, `"rows":null}`)
	_, text = show(t, api, "/api/v1/secrets", table)
	assert.Contains(t, text, `"rows":[]}`)
}

// A connection cannot be tried. A log is read and not connected to.
func TestConnectionsHaveNoDryRun(t *testing.T) {
	api := serve(t, apitest.Options{})
	code, text := show(t, api, "/api/v1/nodes/a/proxy?dryRun=All", "")
	assert.Equal(t, http.StatusBadRequest, code)
	assert.Contains(t, text, "dryRun is not supported")
	code, _ = show(t, api, "/api/v1/namespaces/a/pods/a/log?dryRun=All", "")
	assert.Equal(t, http.StatusNotFound, code)
}

// show gets a path in a form.
func show(t *testing.T, api *apitest.API, path, accept string) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), "GET", api.Host()+path, http.NoBody)
	require.NoError(t, err)
	req.Header.Set("Accept", accept)
	resp, err := api.Transport().RoundTrip(req)
	require.NoError(t, err)
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	return resp.StatusCode, string(data)
}

// Upstream's storages of these subresources reset no field. The status of a body is not written, and its writer owns it.
func TestWritesOfPartsOfAPodOwnItsStatus(t *testing.T) {
	api := serve(t, apitest.Options{})
	const pods = "/api/v1/namespaces/a/pods"
	code, text := ask(t, api, "POST", pods, "application/json", `{"metadata":{"name":"a"},"spec":{"containers":[{"name":"c","image":"i"}]}}`)
	require.Equal(t, http.StatusCreated, code, text)
	for _, subresource := range []string{"resize", "ephemeralcontainers"} {
		code, text = ask(t, api, "PATCH", pods+"/a/"+subresource, "application/merge-patch+json", `{"status":{"reason":"`+subresource+`"}}`)
		require.Equal(t, http.StatusOK, code, text)
		assert.Contains(t, text, `"fieldsV1":{"f:status":{"f:reason":{}}},"subresource":"`+subresource+`"`)
		assert.NotContains(t, text, `"reason":"`)
	}
}

func TestAnEmptyListOfWebhooksCountsAGeneration(t *testing.T) {
	api := serve(t, apitest.Options{})
	const path = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations"
	code, text := ask(t, api, "POST", path, "application/json", `{"metadata":{"name":"a"},"webhooks":[]}`)
	require.Equal(t, http.StatusCreated, code, text)
	for _, step := range []struct{ patch, want string }{
		{`{"metadata":{"labels":{"a":"b"}}}`, `"generation":1`},
		{`{"webhooks":[]}`, `"generation":2`},
		{`{"webhooks":[]}`, `"generation":3`},
		{`{"webhooks":null}`, `"generation":3`},
	} {
		code, text := ask(t, api, "PATCH", path+"/a", "application/merge-patch+json", step.patch)
		require.Equal(t, http.StatusOK, code, text)
		assert.Contains(t, text, step.want, step.patch)
	}
}
