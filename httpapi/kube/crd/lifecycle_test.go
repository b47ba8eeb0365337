package crd_test

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/httpapi/kube/crd"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/clock"
	"github.com/kubecoord/kubecoord/store/fixture"
	"github.com/kubecoord/kubecoord/store/kind"
	"github.com/kubecoord/kubecoord/store/meta"
	"github.com/kubecoord/kubecoord/watch"
)

// defining returns a definition with an untyped schema.
func defining(plural, group, kind, scope string) string {
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

// inBuiltInGroups are definitions in groups of which every API has built-in kinds.
var inBuiltInGroups = []string{
	defining("leases", "coordination.k8s.io", "Lease", "Namespaced"),
	defining("customresourcedefinitions", "apiextensions.k8s.io", "CustomResourceDefinition", "Cluster"),
	defining("leasess", "coordination.k8s.io", "LeaseCandidate", "Namespaced"), // the name of a built-in under another plural
	defining("locks", "coordination.k8s.io", "Lock", "Namespaced"),
}

// textOf is a fixture, which can be loaded once.
func textOf(text string) fixture.Source { return fixture.Stream("text", strings.NewReader(text)) }

func nameIn(text string) string {
	_, rest, _ := strings.Cut(text, "metadata: {name: ")
	name, _, _ := strings.Cut(rest, ",")
	return name
}

const leasePath = "/apis/coordination.k8s.io/v1/namespaces/ns/leases"

// keepsItsKinds checks that definitions in the groups of built-in kinds are established and have no effect.
func (s *server) keepsItsKinds() {
	s.t.Helper()
	for _, text := range inBuiltInGroups {
		assert.Contains(s.t, s.conditions(nameIn(text)), "Established True InitialNamesAccepted the initial names have been accepted", nameIn(text))
	}
	code, doc := s.do("GET", leasePath+"/kept", "")
	require.Equal(s.t, 200, code, "%v", doc)
	assert.Equal(s.t, 15.0, doc["spec"].(map[string]any)["leaseDurationSeconds"])
	bad := `{"apiVersion":"coordination.k8s.io/v1","kind":"Lease","metadata":{"name":"bad"},"spec":{"leaseDurationSeconds":-15}}`
	code, _ = s.do("POST", leasePath, bad)
	assert.Equal(s.t, 422, code)
	for _, path := range []string{"leasess", "locks"} {
		code, doc = s.do("GET", "/apis/coordination.k8s.io/v1/"+path, "")
		assert.Equal(s.t, 404, code)
		assert.Equal(s.t, "the server could not find the requested resource", doc["message"])
	}
}

const keptLease = `{"apiVersion":"coordination.k8s.io/v1","kind":"Lease","metadata":{"name":"kept","namespace":"ns"},"spec":{"leaseDurationSeconds":15}}`

func TestBuiltInKindsStayWhateverIsDefined(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := live(t, newStore(t, store.Options{}))
		code, _ := s.do("POST", leasePath, keptLease)
		require.Equal(t, 201, code)
		for _, text := range inBuiltInGroups {
			s.define(text)
		}
		s.keepsItsKinds()
		s.define(widgets)
		assert.Contains(t, s.conditions("widgets.example.com"), "Established True InitialNamesAccepted the initial names have been accepted")
		code, _ = s.do("POST", widgetsPath, widget(`{"color":"red"}`))
		assert.Equal(t, 201, code)
		for _, text := range inBuiltInGroups {
			code, _ := s.do("DELETE", definitionsPath+"/"+nameIn(text), "")
			require.Equal(t, 200, code)
			synctest.Wait()
			code, _ = s.do("GET", definitionsPath+"/"+nameIn(text), "")
			assert.Equal(t, 404, code, "the deletion of %s ends", nameIn(text))
		}
		code, _ = s.do("GET", leasePath+"/kept", "")
		assert.Equal(t, 200, code)
		code, _ = s.do("GET", definitionsPath+"/widgets.example.com", "")
		assert.Equal(t, 200, code)
	})
}

// Other doors: a store that has the definitions when the API starts, a fixture, and a fork.
func TestBuiltInKindsStayWhereverDefinitionsComeFrom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		text := strings.Join(append(inBuiltInGroups, keptLease), "\n---\n")
		st := newStore(t, store.Options{})
		require.NoError(t, fixture.Load(t.Context(), st, fixture.Options{Kinds: append(httpapi.Kinds(), crd.Definitions())}, textOf(text)))
		s := live(t, st)
		synctest.Wait()
		s.keepsItsKinds()

		forked, err := st.Fork()
		require.NoError(t, err)
		t.Cleanup(forked.Close)
		api := s.api.Fork(forked, options())
		t.Cleanup(api.Close)
		synctest.Wait()
		(&server{t, api, http.Client{Transport: api.Transport()}}).keepsItsKinds()

		later := live(t, newStore(t, store.Options{}))
		require.NoError(t, later.api.Load(t.Context(), textOf(text)))
		synctest.Wait()
		later.keepsItsKinds()
	})
}

// Only the kinds that an API has are its built-in kinds.
func TestAKindThatIsNotMountedCanBeDefined(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := live(t, newStore(t, store.Options{}))
		s.define(defining("networkpolicies", "networking.k8s.io", "NetworkPolicy", "Namespaced"))
		code, doc := s.do("POST", "/apis/networking.k8s.io/v1/namespaces/ns/networkpolicies",
			`{"apiVersion":"networking.k8s.io/v1","kind":"NetworkPolicy","metadata":{"name":"a"}}`)
		assert.Equal(t, 201, code, "%v", doc)
	})
}

// Each definition of a name is another one: nothing that was begun for the one before may end it or stop the process.
func TestADefinitionThatIsMadeAgainIsAnotherOne(t *testing.T) {
	s := live(t, newStore(t, store.Options{}))
	watched := func(after string, until func(watch.EventType, *apiextensionsv1.CustomResourceDefinition) bool) {
		definitions, err := store.As[apiextensionsv1.CustomResourceDefinition](crd.Definitions())
		require.NoError(t, err)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		for ev, err := range definitions.In(s.api.Store()).Watch(ctx, store.WatchOptions{ResourceVersion: after}) {
			require.NoError(t, err)
			if until(ev.Type, ev.Object) {
				return
			}
		}
	}
	for i := range 200 {
		text := strings.Replace(widgets, "size: {type: integer}", fmt.Sprintf("size: {type: integer}\n              f%d: {type: string}", i), 1)
		code, doc := s.do("POST", definitionsPath, asJSON(t, text))
		require.Equal(t, 201, code, "%v", doc)
		watched(doc["metadata"].(map[string]any)["resourceVersion"].(string), func(is watch.EventType, o *apiextensionsv1.CustomResourceDefinition) bool {
			require.Equal(t, watch.Modified, is)
			text := fmt.Sprint(o.Status)
			require.NotContains(t, text, "Terminating")
			return strings.Contains(text, "InitialNamesAccepted")
		})
		code, doc = s.do("DELETE", definitionsPath+"/widgets.example.com", "")
		require.Equal(t, 200, code)
		watched(doc["metadata"].(map[string]any)["resourceVersion"].(string), func(is watch.EventType, _ *apiextensionsv1.CustomResourceDefinition) bool {
			return is == watch.Deleted
		})
	}
}

// acceptance returns the condition NamesAccepted of a definition.
func (s *server) acceptance(name string) string {
	for _, c := range s.conditions(name) {
		if strings.HasPrefix(c, "NamesAccepted") {
			return c
		}
	}
	return ""
}

func TestANameThatAnUpdateFreesIsGivenToTheDefinitionThatWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := newStore(t, store.Options{})
		s := live(t, st)
		s.define(widgets)
		version := versionOf(t, st)
		code, _ := s.do("PATCH", definitionsPath+"/widgets.example.com", `{"spec":{"names":{"shortNames":["wd","wy"]}}}`, "Content-Type", "application/merge-patch+json")
		require.Equal(t, 200, code)
		synctest.Wait()
		assert.Equal(t, "NamesAccepted True NoConflicts no conflicts found", s.acceptance("widgets.example.com"), "the names of a definition are free for itself")
		assert.Equal(t, 2, versionOf(t, st)-version, "the update and the names: the definition stays established")
		s.define(strings.NewReplacer("widgets.example.com", "things.example.com", "plural: widgets, kind: Widget", "plural: things, kind: Thing").Replace(widgets))
		assert.Equal(t, `NamesAccepted False ShortNamesConflict "wd" is already in use`, s.acceptance("things.example.com"))
		code, _ = s.do("PATCH", definitionsPath+"/widgets.example.com", `{"spec":{"names":{"shortNames":["wx"]}}}`, "Content-Type", "application/merge-patch+json")
		require.Equal(t, 200, code)
		synctest.Wait()
		assert.Equal(t, "NamesAccepted True NoConflicts no conflicts found", s.acceptance("things.example.com"))
		code, _ = s.do("GET", "/apis/example.com/v1/things", "")
		assert.Equal(t, 200, code)
	})
}

// The second definition is read before the first one has its names in the store.
func TestDefinitionsThatComeAtOnceDoNotShareANameInTheGroup(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := newStore(t, store.Options{})
		text := textOf(widgets + "\n---\n" + strings.NewReplacer("widgets.example.com", "things.example.com", "plural: widgets", "plural: things").Replace(widgets))
		require.NoError(t, fixture.Load(t.Context(), st, fixture.Options{Kinds: []kind.Kind{crd.Definitions()}}, text))
		s := live(t, st)
		synctest.Wait()
		var accepted []string
		for _, name := range []string{"things.example.com", "widgets.example.com"} {
			accepted = append(accepted, s.acceptance(name))
		}
		assert.ElementsMatch(t, []string{"NamesAccepted True NoConflicts no conflicts found", `NamesAccepted False ListKindConflict "WidgetList" is already in use`}, accepted)
	})
}

// An established definition stays established when it wants a name that is taken, and its deletion takes the objects along.
func TestObjectsGoWithADefinitionWhoseNewNameIsTaken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := live(t, newStore(t, store.Options{}))
		s.define(widgets)
		s.define(strings.NewReplacer("widgets.example.com", "things.example.com", "plural: widgets, kind: Widget", "plural: things, kind: Thing", "[wd]", "[th]").Replace(widgets))
		code, _ := s.do("POST", widgetsPath, widget(`{"color":"red"}`))
		require.Equal(t, 201, code)
		code, _ = s.do("PATCH", definitionsPath+"/widgets.example.com", `{"spec":{"names":{"shortNames":["th"]}}}`, "Content-Type", "application/merge-patch+json")
		require.Equal(t, 200, code)
		synctest.Wait()
		assert.Equal(t, `NamesAccepted False ShortNamesConflict "th" is already in use`, s.acceptance("widgets.example.com"))
		code, _ = s.do("GET", widgetsPath+"/w", "")
		assert.Equal(t, 200, code)
		code, _ = s.do("DELETE", definitionsPath+"/widgets.example.com", "")
		require.Equal(t, 200, code)
		synctest.Wait()
		s.define(widgets)
		code, list := s.do("GET", widgetsPath, "")
		require.Equal(t, 200, code)
		assert.Empty(t, list["items"])
	})
}

// An established definition that wants a name that is taken is served by its new schema under its old names, and under the new ones
// once they are free (upstream: apiserver/customresource_handler.go).
func TestADefinitionWhoseNewNameIsTakenIsServedByItsNewSchema(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := live(t, newStore(t, store.Options{}))
		s.define(widgets)
		s.define(strings.NewReplacer("widgets.example.com", "things.example.com", "plural: widgets, kind: Widget", "plural: things, kind: Thing", "[wd]", "[th]").Replace(widgets))
		shortNames := func() any {
			_, doc := s.do("GET", "/apis/example.com/v1", "")
			for _, r := range doc["resources"].([]any) {
				if r := r.(map[string]any); r["name"] == "widgets" {
					return r["shortNames"]
				}
			}
			return nil
		}
		code, doc := s.do("PATCH", definitionsPath+"/widgets.example.com", `[{"op":"replace","path":"/spec/names/shortNames","value":["th"]},
			{"op":"replace","path":"/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/color/enum","value":["red","blue"]}]`,
			"Content-Type", "application/json-patch+json")
		require.Equal(t, 200, code, "%v", doc)
		synctest.Wait()
		assert.Equal(t, `NamesAccepted False ShortNamesConflict "th" is already in use`, s.acceptance("widgets.example.com"))
		assert.Contains(t, s.conditions("widgets.example.com"), "Established True InitialNamesAccepted the initial names have been accepted")
		assert.Equal(t, []any{"wd"}, shortNames())
		code, doc = s.do("POST", widgetsPath, widget(`{"color":"blue"}`))
		assert.Equal(t, 201, code, "%v", doc)
		code, _ = s.do("DELETE", definitionsPath+"/things.example.com", "")
		require.Equal(t, 200, code)
		synctest.Wait()
		assert.Equal(t, []any{"th"}, shortNames())
	})
}

// A kube-apiserver gave these answers.
func TestNothingIsCreatedWhileTheDefinitionTerminates(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := live(t, newStore(t, store.Options{}))
		s.define(widgets)
		named := func(name, spec string) string { return strings.Replace(widget(spec), `"name":"w"`, name, 1) }
		const red = `{"color":"red"}`
		code, _ := s.do("POST", widgetsPath, named(`"name":"held","finalizers":["example.com/hold"]`, red))
		require.Equal(t, 201, code)
		code, _ = s.do("DELETE", definitionsPath+"/widgets.example.com", "")
		require.Equal(t, 200, code)
		synctest.Wait()

		const why = " is forbidden: create not allowed while custom resource definition is terminating"
		apply := []string{"Content-Type", "application/apply-patch+yaml"}
		merge := []string{"Content-Type", "application/merge-patch+json"}
		for _, row := range []struct {
			method, path, body string
			header             []string
			code               int
			message            string
		}{
			{"POST", "", named(`"name":"a"`, red), nil, 403, `widgets.example.com "a"` + why},
			{"POST", "?dryRun=All", named(`"name":"a"`, red), nil, 403, `widgets.example.com "a"` + why},
			{"POST", "", named(`"generateName":"a-"`, red), nil, 403, `widgets.example.com` + why},
			{"POST", "", named(`"name":"BAD_NAME"`, `{"color":7}`), nil, 403, `widgets.example.com "BAD_NAME"` + why},
			{"POST", "", named(`"name":"held"`, red), nil, 403, `widgets.example.com "held"` + why},
			{"POST", "?fieldValidation=Strict", named(`"name":"a","x":1`, red), nil, 400, `Widget in version "v1" cannot be handled as a Widget: strict decoding error: unknown field "metadata.x"`},
			{"PATCH", "/a?fieldManager=m", named(`"name":"a"`, red), apply, 403, `widgets.example.com "a"` + why},
			{"PATCH", "/a?fieldManager=m&dryRun=All", named(`"name":"a"`, red), apply, 403, `widgets.example.com "a"` + why},
			{"PUT", "/a", named(`"name":"a"`, red), nil, 404, `widgets.example.com "a" not found`},
			{"PATCH", "/a", `{"spec":{"color":"green"}}`, merge, 404, `widgets.example.com "a" not found`},
			{"PATCH", "/held?fieldManager=m&force=true", named(`"name":"held"`, `{"color":"red","size":2}`), apply, 200, ""},
			{"PATCH", "/held/status", `{"status":{"ready":1}}`, merge, 200, ""},
		} {
			code, doc := s.do(row.method, widgetsPath+row.path, row.body, row.header...)
			assert.Equal(t, row.code, code, "%s %s %s: %v", row.method, row.path, row.body, doc)
			if row.message != "" {
				assert.Equal(t, row.message, doc["message"])
			}
		}
		reads := []any{"delete", "deletecollection", "get", "list", "watch"}
		_, doc := s.do("GET", "/apis/example.com/v1", "")
		assert.Equal(t, reads, doc["resources"].([]any)[0].(map[string]any)["verbs"])
		_, doc = s.do("GET", "/apis", "", "Accept", "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList")
		assert.Contains(t, fmt.Sprint(doc), fmt.Sprint(reads))

		// A fork, an update of the schema, and the Go API have the same rule.
		fork, err := s.api.Store().Fork()
		require.NoError(t, err)
		t.Cleanup(fork.Close)
		api := s.api.Fork(fork, httpapi.Options{})
		t.Cleanup(api.Close)
		patch := `[{"op":"add","path":"/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/more","value":{"type":"string"}}]`
		code, _ = s.do("PATCH", definitionsPath+"/widgets.example.com", patch, "Content-Type", "application/json-patch+json")
		require.Equal(t, 200, code)
		synctest.Wait()
		for _, api := range []*httpapi.API{s.api, api} {
			kinds := api.Kinds()
			widgets, err := store.As[store.Unstructured](kinds[len(kinds)-1])
			require.NoError(t, err)
			_, err = widgets.In(api.Store()).Create(t.Context(), &store.Unstructured{
				ObjectMeta: meta.ObjectMeta{Namespace: "ns", Name: "go"}, Content: map[string]any{"spec": map[string]any{"color": "red"}},
			}, store.CreateOptions{})
			assert.ErrorContains(t, err, why)
		}

		code, _ = s.do("PATCH", widgetsPath+"/held", `{"metadata":{"finalizers":null}}`, merge...)
		require.Equal(t, 200, code)
		time.Sleep(time.Minute)
		code, _ = s.do("GET", definitionsPath+"/widgets.example.com", "")
		require.Equal(t, 404, code)
		s.define(widgets)
		code, doc = s.do("POST", widgetsPath, widget(red))
		assert.Equal(t, 201, code, "%v", doc)
	})
}

// A definition that keeps a finalizer of another controller outlives its objects, and then takes new ones (upstream:
// apiserver/customresource_handler.go, which asks for the condition Terminating).
func TestObjectsAreCreatedAgainWhileAnotherFinalizerKeepsTheDefinition(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := live(t, newStore(t, store.Options{}))
		s.define(strings.Replace(widgets, "metadata: {", "metadata: {finalizers: [example.com/hold], ", 1))
		code, _ := s.do("POST", widgetsPath, widget(`{"color":"red"}`))
		require.Equal(t, 201, code)
		code, _ = s.do("DELETE", definitionsPath+"/widgets.example.com", "")
		require.Equal(t, 200, code)
		synctest.Wait()
		assert.Contains(t, s.conditions("widgets.example.com"), "Terminating False InstanceDeletionCompleted removed all instances")
		code, _ = s.do("GET", widgetsPath+"/w", "")
		assert.Equal(t, 404, code)
		code, doc := s.do("POST", widgetsPath, widget(`{"color":"red"}`))
		assert.Equal(t, 201, code, "%v", doc)
	})
}

// countingClock counts how often the time is asked for, which each attempt of a write does.
type countingClock struct {
	clock.Real
	asked atomic.Int64
}

func (c *countingClock) Now() time.Time {
	c.asked.Add(1)
	return c.Real.Now()
}

func versionOf(t *testing.T, st *store.Store) int {
	version, err := strconv.Atoi(st.ResourceVersion())
	require.NoError(t, err)
	return version
}

// Twice the definitions of a group cost twice the writes.
func TestTheDefinitionsOfAGroupCostNoMoreThanThoseOfOthers(t *testing.T) {
	writes := func(n int, group func(i int) string) (asked int64) {
		synctest.Test(t, func(t *testing.T) {
			clk := &countingClock{}
			st := newStore(t, store.Options{Clock: clk})
			var all []string
			for i := range n {
				all = append(all, defining(fmt.Sprintf("kind%ds", i), group(i), fmt.Sprintf("Kind%d", i), "Cluster"))
			}
			require.NoError(t, fixture.Load(t.Context(), st, fixture.Options{Kinds: []kind.Kind{crd.Definitions()}}, textOf(strings.Join(all, "\n---\n"))))
			before, version := clk.asked.Load(), versionOf(t, st)
			s := live(t, st)
			synctest.Wait()
			asked = clk.asked.Load() - before
			assert.EqualValues(t, 2*n, versionOf(t, st)-version, "a write of the names and one of Established for each")
			assert.Contains(t, s.conditions(fmt.Sprintf("kind%ds.%s", n-1, group(n-1))), "Established True InitialNamesAccepted the initial names have been accepted")
		})
		return asked
	}
	const n = 40
	apart := writes(n, func(i int) string { return fmt.Sprintf("g%d.example.com", i) })
	together := writes(n, func(int) string { return "example.com" })
	assert.InDelta(t, apart, together, float64(apart)/10)
}
