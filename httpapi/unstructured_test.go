package httpapi_test

import (
	"bufio"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/kind"
)

// The expected answers are from apiextensions-apiserver 0.37.2, for a custom resource
// with the schema x-kubernetes-preserve-unknown-fields: true.

const (
	blobs   = "/apis/example.com/v1/namespaces/default/blobs"
	oldBlob = "/apis/example.com/v1beta1/namespaces/default/blobs"
)

func newBlobServer(t testing.TB) *server { return newBlobServerWith(t, store.Options{}) }

func newBlobServerWith(t testing.TB, options store.Options) *server {
	k := store.MustKind(kind.Descriptor[*store.Unstructured]{
		Resource: kind.Resource{Group: "example.com", Kind: "Blob", Status: true},
		Versions: []kind.Version[*store.Unstructured]{{Name: "v1"}, {Name: "v1beta1"}},
	})
	return newServerWith(t, options, httpapi.Options{Kinds: []kind.Kind{k}})
}

// aBlob returns a body with these members.
func aBlob(members string) string {
	return `{"apiVersion":"example.com/v1","kind":"Blob",` + members + `}`
}

// settled replaces what differs from run to run.
func settled(body string) string {
	body = regexp.MustCompile(`"(creationTimestamp|time|uid)":"[^"]*"`).ReplaceAllString(body, `"$1":"-"`)
	return strings.TrimSuffix(body, "\n")
}

const blobMetadata = `"metadata":{"creationTimestamp":"-","generation":1,"managedFields":[{"apiVersion":"example.com/v1","fieldsType":"FieldsV1",` +
	`"fieldsV1":{"f:b":{},"f:e":{},"f:l":{},"f:n":{},"f:s":{},"f:spec":{}},"manager":"m","operation":"Update","time":"-"}],` +
	`"name":"a","namespace":"default","resourceVersion":"1001","uid":"-"}`

func TestUnstructuredObjectsAreWrittenWithSortedMembers(t *testing.T) {
	s := newBlobServer(t)
	w := s.do(t, "POST", blobs+"?fieldManager=m", aBlob(`"metadata":{"name":"a","labels":null,"annotations":{}},"spec":null,"status":null,"e":{},"l":[],`+
		`"n":[null,1.0,{"a":null}],"b":true,"s":"<&>"`))
	require.Equal(t, 201, w.Code, w.Body)
	const rest = `"n":[null,1,{"a":null}],"s":"\u003c\u0026\u003e","spec":null}`
	object := `{"apiVersion":"example.com/v1","b":true,"e":{},"kind":"Blob","l":[],` + blobMetadata + `,` + rest
	assert.Equal(t, object, settled(w.Body))
	assert.Equal(t, strings.Replace(object, "example.com/v1", "example.com/v1beta1", 1), settled(s.do(t, "GET", oldBlob+"/a", "").Body),
		"the other version says the same")
	assert.Equal(t, `{"apiVersion":"example.com/v1","items":[`+object+`],"kind":"BlobList","metadata":{"continue":"","resourceVersion":"1001"}}`,
		settled(s.do(t, "GET", blobs, "").Body))
	assert.Equal(t, `{"apiVersion":"example.com/v1","items":[],"kind":"BlobList","metadata":{"continue":"","resourceVersion":"1001"}}`,
		settled(s.do(t, "GET", blobs+"?labelSelector=a", "").Body))
	yaml := s.do(t, "GET", blobs+"/a", "", "Accept", "application/yaml").Body
	assert.True(t, strings.HasPrefix(yaml, "apiVersion: example.com/v1\nb: true\ne: {}\nkind: Blob\nl: []\nmetadata:\n"), yaml)

	resp, err := s.api.Transport().RoundTrip(newRequest(t, "GET", blobs+"?watch=true&resourceVersion=1000", ""))
	require.NoError(t, err)
	defer resp.Body.Close()
	event, err := bufio.NewReader(resp.Body).ReadString('\n')
	require.NoError(t, err)
	assert.Equal(t, `{"type":"ADDED","object":`+object+`}`, settled(event))
}

func TestBodiesOfUnstructuredObjects(t *testing.T) {
	s := newBlobServer(t)
	for name, row := range map[string]struct {
		query, contentType, body string
		code                     int
		message                  string
		warnings                 []string
	}{
		"without a kind": {"", typeJSON, `{"apiVersion":"example.com/v1"}`, 400,
			`the object provided is unrecognized (must be of type Blob): Object 'Kind' is missing in '{"apiVersion":"example.com/v1"}' ({"apiVersion":"example.com/v1" ...)`, nil},
		"without a version": {"", typeJSON, `{"kind":"Blob"}`, 400, "the API version in the data () does not match the expected API version (example.com/v1)", nil},
		"of another version": {"", typeJSON, `{"apiVersion":"example.com/v1beta1","kind":"Blob"}`, 400,
			"the API version in the data (example.com/v1beta1) does not match the expected API version (example.com/v1)", nil},
		"of another kind": {"", typeJSON, `{"apiVersion":"example.com/v1","kind":"Glob","metadata":{"name":"g"}}`, 422,
			`Glob.example.com "g" is invalid: kind: Invalid value: "Glob": must be Blob`, nil},
		"of no form": {"", typeJSON, `null`, 400, `the object provided is unrecognized (must be of type Blob): Object 'Kind' is missing in 'null' (6e756c6c)`, nil},
		"with metadata of the wrong type": {"", typeJSON, aBlob(`"metadata":[]`), 400,
			`Blob in version "v1" cannot be handled as a Blob: json: cannot unmarshal array into Go value of type v1.ObjectMeta`, nil},
		"with labels of the wrong type": {"", typeJSON, aBlob(`"metadata":{"name":"a","labels":{"a":1}}`), 400,
			`Blob in version "v1" cannot be handled as a Blob: json: cannot unmarshal number into Go struct field ObjectMeta.labels of type string`, nil},
		"without a name": {"", typeJSON, aBlob(`"x":1`), 422, `Blob.example.com "" is invalid: metadata.name: Required value: name or generateName is required`, nil},
		"with what is wrong in strict validation": {"?fieldValidation=Strict", typeJSON, aBlob(`"metadata":{"name":"a","bogus":1,"ownerReferences":[{"x":1,"x":2}]},"x":1,"x":2`), 400,
			`Blob in version "v1" cannot be handled as a Blob: strict decoding error: duplicate field "metadata.ownerReferences[0].x", duplicate field "x", unknown field "metadata.bogus", unknown field "metadata.ownerReferences[0].x"`, nil},
		"with what is worth a warning": {"?dryRun=All", typeJSON, aBlob(`"metadata":{"name":"a","bogus":1},"x":{"y":1,"y":2,"anything":[1]}`), 201, "",
			[]string{`299 - "duplicate field \"x.y\""`, `299 - "unknown field \"metadata.bogus\""`}},
		"in YAML": {"?dryRun=All", "application/yaml", "apiVersion: example.com/v1\nkind: Blob\nmetadata:\n  name: d\nspec:\n  a: 1\n  a: 2\n", 201, "",
			[]string{`299 - "line 7: key \"a\" already set in map"`}},
		"in protobuf": {"", typeProtobuf, "k8s\x00", 415,
			"the body of the request was in an unknown format - accepted media types include: application/json, application/yaml", nil},
	} {
		t.Run(name, func(t *testing.T) {
			a := s.do(t, "POST", blobs+row.query, row.body, "Content-Type", row.contentType)
			assert.Equal(t, row.code, a.Code, a.Body)
			assert.Equal(t, row.warnings, a.Header.Values("Warning"))
			if row.message != "" {
				assert.Equal(t, row.message, a.tree(t)["message"])
			}
		})
	}
}

func TestPatchesOfUnstructuredObjects(t *testing.T) {
	s := newBlobServer(t)
	s.must(t, "POST", blobs, aBlob(`"metadata":{"name":"a"},"spec":{"l":[1],"m":{"k":1}}`))
	for _, row := range []struct{ contentType, body, want string }{
		{"application/json-patch+json", `[{"op":"add","path":"/spec/l/-","value":1.5}]`, `{"l":[1,1.5],"m":{"k":1}}`},
		{merge, `{"spec":{"m":{"k":null,"j":{}},"x":"y"}}`, `{"l":[1,1.5],"m":{"j":{}},"x":"y"}`},
		{applying, aBlob(`"spec":{"l":["z"],"m":{"a":1}}`), `{"l":["z"],"m":{"a":1,"j":{}},"x":"y"}`},
	} {
		query := ""
		if row.contentType == applying {
			query = "?fieldManager=m&force=true"
		}
		a := s.do(t, "PATCH", blobs+"/a"+query, row.body, "Content-Type", row.contentType)
		require.Equal(t, 200, a.Code, a.Body)
		assert.Contains(t, a.Body, `"spec":`+row.want+`}`)
	}
	for name, row := range map[string]struct {
		contentType, body string
		code              int
		message           string
	}{
		"a strategic one": {"application/strategic-merge-patch+json", `{}`, 415,
			"the body of the request was in an unknown format - accepted media types include: application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml"},
		"another kind":    {merge, `{"kind":"Glob"}`, 422, `Glob.example.com "a" is invalid: kind: Invalid value: "Glob": must be Blob`},
		"another version": {merge, `{"apiVersion":"example.com/v1beta1"}`, 422, `Blob.example.com "a" is invalid: apiVersion: Invalid value: "example.com/v1beta1": must be example.com/v1`},
		"no version":      {merge, `{"apiVersion":null}`, 500, "Internal error occurred: Object 'apiVersion' is missing in 'object has no apiVersion field'"},
		"no metadata":     {merge, `{"metadata":null}`, 400, "the name of the object (a based on URL) was undeterminable: name must be provided"},
		"a conflict": {applying, aBlob(`"spec":{"x":"z"}`), 409,
			`Apply failed with 1 conflict: conflict with "unknown" using example.com/v1: .spec.x`},
		"applied metadata of the wrong type": {applying, aBlob(`"metadata":{"labels":{"a":1}}`), 500,
			`failed to create typed patch object (/; example.com/v1, Kind=Blob): .metadata.labels.a: expected string, got &value.valueUnstructured{Value:1}`},
		"applied metadata that is not known": {applying, aBlob(`"metadata":{"bogus":1}`), 500,
			`failed to create typed patch object (/; example.com/v1, Kind=Blob): .metadata.bogus: field not declared in schema`},
	} {
		t.Run(name, func(t *testing.T) {
			query := ""
			if row.contentType == applying {
				query = "?fieldManager=other"
			}
			a := s.do(t, "PATCH", blobs+"/a"+query, row.body, "Content-Type", row.contentType)
			assert.Equal(t, row.code, a.Code, a.Body)
			assert.Equal(t, row.message, a.tree(t)["message"])
		})
	}
}

func TestOpenAPIOfUnstructuredObjects(t *testing.T) {
	s := newBlobServer(t)
	v3 := s.must(t, "GET", "/openapi/v3/apis/example.com/v1", "")
	schema := tree(v3.at("components", "schemas", "com.example.v1.Blob").(map[string]any))
	assert.Equal(t, true, schema["x-kubernetes-preserve-unknown-fields"])
	assert.Len(t, schema["properties"], 3)
	patch := v3.at("paths", blobsPath+"/{name}", "patch", "requestBody", "content").(map[string]any)
	assert.Len(t, patch, 3)
	assert.NotContains(t, patch, "application/strategic-merge-patch+json")
	v2 := s.must(t, "GET", "/openapi/v2", "")
	assert.Equal(t, map[string]any{
		"type": "object", "x-kubernetes-group-version-kind": []any{map[string]any{"group": "example.com", "kind": "Blob", "version": "v1"}},
	}, v2.at("definitions", "com.example.v1.Blob"))
	assert.Equal(t, []any{"application/json", "application/yaml"}, v2.at("paths", blobsPath, "get", "produces"))
	assert.Equal(t, 200, s.do(t, "GET", "/openapi/v3/apis/example.com/v1", "", "Accept", "application/com.github.proto-openapi.spec.v3@v1.0+protobuf").Code)
}

const blobsPath = "/apis/example.com/v1/namespaces/{namespace}/blobs"
