package crd_test

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/httpapi/kube/crd"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/kind"
)

// widgets is a definition with a rule of each sort.
const widgets = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: widgets, kind: Widget, shortNames: [wd], categories: [all]}
  versions:
  - name: v1
    served: true
    storage: true
    subresources:
      status: {}
    selectableFields: [{jsonPath: .spec.color}]
    additionalPrinterColumns:
    - {name: Color, type: string, jsonPath: .spec.color}
    - {name: Size, type: integer, jsonPath: .spec.size, priority: 1, description: How large it is.}
    - {name: Age, type: date, jsonPath: .metadata.creationTimestamp}
    schema:
      openAPIV3Schema:
        type: object
        required: [spec]
        properties:
          spec:
            type: object
            required: [color]
            x-kubernetes-validations:
            - {rule: "!has(self.size) || self.size >= 0", message: size must not be negative, fieldPath: .size, reason: FieldValueForbidden}
            - {rule: "self.color == oldSelf.color", messageExpression: "'color is immutable, it was ' + oldSelf.color"}
            properties:
              color: {type: string, enum: [red, green], maxLength: 10}
              size: {type: integer}
              name: {type: string, pattern: "^[a-z]*$"}
              level: {type: string, default: low}
              tags:
                type: array
                x-kubernetes-list-type: set
                maxItems: 3
                items: {type: string}
              ports:
                type: array
                x-kubernetes-list-type: map
                x-kubernetes-list-map-keys: [name]
                items:
                  type: object
                  required: [name]
                  properties:
                    name: {type: string}
                    port: {type: integer}
              template:
                type: object
                x-kubernetes-embedded-resource: true
                x-kubernetes-preserve-unknown-fields: true
          status:
            type: object
            properties:
              ready: {type: integer, minimum: 0}
`

// parse returns the kinds of definitions.
func parse(t testing.TB, text string) []kind.Kind {
	kinds, err := crd.Parse([]byte(text))
	require.NoError(t, err)
	return kinds
}

// server serves kinds to one test.
type server struct {
	t      testing.TB
	api    *httpapi.API
	client http.Client
}

func serve(t testing.TB, kinds ...kind.Kind) *server {
	st := store.New(store.Options{})
	t.Cleanup(st.Close)
	api := httpapi.New(st, httpapi.Options{Kinds: kinds})
	t.Cleanup(api.Close)
	return &server{t, api, http.Client{Transport: api.Transport()}}
}

// do sends a request and returns the status and the document of the answer. The body is JSON; a media type may precede it.
func (s *server) do(method, path, body string, header ...string) (int, map[string]any) {
	req, err := http.NewRequest(method, "http://server"+path, strings.NewReader(body))
	require.NoError(s.t, err)
	req.Header.Set("Content-Type", "application/json")
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	resp, err := s.client.Do(req)
	require.NoError(s.t, err)
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	require.NoError(s.t, err)
	var doc map[string]any
	if err := json.Unmarshal(data, &doc); err != nil {
		doc = map[string]any{"text": string(data)}
	}
	return resp.StatusCode, doc
}

const widgetsPath = "/apis/example.com/v1/namespaces/ns/widgets"

// widget returns the JSON of a widget with a spec.
func widget(spec string) string {
	return `{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"w"},"spec":` + spec + `}`
}

// causes returns the causes of a Status as lines of type, field and message.
func causes(doc map[string]any) (out []string) {
	details, _ := doc["details"].(map[string]any)
	list, _ := details["causes"].([]any)
	for _, c := range list {
		c := c.(map[string]any)
		out = append(out, c["reason"].(string)+" "+c["field"].(string)+": "+c["message"].(string))
	}
	return out
}
