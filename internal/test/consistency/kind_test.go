package consistency_test

import (
	"net/http"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/httpapi/apitest"
	"github.com/kubecoord/kubecoord/internal/test/consistency"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/meta"
)

// engine is a custom kind.
type engine struct {
	meta.TypeMeta   `json:",inline"`
	meta.ObjectMeta `json:"metadata" protobuf:"1"`
	Spec            struct {
		Speed int32 `json:"speed,omitempty" protobuf:"1"`
	} `json:"spec,omitzero" protobuf:"2"`
	Status struct {
		Turns int32 `json:"turns,omitempty" protobuf:"1"`
	} `json:"status,omitzero" protobuf:"3"`
}

// Report checks kinds of any scope, and writes to their status.
func TestReportChecksCustomKinds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kind := store.MustKind(store.Descriptor[engine]{
			Group: "example.com", Name: "Engine", Plural: "engines", Status: true, ClusterScoped: true,
			Versions: []store.Version[engine]{{Name: "v1"}},
		})
		forgetful := false
		api := consistency.New(t, apitest.Options{API: httpapi.Options{
			Kinds: []store.AnyKind{kind},
			Middleware: func(next http.Handler) http.Handler {
				return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					if forgetful {
						r = r.Clone(r.Context())
						r.URL.RawQuery = "dryRun=All"
					}
					next.ServeHTTP(w, r)
				})
			},
		}})
		const engines = "/apis/example.com/v1/engines"
		w := &writers{t, api}
		d := doorTo(api)
		d.watch(t, engines+"?watch=true")
		require.Equal(t, 201, w.does("w", "POST", engines, `{"apiVersion":"example.com/v1","kind":"Engine","metadata":{"name":"a"},"spec":{"speed":3}}`).code)
		merge := []string{"Content-Type", "application/merge-patch+json"}
		require.Equal(t, 200, w.does("w", "PATCH", engines+"/a/status", `{"status":{"turns":1}}`, merge...).code)
		require.Equal(t, 200, w.does("w", "GET", engines+"/a/status", "").code)
		require.Equal(t, 404, w.does("w", "GET", engines+"/a/scale", "").code)
		synctest.Wait()
		v := api.Report()
		assert.Empty(t, v.Findings)
		assert.Equal(t, []int{2, 2, 1}, []int{v.Changes, v.Events, v.Watches})

		forgetful = true
		require.Equal(t, 200, w.does("w", "PATCH", engines+"/a/status", `{"status":{"turns":2}}`, merge...).code)
		findings := api.Report().Findings
		require.Len(t, findings, 1)
		assert.Contains(t, findings[0], "a get returned a state that is not in the history: patch")
	})
}

// newPartKind returns a kind of unstructured objects.
func newPartKind(versions ...string) *store.Kind[store.Unstructured] {
	d := store.Descriptor[store.Unstructured]{Group: "example.com", Name: "Part"}
	for _, name := range versions {
		d.Versions = append(d.Versions, store.Version[store.Unstructured]{Name: name})
	}
	return store.MustKind(d)
}

// In the JSON of an unstructured object, members precede and follow apiVersion and kind.
func TestReportChecksUnstructuredObjects(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kind := newPartKind("v1", "v2")
		api := consistency.New(t, apitest.Options{API: httpapi.Options{Kinds: []store.AnyKind{kind}}})
		const parts = "/apis/example.com/v2/namespaces/default/parts"
		w := &writers{t, api}
		require.Equal(t, 201, w.does("w", "POST", parts, `{"apiVersion":"example.com/v2","kind":"Part","metadata":{"name":"a"},"alloy":["<Cu>",1.5],"data":{"x":1}}`).code)
		require.Equal(t, 200, w.does("w", "PATCH", parts+"/a", `{"zinc":null,"brass":true}`, "Content-Type", "application/merge-patch+json").code)
		require.Equal(t, 200, w.does("w", "GET", parts+"/a", "").code)
		v := api.Report()
		assert.Empty(t, v.Findings)
		assert.Equal(t, []int{2, 3}, []int{v.Changes, v.Answers})
	})
}

// Report compares the members before apiVersion and kind too.
func TestReportFindsAlteredUnstructuredObjects(t *testing.T) {
	kind := newPartKind("v1")
	api := consistency.New(t, apitest.Options{API: httpapi.Options{
		Kinds: []store.AnyKind{kind},
		Middleware: func(next http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { but(`"Cu"`, `"Sn"`)(next, w, r) })
		},
	}})
	const parts = "/apis/example.com/v1/namespaces/default/parts"
	w := &writers{t, api}
	require.Equal(t, 201, w.does("w", "POST", parts, `{"apiVersion":"example.com/v1","kind":"Part","metadata":{"name":"a"},"alloy":"Cu"}`).code)
	findings := api.Report().Findings
	require.Len(t, findings, 1)
	assert.Contains(t, findings[0], "a write returned another state than the history has: create")
}
