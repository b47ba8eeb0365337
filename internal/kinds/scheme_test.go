package kinds_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/endpoints"
	"github.com/kubecoord/kubecoord/internal/kinds"
	"github.com/kubecoord/kubecoord/internal/patch"
	"github.com/kubecoord/kubecoord/lease"
	"github.com/kubecoord/kubecoord/store/meta"
)

func TestObjectsThatAServerSent(t *testing.T) {
	for text, want := range map[string]string{
		`{"metadata":{"name":"x"}}`: "",
		`{"kind":"Lease","apiVersion":"coordination.k8s.io/v1","metadata":{"name":"x"},"new":1}`: "",
		`{"kind":"Status","apiVersion":"v1","metadata":{}}`:                                      `got kind "Status" of "v1", want "Lease" of "coordination.k8s.io/v1"`,
	} {
		o, err := kinds.Of(lease.Kind()).ReadWireJSON([]byte(text))
		if want != "" {
			assert.EqualError(t, err, want)
			continue
		}
		require.NoError(t, err)
		assert.Equal(t, &lease.Lease{ObjectMeta: meta.ObjectMeta{Name: "x"}}, o)
	}
}

func TestBodies(t *testing.T) {
	const cannot = `Lease in version "v1" cannot be handled as a Lease: `
	kind := kinds.Of(lease.Kind())
	scheme := kinds.NewScheme(kind, kinds.Of(endpoints.Kind()))
	for name, row := range map[string]struct {
		body     string
		format   kinds.Format
		level    patch.Validation
		want     string // the error; "" for the Lease x
		warnings []string
	}{
		"plain":                   {`{"kind":"Lease","apiVersion":"coordination.k8s.io/v1","metadata":{"name":"x"}}`, kinds.JSON, patch.Strict, "", nil},
		"without a type":          {`{"metadata":{"name":"x"}}`, kinds.JSON, patch.Strict, "", nil},
		"without a kind":          {`{"apiVersion":"coordination.k8s.io/v1","metadata":{"name":"x"}}`, kinds.JSON, patch.Strict, "", nil},
		"without an apiVersion":   {`{"kind":"Lease","metadata":{"name":"x"}}`, kinds.JSON, patch.Strict, "", nil},
		"YAML":                    {"metadata:\n  name: x\n", kinds.YAML, patch.Strict, "", nil},
		"a type that is gone":     {`{"kind":"Lease","apiVersion":"coordination.k8s.io/v1beta1","metadata":{"name":"x"}}`, kinds.JSON, patch.Strict, "the API version in the data (coordination.k8s.io/v1beta1) does not match the expected API version (coordination.k8s.io/v1)", nil},
		"another kind":            {`{"kind":"Endpoints","apiVersion":"v1"}`, kinds.JSON, patch.Strict, `Endpoints in version "v1" cannot be handled as a Lease: converting (v1.Endpoints) to (coordination.Lease): unknown conversion`, nil},
		"a group without version": {`{"kind":"Lease","apiVersion":"apps/"}`, kinds.JSON, patch.Strict, `Lease in version "" cannot be handled as a Lease: Object 'apiVersion' is missing in '{"kind":"Lease","apiVersion":"apps/"}'`, nil},
		"a wrong member":          {`{"kind":"Lease","metadata":{"name":7}}`, kinds.JSON, patch.Ignore, cannot + "json: cannot unmarshal number into Go struct field ObjectMeta.metadata.name of type string", nil},
		"unknown members, strict": {`{"kind":"Lease","metadata":{"name":"x"},"a":1,"b":2}`, kinds.JSON, patch.Strict, cannot + `strict decoding error: unknown field "a", unknown field "b"`, nil},
		"unknown members, warn":   {`{"kind":"Lease","apiVersion":"coordination.k8s.io/v1","metadata":{"name":"x"},"a":1}`, kinds.JSON, patch.Warn, "", []string{`unknown field "a"`}},
		"unknown members, ignore": {`{"kind":"Lease","apiVersion":"coordination.k8s.io/v1","metadata":{"name":"x"},"a":1}`, kinds.JSON, patch.Ignore, "", nil},
		"keys twice in YAML":      {"metadata:\n  name: y\n  name: x\n", kinds.YAML, patch.Warn, "", []string{`line 3: key "name" already set in map`}},
		"no text at all":          {"", kinds.JSON, patch.Warn, "the object provided is unrecognized (must be of type Lease): couldn't get version/kind; json parse error: unexpected end of JSON input (<empty>)", nil},
	} {
		t.Run(name, func(t *testing.T) {
			var warnings []string
			o, err := scheme.DecodeBody(t.Context(), kinds.Target{Kind: kind}, []byte(row.body), row.format, row.level, nil, func(text string) { warnings = append(warnings, text) })
			assert.Equal(t, row.warnings, warnings)
			if row.want != "" {
				assertStatus(t, err, 400, meta.ReasonBadRequest, row.want)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, &lease.Lease{ObjectMeta: meta.ObjectMeta{Name: "x"}}, o)
		})
	}
}
