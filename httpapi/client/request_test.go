package client_test

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/httpapi/apitest"
	"github.com/kubecoord/kubecoord/httpapi/client"
	"github.com/kubecoord/kubecoord/lease"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/meta"
)

func TestRequestsAreRepeatedWhereThatIsSafe(t *testing.T) {
	answer := func(code int32, after int32) meta.Status {
		return meta.Status{Code: code, Details: &meta.StatusDetails{RetryAfterSeconds: after}}
	}
	for name, row := range map[string]struct {
		fault      apitest.Effect
		first      int
		get, write bool // succeed
		after      time.Duration
	}{
		"too many requests":           {apitest.AnswerStatus(answer(429, 2)), 3, true, true, 6 * time.Second},
		"too many for ten times":      {apitest.AnswerStatus(answer(429, 1)), 10, true, true, 10 * time.Second},
		"too many for eleven times":   {apitest.AnswerStatus(answer(429, 1)), 11, false, false, 10 * time.Second},
		"unavailable with a time":     {apitest.AnswerStatus(answer(503, 1)), 3, true, false, 3 * time.Second},
		"unavailable without a time":  {apitest.Answer(503), 1, false, false, 0},
		"an error with a time":        {apitest.AnswerStatus(answer(500, 4)), 1, true, false, 4 * time.Second},
		"cut before":                  {apitest.CutBefore(), 3, true, false, 3 * time.Second},
		"cut after the write is done": {apitest.CutAfter(), 1, true, false, time.Second},
		"forbidden":                   {apitest.Answer(403), 1, false, false, 0},
	} {
		t.Run(name, func(t *testing.T) {
			run := func(name string, succeeds bool, do func(ctx context.Context, leases *client.Collection[lease.Lease]) error) {
				t.Run(name, func(t *testing.T) {
					inBubble(t, apitest.Options{}, func(t *testing.T, api *apitest.API, leases *client.Collection[lease.Lease]) {
						put(t, api.Store(), "a", "1")
						f := api.Fault(row.fault.First(row.first))
						start := time.Now()
						err := do(t.Context(), leases)
						if succeeds {
							assert.NoError(t, err)
							assert.Equal(t, row.after, time.Since(start))
							assert.Equal(t, row.first, f.Hits())
							return
						}
						assert.Error(t, err)
						if row.first == 1 {
							assert.Equal(t, 1, f.Hits())
						}
					})
				})
			}
			run("get", row.get, func(ctx context.Context, leases *client.Collection[lease.Lease]) error {
				_, err := leases.Get(ctx, "default", "a")
				return err
			})
			run("list", row.get, func(ctx context.Context, leases *client.Collection[lease.Lease]) error {
				_, err := leases.List(ctx, store.ListOptions{})
				return err
			})
			run("create", row.write, func(ctx context.Context, leases *client.Collection[lease.Lease]) error {
				_, err := leases.Create(ctx, newLease("b", "1"), store.CreateOptions{})
				return err
			})
			run("patch", row.write, func(ctx context.Context, leases *client.Collection[lease.Lease]) error {
				_, err := leases.Patch(ctx, "default", "a", store.MergePatch, []byte(`{"spec":{"holderIdentity":"2"}}`), store.PatchOptions{})
				return err
			})
			run("delete", row.write, func(ctx context.Context, leases *client.Collection[lease.Lease]) error {
				_, err := leases.Delete(ctx, "default", "a", store.DeleteOptions{})
				return err
			})
		})
	}
}

func TestCallsEndWithTheirContext(t *testing.T) {
	for name, fault := range map[string]apitest.Effect{
		"no answer": apitest.Hang(), "cut": apitest.CutBefore(),
		"busy": apitest.AnswerStatus(meta.Status{Code: 429, Details: &meta.StatusDetails{RetryAfterSeconds: 60}}),
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, apitest.Options{}, func(t *testing.T, api *apitest.API, leases *client.Collection[lease.Lease]) {
				api.Fault(fault)
				ctx, cancel := context.WithTimeout(t.Context(), 5500*time.Millisecond)
				defer cancel()
				start := time.Now()
				_, err := leases.Get(ctx, "default", "a")
				assert.ErrorIs(t, err, context.DeadlineExceeded)
				assert.Equal(t, 5500*time.Millisecond, time.Since(start))
				for _, err := range leases.Watch(ctx, store.WatchOptions{}) {
					assert.ErrorIs(t, err, context.DeadlineExceeded)
				}
			})
		})
	}
}

// roundTrip is an http.RoundTripper.
type roundTrip func(req *http.Request) (*http.Response, error)

// RoundTrip implements http.RoundTripper.
func (f roundTrip) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

// answering returns the Leases of a server that gives one answer to all requests.
func answering(t *testing.T, code int, contentType, body string) *client.Collection[lease.Lease] {
	t.Helper()
	return leasesAt(t, client.Config{Server: "https://other/prefix/", Transport: roundTrip(func(*http.Request) (*http.Response, error) {
		return &http.Response{
			StatusCode: code, Status: fmt.Sprint(code, " ", http.StatusText(code)),
			Header: http.Header{"Content-Type": {contentType}}, Body: io.NopCloser(strings.NewReader(body)),
		}, nil
	})})
}

// The end of an answer may be lost on its way. A write may have been done then, so it is not repeated.
func TestAnAnswerWithoutItsEndIsNoAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		api := apitest.New(t, apitest.Options{})
		put(t, api.Store(), "a", "1")
		calls := 0
		leases := leasesAt(t, client.Config{Server: api.Host(), Transport: roundTrip(func(req *http.Request) (*http.Response, error) {
			resp, err := api.TransportFor("client").RoundTrip(req)
			if calls++; err == nil && calls == 1 {
				resp.Body = &lossy{resp.Body, 40}
			}
			return resp, err
		})})
		_, err := leases.Get(t.Context(), "default", "a")
		assert.NoError(t, err)
		assert.Equal(t, 2, calls)

		calls = 0
		_, err = leases.Create(t.Context(), newLease("b", "1"), store.CreateOptions{})
		assert.ErrorIs(t, err, io.ErrUnexpectedEOF)
		assert.Equal(t, 1, calls)
	})
}

// net/http has no values for some errors of a connection.
func TestALostConnectionIsKnownByItsText(t *testing.T) {
	for text, repeated := range map[string]bool{
		"http: can't write HTTP request on broken connection":    true,
		"http2: server sent GOAWAY and closed the connection; x": true,
		"http2: client connection lost":                          true,
		"read tcp: connection reset by peer":                     true,
		"use of closed network connection":                       true,
		"connection refused":                                     false,
	} {
		synctest.Test(t, func(t *testing.T) {
			api := apitest.New(t, apitest.Options{})
			put(t, api.Store(), "a", "1")
			calls := 0
			leases := leasesAt(t, client.Config{Server: api.Host(), Transport: roundTrip(func(req *http.Request) (*http.Response, error) {
				if calls++; calls == 1 {
					return nil, errors.New(text)
				}
				return api.TransportFor("client").RoundTrip(req)
			})})
			_, err := leases.Get(t.Context(), "default", "a")
			assert.Equal(t, repeated, err == nil, text)
		})
	}
}

func TestModifyTriesAgainAfterAnotherWriter(t *testing.T) {
	inBubble(t, apitest.Options{}, func(t *testing.T, api *apitest.API, leases *client.Collection[lease.Lease]) {
		put(t, api.Store(), "a", "1")
		calls := 0
		got, err := leases.Modify(t.Context(), "default", "a", func(l *lease.Lease) error {
			if calls++; calls == 1 {
				put(t, api.Store(), "a", "2")
			}
			l.Spec.LeaseTransitions = new(int32(calls))
			return nil
		}, store.UpdateOptions{})
		require.NoError(t, err)
		assert.Equal(t, "2", *got.Spec.HolderIdentity)
		assert.EqualValues(t, 2, *got.Spec.LeaseTransitions)
	})
}

// lossy is a body whose connection is lost after some bytes.
type lossy struct {
	io.ReadCloser
	left int
}

func (l *lossy) Read(b []byte) (int, error) {
	n, err := l.ReadCloser.Read(b[:min(len(b), l.left)])
	if l.left -= n; l.left == 0 {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}

// A proxy may answer in place of the server.
func TestAnswersOfAnotherServerAreErrors(t *testing.T) {
	for name, row := range map[string]struct {
		code       int
		typ, body  string
		want       string
		wantReason meta.Reason
	}{
		"a page":              {502, "text/html", "<html>", "the server answered 502 Bad Gateway without a Status", meta.ReasonInternalError},
		"a long text":         {500, "text/plain", strings.Repeat("x", 5000), "the server answered 500 Internal Server Error without a Status: " + strings.Repeat("x", 2048), meta.ReasonInternalError},
		"gone without reason": {410, "application/json", `{"kind":"Status","status":"Failure","reason":"Gone","message":"gone"}`, "gone", store.ErrExpired},
		"another kind":        {200, "application/json", `{"kind":"Pod","apiVersion":"v1"}`, `client: the answer is no Lease: got kind "Pod" of "v1", want "Lease" of "coordination.k8s.io/v1"`, ""},
		"a wrong type":        {200, "application/json", `{"spec":{"holderIdentity":1}}`, "client: the answer is no Lease: json: cannot unmarshal number", ""},
		"nothing":             {200, "application/json", ``, "client: the answer is no Lease: ", ""},
		"a list of nothing":   {200, "application/json", `[]`, "client: the answer is no Lease: ", ""},
		"far too much":        {200, "application/json", strings.Repeat(" ", 17<<20), "client: the answer has more than 16777216 bytes", ""},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := answering(t, row.code, row.typ, row.body).Get(t.Context(), "default", "a")
			require.Error(t, err)
			assert.True(t, strings.HasPrefix(err.Error(), row.want), "got %q", err)
			assert.Less(t, len(err.Error()), 3000)
			if row.wantReason != "" {
				assert.ErrorIs(t, err, row.wantReason)
			}
		})
	}
	_, err := answering(t, 200, "application/json", "<html>").List(t.Context(), store.ListOptions{})
	assert.ErrorContains(t, err, "client: the answer is no list: invalid character '<'")
	_, err = answering(t, 200, "application/json", `{"items":[{"spec":{"holderIdentity":1}}]}`).List(t.Context(), store.ListOptions{})
	assert.ErrorContains(t, err, "json: cannot unmarshal number")
}

// A proxy whose server is gone decides nothing. The error is temporary, and names the cause.
func TestAnAnswerThatTheAPIDidNotGiveIsTemporary(t *testing.T) {
	status := func(code int, details string) string {
		return fmt.Sprintf(`{"kind":"Status","apiVersion":"v1","status":"Failure","message":"m","reason":%q,"details":{%s},"code":%d}`,
			map[int]string{403: "Forbidden", 404: "NotFound", 409: "Conflict", 401: "Unauthorized"}[code], details, code)
	}
	const got = `client: Get "https://other/prefix/apis/coordination.k8s.io/v1/namespaces/default/leases/a": got `
	for name, row := range map[string]struct {
		code      int
		typ, body string
		want      string
		reason    meta.Reason // "" of a temporary error
	}{
		"not found as text":      {404, "text/plain", "404 page not found\n", got + `404 Not Found, which is no answer of the API about the resource: "404 page not found"`, ""},
		"forbidden as a page":    {403, "text/html", "<html>", got + `403 Forbidden, which is no answer of the API about the resource: "<html>"`, ""},
		"unauthorized as a page": {401, "text/html", "<html>", got + "401 Unauthorized", ""},
		"a conflict as text":     {409, "text/plain", "conflict", got + "409 Conflict", ""},
		"gone as text":           {410, "text/plain", "gone", got + "410 Gone", ""},
		"a redirect":             {302, "", "", got + "302 Found", ""},
		"a page of 200":          {200, "text/html; charset=utf-8", "<html>", got + "200 OK", ""},
		"other JSON":             {404, "application/json", `{"error":"no route"}`, got + `404 Not Found, which is no answer of the API about the resource: "{\"error\":\"no route\"}"`, ""},
		"a path that is unknown": {404, "application/json", status(404, ""), got + "404 Not Found", ""},
		"a long page":            {404, "text/html", strings.Repeat("x", 5000), got + `404 Not Found, which is no answer of the API about the resource: "` + strings.Repeat("x", 200) + `"`, ""},
		"the object is missing":  {404, "application/json", status(404, `"name":"a","kind":"leases"`), "m", meta.ReasonNotFound},
		"access is denied":       {403, "application/json", status(403, `"name":"a","kind":"leases"`), "m", meta.ReasonForbidden},
		"a conflict of an apply": {409, "application/json", status(409, `"causes":[]`), "m", meta.ReasonConflict},
		"a wrong token":          {401, "application/json", status(401, ``), "m", meta.ReasonUnauthorized},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := answering(t, row.code, row.typ, row.body).Get(t.Context(), "default", "a")
			require.Error(t, err)
			assert.True(t, strings.HasPrefix(err.Error(), row.want), "got %q", err)
			if e, isStatus := errors.AsType[*meta.StatusError](err); row.reason != "" {
				assert.True(t, isStatus)
				assert.ErrorIs(t, err, row.reason)
			} else {
				assert.False(t, isStatus, "got %v", e)
				temporary, ok := errors.AsType[interface {
					error
					Temporary() bool
				}](err)
				assert.True(t, ok && temporary.Temporary())
				for _, reason := range []meta.Reason{meta.ReasonNotFound, meta.ReasonForbidden, store.ErrConflict, store.ErrExpired} {
					assert.NotErrorIs(t, err, reason)
				}
			}
		})
	}
	// An admission webhook refuses without naming the resource.
	_, err := answering(t, 403, "application/json", status(403, "")).Create(t.Context(), newLease("a", "me"), store.CreateOptions{})
	assert.ErrorIs(t, err, meta.ReasonForbidden)
}

// A server may tell in a header alone when to come again.
func TestAnErrorTellsWhenToComeAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for after, want := range map[string]int32{"7": 7, "-7": 0, "86400": 3600} {
			leases := leasesAt(t, client.Config{Server: "http://other", Transport: roundTrip(func(*http.Request) (*http.Response, error) {
				return &http.Response{StatusCode: 503, Header: http.Header{"Retry-After": {after}}, Body: http.NoBody}, nil
			})})
			_, err := leases.Create(t.Context(), newLease("a", "me"), store.CreateOptions{})
			status, ok := errors.AsType[*meta.StatusError](err)
			require.True(t, ok, "got %v", err)
			assert.Equal(t, want, status.Status.Details.RetryAfterSeconds)
		}
	})
}

func TestListsAskOnlyForWhatIsSet(t *testing.T) {
	for query, opts := range map[string]store.ListOptions{"": {Limit: -1}, "limit=1": {Limit: 1}, "labelSelector=a": {LabelSelector: "a"}} {
		leases := leasesAt(t, client.Config{Server: "http://other", Transport: roundTrip(func(req *http.Request) (*http.Response, error) {
			assert.Equal(t, query, req.URL.RawQuery)
			return nil, errors.New("no network")
		})})
		_, err := leases.List(t.Context(), opts)
		assert.Error(t, err)
	}
}

// The pages are of one state.
func TestAllReadsPagesOfFiveHundred(t *testing.T) {
	api := apitest.New(t)
	for i := range 501 {
		put(t, api.Store(), fmt.Sprintf("l%03d", i), "x")
	}
	names := func(ctx context.Context, between func()) (names []string, last error) {
		for l, err := range leasesOf(t, api).All(ctx, "default") {
			if last = err; err == nil {
				names = append(names, l.Name)
			}
			if len(names) == 500 {
				between()
			}
		}
		return names, last
	}
	all, err := names(t.Context(), func() { remove(t, api.Store(), "l500") })
	require.NoError(t, err)
	assert.Len(t, all, 501)
	assert.Equal(t, "l500", all[500])
	api.Requests().Assert(t, "list leases default/* 200", "list leases default/* 200")

	put(t, api.Store(), "l500", "x")
	all, err = names(t.Context(), func() {
		put(t, api.Store(), "l501", "x")
		api.Store().ExpireHistory()
	})
	assert.ErrorIs(t, err, store.ErrExpired)
	assert.Len(t, all, 500)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = names(ctx, func() {})
	assert.ErrorIs(t, err, context.Canceled)
}

func TestFramesThatAreWrongEndAWatch(t *testing.T) {
	const object = `{"metadata":{"resourceVersion":"7"}}`
	for name, row := range map[string]struct{ body, want string }{
		"no JSON":             {`{"type":"ADDED","object":` + object + `}<html>`, "client: event: invalid character '<'"},
		"an unknown type":     {`{"type":"OTHER","object":` + object + `}`, `client: event: got type "OTHER", want ADDED, MODIFIED, DELETED, BOOKMARK or ERROR`},
		"no version":          {`{"type":"ADDED","object":{}}`, "client: event: got an object without resourceVersion"},
		"no object":           {`{"type":"ADDED"}`, "client: the answer is no Lease: "},
		"an error of nothing": {`{"type":"ERROR","object":{}}`, "client: event: got an ERROR without a Status"},
		"a wrong member":      {`{"type":1}`, "client: event: json: cannot unmarshal number"},
		"an endless event":    {`{"type":"` + strings.Repeat("x", 17<<20), "client: event: got more than 16777216 bytes, want fewer"},
	} {
		t.Run(name, func(t *testing.T) {
			var last error
			for _, err := range answering(t, 200, "application/json", row.body).Watch(t.Context(), store.WatchOptions{ResourceVersion: "1"}) {
				last = err
			}
			require.Error(t, last)
			assert.True(t, strings.HasPrefix(last.Error(), row.want), "got %q", last)
		})
	}
}

func TestRequestsNameTheirClientAndTheirUser(t *testing.T) {
	var got *http.Request
	leases := leasesAt(t, client.Config{Server: "https://other/prefix/", Token: "secret", UserAgent: "agent/1", Transport: roundTrip(func(req *http.Request) (*http.Response, error) {
		got = req
		return nil, errors.New("no network")
	})})
	_, err := leases.Get(t.Context(), "default", "a b")
	assert.EqualError(t, err, `client: Get "https://other/prefix/apis/coordination.k8s.io/v1/namespaces/default/leases/a%20b": no network`)
	assert.Equal(t, "Bearer secret", got.Header.Get("Authorization"))
	assert.Equal(t, "agent/1", got.Header.Get("User-Agent"))
	assert.Empty(t, got.Header.Get("Content-Type"))
	_, err = leases.Patch(t.Context(), "default", "a", store.MergePatch, nil, store.PatchOptions{})
	assert.Error(t, err)
	assert.Equal(t, "application/merge-patch+json", got.Header.Get("Content-Type"))
	_, err = leases.DeleteCollection(t.Context(), store.DeleteOptions{DryRun: true}, store.ListOptions{Namespace: "default"})
	assert.Error(t, err)
	assert.Equal(t, "application/json", got.Header.Get("Content-Type"))
	body, err := io.ReadAll(got.Body)
	require.NoError(t, err)
	assert.JSONEq(t, `{"kind":"DeleteOptions","apiVersion":"v1","dryRun":["All"]}`, string(body))
}

func TestNamesThatWouldMakeAnotherPathAreRefused(t *testing.T) {
	leases := leasesAt(t, client.Config{Server: "http://other", Transport: roundTrip(func(req *http.Request) (*http.Response, error) {
		t.Errorf("got a request for %s, want none", req.URL)
		return nil, errors.New("refused")
	})})
	ctx := t.Context()
	for _, row := range [][2]string{{"default", ""}, {"", "a"}, {"default", ".."}, {"..", "a"}, {"default", "a/status"}, {"a/b", "c"}, {"default", "%2e"}} {
		_, err := leases.Get(ctx, row[0], row[1])
		assert.ErrorIs(t, err, store.ErrBadRequest, "%q", row)
		_, err = leases.Delete(ctx, row[0], row[1], store.DeleteOptions{})
		assert.ErrorIs(t, err, store.ErrBadRequest, "%q", row)
		l := newLease(row[1], "")
		l.Namespace = row[0]
		_, err = leases.Update(ctx, l, store.UpdateOptions{})
		assert.ErrorIs(t, err, store.ErrBadRequest, "%q", row)
	}
	_, err := leases.Create(ctx, &lease.Lease{ObjectMeta: meta.ObjectMeta{Name: "a"}}, store.CreateOptions{})
	assert.ErrorIs(t, err, store.ErrBadRequest)
	_, err = leases.List(ctx, store.ListOptions{Namespace: ".."})
	assert.ErrorIs(t, err, store.ErrBadRequest)
	_, err = leases.DeleteCollection(ctx, store.DeleteOptions{}, store.ListOptions{Namespace: "a/b"})
	assert.ErrorIs(t, err, store.ErrBadRequest)
	for _, err := range leases.Watch(ctx, store.WatchOptions{Namespace: ".."}) {
		assert.ErrorIs(t, err, store.ErrBadRequest)
	}
}

func TestNewRefusesWhatCannotWork(t *testing.T) {
	for name, row := range map[string]struct {
		config client.Config
		want   string
	}{
		"nothing":     {client.Config{}, `client: Server: got "", want http:// or https://, a host, and at most a path after it`},
		"no scheme":   {client.Config{Server: "localhost:80"}, `client: Server: got "localhost:80", want`},
		"no host":     {client.Config{Server: "http:///below"}, `client: Server: got "http:///below", want`},
		"a fragment":  {client.Config{Server: "http://host#a"}, "client: Server: got"},
		"a user":      {client.Config{Server: "http://me:secret@host"}, `client: Server: got "http://me:xxxxx@host", want`},
		"a query":     {client.Config{Server: "http://host?a"}, "client: Server: got"},
		"no URL":      {client.Config{Server: "http://[::1"}, `client: Server: parse "http://[::1"`},
		"two lines":   {client.Config{Server: "http://host", Token: "a\nb"}, "client: Token or UserAgent: got a line break"},
		"two fields":  {client.Config{Server: "http://a", Servers: []string{"http://b"}}, "client: Servers: got them together with Server, want one of them"},
		"one of two":  {client.Config{Servers: []string{"http://a", "b"}}, `client: Servers[1]: got "b", want http:// or https://`},
		"TLS twice":   {client.Config{Server: "http://host", TLS: &tls.Config{}, Transport: http.DefaultTransport}, "client: TLS: got it together with Transport"},
		"a bad agent": {client.Config{Server: "http://host", UserAgent: "a\rb"}, "client: Token or UserAgent: got a line break"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := client.New(row.config)
			require.Error(t, err)
			assert.True(t, strings.HasPrefix(err.Error(), row.want), "got %q", err)
		})
	}
}
