package wiretest

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestCompareModes(t *testing.T) {
	subset, shape := Compare{Body: "subset"}, Compare{Body: "shape"}
	for _, row := range []struct {
		name      string
		mode      Compare
		want, got string
		differ    string // where, "" for nowhere
	}{
		{"equal", Compare{}, `{"a":[1,2]}`, `{"a":[1,2]}`, ""},
		{"another order of elements", Compare{}, `{"a":[1,2]}`, `{"a":[2,1]}`, "body /a/0, body /a/1"},
		{"an element less", Compare{}, `{"a":[1,2]}`, `{"a":[1]}`, "body /a/1"},
		{"an element more", Compare{}, `{"a":[1]}`, `{"a":[1,2]}`, "body /a/1"},
		{"a member more", Compare{}, `{"a":1}`, `{"a":1,"b/c":2}`, "body /b~1c"},
		{"a member more that is null", Compare{}, `{"a":1}`, `{"a":1,"b":null}`, "body /b"},
		{"a member less", Compare{}, `{"a":1}`, `{}`, "body /a"},
		{"an empty object for none", Compare{}, `{}`, `{"a":{}}`, "body /a"},
		{"an empty array for null", Compare{}, `{"a":null}`, `{"a":[]}`, "body /a"},
		{"another kind", Compare{}, `{"a":"1"}`, `{"a":1}`, "body /a"},
		{"another number form", Compare{}, `1`, `1.0`, "body"},
		{"another boolean", Compare{}, `true`, `false`, "body"},
		{"two members", Compare{}, `{"a":1,"b":{"c":2}}`, `{"a":2,"b":{}}`, "body /a, body /b/c"},
		{"two elements", Compare{}, `[1,2]`, `[2,1]`, "body /0, body /1"},
		{"subset of members and elements", subset, `{"a":[2]}`, `{"a":[1,2,3],"b":2}`, ""},
		{"subset in another order", subset, `{"a":[2,1]}`, `{"a":[1,2,3]}`, "body /a/1"},
		{"subset twice the same", subset, `[1,1]`, `[1,2]`, "body /1"},
		{"subset of one candidate says why", subset, `[{"a":1}]`, `[{"a":2}]`, "body /0/a"},
		{"shape with another text", shape, `{"a":"x"}`, `{"a":"y"}`, ""},
		{"shape with another kind", shape, `{"a":"x"}`, `{"a":1}`, "body /a"},
		{"shape with a member more", shape, `{"a":"x"}`, `{"a":"x","b":1}`, "body /b"},
		{"shape of first elements", shape, `["x"]`, `[1]`, "body /0"},
		{"ignored value", Compare{Ignore: []string{"/a/*/b"}}, `{"a":[{"b":1}]}`, `{"a":[{"b":2}]}`, ""},
		{"ignored absence", Compare{Ignore: []string{"/a/*/b"}}, `{"a":[{"b":1}]}`, `{"a":[{}]}`, ""},
		{"ignored presence", Compare{Ignore: []string{"/a/*/b"}}, `{"a":[{}]}`, `{"a":[{"b":1}]}`, ""},
		{"a pattern is no prefix", Compare{Ignore: []string{"/a"}}, `{"a/b":1,"b":{"a":1}}`, `{"a/b":1,"b":{"a":2}}`, "body /b/a"},
	} {
		t.Run(row.name, func(t *testing.T) {
			found := compareTrees(row.mode, "body", parse(t, row.want), parse(t, row.got))
			assert.Equal(t, row.differ, places(found))
		})
	}
}

func TestCompareStep(t *testing.T) {
	collect := Step{Collect: &Collect{}}
	headers := func(values ...string) Expected { return Expected{Headers: map[string][]string{"Warning": values}} }
	for _, row := range []struct {
		name      string
		step      Step
		want, got Expected
		differ    string
	}{
		{"status with a message", Step{}, Expected{Status: 200}, Expected{Status: 404, JSON: map[string]any{"message": "gone"}},
			`status: want 200, got "404 (gone)"`},
		{"status with text", Step{}, Expected{Status: 200}, Expected{Status: 404, Text: "gone"}, `status: want 200, got "404 (gone)"`},
		{"status alone", Step{}, Expected{Status: 200}, Expected{Status: 404}, `status: want 200, got 404`},
		{"header missing", Step{}, headers("a"), Expected{}, `header Warning: want ["a"], got null`},
		{"header twice", Step{}, headers("a"), headers("a", "a"), `header Warning: want ["a"], got ["a","a"]`},
		{"header empty", Step{}, Expected{}, headers(""), `header Warning: want null, got [""]`},
		{"protobuf", Step{}, Expected{Protobuf: true}, Expected{}, `body is protobuf: want true, got false`},
		{"text", Step{}, Expected{Text: "a"}, Expected{Text: "b"}, `text: want "a", got "b"`},
		{"indentation", Step{}, Expected{}, Expected{Indented: true}, `body is indented: want false, got true`},
		{"indentation of a subset", Step{Compare: Compare{Body: "subset"}}, Expected{}, Expected{Indented: true}, ""},
		{"body", Step{}, Expected{JSON: "a"}, Expected{JSON: "b"}, `body: want "a", got "b"`},
		{"body that is not compared", Step{Compare: Compare{Body: "none"}}, Expected{Text: "a"}, Expected{JSON: "b"}, ""},
		{"end of a stream", collect, Expected{Closed: true}, Expected{}, `stream closed by the server: want true, got false`},
		{"event", collect, Expected{Events: []any{"a", "b"}}, Expected{Events: []any{"a", "c"}}, `event 1: want "b", got "c"`},
		{"event too few", collect, Expected{Events: []any{"a"}}, Expected{}, `event 0: want "a", got "none"`},
		{"event too many", collect, Expected{}, Expected{Events: []any{"a"}}, `event 0: want "none", got "a"`},
	} {
		t.Run(row.name, func(t *testing.T) {
			found := compareStep(row.step, row.want, row.got)
			assert.Empty(t, compareStep(row.step, row.want, row.want), "equal outcomes")
			if row.differ == "" {
				assert.Empty(t, found)
				return
			}
			require.Len(t, found, 1)
			assert.Equal(t, "step 0 (): "+row.differ, found[0].String())
		})
	}
}

// places joins the places of the differences.
func places(found []Difference) string {
	var where []string
	for _, d := range found {
		where = append(where, d.Where)
	}
	return strings.Join(where, ", ")
}
