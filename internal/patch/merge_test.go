package patch

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestMergeDocuments(t *testing.T) {
	tests := map[string]struct{ doc, patch, want string }{
		"members are merged":                     {`{"b":1,"a":{"y":1,"x":2}}`, `{"a":{"x":3}}`, `{"a":{"x":3,"y":1},"b":1}`},
		"null deletes":                           {`{"b":1,"a":{"x":2}}`, `{"a":{"x":null},"b":null,"c":null}`, `{"a":{}}`},
		"an array is replaced":                   {`{"a":[1,2]}`, `{"a":[3]}`, `{"a":[3]}`},
		"nulls in a new array stay":              {`{"a":[1]}`, `{"a":[null,{"x":null,"y":1}]}`, `{"a":[null,{"y":1}]}`},
		"an array over an object is not touched": {`{"a":{}}`, `{"a":[{"x":null,"x":1,"a":1}]}`, `{"a":[{"x":null,"x":1,"a":1}]}`},
		"nulls in a new object go":               {`{"b":null}`, `{"a":{"x":null,"y":{"z":null}},"b":{"x":null}}`, `{"a":{"y":{}},"b":{}}`},
		"the last of duplicates counts":          {`{"a":1}`, `{"a":2,"b":{"x":1,"x":2},"a":null}`, `{"b":{"x":2}}`},
		"the rest does not change":               {`{"b":{"y":1.0,"x":"<"},"a":1}`, `{}`, `{"a":1,"b":{"y":1.0,"x":"\u003c"}}`},
		"an array as the patch is the result":    {`{"a":1}`, `[{"a":null}]`, `[{}]`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := applyMerge([]byte(test.doc), []byte(test.patch))
			require.NoError(t, err)
			assert.Equal(t, test.want, string(got))
		})
	}
}

func TestMergeKeepsTheRest(t *testing.T) {
	f := newFixture(t, `{"metadata":{"name":"x","labels":{"a":"1","b":"2"}},"spec":{"holderIdentity":"h","leaseTransitions":3}}`)
	obj, warnings, err := Merge(f.object(), []byte(`{"metadata":{"labels":{"a":null,"c":"3"}},"spec":{"holderIdentity":"i"}}`), Strict)
	require.NoError(t, err)
	assert.Empty(t, warnings)
	assert.Equal(t, `{"kind":"Lease","apiVersion":"coordination.k8s.io/v1","metadata":{"name":"x","labels":{"b":"2","c":"3"}},`+
		`"spec":{"holderIdentity":"i","leaseTransitions":3}}`, f.encode(t, obj))
}

func TestMergePatchThatIsNoObject(t *testing.T) {
	const unmarshal = "error decoding patch: json: cannot unmarshal "
	for _, v := range []Validation{Ignore, Warn, Strict} {
		checkRefused(t, Merge, plain, `null`, v, 400, "Invalid JSON Patch")
	}
	checkRefused(t, Merge, plain, `[]`, Warn, 400, unmarshal+"array into Go value of type map[string]interface {}")
	checkRefused(t, Merge, plain, `"x"`, Strict, 400, unmarshal+"string into Go value of type map[string]interface {}")
	checkRefused(t, Merge, plain, `"x"`, Ignore, 400, "Invalid JSON Patch")
	checkRefused(t, Merge, plain, `5`, Ignore, 400, "Invalid JSON Patch")
	checkRefused(t, Merge, plain, `[]`, Ignore, 422, ` "" is invalid: patch: Invalid value: "[]": couldn't get version/kind; `+
		`json parse error: json: cannot unmarshal array into Go value of type struct { APIVersion string "json:\"apiVersion,omitempty\""; `+
		`Kind string "json:\"kind,omitempty\"" }`)
}

func TestMergePatchMayChangeTheKind(t *testing.T) {
	checkRefused(t, Merge, plain, `{"kind":"Foo"}`, Warn, 422, ` "" is invalid: patch: Invalid value: `+
		`"{\"apiVersion\":\"coordination.k8s.io/v1\",\"kind\":\"Foo\",\"metadata\":{\"name\":\"x\"},\"spec\":{\"holderIdentity\":\"h\"}}": `+
		`no kind "Foo" is registered for version "coordination.k8s.io/v1"`)
}
