package cluster_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/httpapi/apitest"
	"github.com/kubecoord/kubecoord/httpapi/kube/cluster"
)

// The answers in this file were compared with a kube-apiserver 1.37.2.

const template = `{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i"}]}}`

func jsonPatch(operations string) string {
	return `"mutations":[{"patchType":"JSONPatch","jsonPatch":{"expression":"[` + operations + `]"}}]`
}

func applied(object string) string {
	return `"mutations":[{"patchType":"ApplyConfiguration","applyConfiguration":{"expression":"` + object + `"}}]`
}

// define creates a definition, and waits until it is served.
func define(t *testing.T, api *apitest.API, names, schema, subresources string) {
	t.Helper()
	create(t, api, "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", `{"metadata":{"name":"things.example.com"},"spec":{"group":"example.com","scope":"Namespaced","names":{"plural":"things","kind":"Thing"`+names+`},
		"versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":`+schema+`}`+subresources+`}]}}`)
	synctest.Wait()
}

const (
	things   = "/apis/example.com/v1/namespaces/default/things"
	anything = `{"type":"object","x-kubernetes-preserve-unknown-fields":true}`
	scaled   = `,"subresources":{"scale":{"specReplicasPath":".spec.replicas","statusReplicasPath":".status.replicas"}}`
)

// No OpenAPI document of a group describes the kinds of the bodies of its subresources. A policy needs the schema for an ApplyConfiguration,
// and none for a JSONPatch.
func TestAPolicyMayChangeTheBodiesOfSubresources(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		api := serve(t, cluster.KubeAPIServer(), apitest.Options{})
		define(t, api, "", anything, scaled)
		create(t, api, things, `{"apiVersion":"example.com/v1","kind":"Thing","metadata":{"name":"w"},"spec":{"replicas":1}}`)
		for _, plural := range []string{"deployments", "replicasets", "statefulsets"} {
			create(t, api, "/apis/apps/v1/namespaces/default/"+plural, `{"metadata":{"name":"w"},"spec":{"serviceName":"s","selector":{"matchLabels":{"a":"b"}},"template":`+template+`}}`)
		}
		create(t, api, "/api/v1/namespaces/default/replicationcontrollers", `{"metadata":{"name":"w"},"spec":{"template":`+template+`}}`)
		create(t, api, "/api/v1/namespaces/default/pods", onePod)
		create(t, api, "/api/v1/namespaces/default/serviceaccounts", `{"metadata":{"name":"s"}}`)
		const (
			changed = `"message":"policy 'x' with binding 'x' denied request: `
			noCR    = changed + "request to convert CR to an invalid group/version: autoscaling/v1"
			noType  = changed + "error applying patch: failed to convert patch object to typed object: no corresponding type for "
		)
		for _, row := range []struct{ name, resources, mutation, scale, custom, token, eviction string }{
			{"labels", "*/*", jsonPatch(`JSONPatch{op: 'add', path: '/metadata/labels', value: {'p': 'q'}}`), `"replicas":3`, noCR, `"p":"q"`, `"status":"Success"`},
			{"labels, applied", "*/*", applied(`Object{metadata: Object.metadata{labels: {'p': 'q'}}}`), noType + "autoscaling/v1, Kind=Scale", noType + "autoscaling/v1, Kind=Scale", noType + "authentication.k8s.io/v1, Kind=TokenRequest", noType + "policy/v1, Kind=Eviction"},
			{"replicas", "*/scale", jsonPatch(`JSONPatch{op: 'replace', path: '/spec/replicas', value: 7}`), `"replicas":7`, noCR, `"expirationSeconds":3600`, `"status":"Success"`},
			{"expiration", "serviceaccounts/token", jsonPatch(`JSONPatch{op: 'replace', path: '/spec/expirationSeconds', value: 700}`), `"replicas":3`, `"replicas":3`, `"expirationSeconds":700`, `"status":"Success"`},
			{"grace", "pods/eviction", jsonPatch(`JSONPatch{op: 'add', path: '/deleteOptions', value: {'gracePeriodSeconds': 1}}`), `"replicas":3`, `"replicas":3`, `"expirationSeconds":3600`, `"status":"Success"`},
		} {
			for _, failurePolicy := range []string{"Fail", "Ignore"} {
				policyAbout(t, api, "Mutating", row.resources, "*", `"failurePolicy":"`+failurePolicy+`",`+row.mutation)
				check := func(what, method, path, body, want string) {
					t.Helper()
					if failurePolicy == "Ignore" && strings.HasPrefix(want, changed) {
						want = map[string]string{"token": `"expirationSeconds":3600`, "eviction": `"status":"Success"`}[what]
						if want == "" {
							want = `"replicas":3`
						}
					}
					header := http.Header{"Content-Type": {"application/merge-patch+json"}}
					if method == http.MethodPost {
						header = nil
					}
					_, text := do(t, api, request{method: method, path: path + "?dryRun=All", body: body, header: header})
					assert.Contains(t, text, want, "%s, %s: %s", row.name, failurePolicy, what)
				}
				for _, parent := range []string{"/apis/apps/v1/namespaces/default/deployments", "/apis/apps/v1/namespaces/default/replicasets", "/apis/apps/v1/namespaces/default/statefulsets", "/api/v1/namespaces/default/replicationcontrollers"} {
					check(parent, http.MethodPatch, parent+"/w/scale", `{"spec":{"replicas":3}}`, row.scale)
				}
				check("custom", http.MethodPatch, things+"/w/scale", `{"spec":{"replicas":3}}`, row.custom)
				check("token", http.MethodPost, "/api/v1/namespaces/default/serviceaccounts/s/token", `{"spec":{"expirationSeconds":3600}}`, row.token)
				check("eviction", http.MethodPost, "/api/v1/namespaces/default/pods/p/eviction", `{"apiVersion":"policy/v1","kind":"Eviction","metadata":{"name":"p"}}`, row.eviction)
				forget(t, api)
			}
		}
	})
}

// forget deletes the policies that policyAbout makes.
func forget(t *testing.T, api *apitest.API) {
	t.Helper()
	for _, path := range []string{"mutatingadmissionpolicies/x", "mutatingadmissionpolicybindings/x"} {
		code, body := do(t, api, request{method: http.MethodDelete, path: admissionPath + path})
		require.Equal(t, 200, code, body)
	}
}

// What a patch has made of an object has a version, and upstream has no conversion between two versions but by way of the internal type.
func TestAPolicyOfAnotherVersionConvertsNothing(t *testing.T) {
	api := serve(t, cluster.KubeAPIServer(), apitest.Options{})
	const refused = "policy 'x' with binding 'x' denied request: "
	for _, row := range []struct{ request, policy, message string }{
		{"v1", "v1", ""},
		{"v2", "v2", ""},
		{"v1", "v2", refused + "converting (v2.HorizontalPodAutoscaler) to (v1.HorizontalPodAutoscaler): unknown conversion"},
		{"v2", "v1", refused + "converting (v1.HorizontalPodAutoscaler) to (v2.HorizontalPodAutoscaler): unknown conversion"},
	} {
		for _, mutation := range []string{applied("Object{spec: Object.spec{maxReplicas: 5}}"), jsonPatch("JSONPatch{op: 'replace', path: '/spec/maxReplicas', value: 5}")} {
			for _, failurePolicy := range []string{"Fail", "Ignore"} {
				policyAbout(t, api, "Mutating", "horizontalpodautoscalers", "CREATE", `"failurePolicy":"`+failurePolicy+`",`+mutation)
				code, body := do(t, api, request{method: http.MethodPatch, path: admissionPath + "mutatingadmissionpolicies/x", header: http.Header{"Content-Type": {"application/json-patch+json"}},
					body: `[{"op":"replace","path":"/spec/matchConstraints/resourceRules/0/apiVersions","value":["` + row.policy + `"]}]`})
				require.Equal(t, 200, code, body)
				code, body = do(t, api, request{method: http.MethodPost, path: "/apis/autoscaling/" + row.request + "/namespaces/default/horizontalpodautoscalers?dryRun=All",
					body: `{"metadata":{"name":"h"},"spec":{"maxReplicas":3,"scaleTargetRef":{"kind":"Deployment","name":"d","apiVersion":"apps/v1"}}}`})
				what := fmt.Sprint(row, mutation, failurePolicy)
				switch {
				case row.message == "":
					assert.Equal(t, 5.0, member(t, body, "spec", "maxReplicas"), what)
				case failurePolicy == "Ignore":
					assert.Equal(t, 3.0, member(t, body, "spec", "maxReplicas"), what)
				default:
					assert.Equal(t, 403, code, what)
					assert.Equal(t, row.message, member(t, body, "message"), what)
				}
				forget(t, api)
			}
		}
	}
	create(t, api, admissionPath+"mutatingadmissionpolicies", `{"metadata":{"name":"x"},"spec":{"reinvocationPolicy":"Never","matchConstraints":{"resourceRules":[{"apiGroups":[""],"apiVersions":["v1"],"resources":["events"],"operations":["CREATE"]}]},`+applied("Object{metadata: Object.metadata{labels: {'p': 'q'}}}")+`}}`)
	create(t, api, admissionPath+"mutatingadmissionpolicybindings", `{"metadata":{"name":"x"},"spec":{"policyName":"x"}}`)
	_, body := do(t, api, request{method: http.MethodPost, path: "/apis/events.k8s.io/v1/namespaces/default/events",
		body: `{"metadata":{"name":"e"},"regarding":{"namespace":"default"},"reason":"r","type":"Normal","eventTime":"2020-01-01T00:00:00.000000Z","reportingController":"a.b/c","reportingInstance":"i","action":"a"}`})
	assert.Equal(t, refused+`v1.Event is not suitable for converting to "events.k8s.io/v1" in scheme "kubecoord"`, member(t, body, "message"))
}

// An empty list of managers stands for a reset in a request only.
func TestAPolicyMayStripTheManagers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		api := serve(t, cluster.KubeAPIServer(), apitest.Options{})
		define(t, api, "", anything, "")
		objects := map[string]string{
			"/api/v1/namespaces/default/configmaps":                  `{"metadata":{"name":"w"},"data":{"a":"b"}}`,
			"/apis/coordination.k8s.io/v1/namespaces/default/leases": `{"metadata":{"name":"w"},"spec":{"holderIdentity":"x"}}`,
			"/apis/apps/v1/namespaces/default/deployments":           `{"metadata":{"name":"w"},"spec":{"selector":{"matchLabels":{"a":"b"}},"template":` + template + `}}`,
			things: `{"apiVersion":"example.com/v1","kind":"Thing","metadata":{"name":"w"},"spec":{"replicas":1}}`,
		}
		for operation, kept := range map[string]bool{
			`JSONPatch{op: 'remove', path: '/metadata/managedFields'}`:                                  false,
			`JSONPatch{op: 'replace', path: '/metadata/managedFields', value: []}`:                      false,
			`JSONPatch{op: 'remove', path: '/metadata/managedFields/0'}`:                                false,
			`JSONPatch{op: 'replace', path: '/metadata/managedFields', value: [{'operation': 'x'}]}`:    true,
			`JSONPatch{op: 'remove', path: '/metadata/managedFields/0/fieldsType'}`:                     true,
			`JSONPatch{op: 'replace', path: '/metadata/managedFields/0/fieldsType', value: 'FieldsV2'}`: true,
		} {
			policyAbout(t, api, "Mutating", "*", "CREATE", jsonPatch(operation))
			for path, object := range objects {
				req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, api.Host()+path+"?dryRun=All", strings.NewReader(object))
				require.NoError(t, err)
				req.Header.Set("Content-Type", "application/json")
				resp, err := api.Transport().RoundTrip(req)
				require.NoError(t, err)
				var answer struct{ Metadata struct{ ManagedFields []any } }
				require.NoError(t, json.NewDecoder(resp.Body).Decode(&answer))
				resp.Body.Close()
				require.Equal(t, 201, resp.StatusCode, "%s %s", path, operation)
				warnings := strings.Join(resp.Header.Values("Warning"), "\n")
				assert.Equal(t, kept, len(answer.Metadata.ManagedFields) == 1, "%s %s", path, operation)
				assert.Equal(t, kept, strings.Contains(warnings, "managedFields was in an invalid state"), "%s %s", path, operation)
				if strings.Contains(operation, "FieldsV2") {
					assert.Contains(t, warnings, `invalid fieldsType \"FieldsV2\" in managed fields entry 0`)
				}
			}
			forget(t, api)
		}
	})
}

// A custom resource has no Go type that would refuse what a policy or a webhook makes of its metadata. The server reads it member by member,
// sets its own members, and refuses the rest when it validates the object.
func TestMalformedMetadataOfACustomResourceIsInvalid(t *testing.T) {
	put := func(member, value string) string {
		return "JSONPatch{op: 'add', path: '/metadata/" + member + "', value: " + value + "}"
	}
	always := map[string]string{
		put("managedFields", "'x'"): "cannot restore slice from string", put("managedFields", "[1]"): "cannot restore struct from: int64",
		put("managedFields", "[{'time': 'x'}]"): `parsing time "x" as "2006-01-02T15:04:05Z07:00": cannot parse "x" as "2006"`,
		put("labels", "'x'"):                    "cannot restore map from string", put("annotations", "{'a': 1}"): "cannot convert int64 to string",
		put("finalizers", "[1]"): "cannot convert int64 to string", put("ownerReferences", "'x'"): "cannot restore slice from string",
		put("generation", "'x'"): "", put("creationTimestamp", "5"): "", put("uid", "5"): "", put("namespace", "5"): "", put("unknown", "5"): "",
	}
	posted := map[string]string{ // another create wipes these afterwards
		put("deletionGracePeriodSeconds", "'x'"): "unrecognized type: int64", put("selfLink", "5"): "cannot convert int64 to string",
		"JSONPatch{op: 'replace', path: '/metadata', value: 'x'}": "Internal error occurred: system metadata was not initialized",
	}
	applied := map[string]string{put("deletionGracePeriodSeconds", "'x'"): "", put("selfLink", "5"): ""}
	synctest.Test(t, func(t *testing.T) {
		api := serve(t, cluster.KubeAPIServer(), apitest.Options{})
		define(t, api, "", anything, "")
		create(t, api, things, `{"apiVersion":"example.com/v1","kind":"Thing","metadata":{"name":"old"},"spec":{"replicas":1}}`)
		for operation, rows := range map[string][]map[string]string{"CREATE": {always, posted, applied}, "UPDATE": {always}} {
			for i, row := range rows {
				for expression, problem := range row {
					policyAbout(t, api, "Mutating", "things", operation, jsonPatch(expression))
					r := request{method: http.MethodPost, path: things + "?dryRun=All", body: `{"apiVersion":"example.com/v1","kind":"Thing","metadata":{"name":"new"},"spec":{}}`}
					if operation == "UPDATE" || i == 2 {
						r.method, r.path, r.header = http.MethodPatch, things+"/new?fieldManager=m&force=true&dryRun=All", http.Header{"Content-Type": {"application/apply-patch+yaml"}}
					}
					if operation == "UPDATE" {
						r.path, r.body = strings.Replace(r.path, "/new", "/old", 1), strings.Replace(r.body, `"new"`, `"old"`, 1)
					}
					code, body := do(t, api, r)
					message, _ := member(t, body, "message").(string)
					if problem == "" {
						assert.Less(t, code, 300, "%s %s %s", operation, expression, body)
					} else {
						assert.True(t, strings.HasSuffix(message, problem), "%s %s: %s", operation, expression, message)
						assert.Equal(t, code == 422, strings.Contains(message, " is invalid: metadata: Invalid value: {"), message)
						assert.NotContains(t, message, `"uid":""`)
					}
					forget(t, api)
				}
			}
		}
	})
}

// A scale is written whose member the schema does not have: it is pruned.
func TestTheScaleOfAPrunedMemberIsAnswered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		api := serve(t, cluster.Options{}, apitest.Options{})
		define(t, api, "", `{"type":"object","properties":{"spec":{"type":"object","properties":{"x":{"type":"integer"}}}}}`, scaled)
		create(t, api, things, `{"apiVersion":"example.com/v1","kind":"Thing","metadata":{"name":"w"},"spec":{"x":1}}`)
		const none = `the spec replicas field \".spec.replicas\" `
		for _, row := range []struct {
			method, mediaType, body string
			code                    int
			want                    string
		}{
			{http.MethodGet, "", "", 500, none + "does not exist"},
			{http.MethodPut, "application/json", `{"apiVersion":"autoscaling/v1","kind":"Scale","metadata":{"name":"w","namespace":"default"},"spec":{"replicas":2}}`, 200, `"spec":{},`},
			{http.MethodPatch, "application/merge-patch+json", `{"spec":{"replicas":3}}`, 200, `"spec":{},`},
			{http.MethodPatch, "application/json-patch+json", `[{"op":"replace","path":"/spec/replicas","value":4}]`, 200, `"spec":{},`},
			{http.MethodPatch, "application/merge-patch+json", `{"metadata":{"labels":{"a":"b"}}}`, 400, none + "cannot be empty"},
			{http.MethodGet, "", "", 500, none + "does not exist"},
		} {
			for _, query := range []string{"?dryRun=All", ""} {
				code, body := do(t, api, request{method: row.method, path: things + "/w/scale" + query, body: row.body, header: http.Header{"Content-Type": {row.mediaType}}})
				assert.Equal(t, row.code, code, row)
				assert.Contains(t, body, row.want, row)
			}
		}
	})
}

// Lists have the listKind of their definition in all forms.
func TestListsHaveTheListKindOfTheDefinition(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		api := serve(t, cluster.Options{}, apitest.Options{})
		define(t, api, `,"listKind":"TheThings"`, anything, "")
		create(t, api, things, `{"apiVersion":"example.com/v1","kind":"Thing","metadata":{"name":"w"}}`)
		for accept, want := range map[string]string{
			"application/json": `"kind":"TheThings"`, "application/yaml": "\nkind: TheThings\n",
			"application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1": `"kind":"PartialObjectMetadataList"`,
		} {
			_, body := do(t, api, request{method: http.MethodGet, path: things, header: http.Header{"Accept": {accept}}})
			assert.Contains(t, body, want)
			assert.NotContains(t, body, "ThingList")
		}
		for _, path := range []string{"/openapi/v2", "/openapi/v3/apis/example.com/v1"} {
			_, body := do(t, api, request{method: http.MethodGet, path: path})
			assert.Contains(t, body, `"com.example.v1.TheThings":`, path)
			assert.Contains(t, body, `"kind":"TheThings"`, path)
			assert.NotContains(t, body, "v1.ThingList", path)
		}
		_, body := do(t, api, request{method: http.MethodDelete, path: things})
		assert.Equal(t, "TheThings", member(t, body, "kind"))
	})
}

// Upstream's default makes the labels of a Job and of its template one map, to which the generated labels are added.
func TestAJobTakesTheLabelsOfItsTemplate(t *testing.T) {
	api := serve(t, cluster.KubeAPIServer(), apitest.Options{})
	const jobs = "/apis/batch/v1/namespaces/default/jobs"
	generated := []string{"batch.kubernetes.io/controller-uid", "batch.kubernetes.io/job-name", "controller-uid", "job-name"}
	for _, row := range []struct {
		name, metadata, spec, labels string
		own                          []string // labels beside the generated ones
		all                          bool     // also the generated ones
	}{
		{"none of its own", `"name":"j"`, "", `{"a":"b"}`, []string{"a"}, true},
		{"an empty map", `"name":"j","labels":{}`, "", `{"a":"b"}`, []string{"a"}, true},
		{"none in the template", `"name":"j"`, "", `{}`, nil, true},
		{"its own", `"name":"j","labels":{"x":"y"}`, "", `{"a":"b"}`, []string{"x"}, false},
		{"the same", `"name":"j","labels":{"a":"b"}`, "", `{"a":"b"}`, []string{"a"}, false},
		{"a generated name", `"generateName":"j"`, "", `{"a":"b"}`, []string{"a"}, false}, // which upstream gives to a copy
		{"a manual selector", `"name":"j"`, `"manualSelector":true,"selector":{"matchLabels":{"a":"b"}},`, `{"a":"b"}`, []string{"a"}, false},
	} {
		body := `{"apiVersion":"batch/v1","kind":"Job","metadata":{` + row.metadata + `},"spec":{` + row.spec + `"template":{"metadata":{"labels":` + row.labels + `},"spec":{"restartPolicy":"Never","containers":[{"name":"c","image":"i"}]}}}}`
		requests := map[string]request{"create": {method: http.MethodPost, path: jobs + "?dryRun=All", body: body}}
		if row.name != "a generated name" && row.name != "an empty map" {
			requests["apply"] = request{method: http.MethodPatch, path: jobs + "/j?dryRun=All&fieldManager=m", body: body, header: http.Header{"Content-Type": {"application/apply-patch+yaml"}}}
		}
		for how, r := range requests {
			code, answer := do(t, api, r)
			require.Equal(t, 201, code, answer)
			labels, _ := member(t, answer, "metadata", "labels").(map[string]any)
			var got []string
			for name := range labels {
				got = append(got, name)
			}
			want := row.own
			if row.all {
				want = append(generated, row.own...)
			}
			assert.ElementsMatch(t, want, got, "%s, %s", row.name, how)
		}
	}
}

func TestATokenIsBoundToAName(t *testing.T) {
	api := serve(t, cluster.Options{Reviews: true}, apitest.Options{})
	create(t, api, "/api/v1/namespaces/default/serviceaccounts", `{"metadata":{"name":"s"}}`)
	create(t, api, "/api/v1/namespaces/default/secrets", `{"metadata":{"name":"x"}}`)
	for ref, want := range map[string]string{
		`"kind":"Pod","apiVersion":"v1"`:                         "Name parameter required.",
		`"kind":"Node","apiVersion":"v1","uid":"x"`:              "Name parameter required.",
		`"kind":"Secret"`:                                        "Name parameter required.",
		`"kind":"Secret","apiVersion":"v2"`:                      "Name parameter required.",
		`"kind":"Pod","apiVersion":"v1","name":"A/B"`:            `Name parameter invalid: "A/B": may not contain '/'`,
		`"kind":"Pod","apiVersion":"v1","name":".."`:             `Name parameter invalid: "..": may not be '..'`,
		`"kind":"Pod","apiVersion":"v1","name":"UP_x"`:           `pods "UP_x" not found`,
		`"kind":"Node","apiVersion":"v1","name":"n"`:             `nodes "n" not found`,
		`"kind":"Pod","apiVersion":"apps/v1"`:                    "cannot bind token to object of type apps/v1, Kind=Pod",
		`"kind":"ConfigMap","apiVersion":"v1"`:                   "cannot bind token to object of type /v1, Kind=ConfigMap",
		`"apiVersion":"v1"`:                                      "cannot bind token to object of type /v1, Kind=",
		``:                                                       "cannot bind token to object of type /, Kind=",
		`"kind":"Secret","apiVersion":"v1","name":"x","uid":"y"`: `Operation cannot be fulfilled on Secret "x": the UID in the bound object reference (y) does not match the UID in record. The object might have been deleted and then recreated`,
	} {
		code, body := do(t, api, request{method: http.MethodPost, path: "/api/v1/namespaces/default/serviceaccounts/s/token", body: `{"spec":{"boundObjectRef":{` + ref + `}}}`})
		assert.Equal(t, want, member(t, body, "message"), ref)
		assert.Equal(t, strings.HasSuffix(want, "not found"), code == 404, ref)
	}
}

// TestTokensForWebhooksAreRefused has the answers of kube-apiserver 1.37.2.
func TestTokensForWebhooksAreRefused(t *testing.T) {
	api := serve(t, cluster.KubeAPIServer(), apitest.Options{})
	create(t, api, "/api/v1/namespaces/default/serviceaccounts", `{"metadata":{"name":"s"}}`)
	const bound = `"boundObjectRef":{"kind":"MutatingWebhookConfiguration","apiVersion":"admissionregistration.k8s.io/v1","name":"x"}`
	attests := func(what string) string { return bound + `,"attestations":` + what }
	for spec, want := range map[string]string{
		bound: `spec.attestations: Invalid value: null: webhook bound requests require exactly one admissionReviewAPIGroups attestation`,
		attests(`{"admissionReviewAPIGroups":["*"]},"audiences":["a","b"]`): `spec.audiences: Invalid value: ["a","b"]: must be length 1 when bound to a webhook config`,
		attests(`{"x":["*"]}`):                            `spec.attestations[x]: Unsupported value: "x": supported values: "admissionReviewAPIGroups"`,
		attests(`{"admissionReviewAPIGroups":["*","b"]}`): `spec.attestations[admissionReviewAPIGroups]: Invalid value: ["*","b"]: must specify a single value`,
		attests(`{"admissionReviewAPIGroups":[""]}`):      `spec.attestations[admissionReviewAPIGroups][0]: Invalid value: "": may not be an empty string`,
		attests(`{"admissionReviewAPIGroups":["A_b"]}`): `spec.attestations[admissionReviewAPIGroups][0]: Invalid value: "A_b": must specify a valid API Group: a lowercase RFC 1123 subdomain must consist ` +
			`of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is ` +
			`'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')`,
		attests(`{"a":["b"],"c":null}`):                             `spec.attestations: Invalid value: {"a":["b"],"c":null}: webhook bound requests require exactly one admissionReviewAPIGroups attestation`,
		`"expirationSeconds":5,"attestations":{"a":["b"],"c":null}`: `spec.attestations: Invalid value: {"a":["b"],"c":null}: attestations may only be specified with a webhook bound object reference`,
	} {
		code, body := do(t, api, request{method: http.MethodPost, path: "/api/v1/namespaces/default/serviceaccounts/s/token", body: `{"spec":{` + spec + `}}`})
		assert.Equal(t, 422, code, spec)
		assert.Equal(t, `TokenRequest.authentication.k8s.io "" is invalid: `+want, member(t, body, "message"), spec)
	}
	code, body := do(t, api, request{method: http.MethodPost, path: "/api/v1/namespaces/default/serviceaccounts/s/token", body: `{"spec":{` + attests(`{"admissionReviewAPIGroups":["*"]}`) + `}}`})
	assert.Equal(t, 400, code)
	assert.Equal(t, "cannot bind token to object of type admissionregistration.k8s.io/v1, Kind=MutatingWebhookConfiguration (feature gate APIServerWebhookAuthenticationToken is disabled)",
		member(t, body, "message"))
}

func TestAResizeKeepsTheClaims(t *testing.T) {
	api := serve(t, cluster.KubeAPIServer(), apitest.Options{})
	container := func(resources string) string {
		return `{"spec":{"containers":[{"name":"c","resources":{` + resources + `}}]}}`
	}
	for name, claims := range map[string]string{"with": `,"claims":[{"name":"rc"}]`, "without": ""} {
		create(t, api, "/api/v1/namespaces/default/pods", `{"metadata":{"name":"`+name+`"},"spec":{"resourceClaims":[{"name":"rc","resourceClaimName":"x"}],
			"containers":[{"name":"c","image":"i","resources":{"requests":{"cpu":"1"},"limits":{"cpu":"1"}`+claims+`}}]}}`)
		resize := func(body string) (int, string) {
			return do(t, api, request{method: http.MethodPatch, path: "/api/v1/namespaces/default/pods/" + name + "/resize", body: body, header: http.Header{"Content-Type": {"application/merge-patch+json"}}})
		}
		image := func(resources string) string {
			return strings.Replace(container(resources), `"name":"c"`, `"name":"c","image":"i"`, 1)
		}
		code, body := resize(image(`"requests":{"cpu":"2"},"limits":{"cpu":"2"}` + claims))
		assert.Equal(t, 200, code, body)
		other := `,"claims":[{"name":"rc"}]`
		if claims != "" {
			other = ""
		}
		code, body = resize(image(`"requests":{"cpu":"2"},"limits":{"cpu":"2"}` + other))
		assert.Equal(t, 422, code, body)
		assert.Equal(t, `Pod "`+name+`" is invalid: spec: Forbidden: only cpu and memory resources are mutable`, member(t, body, "message"))
	}
}

func TestNamespacesOfTheServerStay(t *testing.T) {
	api := serve(t, cluster.KubeAPIServer(), apitest.Options{})
	for name, code := range map[string]int{"default": 403, "kube-system": 403, "kube-public": 403, "kube-node-lease": 200} {
		got, body := do(t, api, request{method: http.MethodDelete, path: "/api/v1/namespaces/" + name + "?dryRun=All"})
		assert.Equal(t, code, got, body)
	}
}
