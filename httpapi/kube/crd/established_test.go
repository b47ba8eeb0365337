package crd_test

import (
	"context"
	"fmt"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/httpapi/apitest"
	"github.com/kubecoord/kubecoord/httpapi/kube"
	"github.com/kubecoord/kubecoord/httpapi/kube/crd"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/clock"
	"github.com/kubecoord/kubecoord/store/kind"
)

func gears() *apiextensionsv1.CustomResourceDefinition {
	return &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: "gears.example.com", Labels: map[string]string{"a": "b"}},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: "example.com", Scope: apiextensionsv1.NamespaceScoped,
			Names: apiextensionsv1.CustomResourceDefinitionNames{Plural: "gears", Kind: "Gear", ShortNames: []string{"g"}},
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{
				Name: "v1", Served: true, Storage: true,
				Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{Type: "object"}},
			}},
		},
	}
}

func ExampleInstall() {
	established, err := crd.Establish(gears(), "example")
	if err != nil {
		fmt.Println(err)
		return
	}
	st := store.New(store.Options{})
	defer st.Close()
	api := httpapi.New(st, httpapi.Options{Kinds: []kind.Kind{crd.Definitions()}, Parts: []httpapi.Part{httpapi.Controller(crd.Run)}})
	defer api.Close()
	crds, err := crd.Install(context.Background(), api, established)
	fmt.Println(crds[0].Status.AcceptedNames.ListKind, err)
	// Output: GearList <nil>
}

// A definition that is installed has the state of one that a client creates.
func TestInstalledDefinitionsAreLikeCreatedOnes(t *testing.T) {
	newAPI := func() *apitest.API {
		return apitest.New(t, apitest.Options{API: httpapi.Options{
			Kinds: []kind.Kind{crd.Definitions()}, Parts: []httpapi.Part{httpapi.Controller(crd.Run)},
		}})
	}
	stateOf := func(api *apitest.API) *apiextensionsv1.CustomResourceDefinition {
		all, err := kube.In[apiextensionsv1.CustomResourceDefinition](crd.Definitions(), api.Store())
		require.NoError(t, err)
		for ev, err := range all.Follow(t.Context(), store.WatchOptions{}) {
			require.NoError(t, err)
			if got := ev.Object; len(got.Status.Conditions) == 2 && got.Status.Conditions[1].Status == apiextensionsv1.ConditionTrue {
				got.UID, got.ResourceVersion, got.CreationTimestamp = "", "", metav1.Time{}
				for i := range got.ManagedFields {
					got.ManagedFields[i].Time = nil
				}
				// Entries are in the order of their times, and the second may end between two writes.
				slices.SortFunc(got.ManagedFields, func(a, b metav1.ManagedFieldsEntry) int { return strings.Compare(a.Manager, b.Manager) })
				for i := range got.Status.Conditions {
					got.Status.Conditions[i].LastTransitionTime = metav1.Time{}
				}
				return got
			}
		}
		return nil
	}
	created, installed := newAPI(), newAPI()
	definitions, err := kube.In[apiextensionsv1.CustomResourceDefinition](crd.Definitions(), created.Store())
	require.NoError(t, err)
	_, err = definitions.Create(t.Context(), gears(), store.CreateOptions{FieldManager: "test"})
	require.NoError(t, err)
	established, err := crd.Establish(gears(), "test")
	require.NoError(t, err)
	_, err = crd.Install(t.Context(), installed.Handler(), established)
	require.NoError(t, err)
	want := stateOf(created)
	assert.Equal(t, want, stateOf(installed))
	assert.Equal(t, want, stateOf(installed.Fork(t)))

	_, err = crd.Install(t.Context(), installed.Handler(), established)
	assert.Error(t, err, "it is there already")
}

// The first requests to a later API of the store find the kind of an installed definition as a client has changed it meanwhile.
func TestAnInstalledDefinitionIsServedAsItWasChanged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := newStore(t, store.Options{})
		s := live(t, st)
		established, err := crd.Establish(gears(), "test")
		require.NoError(t, err)
		_, err = crd.Install(t.Context(), s.api, established)
		require.NoError(t, err)
		code, doc := s.do("PATCH", definitionsPath+"/gears.example.com", `{"spec":{"names":{"shortNames":["gr"]}}}`, "Content-Type", "application/merge-patch+json")
		require.Equal(t, 200, code, "%v", doc)
		synctest.Wait()
		shortNames := func(s *server) any {
			_, doc := s.do("GET", "/apis/example.com/v1", "")
			return doc["resources"].([]any)[0].(map[string]any)["shortNames"]
		}
		require.Equal(t, []any{"gr"}, shortNames(s))
		s.api.Close()
		later := httpapi.New(st, httpapi.Options{Kinds: []kind.Kind{crd.Definitions()}}) // no Run, which comes later
		t.Cleanup(later.Close)
		assert.Equal(t, []any{"gr"}, shortNames(&server{t, later, http.Client{Transport: later.Transport()}}))
		runtime.KeepAlive(established)
	})
}

func TestInstallRefusesANameThatIsServed(t *testing.T) {
	api := apitest.New(t, apitest.Options{API: options()}).Handler()
	established, err := crd.Establish(gears(), "test")
	require.NoError(t, err)
	_, err = crd.Install(t.Context(), api, established)
	require.NoError(t, err)
	cogs := gears()
	cogs.Name, cogs.Spec.Names.Plural, cogs.Spec.Names.Kind = "cogs.example.com", "cogs", "Cog"
	other, err := crd.Establish(cogs, "test")
	require.NoError(t, err)
	before := len(api.Kinds())
	_, err = crd.Install(t.Context(), api, other)
	assert.EqualError(t, err, `crd: CustomResourceDefinition "gears.example.com": spec.names: "g" is already in use by "cogs.example.com"`)
	assert.Len(t, api.Kinds(), before)
}

// Each store has its own times of the conditions.
func TestInstalledDefinitionsShareNoTimes(t *testing.T) {
	established, err := crd.Establish(gears(), "test")
	require.NoError(t, err)
	var all []*server
	for year := 2001; year <= 2002; year++ {
		s := live(t, newStore(t, store.Options{Clock: clock.NewManual(time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC))}))
		_, err = crd.Install(t.Context(), s.api, established)
		require.NoError(t, err)
		all = append(all, s)
	}
	for i, s := range all {
		_, doc := s.do("GET", definitionsPath+"/gears.example.com", "")
		for _, c := range doc["status"].(map[string]any)["conditions"].([]any) {
			assert.Equal(t, fmt.Sprintf("%d-01-01T00:00:00Z", 2001+i), c.(map[string]any)["lastTransitionTime"])
		}
	}
}

func TestDefinitionsOfTheCallerAreNotChanged(t *testing.T) {
	of := gears()
	_, err := crd.Kinds(of)
	require.NoError(t, err)
	_, err = crd.Establish(of, "test")
	require.NoError(t, err)
	assert.Equal(t, gears(), of)
}
