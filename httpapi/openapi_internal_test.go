package httpapi

import (
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/kind"
)

// newGear returns a kind of a group of its own.
func newGear(group string) kind.Kind {
	return store.MustKind(kind.Descriptor[*store.Unstructured]{Resource: kind.Resource{Group: group, Kind: "Gear"}, Versions: []kind.Version[*store.Unstructured]{{Name: "v1"}}})
}

// get returns the code of an answer.
func (a *API) get(path string) int {
	w := httptest.NewRecorder()
	a.ServeHTTP(w, httptest.NewRequest("GET", path, nil))
	return w.Code
}

func TestDocumentsAreMadeWhenAskedForAndShared(t *testing.T) {
	st := store.New(store.Options{})
	defer st.Close()
	api := New(st, Options{Kinds: []kind.Kind{newGear("a.example.com"), newGear("b.example.com")}})
	defer api.Close()
	made := map[string]int{}
	count := func(o *openAPI) *openAPI {
		for path, d := range o.byPath {
			inner := d.content
			d.content = func() ([]byte, string) {
				made[path]++
				return inner()
			}
		}
		return o
	}
	before := count(api.served.Load().openAPI())
	require.Equal(t, 200, api.get("/openapi/v3/apis/a.example.com/v1"))
	require.Equal(t, 200, api.get("/openapi/v3/apis/a.example.com"))
	require.Equal(t, 404, api.get("/openapi/v3/apis/c.example.com/v1"))
	for path := range made {
		assert.Contains(t, []string{"/openapi/v3/apis/a.example.com/v1", "/openapi/v3/apis/a.example.com"}, path)
	}
	require.Equal(t, 200, api.get("/openapi/v3"))
	assert.NotContains(t, made, openAPIV2)

	// The forks share all but the document of the changed group, also documents that nobody has asked for yet.
	for range 2 {
		forked, err := st.Fork()
		require.NoError(t, err)
		defer forked.Close()
		fork := api.Fork(forked, Options{})
		defer fork.Close()
		b := newGear("b.example.com")
		require.NoError(t, fork.ReplaceKind(t.Context(), api.Kinds()[len(api.Kinds())-1], b))
		after := fork.served.Load().openAPI()
		for path, d := range after.byPath {
			assert.Equal(t, path != openAPIV2 && path != "/openapi/v3/apis/b.example.com/v1", d == before.byPath[path], path)
		}
		assert.Len(t, after.byPath, len(before.byPath))
		assert.Equal(t, 200, fork.get("/openapi/v3"))

		require.NoError(t, fork.RemoveKinds(t.Context(), RemoveOptions{}, b))
		assert.Equal(t, 404, fork.get("/openapi/v3/apis/b.example.com/v1"))
		assert.Same(t, before.byPath["/openapi/v3/apis/a.example.com/v1"], fork.served.Load().openAPI().byPath["/openapi/v3/apis/a.example.com/v1"])
	}
}
