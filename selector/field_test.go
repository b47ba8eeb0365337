package selector_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/selector"
)

func TestParseFieldsRefusesWithTheTextOfTheServer(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"no operator", "foo", "invalid selector: 'foo'; can't understand 'foo'"},
		{"no operator in the second term", "metadata.name=a,foo", "invalid selector: 'metadata.name=a,foo'; can't understand 'foo'"},
		{"first in sorted order", "z,a", "invalid selector: 'z,a'; can't understand 'a'"},
		{"a blank is a term", " ", "invalid selector: ' '; can't understand ' '"},
		{"equals sign in a value", "metadata.name=a=b", "invalid field selector: unescaped character in value: 61"},
		{"three equals signs", "a===b", "invalid field selector: unescaped character in value: 61"},
		{"unknown escape", `a=\x`, `invalid field selector: invalid escape sequence: \x`},
		{"unknown escape beyond ASCII", `a=\é`, `invalid field selector: invalid escape sequence: \é`},
		{"backslash at the end", `a=\`, `invalid field selector: invalid escape sequence: \`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, err := selector.ParseFields(test.in)
			assert.EqualError(t, err, test.want)
		})
	}
}

func TestFieldsMatch(t *testing.T) {
	tests := []struct {
		in, text string
		matches  bool // for a=x, b="p,q=r\", all other fields empty
	}{
		{"", "", true},
		{",,", "", true},
		{"=", "", true}, // upstream drops an empty term
		{"!=", "", true},
		{"a=x", "a=x", true},
		{"a==x", "a=x", true},
		{"a!=x", "a!=x", false},
		{"a=y", "a=y", false},
		{"a!=y,a=x", "a!=y,a=x", true},
		{"a=", "a=", false},
		{"c=", "c=", true},
		{"a= x", "a= x", false},
		{" a=x", " a=x", false},
		{`b=p\,q\=r\\`, `b=p\,q\=r\\`, true},
		{"a=x,,a!=y,", "a!=y,a=x", true},
		{"a==y,a=x", "a=x,a=y", false},
		{`b!=\,,a=y`, `a=y,b!=\,`, false},
		{`b!=p-,b!=p\,q\=r\\`, `b!=p-,b!=p\,q\=r\\`, false}, // in another order than the values
	}
	get := func(field string) string {
		return map[string]string{"a": "x", "b": `p,q=r\`}[field]
	}
	for _, test := range tests {
		t.Run(test.in, func(t *testing.T) {
			fields, err := selector.ParseFields(test.in)
			require.NoError(t, err)
			assert.Equal(t, test.text, fields.String())
			assert.Equal(t, test.text == "", fields.Empty())
			assert.Equal(t, test.matches, fields.Matches(get))
		})
	}
}

func TestFieldsCheckNamesTheKnownFields(t *testing.T) {
	tests := []struct {
		name, in string
		known    []string
		want     string
	}{
		{"nothing selected", "", nil, ""},
		{"all known", "metadata.name=a,metadata.namespace!=b", []string{"metadata.name", "metadata.namespace"}, ""},
		{"unknown", "spec.holderIdentity=a", []string{"metadata.name", "metadata.namespace"}, `"spec.holderIdentity" is not a known field selector: only "metadata.name", "metadata.namespace"`},
		{"first in sorted order", "zz=1,aa=2", []string{"metadata.name", "metadata.namespace"}, `"aa" is not a known field selector: only "metadata.name", "metadata.namespace"`},
		{"no field", "=x", []string{"metadata.name", "metadata.namespace"}, `"" is not a known field selector: only "metadata.name", "metadata.namespace"`},
		{"more fields known", "spec.x=main", []string{"metadata.name", "metadata.namespace", "spec.leaseName"}, `"spec.x" is not a known field selector: only "metadata.name", "metadata.namespace", "spec.leaseName"`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			fields, err := selector.ParseFields(test.in)
			require.NoError(t, err)
			err = fields.Check(test.known)
			if test.want == "" {
				assert.NoError(t, err)
			} else {
				assert.EqualError(t, err, test.want)
			}
		})
	}
}

func TestFieldEqualsEscapesTheValue(t *testing.T) {
	const value = `a,b=c\d`
	fields := selector.FieldEquals("metadata.name", value)
	assert.Equal(t, `metadata.name=a\,b\=c\\d`, fields.String())

	parsed, err := selector.ParseFields(fields.String())
	require.NoError(t, err)
	assert.Equal(t, fields, parsed)
	got, ok := parsed.Exact("metadata.name")
	assert.True(t, ok)
	assert.Equal(t, value, got)
}
