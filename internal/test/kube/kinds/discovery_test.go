package kinds

import (
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"

	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/httpapi/kube/cluster"
	"github.com/kubecoord/kubecoord/httpapi/kube/scheme"
	"github.com/kubecoord/kubecoord/store"
)

// A difference is expected between the discovery of a kube-apiserver and the discovery of package scheme.
type difference struct {
	what   string // a regular expression for whole lines of diffEntries
	reason string
}

func expectedDifferences() []difference {
	return []difference{
		{`different apiextensions\.k8s\.io/v1 customresourcedefinitions: .*"storageVersionHash":"jfWCUB31mvA=".*`, "a kube-apiserver stores them as v1beta1"},
		{`different (certificates\.k8s\.io/v1 (clustertrustbundles|podcertificaterequests)|resource\.k8s\.io/v1 devicetaintrules|storagemigration\.k8s\.io/v1 storageversionmigrations): .*"storageVersionHash":"(v5yhuVertL4|wYA9yXQH8fg|i\+85\+TcIKpA|pCjmmKOkLy4)=".*`,
			"a kube-apiserver stores them in their beta versions, kubecoord in the version that it serves"},
	}
}

// The discovery documents of a server with all kinds, aggregated and not, name the resources, verbs, short names, categories and subresources of a real server.
func TestDiscoveryIsThatOfARealServer(t *testing.T) {
	server, err := cluster.New(cluster.KubeAPIServer(), store.Options{}, httpapi.Options{})
	require.NoError(t, err)
	t.Cleanup(server.Close)
	api := server.API
	lines := append(diffEntries(aggregatedEntries(t, recordedAggregated(t)), aggregatedEntries(t, ourAggregated(t, api))),
		diffEntries(legacyEntries(recordedLegacy(t)), legacyEntries(ourLegacy(t, api)))...)
	expected := expectedDifferences()
	used := make([]bool, len(expected))
	for _, line := range lines {
		i := slices.IndexFunc(expected, func(d difference) bool {
			return regexp.MustCompile("^(" + d.what + ")$").MatchString(line)
		})
		if assert.GreaterOrEqual(t, i, 0, line) {
			used[i] = true
		}
	}
	for i, d := range expected {
		assert.True(t, used[i], "no longer a difference: %s", d.what)
	}
	lists := 0
	for path, doc := range recordedLegacy(t) {
		resources, _ := doc["resources"].([]any)
		for _, r := range resources {
			r := r.(map[string]any)
			if verbs, _ := r["verbs"].([]any); slices.Contains(verbs, any("list")) {
				code, body := get(t, api, path+"/"+r["name"].(string), "application/json")
				assert.Equal(t, http.StatusOK, code, "%s: %s", r["name"], body)
				lists++
			}
		}
	}
	assert.Greater(t, lists, 60)
}

// The same fields can be selected by, and the others are refused with the same text.
func TestFieldSelectorsAreThoseOfARealServer(t *testing.T) {
	data, err := os.ReadFile("testdata/discovery/selectors.json")
	require.NoError(t, err)
	var real struct {
		Asked     []string
		Resources map[string]struct {
			Accepted []string
			Refusal  string
		}
	}
	require.NoError(t, json.Unmarshal(data, &real))
	api := newAPI(t)
	compared := 0
	for path, want := range real.Resources {
		if code, _ := get(t, api, path, "application/json"); code == http.StatusNotFound {
			continue // TestDiscoveryIsThatOfARealServer says why
		}
		compared++
		for _, field := range real.Asked {
			code, body := get(t, api, path+"?limit=1&fieldSelector="+field+"%3Dx", "application/json")
			expected := http.StatusBadRequest
			if slices.Contains(want.Accepted, field) {
				expected = http.StatusOK
			}
			assert.Equal(t, expected, code, "%s by %s", path, field)
			if field == "no.such" {
				var status struct{ Message string }
				require.NoError(t, json.Unmarshal(body, &status))
				assert.Equal(t, want.Refusal, status.Message, path)
			}
		}
	}
	assert.Greater(t, compared, 50)
}

// newAPI returns an API with all kinds of client-go.
func newAPI(t *testing.T) *httpapi.API {
	st := store.New(store.Options{})
	t.Cleanup(st.Close)
	all, err := scheme.Kinds(clientgoscheme.Scheme, scheme.Options{})
	require.NoError(t, err)
	api := httpapi.New(st, httpapi.Options{Kinds: all})
	t.Cleanup(api.Close)
	return api
}

// diffEntries returns a line for each entry that only one side has, or that differs.
func diffEntries(real, ours map[string]any) []string {
	var lines []string
	for _, key := range slices.Sorted(maps.Keys(real)) {
		want, got := jsonText(real[key]), jsonText(ours[key])
		switch _, served := ours[key]; {
		case !served:
			lines = append(lines, "missing "+key)
		case want != got:
			lines = append(lines, fmt.Sprintf("different %s: want %s, got %s", key, want, got))
		}
	}
	for _, key := range slices.Sorted(maps.Keys(ours)) {
		if _, served := real[key]; !served {
			lines = append(lines, "extra "+key)
		}
	}
	return lines
}

func jsonText(v any) string {
	data, _ := json.Marshal(v)
	return string(data)
}

// groups are the documents of an aggregated discovery.
type groups struct {
	Items []struct {
		Metadata struct{ Name string }
		Versions []struct {
			Version   string
			Freshness string
			Resources []map[string]any
		}
	}
}

// aggregatedEntries returns the resources and subresources by group, version and name, and the versions of each group.
func aggregatedEntries(t *testing.T, docs [][]byte) map[string]any {
	out := map[string]any{}
	for _, doc := range docs {
		var list groups
		require.NoError(t, json.Unmarshal(doc, &list))
		for _, g := range list.Items {
			var versions []string
			for _, v := range g.Versions {
				versions = append(versions, v.Version)
				for _, r := range v.Resources {
					key := strings.TrimPrefix(g.Metadata.Name+"/"+v.Version, "/") + " " + r["resource"].(string)
					subresources, _ := r["subresources"].([]any)
					delete(r, "subresources")
					out[key] = r
					for _, s := range subresources {
						out[key+"/"+s.(map[string]any)["subresource"].(string)] = s
					}
				}
			}
			out["group "+g.Metadata.Name] = versions
		}
	}
	return out
}

// legacyEntries returns the same of the discovery in a document for each group version.
func legacyEntries(docs map[string]map[string]any) map[string]any {
	out := map[string]any{}
	for path, doc := range docs {
		switch doc["kind"] {
		case "APIResourceList":
			for _, r := range doc["resources"].([]any) {
				out[doc["groupVersion"].(string)+" "+r.(map[string]any)["name"].(string)] = r
			}
		case "APIGroup":
			out["group "+strings.TrimPrefix(path, "/apis/")] = doc
		}
	}
	return out
}

func recordedAggregated(t *testing.T) (docs [][]byte) {
	for _, name := range []string{"api.json", "apis.json"} {
		data, err := os.ReadFile("testdata/discovery/" + name)
		require.NoError(t, err)
		docs = append(docs, data)
	}
	return docs
}

func recordedLegacy(t *testing.T) map[string]map[string]any {
	file, err := os.Open("testdata/discovery/legacy.json.gz")
	require.NoError(t, err)
	defer file.Close()
	unzipped, err := gzip.NewReader(file)
	require.NoError(t, err)
	var docs map[string]map[string]any
	require.NoError(t, json.NewDecoder(unzipped).Decode(&docs))
	return docs
}

func ourAggregated(t *testing.T, api *httpapi.API) (docs [][]byte) {
	for _, path := range []string{"/api", "/apis"} {
		docs = append(docs, must(t, api, path, "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"))
	}
	return docs
}

func ourLegacy(t *testing.T, api *httpapi.API) map[string]map[string]any {
	docs := map[string]map[string]any{}
	read := func(path string) map[string]any {
		var doc map[string]any
		require.NoError(t, json.Unmarshal(must(t, api, path, "application/json"), &doc))
		docs[path] = doc
		return doc
	}
	read("/api/v1")
	for _, g := range read("/apis")["groups"].([]any) {
		name := g.(map[string]any)["name"].(string)
		for _, v := range read("/apis/" + name)["versions"].([]any) {
			read("/apis/" + v.(map[string]any)["groupVersion"].(string))
		}
	}
	return docs
}

func must(t *testing.T, api *httpapi.API, path, accept string) []byte {
	code, body := get(t, api, path, accept)
	require.Equal(t, http.StatusOK, code, "%s: %s", path, body)
	return body
}

func get(t *testing.T, api *httpapi.API, path, accept string) (code int, body []byte) {
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://kubecoord"+path, nil)
	require.NoError(t, err)
	req.Header.Set("Accept", accept)
	resp, err := (&http.Client{Transport: api.Transport()}).Do(req)
	require.NoError(t, err)
	defer resp.Body.Close()
	body, err = io.ReadAll(resp.Body)
	require.NoError(t, err)
	return resp.StatusCode, body
}
