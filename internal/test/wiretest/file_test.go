package wiretest

import (
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
	assert.GreaterOrEqual(t, len(goldens), 324, "they may grow, but must not shrink")
	assert.Equal(t, Exchanges, exchanges)
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
