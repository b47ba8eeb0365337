package selector_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/selector"
)

func TestFieldsMatch(t *testing.T) {
	tests := []struct {
		in      string
		matches bool // for a=x, b="p,q=r\", all other fields empty
	}{
		{"", true},
		{",,", true},
		{"=", true}, // upstream drops an empty term
		{"!=", true},
		{"a=x", true},
		{"a==x", true},
		{"a!=x", false},
		{"a=y", false},
		{"a!=y,a=x", true},
		{"a=", false},
		{"c=", true},
		{"a= x", false},
		{" a=x", false},
		{`b=p\,q\=r\\`, true},
		{"a=x,,a!=y,", true},
		{"a==y,a=x", false},
		{`b!=\,,a=y`, false},
		{`b!=p-,b!=p\,q\=r\\`, false}, // in another order than the values
	}
	get := func(field string) string {
		return map[string]string{"a": "x", "b": `p,q=r\`}[field]
	}
	for _, test := range tests {
		t.Run(test.in, func(t *testing.T) {
			fields, err := selector.ParseFields(test.in)
			require.NoError(t, err)
			assert.Equal(t, strings.Trim(test.in, ",!=") == "", fields.Empty())
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

func TestFieldEqualsSelectsTheValueAsItIs(t *testing.T) {
	const value = `a,b=c\d`
	parsed, err := selector.ParseFields(`metadata.name=a\,b\=c\\d`)
	require.NoError(t, err)
	assert.Equal(t, parsed, selector.FieldEquals("metadata.name", value))
	got, ok := parsed.Exact("metadata.name")
	assert.True(t, ok)
	assert.Equal(t, value, got)
}

// TestExactReturnsTheFirstOfTheSortedTexts is about a selector that no object satisfies. Upstream sorts the terms as they are written.
func TestExactReturnsTheFirstOfTheSortedTexts(t *testing.T) {
	fields, err := selector.ParseFields("a==1,a=2")
	require.NoError(t, err)
	got, _ := fields.Exact("a")
	assert.Equal(t, "2", got)
}
