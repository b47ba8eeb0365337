package crd_test

import (
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// renamer is a conversion webhook: spec.size of v1 is spec.length of v1beta1.
func renamer(t *testing.T, broken *atomic.Bool) *httptest.Server {
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var review map[string]any
		if err := json.NewDecoder(r.Body).Decode(&review); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		request := review["request"].(map[string]any)
		response := map[string]any{"uid": request["uid"], "result": map[string]any{"status": "Success"}}
		if broken.Load() {
			response["result"] = map[string]any{"status": "Failure", "message": "it is broken"}
		} else {
			var out []any
			for _, o := range request["objects"].([]any) {
				o := o.(map[string]any)
				spec := o["spec"].(map[string]any)
				from, to := "size", "length"
				if request["desiredAPIVersion"] == "example.com/v1" {
					from, to = to, from
				}
				if v, ok := spec[from]; ok {
					spec[to] = v
					delete(spec, from)
				}
				o["apiVersion"] = request["desiredAPIVersion"]
				out = append(out, o)
			}
			response["convertedObjects"] = out
		}
		delete(review, "request")
		review["response"] = response
		w.Header().Set("Content-Type", "application/json")
		if err := json.NewEncoder(w).Encode(review); err != nil {
			t.Error(err)
		}
	}))
	t.Cleanup(server.Close)
	return server
}

func withWebhook(server *httptest.Server) string {
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	return `{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: things.example.com}, spec: {
  group: example.com, scope: Cluster, names: {plural: things, kind: Thing},
  conversion: {strategy: Webhook, webhook: {conversionReviewVersions: [v1], clientConfig: {url: "` + server.URL + `/convert", caBundle: ` +
		base64.StdEncoding.EncodeToString(ca) + `}}},
  versions: [
  {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {size: {type: integer, minimum: 0}}}}}}},
  {name: v1beta1, served: true, storage: false, schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, required: [length], properties: {length: {type: integer, maximum: 9}}}}}}}]}}`
}

func TestWebhookConvertsBetweenVersions(t *testing.T) {
	var broken atomic.Bool
	s := serve(t, parse(t, withWebhook(renamer(t, &broken)))...)
	const beta = "/apis/example.com/v1beta1/things"
	thing := func(spec string) string {
		return `{"apiVersion":"example.com/v1beta1","kind":"Thing","metadata":{"name":"t"},"spec":` + spec + `}`
	}
	code, doc := s.do("POST", beta, thing(`{"length":10}`))
	assert.Equal(t, 422, code)
	assert.Equal(t, []string{"FieldValueInvalid spec.length: Invalid value: 10: spec.length in body should be less than or equal to 9"}, causes(doc))
	code, doc = s.do("POST", beta, thing(`{"length":3}`))
	require.Equal(t, 201, code, "%v", doc)
	assert.Equal(t, map[string]any{"length": 3.0}, doc["spec"])
	_, doc = s.do("GET", thingsPath+"/t", "")
	assert.Equal(t, map[string]any{"size": 3.0}, doc["spec"])
	code, doc = s.do("PATCH", beta+"/t", `{"spec":{"length":4}}`, "Content-Type", "application/merge-patch+json")
	require.Equal(t, 200, code, "%v", doc)
	_, doc = s.do("GET", thingsPath+"/t", "")
	assert.Equal(t, map[string]any{"size": 4.0}, doc["spec"])

	code, doc = s.do("POST", thingsPath, `{"apiVersion":"example.com/v1","kind":"Thing","metadata":{"name":"fresh"},"spec":{"size":5}}`)
	require.Equal(t, 201, code, "%v", doc)
	broken.Store(true)
	code, doc = s.do("GET", beta+"/fresh", "")
	assert.Equal(t, 500, code)
	assert.Equal(t, "conversion webhook for example.com/v1, Kind=Thing failed: it is broken", doc["message"])
	code, doc = s.do("POST", beta, strings.Replace(thing(`{"length":7}`), `"t"`, `"u"`, 1))
	assert.Equal(t, 500, code)
	assert.Equal(t, "conversion webhook for example.com/v1beta1, Kind=Thing failed: it is broken", doc["message"])
	code, _ = s.do("GET", thingsPath+"/t", "")
	assert.Equal(t, 200, code)
}
