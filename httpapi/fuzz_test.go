package httpapi_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/internal/registry"
	"github.com/kubecoord/kubecoord/internal/test/wiretest"
	"github.com/kubecoord/kubecoord/store"
)

// Run one of these for as long as there is time:
//
//	go test ./httpapi -run '^$' -fuzz FuzzRequest -fuzztime 5m

// fuzzServer returns a server with an object of each kind, and what it takes to send it anything at all.
func fuzzServer(t testing.TB) (*server, func(method, target, contentType, accept string, body []byte) (code int, contentTypeOfAnswer, answer string)) {
	t.Helper()
	st := store.New(store.Options{History: 16})
	s := &server{st, httpapi.New(st, httpapi.Options{})}
	t.Cleanup(func() {
		s.api.Close()
		st.Close()
	})
	s.must(t, "POST", leases, `{"metadata":{"name":"a","labels":{"x":"1"},"finalizers":["f/1"]},"spec":{"holderIdentity":"h","leaseDurationSeconds":15}}`)
	s.must(t, "POST", endpoints, `{"metadata":{"name":"a"},"subsets":[{"addresses":[{"ip":"10.0.0.1"}],"ports":[{"port":80}]}]}`)
	s.must(t, "POST", candidates, `{"metadata":{"name":"a"},"spec":{"leaseName":"l","binaryVersion":"1.2.3","emulationVersion":"1.2.0","strategy":"OldestEmulationVersion"}}`)
	return s, func(method, target, contentType, accept string, body []byte) (int, string, string) {
		u, err := url.ParseRequestURI(target)
		if err != nil || !isToken(method) {
			return 0, "", "" // no server ever sees such a request
		}
		// A watch is to end at once.
		u.RawQuery = strings.NewReplacer("timeoutSeconds", "ts").Replace(u.RawQuery) + "&timeoutSeconds=-1"
		req := &http.Request{
			Method: method, URL: u, Host: "test", Header: http.Header{"Content-Type": {contentType}, "Accept": {accept}},
			Body: io.NopCloser(strings.NewReader(string(body))), ContentLength: int64(len(body)),
		}
		w := &bareFlusher{bareWriter{header: http.Header{}}}
		ctx := t.Context()
		if strings.Contains(u.RawQuery, "resource") && (method == http.MethodGet || method == http.MethodDelete) {
			// A version of the future would be waited for. No other request may depend on the time.
			var cancel context.CancelFunc
			ctx, cancel = context.WithTimeout(ctx, 10*time.Millisecond)
			defer cancel()
		}
		s.api.ServeHTTP(w, req.WithContext(ctx))
		return w.code, w.header.Get("Content-Type"), w.body.String()
	}
}

// bareFlusher is a writer that watches can be written to.
type bareFlusher struct{ bareWriter }

func (*bareFlusher) Flush() {}

func isToken(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r >= 0x7f || strings.ContainsRune(`()<>@,;:\"/[]?={}`, r) })
}

// checkAnswer fails where an answer is not what any client could read.
func checkAnswer(t *testing.T, code int, contentType, body string) {
	t.Helper()
	switch {
	case code < 200 || code > 599:
		t.Errorf("code %d", code)
	case strings.HasPrefix(contentType, typeProtobuf+";stream"):
	case strings.HasPrefix(contentType, typeProtobuf):
		checkEnvelope(t, body)
	case strings.HasPrefix(contentType, typeJSON):
		decoder := json.NewDecoder(strings.NewReader(body)) // a watch has any number of events
		for {
			var doc any
			if err := decoder.Decode(&doc); err == io.EOF {
				break
			} else if err != nil {
				t.Fatalf("broken JSON %q: %v", body, err)
			}
		}
	case contentType == "text/plain; charset=utf-8", contentType == "application/yaml":
	case code == http.StatusNotModified:
	default:
		t.Errorf("Content-Type %q", contentType)
	}
	if code >= 500 && !knownServerError(code, body) {
		t.Errorf("%d: %s", code, body)
	}
}

// knownServerError recognises the faults of requests that a real server, too, takes for its own.
func knownServerError(code int, body string) bool {
	if code == http.StatusGatewayTimeout {
		return strings.Contains(body, "Too large resource version")
	}
	for _, text := range []string{
		"strconv.ParseUint", "resourceVersion should not be set on objects to be created", "etcdserver: request is too large",
		"does not contain declared merge key", "unknown patch type", "invalid key", "failed to create RequestInfo",
		"invalid shard selector", context.DeadlineExceeded.Error(), // by the deadline of these tests
		"failed to create typed patch object", "failed to convert new object", "failed to create manager",
	} {
		if strings.Contains(body, text) {
			return true
		}
	}
	return false
}

func checkEnvelope(t *testing.T, body string) {
	t.Helper()
	rest, found := strings.CutPrefix(body, "k8s\x00")
	if !found {
		t.Fatalf("no envelope: %q", body)
	}
	for data := []byte(rest); len(data) > 0; {
		_, _, length := protowire.ConsumeField(data)
		if length < 0 {
			t.Fatalf("broken envelope %q: %v", body, protowire.ParseError(length))
		}
		data = data[length:]
	}
}

func FuzzRequest(f *testing.F) {
	addGoldenRequests(f, func(method, target, contentType, accept string, body []byte) {
		f.Add(method, target, contentType, accept, body)
	})
	for _, row := range hostileRequests() {
		req := row.request(f)
		f.Add(req.Method, req.URL.RequestURI(), req.Header.Get("Content-Type"), req.Header.Get("Accept"), []byte(row.body))
	}
	f.Fuzz(func(t *testing.T, method, target, contentType, accept string, body []byte) {
		s, do := fuzzServer(t)
		code, answerType, answer := do(method, target, contentType, accept, body)
		if code == 0 {
			return
		}
		checkAnswer(t, code, answerType, answer)
		if code >= 400 && s.version() != seeded {
			t.Errorf("answered %d and wrote", code)
		}
		// Whatever came is now part of lists.
		for _, accept := range []string{typeJSON, typeProtobuf, typeJSON + asTable} {
			for _, collection := range []string{allLeases, "/api/v1/endpoints", "/apis/coordination.k8s.io/v1alpha1/leasecandidates"} {
				code, answerType, answer := do("GET", collection, "", accept, nil)
				if code != http.StatusOK {
					t.Errorf("list of %s: %d %s", collection, code, answer)
				}
				checkAnswer(t, code, answerType, answer)
			}
		}
	})
}

// seeded is the version of the last object of a fuzzServer.
const seeded = registry.DefaultFirstVersion + 3

// addGoldenRequests hands all recorded requests to add, with namespaces that exist.
func addGoldenRequests(f *testing.F, add func(method, target, contentType, accept string, body []byte)) {
	f.Helper()
	seen := map[string]bool{}
	for _, g := range loadGoldens(f) {
		for _, step := range g.Scenario.Steps {
			target, contentType, accept, body := seedOf(step)
			key := strings.Join([]string{step.Method, target, contentType, accept, string(body)}, "\x00")
			if step.Method == "" || seen[key] || len(body) > 10_000 {
				continue
			}
			seen[key] = true
			add(step.Method, target, contentType, accept, body)
		}
	}
}

func seedOf(step wiretest.Step) (target, contentType, accept string, body []byte) {
	target = step.Path
	if step.RawQuery != "" {
		target += "?" + step.RawQuery
	} else if len(step.Query) > 0 {
		query := url.Values{}
		for name, value := range step.Query {
			query.Set(name, value)
		}
		target += "?" + query.Encode()
	}
	target = strings.NewReplacer("{{ns}}", "default", "%7B%7Bns%7D%7D", "default", "{{ns2}}", "other").Replace(target)
	contentType, accept = typeJSON, typeJSON
	for name, value := range step.Headers {
		switch http.CanonicalHeaderKey(name) {
		case "Content-Type":
			contentType = value
		case "Accept":
			accept = value
		}
	}
	body = step.Body
	if step.BodyText != "" {
		body = []byte(step.BodyText)
	}
	return target, contentType, accept, []byte(strings.ReplaceAll(string(body), "{{ns}}", "default"))
}

func FuzzContinueToken(f *testing.F) {
	for _, seed := range []string{"", "null", "[]", "{}", `{"v":"meta.k8s.io/v1","rv":1003,"start":"/a\u0000"}`, `{"v":"meta.k8s.io/v1","rv":-1,"start":"/default/a\u0000"}`,
		`{"v":"meta.k8s.io/v1","rv":0,"start":"/a"}`, `{"v":"meta.k8s.io/v1","rv":1,"start":""}`, `{"v":"meta.k8s.io/v1","rv":-1,"start":"/../x"}`,
		`{"v":"meta.k8s.io/v1","rv":-1,"start":"/default/../other/a"}`, `{"v":"meta.k8s.io/v1","rv":9223372036854775807,"start":"a"}`, "{\"v\":\"meta.k8s.io/v1\",\"rv\":-1,\"start\":\"\xff\"}"} {
		f.Add(seed, true)
		f.Add(base64.RawURLEncoding.EncodeToString([]byte(seed)), false)
	}
	f.Fuzz(func(t *testing.T, token string, encode bool) {
		s, do := fuzzServer(t)
		s.must(t, "POST", "/apis/coordination.k8s.io/v1/namespaces/other/leases", leaseNamed("secret"))
		if encode {
			token = base64.RawURLEncoding.EncodeToString([]byte(token))
		}
		code, _, answer := do("GET", leases+"?limit=5&continue="+url.QueryEscape(token), "", typeJSON, nil)
		switch code {
		case http.StatusOK, http.StatusBadRequest, http.StatusGone:
		default: // a version of the future is waited for
			if !knownServerError(code, answer) {
				t.Errorf("%d %s", code, answer)
			}
		}
		checkAnswer(t, code, typeJSON, answer)
		if strings.Contains(answer, "secret") {
			t.Errorf("a token leads out of its namespace: %s", answer)
		}
	})
}

func FuzzPatch(f *testing.F) {
	types := []string{"application/json-patch+json", "application/merge-patch+json", "application/strategic-merge-patch+json"}
	addGoldenRequests(f, func(method, _, contentType, _ string, body []byte) {
		for i, t := range types {
			if method == http.MethodPatch && strings.HasPrefix(contentType, t) {
				f.Add(uint8(i), uint8(0), body)
				f.Add(uint8(i), uint8(1), body)
			}
		}
	})
	f.Fuzz(func(t *testing.T, patchType, kind uint8, body []byte) {
		s, do := fuzzServer(t)
		target := []string{leases + "/a", endpoints + "/a", candidates + "/a"}[kind%3]
		code, answerType, answer := do("PATCH", target, types[patchType%3], typeJSON, body)
		checkAnswer(t, code, answerType, answer)
		switch version := s.version(); {
		case code >= 400 && version != seeded:
			t.Errorf("answered %d and wrote", code)
		case code < 300 && version > seeded+1:
			t.Errorf("wrote %d times", version-seeded)
		}
		if code != http.StatusOK {
			return
		}
		// What was answered is what is stored, unless the patch removed the last finalizer.
		if got, _, stored := do("GET", target, "", typeJSON, nil); got == http.StatusOK && stored != answer {
			t.Errorf("answered %s\nstored   %s", answer, stored)
		}
	})
}

func FuzzProtobufBody(f *testing.F) {
	_, do := fuzzServer(f)
	for _, path := range []string{leases + "/a", endpoints + "/a", candidates + "/a", leases} {
		_, _, body := do("GET", path, "", typeProtobuf, nil)
		f.Add(uint8(0), []byte(body))
		f.Add(uint8(1), []byte(body))
	}
	for _, row := range hostileRequests() {
		if len(row.headers) == 2 && row.headers[1] == typeProtobuf {
			f.Add(uint8(0), []byte(row.body))
		}
	}
	f.Fuzz(func(t *testing.T, kind uint8, body []byte) {
		s, do := fuzzServer(t)
		target := []string{leases, endpoints, candidates}[kind%3]
		code, answerType, answer := do("POST", target, typeProtobuf, typeProtobuf, body)
		checkAnswer(t, code, answerType, answer)
		if code >= 400 && s.version() != seeded {
			t.Errorf("answered %d and wrote", code)
		}
		if code != http.StatusCreated {
			return
		}
		// A stored object can be sent back unchanged.
		code, _, again := do("POST", target+"?dryRun=All", typeProtobuf, typeProtobuf, []byte(answer))
		if code != http.StatusConflict && code != http.StatusInternalServerError {
			t.Errorf("sent back: %d %q", code, again)
		}
	})
}
