package wiretest

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// recorded is the folder of the answers of the real API server.
const recorded = "../../../httpapi/testdata/wire"

func TestRecordedFilesPrintTheirOwnText(t *testing.T) {
	files, err := LoadFiles(recorded)
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, f := range files {
		stored, err := os.ReadFile(f.Path())
		require.NoError(t, err)
		assert.Equal(t, string(stored), f.Text(), f.Path())
	}
}

func TestRecordedScenariosAreComplete(t *testing.T) {
	goldens, err := LoadGolden(recorded)
	require.NoError(t, err)
	exchanges := 0
	for i, g := range goldens {
		if i > 0 {
			assert.Less(t, goldens[i-1].Scenario.Name, g.Scenario.Name, "order")
		}
		require.Len(t, g.Expect, len(g.Scenario.Steps), g.Scenario.Name)
		for j, s := range g.Scenario.Steps {
			if s.exchanges() {
				exchanges++
			}
			if s.Method != "" {
				assert.NotZero(t, g.Expect[j].Status, "%s: step %d (%s) has no answer", g.Scenario.Name, j, s.label())
			}
		}
		assert.Empty(t, compare(g, g, nil).Differences, "%s compared with itself", g.Scenario.Name)
	}
	// Recorded in November 2026. The numbers may grow, but must not shrink.
	assert.GreaterOrEqual(t, len(goldens), 324)
	assert.GreaterOrEqual(t, exchanges, 3033)
}

// testKinds are two kinds of a folder.
const testKinds = `# comment
lease
  $type    "apiVersion":"g/v1","kind":"Lease"
  $all     /apis/g/v1/namespaces/{{ns}}/leases
  $Kind    Lease
  $plural  leases
  $version g/v1
endpoints
  $type    "apiVersion":"v1","kind":"Endpoints"
  $all     /api/v1/namespaces/{{ns}}/endpoints
  $Kind    Endpoints
  $plural  endpoints
  $version v1
  $warning 299 - "old"
`

// readTestFile reads a file of the test kinds.
func readTestFile(t *testing.T, name, text string) (*File, error) {
	t.Helper()
	dir := t.TempDir()
	path := filepath.Join(dir, name)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "kinds.txt"), []byte(testKinds), 0o600))
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	files, err := LoadFiles(dir)
	if err != nil {
		return nil, err
	}
	require.Len(t, files, 1)
	return files[0], nil
}

const everyForm = `about every form of a line
tags slow
kinds lease endpoints

POST $all?fieldManager=a+b%26c {$type,"metadata":{"name":"a"}}
  X-Header: {{ns}}
  keep rv /metadata/resourceVersion
  201 sent {uid1} {rv1} by conformance Update spec{holder "k:{\"a\":1}"{.}}
    Warning: 299 - "new"
PATCH $all/a??force=%zz merge {"metadata":{"labels":{"a":"1"}}}
  200 indented @rv1 {rv2} + {"metadata":{"labels":{"a":"1"}}}
lease| PATCH $all/a json-patch text not json
lease|   400 BadRequest "no" {"name":"a"}
PUT $all/a text
  | a: 1
  |
  |   b: 2
  405 text "two\nlines"
    Content-Type: -
w = GET $all?watch=true
  compare none
  ignore /a /b/*
  200
collect w 2 closed sorted timeout=3000ms
  keep x /0/type
  ADDED @rv2
  ERROR 410 Expired "too old"
  closed
close w
GET $all
  Accept: application/vnd.kubernetes.protobuf
  200 protobuf list {rv3} + {"metadata":{"continue":"{continue}"}}
    @rv1 @rv2
    @rv2 {rv3}
    {"kind":"Other"}
GET $all/a
lease|   200 {"managedFields":["x Apply a"],"object":"meta @rv1"}
endpoints|   200 {"object":"@rv1"}
DELETE $all/a repeat {"prefix":"a","unit":"b","count":3}
  200 Success {"name":"a"}
order {rv2} {rv1} {rv3}
`

func TestFileHoldsScenariosOfSeveralKinds(t *testing.T) {
	f, err := readTestFile(t, "all.txt", everyForm)
	require.NoError(t, err)
	goldens := f.Goldens()
	require.Len(t, goldens, 2)
	lease, endpoints := goldens[0], goldens[1]
	assert.Equal(t, []string{"lease-all", "endpoints-all"}, []string{lease.Scenario.Name, endpoints.Scenario.Name})
	assert.Equal(t, []string{"slow"}, lease.Scenario.Tags)
	assert.Len(t, lease.Expect, 10)
	assert.Len(t, endpoints.Expect, 9, "without the step that only Leases have")
	assert.Equal(t, []string{"{rv2}", "{rv1}", "{rv3}"}, endpoints.VersionOrder)

	first := lease.Scenario.Steps[0]
	assert.Equal(t, Step{Method: "POST", Path: "/apis/g/v1/namespaces/{{ns}}/leases", Query: map[string]string{"fieldManager": "a b&c"},
		Body: json.RawMessage(`{"apiVersion":"g/v1","kind":"Lease","metadata":{"name":"a"}}`), Headers: map[string]string{"X-Header": "{{ns}}"},
		Capture: map[string]string{"rv": "/metadata/resourceVersion"}}, first)
	assert.Equal(t, parse(t, `{"apiVersion":"g/v1","kind":"Lease","metadata":{"name":"a","namespace":"{ns}","creationTimestamp":"{time}","uid":"{uid1}","resourceVersion":"{rv1}",
		"managedFields":[{"manager":"conformance","operation":"Update","apiVersion":"g/v1","time":"{time}","fieldsType":"FieldsV1","fieldsV1":{"f:spec":{"f:holder":{},"k:{\"a\":1}":{".":{}}}}}]}}`),
		lease.Expect[0].JSON)
	assert.Equal(t, map[string][]string{"Content-Type": {"application/json"}, "Warning": {`299 - "new"`}}, lease.Expect[0].Headers)
	assert.Equal(t, []string{`299 - "old"`, `299 - "new"`}, endpoints.Expect[0].Headers["Warning"])

	assert.Equal(t, "force=%zz", lease.Scenario.Steps[1].RawQuery)
	assert.True(t, lease.Expect[1].Indented)
	assert.Equal(t, "not json", lease.Scenario.Steps[2].BodyText)
	assert.Equal(t, "application/json-patch+json", lease.Scenario.Steps[2].Headers["Content-Type"])
	assert.Equal(t, parse(t, `{"apiVersion":"v1","kind":"Status","metadata":{},"status":"Failure","code":400,"reason":"BadRequest","message":"no","details":{"name":"a"}}`), lease.Expect[2].JSON)
	assert.Equal(t, "a: 1\n\n  b: 2\n", lease.Scenario.Steps[3].BodyText)
	assert.Equal(t, "two\nlines", lease.Expect[3].Text)
	assert.Nil(t, lease.Expect[3].Headers)
	assert.Equal(t, Collect{Stream: "w", Events: 2, UntilClosed: true, SortByName: true, TimeoutMs: 3000, Capture: map[string]string{"x": "/0/type"}}, *lease.Scenario.Steps[5].Collect)
	assert.True(t, lease.Expect[5].Closed)
	code, _ := pointer(lease.Expect[5].Events[1], "/object/code")
	assert.Equal(t, json.Number("410"), code)

	list := lease.Expect[7].JSON.(map[string]any)
	assert.Equal(t, "LeaseList", list["kind"])
	items := list["items"].([]any)
	assert.Len(t, items, 4)
	assert.NotContains(t, items[0], "kind")
	assert.Equal(t, map[string]any{"kind": "Other"}, items[3])
	partial, _ := pointer(lease.Expect[8].JSON, "/object/kind")
	assert.Equal(t, "PartialObjectMetadata", partial)
}

func TestParsedFilePrintsTheSameText(t *testing.T) {
	f, err := readTestFile(t, "all.txt", everyForm)
	require.NoError(t, err)
	assert.Equal(t, everyForm, f.Text())
}

func TestFileOfOneKindIsNamedAfterItsScenario(t *testing.T) {
	f, err := readTestFile(t, "lease-a.txt", "about a\nkinds lease\n\nGET $all\n  200 list {rv1}\n")
	require.NoError(t, err)
	assert.Equal(t, "lease-a", f.Goldens()[0].Scenario.Name)
}

func TestFileRefuses(t *testing.T) {
	const head = "about a\nkinds lease endpoints\n\n"
	for _, row := range []struct{ name, text, err string }{
		{"no head", "GET /\n", "1: no empty line after the head"},
		{"an unknown line of the head", "abut a\n\n", "1: abut: want about, tags or kinds"},
		{"an unknown kind", "about a\nkinds pod\n\n", "2: kind pod is not in kinds.txt"},
		{"a step that is no request", head + "get /\n", "4: want a request, collect or close"},
		{"a parameter twice", head + "GET /?a=1&a=2\n", "4: parameter a stands twice; write ?? before a query that is sent as written"},
		{"a body that is not JSON", head + "POST / {\n", "4: the body is not JSON; write text and a quoted string"},
		{"an answer that is no JSON", head + "GET /\n  200 {\n", "4: 200 {: want a Status, an object or JSON: unexpected EOF"},
		{"an object that was not shown", head + "GET /\n  200 @rv1\n", "4: 200 @rv1: @rv1: no object was shown with that resourceVersion"},
		{"nothing sent", head + "GET /\n  200 sent\n", "4: 200 sent: sent: the step has sent no object"},
		{"an owner without fields", head + "POST / {}\n  200 sent by a Update {\n", `4: 200 sent by a Update {: owner "a Update {": want manager, operation and fields`},
		{"an event without an object", head + "collect w 1\n  ADDED\n", "4: ADDED: want an event, such as ADDED @rv1"},
		{"a second answer", head + "GET /\n  200\n  201\n", "4: 201: want an answer, a header, or an option of the request"},
		{"a capture without a pointer", head + "GET /\n  keep rv\n", "4: keep rv: want a name and a JSON pointer"},
	} {
		t.Run(row.name, func(t *testing.T) {
			_, err := readTestFile(t, "a.txt", row.text)
			require.Error(t, err)
			_, text, _ := strings.Cut(err.Error(), "a.txt:")
			assert.Equal(t, row.err, text)
		})
	}
}

func TestKindsRefuse(t *testing.T) {
	path := filepath.Join(t.TempDir(), "kinds.txt")
	require.NoError(t, os.WriteFile(path, []byte("lease\n  type a\n"), 0o600))
	_, err := readKinds(path)
	assert.EqualError(t, err, path+":2: want a kind, or a name such as $all and its text below a kind")
}

func TestLoadRefusesAMissingFolder(t *testing.T) {
	_, err := LoadGolden(filepath.Join(t.TempDir(), "none"))
	assert.ErrorIs(t, err, os.ErrNotExist)
}

// Every value must survive writing and reading, because recorded answers are stored only in this form.
func TestAnyAnswerSurvivesWritingAndReading(t *testing.T) {
	for _, text := range []string{
		`{"apiVersion":"g/v1","kind":"Lease","metadata":{"name":"a","uid":"{uid1}","resourceVersion":"{rv1}"}}`,
		`{"apiVersion":"g/v1","kind":"Lease","metadata":{"name":"a","uid":"{uid2}","resourceVersion":"{rv1}"}}`,
		`{"apiVersion":"g/v1","kind":"Lease","metadata":{"name":"a","uid":"{uid1}"},"spec":null}`,
		`{"apiVersion":"g/v1","kind":"Lease","metadata":{"name":"a","uid":"{uid1}","resourceVersion":"{rv9}"},"spec":{"by":" by x + {"}}`,
		`{"apiVersion":"g/v1","kind":"Lease","metadata":{"name":"a","uid":"{uid1}","managedFields":null}}`,
		`{"apiVersion":"g/v1","kind":"Lease","metadata":{"name":"a","uid":"{uid1}","managedFields":[{"manager":"a b"}]}}`,
		`{"apiVersion":"g/v1","kind":"Lease","metadata":null}`,
		`{"apiVersion":"v1","kind":"Status","metadata":{},"status":"Failure","code":409,"message":"m"}`,
		`{"apiVersion":"v1","kind":"Status","metadata":{"a":1},"status":"Failure","code":409,"message":"m"}`,
		`{"apiVersion":"v1","kind":"Status","status":"Success"}`,
		`{"apiVersion":"g/v1","kind":"LeaseList","metadata":{},"items":null}`,
		`{"apiVersion":"g/v1","kind":"LeaseList","metadata":{"resourceVersion":""},"items":[]}`,
		`{"apiVersion":"g/v2","kind":"LeaseList","metadata":{"resourceVersion":"{rv1}"},"items":[{"metadata":null},7,{"kind":"Lease"}]}`,
		`[]`, `"text"`, `7`, `{}`, `{"a":"b by c"}`, `"Success"`,
	} {
		t.Run(text, func(t *testing.T) {
			f, err := readTestFile(t, "lease-a.txt", "about a\nkinds lease\n\nPOST $all {\"metadata\":{\"name\":\"a\"},\"spec\":1}\n  201 sent {uid1} {rv1}\nGET $all\n")
			require.NoError(t, err)
			g := f.Goldens()[0]
			g.Expect[1] = Expected{Status: 409, Headers: map[string][]string{"Content-Type": {jsonType}}, JSON: parse(t, text)}
			f.Replace(g)
			back, err := readTestFile(t, "lease-a.txt", f.Text())
			require.NoError(t, err, f.Text())
			assert.Equal(t, g.Expect[1], back.Goldens()[0].Expect[1], f.Text())
		})
	}
}
