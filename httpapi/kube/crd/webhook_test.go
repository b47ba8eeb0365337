package crd_test

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/clock"
)

// renamer is a conversion webhook: spec.size of v1 is spec.length of v1beta1.
func renamer(t *testing.T, broken *atomic.Bool) *httptest.Server {
	return converter(t, rename(t, broken))
}

func converter(t *testing.T, h http.HandlerFunc) *httptest.Server {
	server := httptest.NewTLSServer(h)
	t.Cleanup(server.Close)
	return server
}

func rename(t *testing.T, broken *atomic.Bool) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var review map[string]any
		if err := json.NewDecoder(r.Body).Decode(&review); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		request := review["request"].(map[string]any)
		response := map[string]any{"uid": request["uid"], "result": map[string]any{"status": "Success"}}
		if broken.Load() {
			response["result"] = map[string]any{"status": "Failure", "message": "it is broken"}
		} else {
			var out []any
			for _, o := range request["objects"].([]any) {
				o := o.(map[string]any)
				spec := o["spec"].(map[string]any)
				from, to := "size", "length"
				if request["desiredAPIVersion"] == "example.com/v1" {
					from, to = to, from
				}
				if v, ok := spec[from]; ok {
					spec[to] = v
					delete(spec, from)
				}
				o["apiVersion"] = request["desiredAPIVersion"]
				out = append(out, o)
			}
			response["convertedObjects"] = out
		}
		delete(review, "request")
		review["response"] = response
		w.Header().Set("Content-Type", "application/json")
		if err := json.NewEncoder(w).Encode(review); err != nil {
			t.Error(err)
		}
	}
}

func withWebhook(server *httptest.Server) string {
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	return `{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: things.example.com}, spec: {
  group: example.com, scope: Cluster, names: {plural: things, kind: Thing},
  conversion: {strategy: Webhook, webhook: {conversionReviewVersions: [v1], clientConfig: {url: "` + server.URL + `/convert", caBundle: ` +
		base64.StdEncoding.EncodeToString(ca) + `}}},
  versions: [
  {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {size: {type: integer, minimum: 0}}}}}}},
  {name: v1beta1, served: true, storage: false, schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, required: [length], properties: {length: {type: integer, maximum: 9}}}}}}}]}}`
}

func TestWebhookConvertsBetweenVersions(t *testing.T) {
	var broken atomic.Bool
	s := serve(t, parse(t, withWebhook(renamer(t, &broken)))...)
	const beta = "/apis/example.com/v1beta1/things"
	thing := func(spec string) string {
		return `{"apiVersion":"example.com/v1beta1","kind":"Thing","metadata":{"name":"t"},"spec":` + spec + `}`
	}
	code, doc := s.do("POST", beta, thing(`{"length":10}`))
	assert.Equal(t, 422, code)
	assert.Equal(t, []string{"FieldValueInvalid spec.length: Invalid value: 10: spec.length in body should be less than or equal to 9"}, causes(doc))
	code, doc = s.do("POST", beta, thing(`{"length":3}`))
	require.Equal(t, 201, code, "%v", doc)
	assert.Equal(t, map[string]any{"length": 3.0}, doc["spec"])
	_, doc = s.do("GET", thingsPath+"/t", "")
	assert.Equal(t, map[string]any{"size": 3.0}, doc["spec"])
	code, doc = s.do("PATCH", beta+"/t", `{"spec":{"length":4}}`, "Content-Type", "application/merge-patch+json")
	require.Equal(t, 200, code, "%v", doc)
	_, doc = s.do("GET", thingsPath+"/t", "")
	assert.Equal(t, map[string]any{"size": 4.0}, doc["spec"])

	code, doc = s.do("POST", thingsPath, `{"apiVersion":"example.com/v1","kind":"Thing","metadata":{"name":"fresh"},"spec":{"size":5}}`)
	require.Equal(t, 201, code, "%v", doc)
	broken.Store(true)
	code, doc = s.do("GET", beta+"/fresh", "")
	assert.Equal(t, 500, code)
	assert.Regexp(t, `^Internal error occurred: StorageError: corrupt object, Code: 7, Key: /example\.com/things/fresh, ResourceVersion: 0, `+
		`AdditionalErrorMsg: object not decodable revision=\d+: conversion webhook for example\.com/v1, Kind=Thing failed: it is broken$`, doc["message"])
	code, doc = s.do("POST", beta, strings.Replace(thing(`{"length":7}`), `"t"`, `"u"`, 1))
	assert.Equal(t, 500, code)
	assert.Equal(t, "conversion webhook for example.com/v1beta1, Kind=Thing failed: it is broken", doc["message"])
	code, _ = s.do("GET", thingsPath+"/t", "")
	assert.Equal(t, 200, code)
}

// TestSelectorsSeeWhatTheWebhookMakes has the answers of a kube-apiserver.
func TestSelectorsSeeWhatTheWebhookMakes(t *testing.T) {
	var broken atomic.Bool
	definition := withWebhook(renamer(t, &broken))
	definition = strings.Replace(definition, "{name: v1,", "{name: v1, selectableFields: [{jsonPath: .spec.size}],", 1)
	definition = strings.Replace(definition, "{name: v1beta1,", "{name: v1beta1, selectableFields: [{jsonPath: .spec.size}, {jsonPath: .spec.length}],", 1)
	definition = strings.Replace(definition, "{length:", "{size: {type: integer}, length:", 1)
	s := serve(t, parse(t, definition)...)
	const beta = "/apis/example.com/v1beta1/things"
	for i, name := range []string{"a", "b", "c"} {
		code, doc := s.do("POST", thingsPath, fmt.Sprintf(`{"apiVersion":"example.com/v1","kind":"Thing","metadata":{"name":%q},"spec":{"size":%d}}`, name, i/2))
		require.Equal(t, 201, code, "%v", doc)
	}
	names := func(path, selector string) (names []any) {
		code, doc := s.do("GET", path+"?fieldSelector="+selector, "")
		require.Equal(t, 200, code, "%v", doc)
		for _, o := range doc["items"].([]any) {
			names = append(names, o.(map[string]any)["metadata"].(map[string]any)["name"])
		}
		return names
	}
	for range 2 { // the second time from the pages that are remembered
		assert.Equal(t, []any{"a", "b"}, names(thingsPath, "spec.size=0"))
		assert.Nil(t, names(beta, "spec.size=0"))
		assert.Equal(t, []any{"a", "b"}, names(beta, "spec.length=0"))
		assert.Equal(t, []any{"c"}, names(beta, "spec.length!=0"))
		assert.Equal(t, []any{"a"}, names(beta, "spec.length=0,metadata.name=a"))
		assert.Nil(t, names(beta, "spec.length=1,metadata.name=a"))
		assert.Equal(t, []any{"a", "b", "c"}, names(beta, "metadata.name!=x"))
		assert.Equal(t, []any{"a", "b", "c"}, names(thingsPath, "metadata.name!=x"))
	}
	code, doc := s.do("DELETE", beta+"?fieldSelector=spec.length%3D0", "")
	require.Equal(t, 200, code, "%v", doc)
	assert.Equal(t, []any{"c"}, names(thingsPath, ""))
	code, doc = s.do("POST", thingsPath, `{"apiVersion":"example.com/v1","kind":"Thing","metadata":{"name":"d"},"spec":{"size":5}}`)
	require.Equal(t, 201, code, "%v", doc)
	broken.Store(true)
	code, _ = s.do("DELETE", beta+"?fieldSelector=spec.length%3D7", "")
	assert.Equal(t, 500, code, "an object that cannot be converted")
	code, _ = s.do("GET", beta+"?fieldSelector=spec.length%3D7", "")
	assert.Equal(t, 429, code)
	assert.Equal(t, []any{"c", "d"}, names(thingsPath, ""))
}

// A write is validated in the version of its request, and converted only to be stored.
func TestInvalidObjectsAreNotConverted(t *testing.T) {
	var broken atomic.Bool
	var calls atomic.Int32
	h := rename(t, &broken)
	s := serve(t, parse(t, withWebhook(converter(t, func(w http.ResponseWriter, r *http.Request) {
		calls.Add(1)
		h(w, r)
	})))...)
	const beta = "/apis/example.com/v1beta1/things"
	thing := func(name, spec string) string {
		return `{"apiVersion":"example.com/v1beta1","kind":"Thing","metadata":{"name":"` + name + `"},"spec":` + spec + `}`
	}
	code, doc := s.do("POST", beta, thing("t", `{"length":1}`))
	require.Equal(t, 201, code, "%v", doc)
	require.Positive(t, calls.Load())
	calls.Store(0)
	broken.Store(true)
	tooLong := "FieldValueInvalid spec.length: Invalid value: 10: spec.length in body should be less than or equal to 9"
	for _, row := range []struct{ method, path, mediaType, body, want string }{
		{"POST", beta, "application/json", thing("u", `{"length":10}`), tooLong},
		{"POST", beta + "?dryRun=All", "application/json", thing("u", `{"length":10}`), tooLong},
		{"POST", beta, "application/yaml", thing("u", `{"length":10}`), tooLong},
		{"POST", beta, "application/json", thing("A_b", `{"length":1}`), "FieldValueInvalid metadata.name: Invalid value: \"A_b\": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"},
		{"PATCH", beta + "/u?fieldManager=m", "application/apply-patch+yaml", thing("u", `{"length":10}`), tooLong},
	} {
		code, doc := s.do(row.method, row.path, row.body, "Content-Type", row.mediaType)
		assert.Equal(t, 422, code, "%s %s: %v", row.method, row.path, doc)
		assert.Equal(t, []string{row.want}, causes(doc))
	}
	assert.Zero(t, calls.Load())

	broken.Store(false)
	_, doc = s.do("GET", beta+"/t", "")
	version := doc["metadata"].(map[string]any)["resourceVersion"].(string)
	for _, row := range []struct{ method, mediaType, body string }{
		{"PUT", "application/json", strings.Replace(thing("t", `{"length":10}`), `"name"`, `"resourceVersion":"`+version+`","name"`, 1)},
		{"PATCH", "application/merge-patch+json", `{"spec":{"length":10}}`},
		{"PATCH", "application/json-patch+json", `[{"op":"replace","path":"/spec/length","value":10}]`},
		{"PATCH", "application/apply-patch+yaml", thing("t", `{"length":10}`)},
	} {
		query := "?fieldManager=m"
		if row.mediaType == "application/apply-patch+yaml" {
			query += "&force=true"
		}
		code, doc := s.do(row.method, beta+"/t"+query, row.body, "Content-Type", row.mediaType)
		assert.Equal(t, 422, code, "%s %s: %v", row.method, row.mediaType, doc)
		assert.Equal(t, []string{tooLong}, causes(doc))
	}
}

// Lists and watches share the result of a conversion, which a writer must not change.
func TestConvertedObjectsShareNoMemory(t *testing.T) {
	var broken atomic.Bool
	k := parse(t, withWebhook(renamer(t, &broken)))[0]
	o := &store.Unstructured{Content: map[string]any{"spec": map[string]any{"size": int64(5)}}}
	o.Name, o.Labels = "t", map[string]string{"a": "b"}
	converted := func() *store.Unstructured {
		converted, err := k.Wire(t.Context(), o, 1)
		require.NoError(t, err)
		return converted.(*store.Unstructured)
	}
	first := converted()
	require.Equal(t, map[string]any{"length": int64(5)}, first.Content["spec"])
	first.Content["spec"].(map[string]any)["length"], first.Labels["a"] = int64(6), "c"
	first.Content["more"] = true
	assert.Equal(t, map[string]any{"spec": map[string]any{"length": int64(5)}}, converted().Content)
	assert.Equal(t, map[string]string{"a": "b"}, converted().Labels)
}

// The steps of a webhook that does what it must not are compared with a real server in internal/test/kube/cluster.

func TestGetAsksTheWebhookAgain(t *testing.T) {
	var broken atomic.Bool
	s := serve(t, parse(t, withWebhook(renamer(t, &broken)))...)
	const beta = "/apis/example.com/v1beta1/things"
	code, doc := s.do("POST", thingsPath, `{"apiVersion":"example.com/v1","kind":"Thing","metadata":{"name":"t"},"spec":{"size":5}}`)
	require.Equal(t, 201, code, "%v", doc)
	for range 3 { // the answer is remembered from the second time on
		code, _ = s.do("GET", beta, "")
		require.Equal(t, 200, code)
		code, _ = s.do("GET", beta+"/t", "")
		require.Equal(t, 200, code)
	}
	broken.Store(true)
	for path, want := range map[string]int{beta + "/t": 500, beta: 200, beta + "/t?resourceVersion=0": 200, thingsPath + "/t": 200} {
		code, _ = s.do("GET", path, "")
		assert.Equal(t, want, code, path)
	}
	for _, path := range []string{beta + "/t", beta} {
		code, _ = s.do("DELETE", path, "")
		assert.Equal(t, 500, code, path)
	}
}

func TestConversionThatLosesAMember(t *testing.T) {
	var broken atomic.Bool
	right := rename(t, &broken)
	lossy := converter(t, func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return // the client is gone
		}
		r.Body = io.NopCloser(strings.NewReader(strings.ReplaceAll(string(body), `"length":7`, `"length":6`)))
		right(w, r)
	})
	s := serve(t, parse(t, withWebhook(lossy))...)
	const beta = "/apis/example.com/v1beta1/things"
	code, doc := s.do("POST", beta, `{"apiVersion":"example.com/v1beta1","kind":"Thing","metadata":{"name":"t"},"spec":{"length":7}}`)
	require.Equal(t, 201, code, "%v", doc)
	assert.Equal(t, map[string]any{"length": 6.0}, doc["spec"], "what was stored, and not what was sent")
	_, doc = s.do("GET", beta+"/t", "")
	assert.Equal(t, map[string]any{"length": 6.0}, doc["spec"])
}

func TestHangingConversionTimesOutByTheClockOfTheStore(t *testing.T) {
	reached := make(chan struct{})
	hanging := converter(t, func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // so that the end of the connection is seen
		reached <- struct{}{}
		<-r.Context().Done()
	})
	clk := clock.NewManual(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
	s := live(t, newStore(t, store.Options{Clock: clk}))
	require.NoError(t, s.definedNow(withWebhook(hanging)))
	code, doc := s.do("POST", thingsPath, `{"apiVersion":"example.com/v1","kind":"Thing","metadata":{"name":"t"},"spec":{"size":5}}`)
	require.Equal(t, 201, code, "%v", doc)
	done := make(chan string)
	go func() {
		_, doc := s.do("GET", "/apis/example.com/v1beta1/things/t", "")
		done <- fmt.Sprint(doc["message"])
	}()
	<-reached
	clk.FastForward(29 * time.Second)
	select {
	case text := <-done:
		t.Fatal("answered before the time limit: ", text)
	default:
	}
	clk.FastForward(time.Second)
	assert.Contains(t, <-done, ": conversion webhook for example.com/v1, Kind=Thing failed: Post \""+hanging.URL+"/convert?timeout=30s\": context deadline exceeded")
}

// definedNow creates a definition and waits until its kind is served.
func (s *server) definedNow(text string) error {
	req, err := http.NewRequestWithContext(s.t.Context(), http.MethodGet, "http://server"+definitionsPath+"?watch=1", nil)
	if err != nil {
		return err
	}
	resp, err := s.client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	code, doc := s.do("POST", definitionsPath, asJSON(s.t, text))
	require.Equal(s.t, 201, code, "%v", doc)
	for events := bufio.NewScanner(resp.Body); events.Scan(); {
		if strings.Contains(events.Text(), "InitialNamesAccepted") {
			return nil
		}
	}
	return io.ErrUnexpectedEOF
}

func TestAnswerOfAConversionIsBounded(t *testing.T) {
	chunk := []byte(strings.Repeat(" ", 1<<20))
	s := serve(t, parse(t, withWebhook(converter(t, func(w http.ResponseWriter, _ *http.Request) {
		for {
			if _, err := w.Write(chunk); err != nil {
				return
			}
		}
	})))...)
	code, doc := s.do("POST", "/apis/example.com/v1beta1/things", `{"apiVersion":"example.com/v1beta1","kind":"Thing","metadata":{"name":"t"},"spec":{"length":7}}`)
	assert.Equal(t, 500, code)
	assert.Contains(t, doc["message"], "conversion webhook for example.com/v1beta1, Kind=Thing failed: ")
	assert.Contains(t, doc["message"], "the answer has more than 16777216 bytes")
}

// An API that starts on a store with a definition serves the kind of the process first, and then its own in place of it.
func TestDefinitionWithAWebhookInAStoreThatIsServedAgain(t *testing.T) {
	text := withWebhook(converter(t, func(http.ResponseWriter, *http.Request) {}))
	synctest.Test(t, func(t *testing.T) {
		st := newStore(t, store.Options{})
		first := live(t, st)
		first.define(text)
		code, doc := first.do("POST", thingsPath, `{"apiVersion":"example.com/v1","kind":"Thing","metadata":{"name":"t"},"spec":{"size":5}}`)
		require.Equal(t, 201, code, "%v", doc)
		want := first.conditions("things.example.com")
		require.Contains(t, want, "Established True InitialNamesAccepted the initial names have been accepted")
		first.api.Close()

		second := live(t, st)
		synctest.Wait()
		assert.Equal(t, want, second.conditions("things.example.com"))
		code, _ = second.do("GET", thingsPath+"/t", "")
		assert.Equal(t, 200, code)
		fork, err := st.Fork()
		require.NoError(t, err)
		defer fork.Close()
		third := &server{t, second.api.Fork(fork, options()), http.Client{}}
		defer third.api.Close()
		third.client.Transport = third.api.Transport()
		synctest.Wait()
		assert.Equal(t, want, third.conditions("things.example.com"))
		code, _ = third.do("GET", thingsPath+"/t", "")
		assert.Equal(t, 200, code)
	})
}

// A watch of a fork begins before its controller has read the definitions. Another kind in place of the present one would end it.
func TestAForkKeepsTheKindOfAWebhook(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := newStore(t, store.Options{})
		s := live(t, st)
		s.define(`{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: things.example.com}, spec: {
			group: example.com, scope: Cluster, names: {plural: things, kind: Thing},
			conversion: {strategy: Webhook, webhook: {conversionReviewVersions: [v1], clientConfig: {url: "https://127.0.0.1:1/convert"}}},
			versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]}}`)
		of := func(api *httpapi.API) any {
			for _, k := range api.Kinds() {
				if k.Info().Plural == "things" {
					return k.Untyped()
				}
			}
			return nil
		}
		forked, err := st.Fork()
		require.NoError(t, err)
		t.Cleanup(forked.Close)
		api := s.api.Fork(forked, options())
		t.Cleanup(api.Close)
		synctest.Wait()
		require.NotNil(t, of(api))
		assert.Same(t, of(s.api), of(api))
	})
}

// A certificate that cannot be read keeps a definition from being established (upstream: controller/establish).
func TestADefinitionWithABadCertificateIsNotEstablished(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := live(t, newStore(t, store.Options{}))
		s.define(`{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: things.example.com}, spec: {
			group: example.com, scope: Cluster, names: {plural: things, kind: Thing}, conversion: {strategy: Webhook, webhook: {
			conversionReviewVersions: [v1], clientConfig: {url: "https://127.0.0.1:1/convert", caBundle: bm90IGEgY2VydGlmaWNhdGU=}}},
			versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]}}`)
		assert.Contains(t, s.conditions("things.example.com"), "Established False InvalidCABundle The conversion webhook CABundle is invalid")
	})
}
