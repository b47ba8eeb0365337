package crd_test

import (
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/httpapi/kube/crd"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/clock"
	"github.com/kubecoord/kubecoord/store/kind"
)

// options are the options of a server that takes definitions from clients.
func options() httpapi.Options {
	return httpapi.Options{
		Kinds: []kind.Kind{crd.Definitions()},
		Parts: []httpapi.Part{httpapi.Controller(crd.Run)},
	}
}

// live returns a server that takes definitions from clients.
func live(t testing.TB, st *store.Store) *server {
	api := httpapi.New(st, options())
	t.Cleanup(api.Close)
	return &server{t, api, http.Client{Transport: api.Transport()}}
}

func newStore(t testing.TB, opts store.Options) *store.Store {
	st := store.New(opts)
	t.Cleanup(st.Close)
	return st
}

// conditions returns the conditions of a definition as lines of type, status, reason and message.
func (s *server) conditions(name string) (out []string) {
	_, doc := s.do("GET", definitionsPath+"/"+name, "")
	status, _ := doc["status"].(map[string]any)
	list, _ := status["conditions"].([]any)
	for _, c := range list {
		c := c.(map[string]any)
		out = append(out, strings.Join([]string{c["type"].(string), c["status"].(string), c["reason"].(string), c["message"].(string)}, " "))
	}
	return out
}

// define creates a definition and waits until all is done for it.
func (s *server) define(text string) {
	code, doc := s.do("POST", definitionsPath, asJSON(s.t, text))
	require.Equal(s.t, 201, code, "%v", doc)
	synctest.Wait()
}

func TestDefinitionIsEstablishedAndServed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := live(t, newStore(t, store.Options{}))
		code, _ := s.do("GET", widgetsPath, "")
		assert.Equal(t, 404, code)
		s.define(widgets)
		assert.Equal(t, []string{
			"NamesAccepted True NoConflicts no conflicts found",
			"Established True InitialNamesAccepted the initial names have been accepted",
		}, s.conditions("widgets.example.com"))
		_, doc := s.do("GET", definitionsPath+"/widgets.example.com", "")
		assert.Equal(t, map[string]any{
			"plural": "widgets", "singular": "widget", "kind": "Widget", "listKind": "WidgetList", "shortNames": []any{"wd"}, "categories": []any{"all"},
		}, doc["status"].(map[string]any)["acceptedNames"])

		code, doc = s.do("POST", widgetsPath, widget(`{"color":"red","unknown":1}`))
		require.Equal(t, 201, code, "%v", doc)
		assert.Equal(t, map[string]any{"color": "red", "level": "low"}, doc["spec"])
		code, doc = s.do("GET", "/apis/example.com/v1", "")
		require.Equal(t, 200, code)
		assert.Equal(t, []any{"wd"}, doc["resources"].([]any)[0].(map[string]any)["shortNames"])
	})
}

func TestUpdatedDefinitionReplacesTheKind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := live(t, newStore(t, store.Options{}))
		s.define(widgets)
		code, doc := s.do("POST", widgetsPath, widget(`{"color":"red","size":3}`))
		require.Equal(t, 201, code, "%v", doc)
		patch := `[{"op":"add","path":"/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/more","value":{"type":"string","default":"yes"}},
		 {"op":"remove","path":"/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/level"}]`
		code, doc = s.do("PATCH", definitionsPath+"/widgets.example.com", patch, "Content-Type", "application/json-patch+json")
		require.Equal(t, 200, code, "%v", doc)
		synctest.Wait()
		_, doc = s.do("GET", widgetsPath+"/w", "")
		assert.Equal(t, map[string]any{"color": "red", "size": 3.0, "more": "yes"}, doc["spec"])
		assert.Equal(t, 1.0, doc["metadata"].(map[string]any)["generation"])
	})
}

func TestDeletedDefinitionTakesItsObjectsAlong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := live(t, newStore(t, store.Options{}))
		s.define(widgets)
		held := strings.Replace(widget(`{"color":"red"}`), `"name":"w"`, `"name":"held","finalizers":["example.com/hold"]`, 1)
		for _, body := range []string{widget(`{"color":"red"}`), held} {
			code, doc := s.do("POST", widgetsPath, body)
			require.Equal(t, 201, code, "%v", doc)
		}
		code, _ := s.do("DELETE", definitionsPath+"/widgets.example.com", "")
		require.Equal(t, 200, code)
		synctest.Wait()
		assert.Contains(t, s.conditions("widgets.example.com"), "Terminating True InstanceDeletionInProgress CustomResource deletion is in progress")
		_, list := s.do("GET", widgetsPath, "")
		assert.Len(t, list["items"], 1)

		time.Sleep(2 * time.Minute)
		synctest.Wait()
		assert.Contains(t, s.conditions("widgets.example.com"), "Terminating True InstanceDeletionInProgress CustomResource deletion is in progress")
		code, _ = s.do("PATCH", widgetsPath+"/held", `{"metadata":{"finalizers":null}}`, "Content-Type", "application/merge-patch+json")
		require.Equal(t, 200, code)
		synctest.Wait()
		code, _ = s.do("GET", definitionsPath+"/widgets.example.com", "")
		assert.Equal(t, 404, code)
		code, _ = s.do("GET", widgetsPath, "")
		assert.Equal(t, 404, code)

		s.define(widgets)
		_, list = s.do("GET", widgetsPath, "")
		assert.Empty(t, list["items"])
	})
}

func TestNamesThatAreTakenWaitUntilTheyAreFree(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := live(t, newStore(t, store.Options{}))
		s.define(widgets)
		other := strings.NewReplacer("widgets.example.com", "things.example.com", "plural: widgets", "plural: things").Replace(widgets)
		s.define(other)
		assert.Equal(t, []string{
			`NamesAccepted False ListKindConflict "WidgetList" is already in use`,
			"Established False NotAccepted not all names are accepted",
		}, s.conditions("things.example.com"))
		code, _ := s.do("GET", "/apis/example.com/v1/things", "")
		assert.Equal(t, 404, code)
		code, _ = s.do("DELETE", definitionsPath+"/widgets.example.com", "")
		require.Equal(t, 200, code)
		synctest.Wait()
		assert.Equal(t, []string{
			"NamesAccepted True NoConflicts no conflicts found",
			"Established True InitialNamesAccepted the initial names have been accepted",
		}, s.conditions("things.example.com"))
		code, _ = s.do("GET", "/apis/example.com/v1/things", "")
		assert.Equal(t, 200, code)
	})
}

func TestGroupsOfKubernetesNeedAnApproval(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := live(t, newStore(t, store.Options{}))
		text := strings.ReplaceAll(widgets, "example.com", "example.k8s.io")
		code, doc := s.do("POST", definitionsPath, asJSON(t, text))
		require.Equal(t, 422, code)
		assert.Equal(t, []string{`FieldValueRequired metadata.annotations[api-approved.kubernetes.io]: Required value: protected groups must have approval annotation "api-approved.kubernetes.io", see https://github.com/kubernetes/enhancements/pull/1111`}, causes(doc))
		s.define(strings.Replace(text, "metadata: {", `metadata: {annotations: {api-approved.kubernetes.io: "unapproved, a test"}, `, 1))
		assert.Equal(t, []string{
			"NamesAccepted True NoConflicts no conflicts found",
			"Established True InitialNamesAccepted the initial names have been accepted",
			`KubernetesAPIApprovalPolicyConformant False UnapprovedAnnotation not approved: "unapproved, a test"`,
		}, s.conditions("widgets.example.k8s.io"))
	})
}

func TestForksAndLaterServersServeTheDefinitionsOfTheirStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := newStore(t, store.Options{})
		s := live(t, st)
		s.define(widgets)
		code, doc := s.do("POST", widgetsPath, widget(`{"color":"red"}`))
		require.Equal(t, 201, code, "%v", doc)

		forked, err := st.Fork()
		require.NoError(t, err)
		t.Cleanup(forked.Close)
		forkedAPI := s.api.Fork(forked, options())
		t.Cleanup(forkedAPI.Close)
		f := &server{t, forkedAPI, http.Client{Transport: forkedAPI.Transport()}}
		code, _ = f.do("DELETE", definitionsPath+"/widgets.example.com", "")
		require.Equal(t, 200, code)
		synctest.Wait()
		code, _ = f.do("GET", widgetsPath+"/w", "")
		assert.Equal(t, 404, code)
		code, _ = s.do("GET", widgetsPath+"/w", "")
		assert.Equal(t, 200, code)

		s.api.Close()
		later := live(t, st)
		synctest.Wait()
		code, doc = later.do("GET", widgetsPath+"/w", "")
		assert.Equal(t, 200, code, "%v", doc)
	})
}

func TestTimesOfConditionsAreThoseOfTheStore(t *testing.T) {
	start := time.Date(2001, 2, 3, 4, 5, 6, 0, time.UTC)
	synctest.Test(t, func(t *testing.T) {
		s := live(t, newStore(t, store.Options{Clock: clock.NewManual(start)}))
		s.define(widgets)
		_, doc := s.do("GET", definitionsPath+"/widgets.example.com", "")
		for _, c := range doc["status"].(map[string]any)["conditions"].([]any) {
			assert.Equal(t, "2001-02-03T04:05:06Z", c.(map[string]any)["lastTransitionTime"])
		}
	})
}
