package httpapi_test

import (
	"bytes"
	"context"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/internal/kinds"
	"github.com/kubecoord/kubecoord/internal/registry"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/field"
	"github.com/kubecoord/kubecoord/store/kind"
)

// panicking returns a kind each function of which panics for an object that has its name.
func panicking() kind.Kind {
	boom := func(e *engine, function string) {
		if e.Name == function {
			panic("no " + function + " today")
		}
	}
	d := engineDescriptor()
	convert := kind.FormOf(
		func(e *engine) *engineV2 { boom(e, "convert"); return &engineV2{ObjectMeta: e.ObjectMeta} },
		func(e *engineV2) *engine { return &engine{ObjectMeta: e.ObjectMeta} },
	)
	d.Versions[1].Form = convert
	d.Strategy = kind.Strategy[*engine]{
		Default:  func(e *engine) { boom(e, "default") },
		Validate: func(e, _ *engine) field.Errors { boom(e, "validate"); return nil },
		Warnings: func(e, _ *engine) []string { boom(e, "warnings"); return nil },
		Create:   kind.CreateStrategy[*engine]{Prepare: func(_ context.Context, e *engine) { boom(e, "prepare") }},
		Update: kind.UpdateStrategy[*engine]{
			Prepare:       func(e, _ *engine) { boom(e, "update") },
			Counts:        func(e, _ *engine) bool { boom(e, "counts"); return false },
			Unconditional: true,
		},
		Delete: kind.DeleteStrategy[*engine]{Grace: func(e *engine, _ *int64) int64 { boom(e, "grace"); return 0 }},
	}
	d.Native = &kind.Native[*engine]{CustomResource: true, EarlyWarnings: func(e *engine) []string { boom(e, "early"); return nil }}
	d.Table.Columns = []kind.Column[*engine]{{Name: "Name", Type: "string", Cell: func(e *engine, _ time.Time) any { boom(e, "cell"); return e.Name }}}
	d.SelectableFields = []kind.SelectableField[*engine]{{Path: "spec.speed", Value: func(e *engine) string { boom(e, "select"); return "0" }}}
	return store.MustKind(d)
}

const (
	panicText = "Internal error occurred: This request caused apiserver to panic. Look in the logs for details."
	asTableV1 = "application/json;as=Table;v=v1;g=meta.k8s.io"
)

// engineWith is the body of an engine.
func engineWith(name, more string) string {
	return `{"apiVersion":"example.com/v1","kind":"Engine","metadata":{"name":"` + name + `"` + more + `}}`
}

// A panic of any function of a kind costs one request, which is answered, and leaves nothing behind: each limit is 1 here.
func TestPanicOfAUsersFunctionIsAnswered(t *testing.T) {
	requests := []struct {
		name           string // of the object, and of the function that panics
		method, query  string
		body           string
		header         []string
		stored, create bool // the object is there before; the request is to the collection
	}{
		{name: "default", method: "POST", create: true},
		{name: "validate", method: "POST", create: true},
		{name: "warnings", method: "POST", create: true},
		{name: "prepare", method: "POST", create: true},
		{name: "early", method: "POST", create: true},
		{name: "default", method: "PATCH", header: []string{"Content-Type", applying}, query: "?fieldManager=m"},
		{name: "update", method: "PUT", stored: true},
		{name: "counts", method: "PATCH", stored: true, body: `{"spec":{"speed":2}}`, header: []string{"Content-Type", merge}},
		{name: "grace", method: "DELETE", stored: true, body: "{}"},
		{name: "grace", method: "DELETE", create: true, stored: true, body: "{}"},
		{name: "cell", method: "GET", stored: true, header: []string{"Accept", asTableV1}},
		{name: "cell", method: "GET", create: true, stored: true, header: []string{"Accept", asTableV1}},
		{name: "select", method: "GET", create: true, stored: true, query: "?fieldSelector=spec.speed%3D1"},
	}
	for _, row := range requests {
		t.Run(row.method+" "+row.name, func(t *testing.T) {
			text := captureLog(t)
			s := newServerWith(t, store.Options{}, httpapi.Options{
				Kinds: []kind.Kind{panicking()}, Reads: 1, Writes: 1, ClientShare: 100, WatchesPerClient: 1,
			})
			if row.stored {
				s.must(t, "POST", engines, engineWith(row.name, ""))
			}
			path := engines
			if !row.create {
				path += "/" + row.name
			}
			body := row.body
			if body == "" && row.method != "GET" {
				body = engineWith(row.name, "")
			}
			version := s.version()
			for range 2 {
				text.Reset()
				a := s.do(t, row.method, path+row.query, body, row.header...)
				assert.Equal(t, http.StatusInternalServerError, a.Code)
				assert.Equal(t, "Status", a.tree(t)["kind"])
				assert.Contains(t, a.Body, panicText)
				assert.Contains(t, text.String(), "panic serving "+row.method+" "+path+": no "+row.name+" today\n")
				assert.Contains(t, text.String(), "goroutine ", "with the stack")
			}
			assert.Equal(t, version, s.version(), "nothing is stored")
			s.must(t, "POST", engines, engineWith("runs", ""))
			assert.Equal(t, 200, s.do(t, "GET", engines, "").Code)
			assert.Equal(t, 200, s.do(t, "DELETE", engines+"/runs", "").Code)
		})
	}
}

// The body is read without a slot, while the request counts as one that waits.
func TestPanicOfABodyLeavesNoCount(t *testing.T) {
	captureLog(t)
	s := newServerWith(t, store.Options{}, httpapi.Options{Writes: 1, WatchesPerClient: 1})
	for range 3 {
		req := newRequest(t, "POST", leases, "{}")
		req.Body = io.NopCloser(readerFunc(func([]byte) (int, error) { panic("no body today") }))
		assert.Equal(t, http.StatusInternalServerError, s.send(t, req).Code)
	}
	s.must(t, "POST", leases, leaseNamed("a"))
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

// An answer that has begun is cut, by the server of a port too, whose log gets the panic.
func TestPanicAfterTheAnswerHasBegunCutsIt(t *testing.T) {
	var text bytes.Buffer
	s := newServerWith(t, store.Options{}, httpapi.Options{Kinds: []kind.Kind{panicking()}, WatchesPerClient: 1})
	port := httptest.NewUnstartedServer(s.api)
	port.Config.ErrorLog = log.New(&text, "", 0)
	port.Start()
	t.Cleanup(port.Close)
	s.must(t, "POST", engines, engineWith("cell", ""))
	for range 2 { // each has the only place for watches
		req := newRequest(t, "GET", engines+"?watch=true", "", "Accept", asTableV1)
		req.URL.Host = strings.TrimPrefix(port.URL, "http://")
		resp, err := port.Client().Do(req)
		require.NoError(t, err)
		assert.Equal(t, 200, resp.StatusCode)
		_, err = io.ReadAll(resp.Body)
		assert.Equal(t, io.ErrUnexpectedEOF, err)
		resp.Body.Close()
	}
	assert.Equal(t, 0, (*registry.Store)(s.st).Watchers())
	port.Close()
	assert.Contains(t, text.String(), "panic serving GET "+engines+": no cell today")
	assert.NotContains(t, text.String(), "http: panic", "it is logged once")
}

// In Go a panic is the caller's. Nothing is locked or stored after it.
func TestPanicInTheGoAPIReachesTheCaller(t *testing.T) {
	k := panicking()
	s := newServerWith(t, store.Options{}, httpapi.Options{Kinds: []kind.Kind{k}})
	typed, err := store.As[engine](k)
	require.NoError(t, err)
	all := typed.In(s.st)
	version := s.version()
	for _, name := range []string{"default", "validate", "prepare", "warnings"} {
		e := &engine{}
		e.Namespace, e.Name = "default", name
		assert.PanicsWithValue(t, "no "+name+" today", func() { _, _ = all.Create(t.Context(), e, store.CreateOptions{}) })
	}
	assert.Equal(t, version, s.version())
	s.must(t, "POST", engines, engineWith("runs", ""))
}

func TestCloseEndsThoughAFunctionOfAKindDoesNot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		text := captureLog(t)
		blocked := make(chan struct{})
		d := engineDescriptor()
		d.Strategy.Default = func(*engine) { <-blocked }
		st := store.New(store.Options{})
		api := httpapi.New(st, httpapi.Options{Kinds: []kind.Kind{store.MustKind(d)}, RequestTimeout: time.Second})
		go api.Transport().RoundTrip(newRequest(t, "POST", engines, engineWith("a", "")))
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
		defer cancel()
		start := time.Now()
		require.ErrorIs(t, api.Shutdown(ctx), context.DeadlineExceeded)
		assert.Equal(t, 10*time.Millisecond, time.Since(start))
		api.Close()
		assert.Less(t, time.Since(start), 2*time.Second, "a request has no more time")
		assert.Contains(t, text.String(), "httpapi: a request or a Part has not ended")
		st.Close()
		close(blocked)
		require.NoError(t, api.Shutdown(t.Context()))
	})
}

// What a function of a kind returns is checked: the error names it, and nothing is stored.
func TestNonsenseOfAKindIsRefusedByName(t *testing.T) {
	for name, row := range map[string]struct {
		spoil   func(*kind.Descriptor[*engine])
		method  string
		message string
	}{
		"a negative grace": {
			func(d *kind.Descriptor[*engine]) { d.Strategy.Delete.Grace = func(*engine, *int64) int64 { return -5 } }, "DELETE",
			"Internal error occurred: kind Engine: Strategy.Delete.Grace: got -5 seconds, want 0 or more",
		},
		"another name at the deletion": {
			func(d *kind.Descriptor[*engine]) {
				d.Strategy.Delete.Prepare = func(e *engine, _ time.Time) { e.Name = "b"; e.Finalizers = []string{"a/b"} }
			}, "DELETE",
			"Internal error occurred: a function of the kind Engine has changed the namespace or the name of default/a: got default/b",
		},
		"another namespace in an update": {
			func(d *kind.Descriptor[*engine]) {
				d.Strategy.Update.Prepare = func(e, _ *engine) { e.Namespace = "b" }
				d.Strategy.Update.Unconditional = true
			}, "PUT",
			"Internal error occurred: a function of the kind Engine has changed the namespace or the name of default/a: got b/a",
		},
	} {
		t.Run(name, func(t *testing.T) {
			d := engineDescriptor()
			row.spoil(&d)
			s := newServerWith(t, store.Options{}, httpapi.Options{Kinds: []kind.Kind{store.MustKind(d)}})
			s.must(t, "POST", engines, engineWith("a", ""))
			version := s.version()
			body := engineWith("a", `,"labels":{"a":"b"}`)
			if row.method == "DELETE" {
				body = ""
			}
			a := s.do(t, row.method, engines+"/a", body)
			assert.Equal(t, http.StatusInternalServerError, a.Code)
			assert.Contains(t, a.Body, row.message)
			assert.Equal(t, version, s.version())
		})
	}
}

// A kind that defines neither a kind nor an error is passed over, as one that defines an error.
func TestADefinitionThatSaysNothing(t *testing.T) {
	d := engineDescriptor()
	d.Native = &kind.Native[*engine]{CustomResource: true}
	d.Native.Defines = func(*engine) (kind.Kind, error) { return nil, nil }
	k := store.MustKind(d)
	s := newServerWith(t, store.Options{}, httpapi.Options{Kinds: []kind.Kind{k}})
	s.must(t, "POST", engines, engineWith("a", ""))
	api := httpapi.New(s.api.Store(), httpapi.Options{Kinds: []kind.Kind{k}})
	defer api.Close()
	_, err := kinds.Of(k).Defined(&engine{})
	assert.EqualError(t, err, "kind Engine: Native.Defines: got neither a kind nor an error")
}
