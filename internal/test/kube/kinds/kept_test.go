package kinds

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"

	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/httpapi/kube/crd"
	"github.com/kubecoord/kubecoord/httpapi/kube/scheme"
	"github.com/kubecoord/kubecoord/internal/test/engine"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/kind"
)

// openOn returns an API whose objects an engine keeps. restart ends it and returns another one on the same engine.
func openOn(t *testing.T, e *engine.Engine, o httpapi.Options) (api *httpapi.API, restart func() *httpapi.API) {
	t.Helper()
	st, err := store.Open(t.Context(), store.Options{}, e, append(httpapi.Kinds(), o.Kinds...)...)
	require.NoError(t, err)
	api = httpapi.New(st, o)
	end := func() {
		api.Close()
		st.Close()
	}
	t.Cleanup(end)
	return api, func() *httpapi.API {
		end()
		again, _ := openOn(t, e, o)
		return again
	}
}

func send(t *testing.T, api *httpapi.API, method, path, contentType, body string) string {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, "http://test"+path, strings.NewReader(body))
	require.NoError(t, err)
	r.Header.Set("Content-Type", contentType)
	resp, err := api.Transport().RoundTrip(r)
	require.NoError(t, err)
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	require.Less(t, resp.StatusCode, 300, "%s %s: %s", method, path, answer)
	return string(answer)
}

// A store on an engine, such as etcd, reads again what it wrote.
func TestEveryKindIsKeptByAnEngine(t *testing.T) {
	all, err := scheme.Kinds(clientgoscheme.Scheme, scheme.Options{})
	require.NoError(t, err)
	text, err := os.ReadFile("../../../../httpapi/kube/testdata/backup/crd.yaml")
	require.NoError(t, err)
	custom, err := crd.Parse(text)
	require.NoError(t, err)
	resources := append(Resources(), Resource{Group: "example.com", Version: "v1", Plural: "backups", Kind: "Backup"})
	for _, r := range resources {
		t.Run(r.File(), func(t *testing.T) {
			spec := map[string]any{"schedule": "daily"}
			backup := map[string]any{"apiVersion": "example.com/v1", "kind": "Backup", "metadata": map[string]any{}, "spec": spec}
			sample := Sample{Full: backup, Minimal: backup}
			if r.Group != "example.com" {
				sample, err = LoadSample("testdata/objects", r)
				require.NoError(t, err)
			}
			p := &play{player: &Player{ID: "1"}, resource: r}
			before, restart := openOn(t, engine.New(1000), httpapi.Options{Kinds: append(custom, all...)})
			for name, object := range map[string]map[string]any{"full": sample.Full, "min": sample.Minimal} {
				body, err := json.Marshal(p.named(object, name))
				require.NoError(t, err)
				send(t, before, http.MethodPost, p.text(p.collection()), typeJSON, p.text(string(body)))
			}
			send(t, before, http.MethodPatch, p.text(p.object("full")), "application/merge-patch+json", `{"metadata":{"labels":{"x":"y"}}}`)
			send(t, before, http.MethodDelete, p.text(p.object("min")), typeJSON, "")
			want := send(t, before, http.MethodGet, p.text(p.collection()), typeJSON, "")
			require.Contains(t, want, `"x":"y"`, "an object is left")
			assert.Equal(t, want, send(t, restart(), http.MethodGet, p.text(p.collection()), typeJSON, ""))
		})
	}
}

// A definition in a group of built-in kinds has no effect, also if the store reads it from an engine before anything else.
func TestBuiltInKindsStayInAStoreOnAnEngine(t *testing.T) {
	const definitions, leases = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", "/apis/coordination.k8s.io/v1/namespaces/ns/leases"
	defining := func(plural, group, kind, scope string) string {
		return fmt.Sprintf(`
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: %[1]s.%[2]s, annotations: {api-approved.kubernetes.io: "https://github.com/kubernetes/kubernetes/pull/1"}}
spec:
  group: %[2]s
  scope: %[4]s
  names: {plural: %[1]s, kind: %[3]s}
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}]
`, plural, group, kind, scope)
	}
	synctest.Test(t, func(t *testing.T) {
		first, restart := openOn(t, engine.New(1000), httpapi.Options{
			Kinds: []kind.Kind{crd.Definitions()}, Parts: []httpapi.Part{httpapi.Controller(crd.Run)},
		})
		send(t, first, http.MethodPost, leases, typeJSON, `{"metadata":{"name":"kept"},"spec":{"leaseDurationSeconds":15}}`)
		for _, text := range []string{
			defining("leases", "coordination.k8s.io", "Lease", "Namespaced"),
			defining("customresourcedefinitions", "apiextensions.k8s.io", "CustomResourceDefinition", "Cluster"),
			defining("widgets", "example.com", "Widget", "Namespaced"),
		} {
			send(t, first, http.MethodPost, definitions, "application/yaml", text)
			synctest.Wait()
		}
		check := func(api *httpapi.API) {
			assert.Contains(t, send(t, api, http.MethodGet, leases+"/kept", typeJSON, ""), `"leaseDurationSeconds":15`)
			code, _ := get(t, api, "/apis/example.com/v1/widgets", typeJSON)
			assert.Equal(t, 200, code)
			assert.Contains(t, send(t, api, http.MethodGet, definitions+"/leases.coordination.k8s.io", typeJSON, ""), `"reason":"InitialNamesAccepted"`)
			bad, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://test"+leases, strings.NewReader(`{"metadata":{"name":"bad"},"spec":{"leaseDurationSeconds":-15}}`))
			require.NoError(t, err)
			refused, err := api.Transport().RoundTrip(bad)
			require.NoError(t, err)
			refused.Body.Close()
			assert.Equal(t, 422, refused.StatusCode, "the rules of the built-in kind")
		}
		check(first)
		second := restart()
		synctest.Wait()
		check(second)
	})
}
