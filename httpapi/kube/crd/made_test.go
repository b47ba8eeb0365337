package crd_test

import (
	"fmt"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/httpapi/kube/crd"
	"github.com/kubecoord/kubecoord/store"
)

// large returns a definition with many fields.
func large(version int) string {
	var b strings.Builder
	for i := range 200 {
		fmt.Fprintf(&b, "              f%d: {type: string, description: version %d}\n", i, version)
	}
	return strings.Replace(widgets, "              size: {type: integer}\n", "              size: {type: integer}\n"+b.String(), 1)
}

// collect collects garbage until the memory of the process has at most so many kinds and installed definitions. What other
// tests have left may go too.
func collect(rounds, kinds, installed int) (haveKinds, haveInstalled int) {
	for range rounds {
		runtime.GC()
		if haveKinds, haveInstalled = crd.Remembered(); haveKinds <= kinds && haveInstalled <= installed {
			break
		}
		runtime.Gosched() // the cleanups have a goroutine of their own
	}
	return haveKinds, haveInstalled
}

func TestKindsThatNothingUsesAreForgotten(t *testing.T) {
	beforeKinds, beforeInstalled := collect(5, 0, 0)
	cycles := func(t *testing.T) {
		st := store.New(store.Options{})
		defer st.Close()
		api := httpapi.New(st, options())
		defer api.Close()
		s := &server{t, api, http.Client{Transport: api.Transport()}}
		for i := range 5 {
			s.define(large(i))
			code, doc := s.do("POST", widgetsPath, widget(`{"color":"red"}`))
			require.Equal(t, 201, code, "%v", doc)
			code, _ = s.do("DELETE", definitionsPath+"/widgets.example.com", "")
			require.Equal(t, 200, code)
			synctest.Wait()
		}
		s.define(large(0))
		var established []*crd.Established
		for i := range 3 {
			definition := gears()
			definition.Name = fmt.Sprintf("gears%ds.example.com", i)
			definition.Spec.Names = apiextensionsv1.CustomResourceDefinitionNames{Plural: fmt.Sprintf("gears%ds", i), Kind: fmt.Sprintf("Gear%d", i)}
			e, err := crd.Establish(definition, "test")
			require.NoError(t, err)
			established = append(established, e)
		}
		_, err := crd.Install(t.Context(), api, established...)
		require.NoError(t, err)
		synctest.Wait()
		kinds, installed := collect(5, 0, 0)
		assert.GreaterOrEqual(t, kinds, 4, "those that the API serves")
		assert.GreaterOrEqual(t, installed, 3)
	}
	synctest.Test(t, cycles)
	kinds, installed := collect(200, beforeKinds, beforeInstalled)
	assert.LessOrEqual(t, kinds, beforeKinds)
	assert.LessOrEqual(t, installed, beforeInstalled)
}

// A kind that a fixture served is found again by the controller, also if the collector ran between.
func TestAKindLivesAsLongAsAnAPIServesIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := serve(t, crd.Definitions())
		require.NoError(t, s.api.Load(t.Context(), textOf(widgets)))
		served := s.api.Kinds()[len(s.api.Kinds())-1].Untyped()
		runtime.GC()
		again := parse(t, widgets)[0].Untyped()
		assert.Same(t, served, again)
	})
}
