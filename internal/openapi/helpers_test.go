package openapi_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/candidate"
	"github.com/kubecoord/kubecoord/endpoints"
	"github.com/kubecoord/kubecoord/internal/kinds"
	"github.com/kubecoord/kubecoord/internal/openapi"
	"github.com/kubecoord/kubecoord/internal/registry"
	"github.com/kubecoord/kubecoord/lease"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/kind"
	"github.com/kubecoord/kubecoord/store/meta"
)

// tree is a decoded JSON object.
type tree = map[string]any

// coordination returns the API of the three kinds and of additional kinds.
func coordination(t testing.TB, others ...kind.Kind) openapi.API {
	st := store.New(store.Options{})
	t.Cleanup(st.Close)
	api := openapi.API{Version: "v1.37.2"}
	for _, kind := range append([]kind.Kind{lease.Kind(), candidate.Kind(), endpoints.Kind()}, others...) {
		res := (*registry.Store)(st).Resource(kinds.Of(kind))
		info := res.Info()
		for i, v := range info.Versions {
			gv := meta.GroupVersion{Group: info.Group, Version: v.Name}
			resource := openapi.Resource{Kind: info.Kind, ListKind: info.ListKind, Plural: info.Plural, Type: res.Schema(i)}
			at := slices.IndexFunc(api.GroupVersions, func(have openapi.GroupVersion) bool { return have.GroupVersion == gv })
			if at < 0 {
				at = len(api.GroupVersions)
				api.GroupVersions = append(api.GroupVersions, openapi.GroupVersion{GroupVersion: gv})
			}
			api.GroupVersions[at].Resources = append(api.GroupVersions[at].Resources, resource)
		}
	}
	return api
}

// v3 returns all documents of version 3 by their names.
func v3(api openapi.API) map[string]openapi.Document {
	docs := map[string]openapi.Document{}
	names := []string{"api", "apis", "version"}
	for _, gv := range api.GroupVersions {
		if names = append(names, gv.Name()); gv.Group != "" {
			names = append(names, "apis/"+gv.Group)
		}
	}
	for _, name := range names {
		docs[name] = api.V3(name)
	}
	return docs
}

func decode(t testing.TB, data []byte) tree {
	t.Helper()
	var out tree
	require.NoError(t, json.Unmarshal(data, &out))
	return out
}

// reference reads a document of a real server; see testdata/README.md.
func reference(t testing.TB, file string) tree {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", file))
	require.NoError(t, err)
	return decode(t, data)
}

// comparable returns a document without the parts that may differ from a real server: descriptions, versions that the
// reference server describes but does not serve, and the names of shared parameters, which are hashes over descriptions.
func comparable(t testing.TB, doc tree) tree {
	t.Helper()
	parameters, _ := doc["parameters"].(tree)
	var strip func(v any) any
	strip = func(v any) any {
		switch v := v.(type) {
		case tree:
			if ref, _ := v["$ref"].(string); strings.HasPrefix(ref, "#/parameters/") {
				shared := parameters[strings.TrimPrefix(ref, "#/parameters/")]
				require.NotNil(t, shared, ref)
				return tree{"shared": strip(shared)}
			}
			out := tree{}
			for name, member := range v {
				if _, isText := member.(string); isText && name == "description" {
					continue
				}
				out[name] = strip(member)
			}
			return out
		case []any:
			out := []any{}
			for _, item := range v {
				if kind, ok := item.(tree); ok && kind["group"] != nil && !isServed(kind["version"]) {
					continue
				}
				out = append(out, strip(item))
			}
			return out
		}
		return v
	}
	out := strip(doc).(tree)
	if parameters != nil {
		shared := map[string]int{}
		for _, p := range out["parameters"].(tree) {
			shared[fmt.Sprint(p)]++
		}
		out["parameters"] = shared
	}
	return out
}

// isServed reports whether both servers serve a version. The reference server registers its kinds in the version __internal too,
// which no kube-apiserver shows, and knows v1alpha2 without serving it.
func isServed(version any) bool { return version == "v1" || version == "v1beta1" }

// withoutAlpha removes paths and definitions of the versions that the reference server does not serve.
func withoutAlpha(members tree) {
	maps.DeleteFunc(members, func(name string, _ any) bool { return strings.Contains(name, "v1alpha") })
}

// at returns the value at a path of members.
func at(t testing.TB, v any, path ...string) any {
	t.Helper()
	for _, name := range path {
		members, ok := v.(tree)
		require.True(t, ok && members[name] != nil, "no %q in %v", name, v)
		v = members[name]
	}
	return v
}
