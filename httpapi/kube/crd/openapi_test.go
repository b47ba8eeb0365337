package crd

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apiextensions-apiserver/pkg/controller/openapi/builder"
	"k8s.io/kube-openapi/pkg/handler"

	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/kind"
)

// TestPublishedSchemasAreThoseOfUpstreamsBuilder compares the definition of each project's kind in the OpenAPI documents.
func TestPublishedSchemasAreThoseOfUpstreamsBuilder(t *testing.T) {
	forProjects(t, func(t *testing.T, k *definedKind) {
		st := store.New(store.Options{})
		defer st.Close()
		api := httpapi.New(st, httpapi.Options{Kinds: []kind.Kind{k}})
		defer api.Close()
		for _, v := range k.crd.Spec.Versions {
			if !v.Served {
				continue
			}
			model := modelName(k.crd.Spec.Group, v.Name, k.crd.Spec.Names.Kind)
			v3, err := builder.BuildOpenAPIV3(k.crd, v.Name, builder.Options{IncludeSelectableFields: true})
			require.NoError(t, err)
			var doc struct {
				Components struct {
					Schemas map[string]any `json:"schemas"`
				} `json:"components"`
			}
			fetch(t, api, "/openapi/v3/apis/"+k.crd.Spec.Group+"/"+v.Name, &doc)
			assertEqualJSON(t, v3.Components.Schemas[model], doc.Components.Schemas[model])

			v2, err := builder.BuildOpenAPIV2(k.crd, v.Name, builder.Options{V2: true, IncludeSelectableFields: true})
			require.NoError(t, err)
			var swagger struct {
				Definitions map[string]any `json:"definitions"`
			}
			fetch(t, api, "/openapi/v2", &swagger)
			assertEqualJSON(t, handler.PruneDefaults(v2.Definitions)[model], swagger.Definitions[model])
		}
	})
}

func modelName(group, version, kind string) string {
	parts := strings.Split(group, ".")
	for i, j := 0, len(parts)-1; i < j; i, j = i+1, j-1 {
		parts[i], parts[j] = parts[j], parts[i]
	}
	return strings.Join(parts, ".") + "." + version + "." + kind
}

func fetch(t *testing.T, api *httpapi.API, path string, into any) {
	client := http.Client{Transport: api.Transport()}
	resp, err := client.Get("http://server" + path)
	require.NoError(t, err)
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	require.Equal(t, 200, resp.StatusCode, "%s", data)
	require.NoError(t, json.Unmarshal(data, into))
}

// withoutTexts removes the descriptions of the members that all objects have: the module has its own.
func withoutTexts(tree any) {
	switch tree := tree.(type) {
	case map[string]any:
		for _, name := range []string{"apiVersion", "kind", "metadata"} {
			if member, ok := tree[name].(map[string]any); ok {
				delete(member, "description")
			}
		}
		for _, member := range tree {
			withoutTexts(member)
		}
	case []any:
		for _, item := range tree {
			withoutTexts(item)
		}
	}
}

func assertEqualJSON(t *testing.T, want, got any) {
	t.Helper()
	a, err := json.MarshalIndent(want, "", " ")
	require.NoError(t, err)
	var tree any
	require.NoError(t, json.Unmarshal(a, &tree))
	withoutTexts(tree)
	withoutTexts(got)
	a, err = json.MarshalIndent(tree, "", " ")
	require.NoError(t, err)
	b, err := json.MarshalIndent(got, "", " ")
	require.NoError(t, err)
	assert.Equal(t, strings.Split(string(a), "\n"), strings.Split(string(b), "\n"))
}
