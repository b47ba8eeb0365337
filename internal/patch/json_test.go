package patch

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// applyText applies a JSON patch to any document.
func applyText(doc, patch string) (string, error) {
	text, err := compact([]byte(patch))
	if err != nil {
		return "", err
	}
	n, _ := parse(text)
	ops, err := operations(n)
	if err != nil {
		return "", err
	}
	current, err := compact([]byte(doc))
	if err != nil {
		return "", err
	}
	out, err := applyOperations(current, ops)
	return string(out), err
}

func TestOperations(t *testing.T) {
	const doc = `{"b": {"d": 1, "c": [1, 2.0, "<"]}, "a": {"z": null, "y": true}}`
	const untouched = `{"a":{"z":null,"y":true},"b":{"d":1,"c":[1,2.0,"\u003c"]}}`
	tests := map[string]struct{ patch, want string }{
		"nothing":                              {`[]`, untouched},
		"null is an empty patch":               {`null`, untouched},
		"changed objects have sorted members":  {`[{"op":"test","path":"/b/d","value":1}]`, `{"a":{"z":null,"y":true},"b":{"c":[1,2.0,"\u003c"],"d":1}}`},
		"add to an array":                      {`[{"op":"add","path":"/b/c/0","value":{"b":1,"a":1}}]`, `{"a":{"z":null,"y":true},"b":{"c":[{"b":1,"a":1},1,2.0,"\u003c"],"d":1}}`},
		"append to an array":                   {`[{"op":"add","path":"/b/c/-","value":7}]`, `{"a":{"z":null,"y":true},"b":{"c":[1,2.0,"\u003c",7],"d":1}}`},
		"add from the end":                     {`[{"op":"add","path":"/b/c/-2","value":7}]`, `{"a":{"z":null,"y":true},"b":{"c":[1,2.0,7,"\u003c"],"d":1}}`},
		"remove from the end":                  {`[{"op":"remove","path":"/b/c/-3"},{"op":"remove","path":"/b/c/+1"}]`, `{"a":{"z":null,"y":true},"b":{"c":[2.0],"d":1}}`},
		"replace adds":                         {`[{"op":"replace","path":"/n","value":1}]`, `{"a":{"z":null,"y":true},"b":{"d":1,"c":[1,2.0,"\u003c"]},"n":1}`},
		"add without a value is null":          {`[{"op":"add","path":"/b"}]`, `{"a":{"z":null,"y":true},"b":null}`},
		"copy of nothing is null":              {`[{"op":"copy","from":"/zz","path":"/b"}]`, `{"a":{"z":null,"y":true},"b":null}`},
		"copies are independent":               {`[{"op":"copy","from":"/a","path":"/b"},{"op":"remove","path":"/b/z"}]`, `{"a":{"z":null,"y":true},"b":{"y":true}}`},
		"move":                                 {`[{"op":"move","from":"/a/y","path":"/b"}]`, `{"a":{"z":null},"b":true}`},
		"escapes":                              {`[{"op":"replace","path":"","value":{"m~n":1,"a/b":2}},{"op":"remove","path":"/m~0n"},{"op":"replace","path":"/a~1b","value":"\u0061"}]`, `{"a/b":"\u0061"}`},
		"text before the slash is ignored":     {`[{"op":"remove","path":"junk/b"},{"op":"remove","path":"/a"}]`, `{}`},
		"the last of duplicate members counts": {`[{"op":"remove","path":"/b","op":"test","path":"/b/d","value":2,"value":1}]`, `{"a":{"z":null,"y":true},"b":{"c":[1,2.0,"\u003c"],"d":1}}`},
		"test null":                            {`[{"op":"test","path":"/a/z","value":null},{"op":"test","path":"/a/zz"}]`, `{"a":{"y":true,"z":null},"b":{"d":1,"c":[1,2.0,"\u003c"]}}`},
		"test an item of an array":             {`[{"op":"test","path":"/b/c/1","value":2.0},{"op":"move","from":"/b/c/-1","path":"/b/d"}]`, `{"a":{"z":null,"y":true},"b":{"c":[1,2.0],"d":"\u003c"}}`},
		"through an array":                     {`[{"op":"add","path":"/b/c/0","value":{"x":1}},{"op":"remove","path":"/b/c/0/x"}]`, `{"a":{"z":null,"y":true},"b":{"c":[{},1,2.0,"\u003c"],"d":1}}`},
		"test whole document":                  {`[{"op":"replace","path":"","value":[1,{"a":[null]}]},{"op":"test","path":"","value":[1,{"a":[null]}]}]`, `[1,{"a":[null]}]`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := applyText(doc, test.patch)
			require.NoError(t, err)
			assert.Equal(t, test.want, got)
		})
	}
}

func TestOperationsThatFail(t *testing.T) {
	live := `{"metadata":{"name":"x","finalizers":["a/1"]},"spec":{"holderIdentity":"h"}}`
	for _, op := range []string{
		`null`, `{}`, `{"op":"add"}`, `{"path":"/spec"}`, `{"op":"jump","path":"/spec"}`, `{"op":null,"path":"/spec"}`,
		`{"op":"replace","value":{}}`, `{"op":"add","path":null,"value":1}`, `{"op":"add","path":"spec","value":1}`, `{"op":"add","path":"/q/q","value":1}`,
		`{"op":"add","path":"/spec/holderIdentity/q","value":1}`, `{"op":"add","path":"","value":{}}`,
		`{"op":"remove","path":"/spec/q"}`, `{"op":"remove","path":"/metadata/finalizers/1"}`, `{"op":"remove","path":"/metadata/finalizers/x"}`,
		`{"op":"add","path":"/metadata/finalizers/2","value":"a/2"}`, `{"op":"add","path":"/metadata/finalizers/-3","value":"a/2"}`,
		`{"op":"replace","path":"/metadata/finalizers/1","value":"a/2"}`, `{"op":"replace","path":"/metadata/finalizers/-","value":"a/2"}`,
		`{"op":"replace","path":""}`, `{"op":"replace","path":"","value":null}`, `{"op":"replace","path":"","value":1}`,
		`{"op":"move","path":"/spec/q"}`, `{"op":"move","from":"/spec/q","path":"/spec/r"}`, `{"op":"move","from":"/spec","path":"/spec/r"}`,
		`{"op":"copy","path":"/spec/q"}`, `{"op":"copy","from":"/q/q","path":"/spec/r"}`, `{"op":"copy","from":"","path":"/spec/r"}`,
		`{"op":"test","path":""}`, `{"op":"test","path":"/spec","value":null}`, `{"op":"test","path":"/spec"}`,
		`{"op":"test","path":"/spec/holderIdentity","value":"\u0068"}`, `{"op":"test","path":"/spec/q","value":1}`,
		`{"op":"test","path":"/spec","value":{"holderIdentity":"i"}}`, `{"op":"test","path":"/spec","value":{"name":"h"}}`,
		`{"op":"test","path":"/metadata/finalizers","value":["a/1",null]}`, `{"op":"test","path":"/metadata/finalizers/1","value":null}`,
	} {
		t.Run(op, func(t *testing.T) {
			checkRefused(t, JSON, live, "["+op+"]", Warn, 422, rejectedText)
		})
	}
}

func TestCopiedNullReadsAsEmptyObject(t *testing.T) {
	const null = `{"op":"add","path":"/n","value":null},{"op":"copy","from":"/n","path":"/c"},`
	for op, want := range map[string]bool{
		`{"op":"test","path":"/n","value":null}`: true,
		`{"op":"test","path":"/c","value":null}`: false,
		`{"op":"test","path":"/c","value":{}}`:   true,
		`{"op":"test","path":"/c","value":[]}`:   false,
		`{"op":"test","path":"/c/x"}`:            true,
		`{"op":"test","path":"/n/x"}`:            false,
		`{"op":"add","path":"/c/x","value":1}`:   false, // upstream panics
		`{"op":"remove","path":"/c/x"}`:          false,
	} {
		got, err := applyText(`{}`, "["+null+op+"]")
		if assert.Equal(t, want, err == nil, op) && want {
			assert.Equal(t, `{"c":null,"n":null}`, got)
		}
	}
}

func TestJSONPatchThatIsNoListOfOperations(t *testing.T) {
	tests := []struct{ body, checked, ignored string }{
		{`{}`, "object into Go value of type []handlers.jsonPatchOp", "object into Go value of type jsonpatch.Patch"},
		{`"x"`, "string into Go value of type []handlers.jsonPatchOp", "string into Go value of type jsonpatch.Patch"},
		{`[1]`, "number into Go value of type handlers.jsonPatchOp", "number into Go value of type jsonpatch.Operation"},
		{`[{},true]`, "bool into Go value of type handlers.jsonPatchOp", "bool into Go value of type jsonpatch.Operation"},
		{`[[]]`, "array into Go value of type handlers.jsonPatchOp", "array into Go value of type jsonpatch.Operation"},
		{`[{"op":5}]`, "number into Go struct field jsonPatchOp.op of type string", ""},
	}
	for _, test := range tests {
		for _, v := range []Validation{Warn, Strict} {
			checkRefused(t, JSON, plain, test.body, v, 400, "error decoding patch: json: cannot unmarshal "+test.checked)
		}
		if test.ignored != "" {
			checkRefused(t, JSON, plain, test.body, Ignore, 400, "json: cannot unmarshal "+test.ignored)
		} else {
			checkRefused(t, JSON, plain, test.body, Ignore, 422, rejectedText)
		}
	}
}

func TestJSONPatchHoldsTenThousandOperations(t *testing.T) {
	op := `{"op":"test","path":"/spec/holderIdentity","value":"h"}`
	body := "[" + strings.Repeat(op+",", 9999) + op + "]"
	obj, warnings, err := JSON(newFixture(t, plain).object(), []byte(body), Strict)
	require.NoError(t, err)
	assert.Empty(t, warnings)
	assert.Equal(t, "x", obj.(*Lease).Name)

	checkRefused(t, JSON, plain, "["+op+","+body[1:], Strict, 413,
		"Request entity too large: The allowed maximum operations in a JSON patch is 10000, got 10001")
}

func TestCopiesAreLimitedTogether(t *testing.T) {
	// The text is copied in its encoded form, in which each < has 6 bytes.
	value := strings.Repeat("<", (maxCopied/2-2)/6)
	size := 6*len(value) + 2
	require.LessOrEqual(t, 2*size, maxCopied)
	patch := func(copies int) string {
		body := fmt.Sprintf(`[{"op":"add","path":"/a","value":%q}`, value)
		for i := range copies {
			body += fmt.Sprintf(`,{"op":"copy","from":"/a","path":"/c%d"}`, i)
		}
		return body + "]"
	}
	_, err := applyText(`{}`, patch(2))
	assert.NoError(t, err)
	_, err = applyText(`{}`, patch(3))
	assert.Error(t, err)
}

// Upstream's library lacks these limits: no time or memory quadratic in depth, and
// no unlimited recursion.
func TestDeepDocumentsTakeLittle(t *testing.T) {
	deep := func(depth int, core string) string {
		return strings.Repeat(`{"a":`, depth) + core + strings.Repeat("}", depth)
	}

	body := deep(maxDepth-1, `"`+strings.Repeat("x", 1<<20)+`"`)
	_, err := applyMerge([]byte(`{"b":1}`), []byte(body))
	require.NoError(t, err)
	_, err = applyMerge([]byte(body), []byte(deep(maxDepth-1, "null")))
	require.NoError(t, err)
	_, _, err = Merge(newFixture(t, plain).object(), []byte(deep(maxDepth+1, "1")), Ignore)
	require.EqualError(t, err, "invalid JSON patch")

	// Each operation nests the document in itself.
	steps := strings.Repeat("/a", 4000)
	ops := `{"op":"add","path":"/r","value":` + deep(4001, "1") + `}`
	for range 20 {
		ops += `,{"op":"copy","from":"/r","path":"/r` + steps + `"}`
	}
	_, err = applyText(`{}`, "["+ops+"]")
	require.Error(t, err)
}
