package httpapi_test

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/internal/kinds"
	"github.com/kubecoord/kubecoord/internal/registry"
	"github.com/kubecoord/kubecoord/lease"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/clock"
	"github.com/kubecoord/kubecoord/store/kind"
	"github.com/kubecoord/kubecoord/store/meta"
)

// widgetKind returns a kind for bodies of widgetNamed.
func widgetKind(t testing.TB, change func(d *kind.Descriptor[meta.Object])) kind.Kind {
	t.Helper()
	d := kind.Descriptor[meta.Object]{
		Resource: kind.Resource{Group: "example.com", Kind: "Widget"},
		New:      func() kinds.Object { return &widget{} },
		Versions: []kind.Version[meta.Object]{{Name: "v1"}},
	}
	if change != nil {
		change(&d)
	}
	k, err := kinds.NewKind(d)
	require.NoError(t, err)
	return k
}

func TestKindIsAddedAndRemoved(t *testing.T) {
	s, ctx, kind := newServer(t), t.Context(), widgetKind(t, nil)
	assert.Equal(t, 404, s.do(t, "GET", widgets, "").Code)
	v2 := s.do(t, "GET", "/openapi/v2", "").Header.Get("Etag")
	discovery := s.do(t, "GET", "/apis", "", "Accept", typeJSON+aggregatedV2).Header.Get("Etag")

	require.NoError(t, s.api.AddKinds(ctx, kind))
	require.NoError(t, s.api.AddKinds(ctx, kind), "a second time")
	s.must(t, "POST", widgets, widgetNamed("a"))
	assert.Equal(t, "example.com", s.must(t, "GET", "/apis", "").at("groups", 1, "name"))
	assert.NotEqual(t, discovery, s.do(t, "GET", "/apis", "", "Accept", typeJSON+aggregatedV2).Header.Get("Etag"))
	assert.NotEqual(t, v2, s.do(t, "GET", "/openapi/v2", "").Header.Get("Etag"))
	assert.Equal(t, 200, s.do(t, "GET", "/openapi/v3/apis/example.com/v1", "").Code)

	w := s.watch(t, widgets+"?watch=true")
	w.wants("ADDED a")
	require.NoError(t, s.api.RemoveKinds(ctx, httpapi.RemoveOptions{}, kind))
	_, err := w.next()
	assert.Equal(t, io.EOF, err)
	assert.Equal(t, 404, s.do(t, "GET", widgets, "").Code)
	assert.Equal(t, 404, s.do(t, "GET", "/openapi/v3/apis/example.com/v1", "").Code)
	assert.Equal(t, v2, s.do(t, "GET", "/openapi/v2", "").Header.Get("Etag"))
	assert.ErrorContains(t, s.api.RemoveKinds(ctx, httpapi.RemoveOptions{}, kind), "the kind widgets.example.com is not served")

	require.NoError(t, s.api.AddKinds(ctx, kind))
	assert.Equal(t, 200, s.do(t, "GET", widgets+"/a", "").Code, "its objects have stayed")
}

// A request that began before its kind was removed with its objects stores nothing that a later kind of the name would have.
func TestRequestInFlightWhileItsKindIsRemoved(t *testing.T) {
	inFlight := func() {}
	s := newServerWith(t, store.Options{}, httpapi.Options{Authorize: func(httpapi.Attributes) (bool, string) {
		inFlight()
		return true, ""
	}})
	k := widgetKind(t, nil)
	require.NoError(t, s.api.AddKinds(t.Context(), k))
	s.must(t, "POST", widgets, widgetNamed("a"))
	inFlight = func() {
		inFlight = func() {}
		require.NoError(t, s.api.RemoveKinds(t.Context(), httpapi.RemoveOptions{Objects: true}, k))
	}
	assert.Equal(t, 404, s.do(t, "POST", widgets, widgetNamed("b")).Code)
	require.NoError(t, s.api.AddKinds(t.Context(), k))
	assert.Empty(t, s.must(t, "GET", widgets, "").at("items"))
}

const aggregatedV2 = ";g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"

// A clock that stands still does not keep a client with the OpenAPI index of before a change.
func TestOpenAPIIndexIsReadAgainAfterAChange(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	s := newServerWith(t, store.Options{Clock: clock.Func(func() time.Time { return at })}, httpapi.Options{})
	modified := s.do(t, "GET", "/openapi/v3", "").Header.Get("Last-Modified")
	assert.Equal(t, 304, s.do(t, "GET", "/openapi/v3", "", "If-Modified-Since", modified).Code)
	require.NoError(t, s.api.AddKinds(t.Context(), widgetKind(t, nil)))
	after := s.do(t, "GET", "/openapi/v3", "", "If-Modified-Since", modified)
	assert.Equal(t, 200, after.Code)
	assert.Contains(t, after.Body, "apis/example.com/v1")
}

func TestTwoKindsOfOneNameChangeNothing(t *testing.T) {
	s, ctx := newServer(t), t.Context()
	require.NoError(t, s.api.AddKinds(ctx, widgetKind(t, nil)))
	before := s.api.Kinds()
	for name, row := range map[string]struct {
		change func(d *kind.Descriptor[meta.Object])
		text   string
	}{
		"plural": {func(d *kind.Descriptor[meta.Object]) { d.Resource.Kind, d.Resource.Plural = "Other", "widgets" },
			`httpapi: got the kinds Widget (widgets) and Other (widgets) in the group "example.com", want kinds whose names and plurals differ`},
		"kind": {func(d *kind.Descriptor[meta.Object]) { d.Resource.Plural = "others" },
			`httpapi: got the kinds Widget (widgets) and Widget (others) in the group "example.com", want kinds whose names and plurals differ`},
	} {
		t.Run(name, func(t *testing.T) {
			gadget := widgetKind(t, func(d *kind.Descriptor[meta.Object]) { d.Resource.Kind = "Gadget" })
			assert.EqualError(t, s.api.AddKinds(ctx, gadget, widgetKind(t, row.change)), row.text)
			assert.Equal(t, before, s.api.Kinds())
		})
	}
	assert.PanicsWithValue(t, `httpapi: got the kinds Lease (leases) and Other (leases) in the group "coordination.k8s.io", want kinds whose names and plurals differ`, func() {
		httpapi.New(s.st, httpapi.Options{Kinds: []kind.Kind{widgetKind(t, func(d *kind.Descriptor[meta.Object]) {
			d.Resource.Group, d.Resource.Kind, d.Resource.Plural = "coordination.k8s.io", "Other", "leases"
		})}})
	})
	assert.ErrorContains(t, s.api.ReplaceKind(ctx, widgetKind(t, nil), lease.Kind()), "widgets.example.com is not served")
	assert.ErrorContains(t, s.api.ReplaceKind(ctx, lease.Kind(), widgetKind(t, nil)), "want the same group, plural and scope")
	assert.Equal(t, before, s.api.Kinds())
}

// coloured is a widget after an update of its definition.
type coloured struct {
	meta.TypeMeta   `json:",inline"`
	meta.ObjectMeta `json:"metadata" protobuf:"1"`
	Spec            colouredSpec `json:"spec" protobuf:"2"`
}

type colouredSpec struct {
	Colour string `json:"colour,omitempty" protobuf:"2"`
}

func TestReplacedKindKeepsItsObjects(t *testing.T) {
	s, ctx, old := newServer(t), t.Context(), widgetKind(t, nil)
	require.NoError(t, s.api.AddKinds(ctx, old))
	s.must(t, "POST", widgets, `{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"a"},"spec":{"size":3}}`)
	before := s.must(t, "GET", widgets, "").at("metadata", "resourceVersion").(string)
	s.must(t, "POST", leases, leaseNamed("x")) // a real server has other writes, such as the write of the definition
	w := s.watch(t, widgets+"?watch=true")
	w.wants("ADDED a")

	next := widgetKind(t, func(d *kind.Descriptor[meta.Object]) {
		d.New = func() kinds.Object { return &coloured{} }
		d.Strategy.Default = func(o kinds.Object) {
			o.(*coloured).Spec.Colour = cmp.Or(o.(*coloured).Spec.Colour, "red")
		}
		d.Versions = []kind.Version[meta.Object]{{Name: "v2"}, {Name: "v1"}}
	})
	require.NoError(t, s.api.ReplaceKind(ctx, old, next))
	_, err := w.next()
	assert.Equal(t, io.EOF, err)
	got := s.must(t, "GET", "/apis/example.com/v2/namespaces/default/widgets/a", "")
	assert.Equal(t, map[string]any{"colour": "red"}, got["spec"], "pruned and defaulted by the new schema")
	assert.Equal(t, before, got.at("metadata", "resourceVersion"))

	w = s.watch(t, widgets+"?watch=true&resourceVersion="+before)
	w.wants("ERROR <nil>")
	list := s.must(t, "GET", widgets, "")
	w = s.watch(t, widgets+"?watch=true&resourceVersion="+list.at("metadata", "resourceVersion").(string))
	s.must(t, "PATCH", widgets+"/a", `{"spec":{"colour":"blue"}}`, "Content-Type", "application/merge-patch+json")
	w.wants("MODIFIED a")
	s.must(t, "DELETE", widgets+"/a", "")
	w.wants("DELETED a")
	assert.EqualValues(t, 1, s.st.Len(lease.Kind()))
}

// A store may be forked while the kind changes: the fork has the old kind or the new one, and the API that is forked after it the other.
func TestForkWhileAKindChanges(t *testing.T) {
	s, ctx, old, next := newServer(t), t.Context(), widgetKind(t, nil), widgetKind(t, nil)
	require.NoError(t, s.api.AddKinds(ctx, old))
	s.must(t, "POST", widgets, widgetNamed("a"))
	before, err := s.api.Store().Fork()
	require.NoError(t, err)
	after, err := before.Fork()
	require.NoError(t, err)
	require.NoError(t, (*registry.Store)(after).Register(ctx, kinds.Of(next)))
	writes := func(st *store.Store) {
		api := s.api.Fork(st, httpapi.Options{})
		defer st.Close()
		defer api.Close()
		fork := &server{api: api}
		fork.must(t, "POST", widgets, widgetNamed("b"))
		assert.Len(t, fork.must(t, "GET", widgets, "")["items"], 2)
	}
	writes(after) // the API has the old kind
	require.NoError(t, s.api.ReplaceKind(ctx, old, next))
	writes(before)
}

// Requests in flight see one state or the other: an answer is never a mixture, and no write is lost.
func TestKindsChangeDuringRequests(t *testing.T) {
	s := newServer(t)
	kind := widgetKind(t, nil)
	require.NoError(t, s.api.AddKinds(t.Context(), kind))
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	var mu sync.Mutex
	var made []string
	for worker := range 3 {
		wg.Go(func() {
			for i := 0; ctx.Err() == nil; i++ {
				name := fmt.Sprintf("w%d-%d", worker, i)
				switch a := s.do(t, "POST", widgets, widgetNamed(name)); a.Code {
				case 201:
					mu.Lock()
					made = append(made, name)
					mu.Unlock()
				case 429:
					assert.Equal(t, "1", a.Header.Get("Retry-After"))
				default:
					assert.Fail(t, a.Body)
				}
				if a := s.do(t, "GET", widgets, ""); a.Code != 200 && a.Code != 429 {
					assert.Fail(t, a.Body)
				}
			}
		})
	}
	for range 50 {
		next := widgetKind(t, nil)
		require.NoError(t, s.api.ReplaceKind(t.Context(), kind, next))
		kind = next
	}
	cancel()
	wg.Wait()
	assert.Len(t, s.must(t, "GET", widgets, "")["items"], len(made))
}

// The answers come from a kube-apiserver for selfsubjectaccessreviews, componentstatuses and namespaces.
func TestVerbsThatAKindDoesNotHave(t *testing.T) {
	named := func(name string, clusterScoped bool, verbs ...string) kind.Kind {
		return widgetKind(t, func(d *kind.Descriptor[meta.Object]) {
			d.Native = &kind.Native[meta.Object]{}
			d.Resource.Kind, d.Resource.ClusterScoped, d.Resource.Verbs, d.Resource.Categories = name, clusterScoped, verbs, []string{"all"}
			d.Strategy.Create.Prepare = func(_ context.Context, o kinds.Object) { o.(*widget).Spec.Size = 7 }
		})
	}
	s := newServerWith(t, store.Options{}, httpapi.Options{Kinds: []kind.Kind{
		named("Review", true, "create"), named("LocalReview", false, "create"), named("Fact", true, "get", "list"),
		named("Place", true, "create", "delete", "get", "list", "patch", "update", "watch"),
	}})
	const root = "/apis/example.com/v1/"
	for _, row := range []struct {
		method, path string
		code         int
	}{
		{"GET", "reviews", 405}, {"GET", "reviews/x", 404}, {"POST", "reviews/x", 404}, {"GET", "watch/reviews", 404},
		{"POST", "localreviews", 404}, {"GET", "localreviews", 404}, {"GET", "namespaces/a/localreviews", 405},
		{"POST", "facts", 405}, {"DELETE", "facts/x", 405}, {"PUT", "facts/x", 405}, {"GET", "facts", 200}, {"GET", "watch/facts", 404},
		{"DELETE", "places", 405}, {"GET", "places", 200},
	} {
		assert.Equal(t, row.code, s.do(t, row.method, root+row.path, "").Code, "%s %s", row.method, row.path)
	}
	resources := s.must(t, "GET", "/apis/example.com/v1", "")["resources"].([]any)
	assert.Equal(t, map[string]any{
		"name": "facts", "singularName": "fact", "namespaced": false, "kind": "Fact", "verbs": []any{"get", "list"}, "categories": []any{"all"},
	}, resources[0])
	found := s.must(t, "GET", "/apis", "", "Accept", typeJSON+aggregatedV2)
	assert.Equal(t, []any{"create"}, found.at("items", 1, "versions", 0, "resources", 1, "verbs"))
	assert.Equal(t, []any{"all"}, found.at("items", 1, "versions", 0, "resources", 1, "categories"))
	paths := s.must(t, "GET", "/openapi/v3/apis/example.com/v1", "")["paths"].(map[string]any)
	assert.Contains(t, paths, root+"reviews")
	assert.NotContains(t, paths, root+"reviews/{name}")
	assert.NotContains(t, paths[root+"places"], "delete")

	answered := s.must(t, "POST", root+"reviews", `{"spec":{"size":1}}`, "User-Agent", "me/1")
	assert.EqualValues(t, 7, answered.at("spec", "size"))
	assert.Equal(t, []string{"managedFields"}, keysOf(answered["metadata"]), "it has neither a uid nor a time")
}

func keysOf(m any) (keys []string) {
	for k := range m.(map[string]any) {
		keys = append(keys, k)
	}
	return keys
}

// Every way to create an object prepares it, and only counted updates have a generation.
func TestPrepareForCreateAndCounts(t *testing.T) {
	s := newServerWith(t, store.Options{}, httpapi.Options{Kinds: []kind.Kind{widgetKind(t, func(d *kind.Descriptor[meta.Object]) {
		d.Native = &kind.Native[meta.Object]{}
		d.Strategy.Update.CreateMissing, d.Strategy.Update.Unconditional = true, true
		d.Strategy.Create.Prepare = func(_ context.Context, o kinds.Object) { o.(*widget).Spec.Size = 7 }
		d.Strategy.Update.Counts = func(o, old kinds.Object) bool { return o.(*widget).Spec != old.(*widget).Spec }
	})}})
	for name, create := range map[string]func(name string) tree{
		"post": func(name string) tree { return s.must(t, "POST", widgets, widgetNamed(name)) },
		"put":  func(name string) tree { return s.must(t, "PUT", widgets+"/"+name, widgetNamed(name)) },
		"apply": func(name string) tree {
			return s.must(t, "PATCH", widgets+"/"+name+"?fieldManager=me", widgetNamed(name), "Content-Type", "application/apply-patch+yaml")
		},
	} {
		t.Run(name, func(t *testing.T) {
			created := create(name)
			assert.EqualValues(t, 7, created.at("spec", "size"))
			assert.EqualValues(t, 1, created.at("metadata", "generation"))
		})
	}
	merge := func(patch string) tree {
		return s.must(t, http.MethodPatch, widgets+"/post", patch, "Content-Type", "application/merge-patch+json")
	}
	assert.EqualValues(t, 1, merge(`{"metadata":{"labels":{"a":"b"}}}`).at("metadata", "generation"))
	assert.EqualValues(t, 2, merge(`{"spec":{"size":8}}`).at("metadata", "generation"))
}
