package kube_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"

	"github.com/kubecoord/kubecoord/httpapi/apitest"
	"github.com/kubecoord/kubecoord/httpapi/kube/crd"
	"github.com/kubecoord/kubecoord/httpapi/kube/scheme"
	"github.com/kubecoord/kubecoord/store/fixture"
	"github.com/kubecoord/kubecoord/store/kind"
)

// This file shows that what package apitest does with Leases it does with all kinds: a built-in one, and one of a
// CustomResourceDefinition.

// everyKind returns the kinds of client-go and the one in testdata/backup.
var everyKind = sync.OnceValues(func() ([]kind.Kind, error) {
	builtin, err := scheme.Kinds(clientgoscheme.Scheme, scheme.Options{})
	if err != nil {
		return nil, err
	}
	data, err := os.ReadFile("testdata/backup/crd.yaml")
	if err != nil {
		return nil, err
	}
	defined, err := crd.Parse(data)
	return append(builtin, defined...), err
})

func serve(t *testing.T, o apitest.Options) *apitest.API {
	t.Helper()
	all, err := everyKind()
	require.NoError(t, err)
	o.API.Kinds = all
	return apitest.New(t, o)
}

// sample is a kind with an object.
type sample struct {
	resource schema.GroupVersionResource
	object   func(name string) *unstructured.Unstructured
	field    []string // a string in its spec or data
}

func samples() map[string]sample {
	parse := func(format string) func(string) *unstructured.Unstructured {
		return func(name string) *unstructured.Unstructured {
			u := &unstructured.Unstructured{}
			if err := u.UnmarshalJSON(fmt.Appendf(nil, format, name)); err != nil {
				panic(err)
			}
			return u
		}
	}
	return map[string]sample{
		"built in": {
			schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"},
			parse(`{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"namespace":"ns","name":%q},"spec":{"selector":{"matchLabels":{"a":"b"}},
				"template":{"metadata":{"labels":{"a":"b"}},"spec":{"hostname":"first","containers":[{"name":"c","image":"i"}]}}}}`),
			[]string{"spec", "template", "spec", "hostname"},
		},
		"custom": {
			schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "backups"},
			parse(`{"apiVersion":"example.com/v1","kind":"Backup","metadata":{"namespace":"ns","name":%q},"spec":{"schedule":"first"}}`),
			[]string{"spec", "schedule"},
		},
	}
}

// forEachSample runs a test in virtual time with an API and the objects of a sample, as client-go's dynamic client has them.
func forEachSample(t *testing.T, o func() apitest.Options, test func(t *testing.T, api *apitest.API, s sample)) {
	_, err := everyKind() // outside of the bubble
	require.NoError(t, err)
	for name, s := range samples() {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { test(t, serve(t, o()), s) })
		})
	}
}

func noOptions() apitest.Options { return apitest.Options{} }

func (s sample) in(t *testing.T, api *apitest.API, client string) dynamic.ResourceInterface {
	t.Helper()
	c, err := dynamic.NewForConfig(&rest.Config{Host: api.Host(), Transport: api.TransportFor(client), QPS: -1})
	require.NoError(t, err)
	return c.Resource(s.resource).Namespace("ns")
}

func (s sample) set(t *testing.T, u *unstructured.Unstructured, value string) *unstructured.Unstructured {
	t.Helper()
	require.NoError(t, unstructured.SetNestedField(u.Object, value, s.field...))
	return u
}

func (s sample) value(u *unstructured.Unstructured) string {
	v, _, _ := unstructured.NestedString(u.Object, s.field...)
	return v
}

func (s sample) create(t *testing.T, in dynamic.ResourceInterface, name string) *unstructured.Unstructured {
	t.Helper()
	u, err := in.Create(t.Context(), s.object(name), metav1.CreateOptions{})
	require.NoError(t, err)
	return u
}

func TestFaultsAndTheLogOfRequestsKnowEveryKind(t *testing.T) {
	forEachSample(t, noOptions, func(t *testing.T, api *apitest.API, s sample) {
		objects := s.in(t, api, "me")
		a := s.set(t, s.create(t, objects, "a"), "second")
		conflict := api.Fault(apitest.Answer(409).First(1), apitest.Match{Verb: "update", Resource: s.resource.Resource})
		lost := api.Fault(apitest.CutAfter().First(1), apitest.Match{Verb: "patch", Resource: s.resource.Resource, Subresource: "status"})
		_, err := objects.Update(t.Context(), a, metav1.UpdateOptions{})
		assert.True(t, apierrors.IsConflict(err), "%v", err)
		_, err = objects.Update(t.Context(), a, metav1.UpdateOptions{})
		require.NoError(t, err)
		_, err = objects.Patch(t.Context(), "a", types.MergePatchType, []byte(`{"metadata":{"labels":{"a":"b"}}}`), metav1.PatchOptions{}, "status")
		assert.Error(t, err, "the answer is lost")
		assert.Equal(t, []int{1, 1}, []int{conflict.Hits(), lost.Hits()})
		r := s.resource.Resource
		api.Requests().Assert(t, "create "+r+" ns/a 201", "update "+r+" ns/a 409", "update "+r+" ns/a 200", "patch "+r+"/status ns/a cut")
	})
}

func TestForksOfEveryKindAreIndependent(t *testing.T) {
	forEachSample(t, noOptions, func(t *testing.T, api *apitest.API, s sample) {
		first := s.create(t, s.in(t, api, "me"), "a")
		fork := api.Fork(t)
		_, err := s.in(t, fork, "me").Update(t.Context(), s.set(t, first.DeepCopy(), "forked"), metav1.UpdateOptions{})
		require.NoError(t, err)
		got, err := s.in(t, api, "me").Get(t.Context(), "a", metav1.GetOptions{})
		require.NoError(t, err)
		assert.Equal(t, "first", s.value(got))
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		w, err := s.in(t, fork, "me").Watch(ctx, metav1.ListOptions{ResourceVersion: first.GetResourceVersion()})
		require.NoError(t, err)
		defer w.Stop()
		ev := <-w.ResultChan()
		assert.Equal(t, "forked", s.value(ev.Object.(*unstructured.Unstructured)))
	})
}

func TestVerdictFindsLostUpdatesOfEveryKind(t *testing.T) {
	forEachSample(t, noOptions, func(t *testing.T, api *apitest.API, s sample) {
		mine, yours := s.in(t, api, "mine"), s.in(t, api, "yours")
		first := s.create(t, mine, "a")
		_, err := yours.Update(t.Context(), s.set(t, first.DeepCopy(), "yours"), metav1.UpdateOptions{})
		require.NoError(t, err)
		assert.Empty(t, api.Verdict().LostUpdates)
		patch := s.set(t, &unstructured.Unstructured{Object: map[string]any{}}, "mine")
		data, err := patch.MarshalJSON()
		if err != nil { // it has no kind
			data = fmt.Appendf(nil, `{"%s":"mine"%s`, strings.Join(s.field, `":{"`), strings.Repeat("}", len(s.field)))
		}
		_, err = mine.Patch(t.Context(), "a", types.MergePatchType, data, metav1.PatchOptions{})
		require.NoError(t, err)
		require.Len(t, api.Verdict().LostUpdates, 1)
		assert.Contains(t, api.Verdict().LostUpdates[0].Text, s.resource.Resource)
	})
}

func TestADumpOfEveryKindLoadsAgain(t *testing.T) {
	forEachSample(t, noOptions, func(t *testing.T, api *apitest.API, s sample) {
		objects := s.in(t, api, "me")
		s.create(t, objects, "a")
		applied := s.set(t, s.object("b"), "applied")
		_, err := objects.Apply(t.Context(), "b", applied, metav1.ApplyOptions{FieldManager: "applier"})
		require.NoError(t, err)
		dumped := api.Dump(fixture.DumpOptions{})
		again := serve(t, apitest.Options{Fixtures: []fixture.Source{fixture.Stream("dump.yaml", strings.NewReader(dumped))}})
		assert.Equal(t, dumped, again.Dump(fixture.DumpOptions{}))
		want, err := objects.Get(t.Context(), "b", metav1.GetOptions{})
		require.NoError(t, err)
		got, err := s.in(t, again, "me").Get(t.Context(), "b", metav1.GetOptions{})
		require.NoError(t, err)
		assert.Equal(t, want, got)
	})
}
