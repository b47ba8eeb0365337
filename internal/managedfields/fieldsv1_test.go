package managedfields

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestFieldsAreReadAndPrinted(t *testing.T) {
	for name, row := range map[string]struct{ text, want, paths string }{
		"nothing":     {`{}`, `{}`, ""},
		"null":        {` null `, `{}`, ""},
		"members":     {`{"f:b":{},"f:a":{"f:c":{}}}`, `{"f:a":{"f:c":{}},"f:b":{}}`, ".b .a.c"},
		"containers":  {`{"f:a":{"f:b":{},".":{}}}`, `{"f:a":{".":{},"f:b":{}}}`, ".a .a.b"},
		"a lone dot":  {`{"f:a":{".":{}}}`, `{"f:a":{}}`, ".a"},
		"null leaves": {`{"f:a":null}`, `{"f:a":{}}`, ".a"},
		"keys":        {`{"k:{\"b\" : 1,\"a\":\"x\"}":{}}`, `{"k:{\"a\":\"x\",\"b\":1}":{}}`, `[a="x",b=1]`},
		"values": {`{"v:\"a/b\"":{},"v:1":{},"v:true":{},"v:1.50":{},"v:null":{},"v:[1,{\"a\":1}]":{},"v:{\"a\":1}":{}}`,
			`{"v:1":{},"v:1.5":{},"v:\"a/b\"":{},"v:true":{},"v:[1,{\"a\":1}]":{},"v:{\"a\":1}":{},"v:null":{}}`,
			`[=1] [=1.5] [="a/b"] [=true] [=[1,a=1]] [=a=1] [=null]`},
		"numbers": {`{"v:1e30":{},"v:1e-9":{},"v:-0":{},"v:100":{}}`, `{"v:-0":{},"v:1e-09":{},"v:100":{},"v:1e+30":{}}`, "[=-0] [=1e-09] [=100] [=1e+30]"},
		"indexes": {`{"i:10":{},"i:2":{}}`, `{"i:2":{},"i:10":{}}`, "[2] [10]"},
		"all kinds": {`{"i:1":{},"v:1":{},"k:{\"a\":1}":{},"f:a":{}}`,
			`{"f:a":{},"k:{\"a\":1}":{},"v:1":{},"i:1":{}}`, ".a [a=1] [=1] [1]"},
		"unknown path elements":          {`{"x:a":{"f:b":[1,"}"]},"f:a":{}}`, `{"f:a":{}}`, ".a"},
		"space":                          {" {\n\"f:a\" : { } ,\t\"f:b\":{}} ", `{"f:a":{},"f:b":{}}`, ".a .b"},
		"the same twice":                 {`{"f:b":{"f:x":{}},"f:a":{},"f:b":{"f:y":{},".":{}}}`, `{"f:a":{},"f:b":{".":{},"f:y":{}}}`, ".a .b .b.y"},
		"the same twice, without parts":  {`{"f:b":{"f:x":{}},"f:a":{},"f:b":{}}`, `{"f:a":{},"f:b":{".":{},"f:x":{}}}`, ".a .b .b.x"},
		"escapes in names":               {`{"f:<\u00e9\"\\\n\t\r\u0001\u2028":{}}`, "{\"f:<é\\\"\\\\\\n\\t\\r\\u0001\u2028\":{}}", ".<é\"\\\n\t\r\x01\u2028"},
		"escapes in values":              {`{"v:\"<\\u2028\\b\"":{}}`, `{"v:\"\\u003c\\u2028\\u0008\"":{}}`, `[="<\u2028\b"]`},
		"unusual runes in values":        {`{"v:\"\ufffd😀&\"":{}}`, `{"v:\"` + "\ufffd😀" + `\\u0026\"":{}}`, `[="` + "\ufffd😀" + `&"]`},
		"a name with special characters": {`{"f:a:{}\"":{}}`, `{"f:a:{}\"":{}}`, `.a:{}"`},
		"no name":                        {`{"f:":{}}`, `{"f:":{}}`, "."},
		"empty keys":                     {`{"k:{}":{},"k:null":{}}`, `{"k:{}":{}}`, "[]"},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := parseFields([]byte(row.text))
			require.NoError(t, err)
			assert.Equal(t, row.want, string(appendFields(nil, s)))
			var paths []string
			s.walk(func(path []step) {
				paths = append(paths, pathText(path))
				assert.True(t, s.has(path))
			})
			assert.Equal(t, row.paths, strings.Join(paths, " "))
		})
	}
}

func TestInvalidFieldsAreRefused(t *testing.T) {
	const maxDepth = 10000 // of upstream and of encoding/json
	for _, text := range []string{
		``, `1`, `"f:a"`, `[]`, `{`, `{}{}`, `{"f:a"}`, `{"f:a":1}`, `{"f:a":{}`, `{"f:a":{},}`, `{"a":{}}`, `{"":{}}`, `{"fa":{}}`,
		`{"v:":{}}`, `{"v:x":{}}`, `{"v:1 2":{}}`, `{"k:":{}}`, `{"k:1":{}}`, `{"k:{\"a\"}":{}}`, `{"k:{} 1":{}}`, `{"i:x":{}}`, `{"i:":{}}`,
		`{"x:a":{"}`, `{"x:a":1`, `{"x:a":y}`, `{xf:a":{}}`, `{".":t`, `{"k:{\"\\q\":1}":{}}`, `{"v:1e999":{}}`, `{"k:{\"a\":1e999}":{}}`, `{".":x}`, "{\"f:\n\":{}}", `nul`, `{"f:a":{}} x`,
		strings.Repeat(`{"f:a":`, maxDepth+1) + `{}` + strings.Repeat(`}`, maxDepth+1),
	} {
		_, err := parseFields([]byte(text))
		assert.Error(t, err, "%.40s", text)
	}
	deep := strings.Repeat(`{"f:a":`, maxDepth-1) + `{}` + strings.Repeat(`}`, maxDepth-1)
	s, err := parseFields([]byte(deep))
	require.NoError(t, err)
	assert.Equal(t, deep, string(appendFields(nil, s)))
}

func FuzzFieldsV1(f *testing.F) {
	for _, text := range []string{
		`{}`, `null`, `{"f:a":{".":{},"f:b":{}}}`, `{"k:{\"uid\":\"u1\"}":{},"v:\"a/b\"":{},"i:0":{},"x:y":1}`,
		`{"f:a":{},"f:a":{"f:b":null}}`, `{"v:1.0":{},"v:1":{}}`, `{"v:[null,{\"a\":-0.5e-10}]":{}}`, `{"f:\ud800":{}}`,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		s, err := parseFields(text)
		if err != nil {
			return
		}
		once := appendFields(nil, s)
		again, err := parseFields(once)
		if err != nil {
			t.Fatalf("%q is printed as %q: %v", text, once, err)
		}
		if twice := appendFields(nil, again); string(twice) != string(once) {
			t.Fatalf("%q, then %q", once, twice)
		}
		if difference(s, again) != nil {
			t.Fatalf("%q has lost something of %q", once, text)
		}
	})
}
