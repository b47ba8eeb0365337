package selector_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/selector"
)

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
