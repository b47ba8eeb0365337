package wiretest

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestCheckFindsNoDifferenceInTheSameServer(t *testing.T) {
	r := &Runner{Transport: &toy{version: 40}, BaseURL: "http://toy/"}
	g, err := r.replay(t.Context(), toyScenario())
	require.NoError(t, err)
	meta, _ := pointer(g.Expect[0].JSON, "/metadata")
	assert.Equal(t, map[string]any{
		"name": "x-{gen1}", "generateName": "x-", "namespace": "{ns}", "uid": "{uid1}",
		"resourceVersion": "{rv1}", "creationTimestamp": "{time}",
	}, meta)
	assert.Equal(t, []string{"{rv1}", "{rv2}"}, g.VersionOrder)
	assert.Equal(t, Result{Name: "toy", Exchanges: 3}, r.Check(t.Context(), g))
}

func TestCheckFindsAVersionThatJumpsBack(t *testing.T) {
	s := &toy{version: 40}
	r := &Runner{Transport: s, BaseURL: "http://toy"}
	g, err := r.replay(t.Context(), toyScenario())
	require.NoError(t, err)
	s.jumps = true
	res := r.Check(t.Context(), g)
	require.NoError(t, res.Err)
	require.Equal(t, 2, res.Different, "%v", res.Differences)
	assert.Equal(t, `step 1 (GET /{{ns}}/things/{{n}}): body /metadata/resourceVersion: want "{rv1}", got "{rv2}"`, res.Differences[0].String())
}

func TestCheckComparesTheOrderOfVersions(t *testing.T) {
	r := &Runner{Transport: &toy{version: 40}, BaseURL: "http://toy"}
	g, err := r.replay(t.Context(), toyScenario())
	require.NoError(t, err)
	g.VersionOrder = []string{"{rv2}", "{rv1}"}
	res := r.Check(t.Context(), g)
	require.Len(t, res.Differences, 1)
	assert.Equal(t, 1, res.Different)
	assert.Equal(t, Difference{Step: -1, Label: "all", Where: "order of resource versions", Want: []string{"{rv2}", "{rv1}"}, Got: []string{"{rv1}", "{rv2}"}}, res.Differences[0])
}

func TestRecordReplacesDifferencesThatAreNotAccepted(t *testing.T) {
	r := &Runner{Transport: &toy{version: 40}, BaseURL: "http://toy"}
	stored, err := r.replay(t.Context(), toyScenario())
	require.NoError(t, err)
	same, res := r.Record(t.Context(), stored, nil)
	assert.Equal(t, stored, same)
	assert.Empty(t, res.Differences)

	other := stored
	other.Expect = slices.Clone(stored.Expect)
	other.Expect[0].Status, other.Expect[2].Status = 418, 419
	recorded, res := r.Record(t.Context(), other, nil)
	assert.Equal(t, stored, recorded)
	assert.Len(t, res.Differences, 2)

	recorded, res = r.Record(t.Context(), other, func(d Difference) bool { return d.Want == 419 })
	assert.Equal(t, []int{200, 200, 419}, []int{recorded.Expect[0].Status, recorded.Expect[1].Status, recorded.Expect[2].Status})
	assert.Len(t, res.Differences, 1)
	assert.Equal(t, 418, other.Expect[0].Status, "the argument must not change")

	// A scenario that was never recorded has outcomes without a status.
	recorded, _ = r.Record(t.Context(), Golden{Scenario: toyScenario(), Expect: make([]Expected, 3)}, nil)
	assert.Equal(t, stored, recorded)
}

func TestCheckReportsAServerThatFails(t *testing.T) {
	broken := errors.New("no route")
	r := &Runner{BaseURL: "http://toy", Transport: roundTrip(func(*http.Request) (*http.Response, error) { return nil, broken })}
	res := r.Check(t.Context(), Golden{Scenario: toyScenario(), Expect: make([]Expected, 3)})
	assert.ErrorIs(t, res.Err, broken)
	assert.Equal(t, 3, res.Exchanges)
	assert.Equal(t, 3, res.Different)
	require.Len(t, res.Differences, 1)
	assert.Equal(t, `step 0 (POST /{{ns}}/things): exchange: want "an answer", got "step 0 (POST /{{ns}}/things): no route"`, res.Differences[0].String())
}

func TestCheckReportsACancelledWait(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	g := Golden{Scenario: Scenario{Steps: []Step{{Method: "GET", Path: "/", Open: "w"}, {Collect: &Collect{Stream: "w", Events: 1}}}}, Expect: make([]Expected, 2)}
	g.Expect[0].Status = http.StatusOK
	res := (&Runner{BaseURL: "http://toy", Transport: streaming("", func(context.Context, io.Writer) { cancel() })}).Check(ctx, g)
	assert.NotEmpty(t, res.Differences, "the error must also be a difference")
}

func TestCheckPreparesTheNamespaces(t *testing.T) {
	var names []string
	r := &Runner{Transport: &toy{version: 40}, BaseURL: "http://toy", Prepare: func(_ context.Context, name string) error {
		names = append(names, name)
		return nil
	}}
	_, err := r.replay(t.Context(), toyScenario())
	require.NoError(t, err)
	require.Len(t, names, 2)
	assert.Equal(t, names[0]+"-second", names[1])

	refused := errors.New("refused")
	r.Prepare = func(context.Context, string) error { return refused }
	_, err = r.replay(t.Context(), toyScenario())
	assert.ErrorIs(t, err, refused)
}

func TestCheckFailsOnAServerThatDoesNotAnswer(t *testing.T) {
	for _, row := range []struct {
		name string
		step Step
	}{
		{"a request", Step{Method: "GET", Path: "/"}},
		{"the opening of a stream", Step{Method: "GET", Path: "/", Open: "w"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := &Runner{BaseURL: "http://toy", Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
					<-r.Context().Done()
					return nil, r.Context().Err()
				})}
				start := time.Now()
				res := r.Check(t.Context(), Golden{Scenario: Scenario{Steps: []Step{row.step}}, Expect: make([]Expected, 1)})
				assert.ErrorIs(t, res.Err, errNoAnswer)
				assert.Equal(t, answerLimit, time.Since(start))
			})
		})
	}
}

func TestRequestIsSentAsWritten(t *testing.T) {
	lease, err := encodeProtobuf([]byte(`{"kind":"Lease","metadata":{"namespace":"N"}}`))
	require.NoError(t, err)
	for _, row := range []struct {
		name string
		step Step
		url  string
		body string
		want map[string]string // headers; "" for none
	}{
		{"no body", Step{Method: "GET", Path: "/{{ns}}"}, "http://toy/N", "", map[string]string{"Accept": "application/json", "User-Agent": "conformance/1.0", "Content-Type": ""}},
		{"query", Step{Method: "GET", Path: "/", Query: map[string]string{"b": "{{ns}} &", "a": "1"}}, "http://toy/?a=1&b=N+%26", "", nil},
		{"raw query", Step{Method: "GET", Path: "/", RawQuery: "a=%zz&{{ns}}", Query: map[string]string{"b": "1"}}, "http://toy/?a=%zz&N", "", nil},
		{"headers", Step{Method: "GET", Path: "/", Headers: map[string]string{"Accept": "-", "X-Ns": "{{ns}}"}}, "http://toy/", "", map[string]string{"Accept": "", "X-Ns": "N"}},
		{"JSON", Step{Method: "PUT", Path: "/", Body: json.RawMessage(`{ "a": "{{ns}}" }`)}, "http://toy/", `{"a":"N"}`, map[string]string{"Content-Type": "application/json"}},
		{"text", Step{Method: "PUT", Path: "/", BodyText: "{ {{ns}}"}, "http://toy/", "{ N", map[string]string{"Content-Type": "application/json"}},
		{"protobuf", Step{Method: "PUT", Path: "/", BodyProtobuf: json.RawMessage(`{"kind":"Lease","metadata":{"namespace":"{{ns}}"}}`)}, "http://toy/", string(lease), map[string]string{"Content-Type": protobufType}},
		{"repeated", Step{Method: "PUT", Path: "/", BodyRepeat: &Repeat{Prefix: "<{{ns}}", Unit: "ab", Count: 3, Suffix: ">"}}, "http://toy/", "<Nababab>", nil},
	} {
		t.Run(row.name, func(t *testing.T) {
			var sent *http.Request
			s := &toy{}
			x := &run{baseURL: "http://toy", vars: map[string]string{"ns": "N", "ns2": "N-second"}, transport: roundTrip(func(r *http.Request) (*http.Response, error) {
				sent = r
				return s.RoundTrip(r)
			})}
			x.norm = newNormalizer(Scenario{}, x.vars)
			_, err := x.step(t.Context(), row.step)
			require.NoError(t, err)
			assert.Equal(t, row.url, sent.URL.String())
			assert.Equal(t, row.body, s.lastBody)
			assert.EqualValues(t, len(row.body), sent.ContentLength)
			for name, value := range row.want {
				assert.Equal(t, value, sent.Header.Get(name), "header %s", name)
			}
		})
	}
}

func TestResponseIsReadByItsMediaType(t *testing.T) {
	lease, err := encodeProtobuf([]byte(`{"apiVersion":"v1","kind":"Lease","metadata":{"name":"a"}}`))
	require.NoError(t, err)
	object := map[string]any{"a": json.Number("1.50")}
	for _, row := range []struct {
		name      string
		step      Step
		mediaType string
		body      string
		want      Expected
	}{
		{"JSON", Step{}, "application/json", `{"a":1.50}`, Expected{JSON: object}},
		{"JSON on lines", Step{}, "application/json;as=Table", "{\n  \"a\": 1.50\n}", Expected{JSON: object, Indented: true}},
		{"broken JSON", Step{}, "application/json", `{"a":`, Expected{Text: `{"a":`}},
		{"protobuf", Step{}, protobufType, string(lease), Expected{Protobuf: true, JSON: map[string]any{"apiVersion": "v1", "kind": "Lease", "metadata": map[string]any{"name": "a"}}}},
		{"plain text", Step{}, "text/plain", "ok in N", Expected{Text: "ok in {ns}"}},
		{"JSON as text", Step{Compare: Compare{Body: "text"}}, "application/json", `{"a":1}`, Expected{Text: `{"a":1}`}},
		{"not compared", Step{Compare: Compare{Body: "none"}}, "application/json", `{"a":1}`, Expected{}},
	} {
		t.Run(row.name, func(t *testing.T) {
			x := &run{vars: map[string]string{"ns": "N", "ns2": "N-second"}, transport: answering(http.StatusTeapot, row.mediaType, row.body)}
			x.norm = newNormalizer(Scenario{}, x.vars)
			got, err := x.step(t.Context(), row.step)
			require.NoError(t, err)
			row.want.Status = http.StatusTeapot
			row.want.Headers = map[string][]string{"Content-Type": {row.mediaType}}
			assert.Equal(t, row.want, got)
		})
	}
}

func TestLaterStepsUseCaptures(t *testing.T) {
	for _, row := range []struct {
		name    string
		pointer string
		want    string
		err     string
	}{
		{"a text", "/a/0/b~1c", "x", ""},
		{"a number", "/n", "12", ""},
		{"an object", "/a/0", `{"b/c":"x"}`, ""},
		{"nothing", "/a/1", "", `nothing at /a/1 (status 200, body {"a":[{"b/c":"x"}],"n":12})`},
	} {
		t.Run(row.name, func(t *testing.T) {
			x := &run{vars: map[string]string{"ns": "N", "ns2": "N-second"}, transport: answering(http.StatusOK, "application/json", `{"a":[{"b/c":"x"}],"n":12}`)}
			x.norm = newNormalizer(Scenario{}, x.vars)
			_, err := x.step(t.Context(), Step{Capture: map[string]string{"v": row.pointer}, Compare: Compare{Body: "none"}})
			if row.err != "" {
				require.EqualError(t, err, row.err)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, row.want, x.expand("{{v}}"))
		})
	}
}

func TestCaptureMayBeMissingIfItsNameSaysSo(t *testing.T) {
	for mediaType, body := range map[string]string{"application/json": `{}`, "text/plain": "x"} {
		x := &run{vars: map[string]string{"ns": "N", "ns2": "N-second", "v?": "before"}, transport: answering(http.StatusOK, mediaType, body)}
		x.norm = newNormalizer(Scenario{}, x.vars)
		_, err := x.step(t.Context(), Step{Capture: map[string]string{"v?": "/a"}})
		require.NoError(t, err)
		assert.Equal(t, "before", x.expand("{{v?}}"))
	}
}
