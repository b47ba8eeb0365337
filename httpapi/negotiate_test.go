package httpapi_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const (
	asTable       = ";as=Table;v=v1;g=meta.k8s.io"
	asPartial     = ";as=PartialObjectMetadata;v=v1;g=meta.k8s.io"
	asPartialList = ";as=PartialObjectMetadataList;v=v1;g=meta.k8s.io"

	noneOfTheRoute = "406: Not Acceptable\n\nAvailable representations: application/json, application/yaml, application/vnd.kubernetes.protobuf"
	noneAccepted   = "only the following media types are accepted: application/json, application/yaml, application/vnd.kubernetes.protobuf"
)

func TestAcceptOfAnObject(t *testing.T) {
	s := newHostileServer(t)
	const table, partial = "meta.k8s.io/v1 Table", "meta.k8s.io/v1 PartialObjectMetadata"
	for _, row := range []struct{ accept, contentType, want string }{
		// want is the type of the answer in JSON, or the message of a 406.
		{"", typeJSON, "Lease"},
		{"*/*", typeJSON, "Lease"},
		{"application/json", typeJSON, "Lease"},
		{"application/json, */*;q=0.8", typeJSON, "Lease"},
		{"text/html,application/xhtml+xml,*/*;q=0.8", typeJSON, "Lease"},
		{" application/json ; charset=utf-8 ; q=0.3", typeJSON, "Lease"},
		{"application/json;q=abc", typeJSON, "Lease"},
		{"application/json;q=0", typeJSON, "Lease"},
		{"application/json;stream=watch", typeJSON, "Lease"},
		{"application/json;export=1", typeJSON, "Lease"},
		{"application/json;profile=x", typeJSON, "Lease"},
		{"application/json;unknown=1", typeJSON, "Lease"},
		{"application/json;as=", typeJSON, "Lease"},
		{"application/json;as==Table", typeJSON, "Lease"},
		{"application/json;=x", typeJSON, "Lease"},
		{"application/json;sv=", typeJSON, "Lease"},
		{"application/cbor,application/json", typeJSON, "Lease"},
		{"application/vnd.kubernetes.protobuf", typeProtobuf, ""},
		{"application/vnd.kubernetes.protobuf,application/json", typeProtobuf, ""},
		{"application/vnd.kubernetes.protobuf, */*", typeProtobuf, ""},
		{"application/json;q=0.1,application/vnd.kubernetes.protobuf;q=0.2", typeProtobuf, ""},
		{"*/*,application/vnd.kubernetes.protobuf", typeProtobuf, ""},
		{"*/*,application/vnd.kubernetes.protobuf;q=0.5", typeProtobuf, ""}, // named, if less wanted
		{"application/*,application/vnd.kubernetes.protobuf", typeProtobuf, ""},
		{"*/*,text/html,application/vnd.kubernetes.protobuf;q=0.5", typeProtobuf, ""},
		{"application/vnd.kubernetes.protobuf;as=Foo;v=v1;g=g,application/json", typeJSON, "Lease"},
		{"*,application/json;as=Foo;v=v1;g=g", typeJSON, "Lease"},
		{"*/json,application/json;as=Foo;v=v1;g=g", typeJSON, noneAccepted},
		{"application/json" + asTable, typeJSON, table},
		{"*/*" + asTable, typeJSON, table},
		{"application/json;as=Table;v=v1beta1;g=meta.k8s.io", typeJSON, "meta.k8s.io/v1beta1 Table"},
		{"application/json;as=Table;v=v2;g=meta.k8s.io,application/json" + asTable, typeJSON, table},
		{"application/json" + asTable + ",application/json;as=Table;v=v1beta1;g=meta.k8s.io,application/json", typeJSON, table},
		{"application/vnd.kubernetes.protobuf" + asTable + ",application/json" + asTable, typeJSON, table},
		{"application/json" + asPartial, typeJSON, partial},
		{"application/vnd.kubernetes.protobuf" + asPartial + ",application/json" + asPartial, typeProtobuf, ""},
		{"application/json;as=Table;v=v2;g=meta.k8s.io", typeJSON, noneAccepted},
		{"application/json;as=Table", typeJSON, noneAccepted},
		{"application/json;v=v1", typeJSON, noneAccepted},
		{"application/json;g=x", typeJSON, noneAccepted},
		{"application/json;stream=foo", typeJSON, noneAccepted},
		{"application/vnd.kubernetes.protobuf" + asTable, typeJSON, noneAccepted},
		{"application/*", typeJSON, noneOfTheRoute},
		{"*", typeJSON, noneOfTheRoute},
		{"*/json", typeJSON, noneOfTheRoute},
		{"text/html", typeJSON, noneOfTheRoute},
		{"APPLICATION/JSON", typeJSON, noneOfTheRoute},
		{`"application/json"`, typeJSON, noneOfTheRoute},
		{",", typeJSON, noneOfTheRoute},
		{";;;", typeJSON, noneOfTheRoute},
		{"application/json" + asPartialList, typeJSON, "you requested PartialObjectMetadataList, but the requested object is not a list (*coordination.Lease)"},
	} {
		t.Run(row.accept, func(t *testing.T) {
			headers := []string{"Accept", row.accept}
			if row.accept == "" {
				headers = nil
			}
			a := s.do(t, "GET", leases+"/a", "", headers...)
			assert.Equal(t, row.contentType, a.Header.Get("Content-Type"))
			switch {
			case strings.Contains(row.want, " are accepted") || strings.HasPrefix(row.want, "406") || strings.HasPrefix(row.want, "you "):
				assertStatus(t, a, http.StatusNotAcceptable, "NotAcceptable", row.want)
			case row.contentType == typeProtobuf:
				assert.Equal(t, http.StatusOK, a.Code)
				assert.Equal(t, "k8s\x00", a.Body[:4])
			case row.want == "Lease":
				assert.Equal(t, http.StatusOK, a.Code)
				assert.Equal(t, "coordination.k8s.io/v1 Lease", typeOf(t, a))
			default:
				assert.Equal(t, http.StatusOK, a.Code)
				assert.Equal(t, row.want, typeOf(t, a))
			}
		})
	}
}

func typeOf(t testing.TB, a answer) string {
	t.Helper()
	doc := a.tree(t)
	apiVersion, _ := doc["apiVersion"].(string)
	kind, _ := doc["kind"].(string)
	return apiVersion + " " + kind
}

// A schema version is asked for by clients of long ago; servers take it as said.
func TestAcceptKeepsASchemaVersion(t *testing.T) {
	s := newHostileServer(t)
	assert.Equal(t, http.StatusOK, s.do(t, "GET", leases+"/a", "", "Accept", "application/json;sv=v1").Code)
	assertStatus(t, s.do(t, "GET", leases+"/a", "", "Accept", "application/json;sv=v2"), http.StatusNotAcceptable, "NotAcceptable", noneAccepted)
	assertStatus(t, s.do(t, "GET", "/apis", "", "Accept", "application/json;sv=v1"), http.StatusNotAcceptable, "NotAcceptable", noneAccepted)
}

// There is no stream of YAML, which comes out when the stream would begin.
func TestWatchInYAMLIsRefusedAfterItsOptions(t *testing.T) {
	s := newServer(t)
	for query, want := range map[string]string{
		"":                                       "code: 406\nkind: Status\nmessage: 'only the following media types are accepted: application/json;stream=watch,\n  application/vnd.kubernetes.protobuf;stream=watch'\n",
		"&sendInitialEvents=1&resourceVersion=5": "code: 422\n",
		"&resourceVersion=x":                     "code: 500\n",
		"&includeObject=x":                       "code: 406\n",
	} {
		assert.Contains(t, s.do(t, "GET", leases+"?watch=1"+query, "", "Accept", "application/yaml").Body, want, query)
	}
}

// These errors name the package of the group for every version.
func TestRefusedPartialMetadataNamesTheInternalType(t *testing.T) {
	s := newWidgetServer(t)
	const spec = `"spec":{"leaseName":"l","binaryVersion":"1.0.0","emulationVersion":"1.0.0","strategy":"OldestEmulationVersion"}`
	s.must(t, "POST", candidates, `{"metadata":{"name":"a"},`+spec+`}`)
	for path, body := range map[string]string{leases: leaseNamed("a"), endpoints: leaseNamed("a"), widgets: widgetNamed("a")} {
		s.must(t, "POST", path, body)
	}
	for _, row := range []struct{ path, goType string }{
		{leases, "coordination.Lease"},
		{endpoints, "core.Endpoints"},
		{candidates, "coordination.LeaseCandidate"},
		{strings.Replace(candidates, "v1beta1", "v1alpha2", 1), "coordination.LeaseCandidate"},
		{strings.Replace(candidates, "v1beta1", "v1alpha1", 1), "coordination.LeaseCandidate"},
		{widgets, "unstructured.Unstructured"},
	} {
		for _, format := range []string{typeJSON, typeYAML, typeProtobuf} {
			for _, version := range []string{"v1", "v1beta1"} {
				accept := func(kind string) string {
					return format + ";as=" + kind + ";g=meta.k8s.io;v=" + version + "," + typeJSON + ";q=0.1"
				}
				list := s.do(t, "GET", row.path, "", "Accept", accept("PartialObjectMetadata"))
				assertStatus(t, list, http.StatusNotAcceptable, "NotAcceptable",
					"you requested PartialObjectMetadata, but the requested object is a list (*"+row.goType+"List)")
				one := s.do(t, "GET", row.path+"/a", "", "Accept", accept("PartialObjectMetadataList"))
				if row.path == widgets {
					assertStatus(t, one, http.StatusInternalServerError, "", "content is not a list")
					continue
				}
				assertStatus(t, one, http.StatusNotAcceptable, "NotAcceptable",
					"you requested PartialObjectMetadataList, but the requested object is not a list (*"+row.goType+")")
			}
		}
	}
}

func TestIndentation(t *testing.T) {
	s := newHostileServer(t)
	for _, row := range []struct {
		name, query, agent, accept string
		indented                   bool
	}{
		{"a program", "", "kubectl/v1.37.0", typeJSON, false},
		{"curl", "", "curl/8.5.0", typeJSON, true},
		{"Wget", "", "Wget/1.21", typeJSON, true},
		{"a browser", "", "Mozilla/5.0 (X11)", "text/html,*/*;q=0.8", true},
		{"curl that does not want it", "?pretty=false", "curl/8.5.0", typeJSON, false},
		{"curl that does not know", "?pretty=", "curl/8.5.0", typeJSON, true},
		{"a program that wants it", "?pretty=true", "x", typeJSON, true},
		{"Python's True", "?pretty=True", "x", typeJSON, true},
		{"a value that is none", "?pretty=abc", "curl/8.5.0", typeJSON, false},
		{"a parameter of Accept", "", "x", "application/json;pretty=1", true},
		{"another value of it", "", "x", "application/json;pretty=true", false},
	} {
		t.Run(row.name, func(t *testing.T) {
			for path, code := range map[string]int{leases + "/a": 200, leases: 200, leases + "/none": 404, "/apis": 200} {
				a := s.do(t, "GET", path+row.query, "", "User-Agent", row.agent, "Accept", row.accept)
				require.Equal(t, code, a.Code)
				assert.Equal(t, row.indented, strings.Contains(a.Body, "\n  \""), path)
				assert.Equal(t, row.indented, !strings.HasSuffix(a.Body, "\n"), "compact JSON ends its line")
			}
		})
	}
}

func TestContentTypesOfObjects(t *testing.T) {
	const unknown = "the body of the request was in an unknown format - accepted media types include: application/json, application/yaml, application/vnd.kubernetes.protobuf"
	s := newServer(t)
	for contentType, good := range map[string]bool{
		"":                                  true,
		"application/json":                  true,
		"application/json; charset=utf-8":   true,
		"APPLICATION/JSON":                  true,
		" application/json ":                true,
		"application/json;charset":          false,
		"application/json, text/plain":      false,
		"application/json;a=b;a=c":          false,
		"application/merge-patch+json":      false,
		"application/x-www-form-urlencoded": false,
		"text/plain":                        false,
		"application/cbor":                  false,
		"*/*":                               false,
		";":                                 false,
		"garbage":                           false,
	} {
		t.Run(contentType, func(t *testing.T) {
			for method, target := range map[string]string{"POST": leases, "PUT": leases + "/a"} {
				a := s.do(t, method, target+"?dryRun=All", leaseNamed("a"), "Content-Type", contentType)
				if good {
					assert.Equal(t, http.StatusCreated, a.Code)
					continue
				}
				assertStatus(t, a, http.StatusUnsupportedMediaType, "UnsupportedMediaType", unknown)
			}
		})
	}
}

func TestRefusalsOfAListNameTheStreams(t *testing.T) {
	s := newHostileServer(t)
	const streams = ", application/json;stream=watch, application/vnd.kubernetes.protobuf;stream=watch"
	for _, target := range []string{leases, allLeases, leases + "?watch=true"} {
		assertStatus(t, s.do(t, "GET", target, "", "Accept", "text/html"), http.StatusNotAcceptable, "NotAcceptable", noneOfTheRoute+streams)
	}
}
