package codec

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestRecognizeJSON(t *testing.T) {
	for _, row := range []struct{ doc, kind, apiVersion string }{
		{`{"kind":"Lease","apiVersion":"coordination.k8s.io/v1","spec":"any"}`, "Lease", "coordination.k8s.io/v1"},
		{`{}`, "", ""},
		{`null`, "", ""},
		{`{"kind":null}`, "", ""},
		{`{"Kind":"A","APIVERSION":"v1"}`, "A", "v1"},
		{`{"kind":"A","kind":"B"}`, "B", ""},
		{`{"apiVersion":"/"}`, "", "/"},
	} {
		kind, apiVersion, err := RecognizeJSON([]byte(row.doc))
		assert.NoError(t, err, row.doc)
		assert.Equal(t, row.kind, kind, row.doc)
		assert.Equal(t, row.apiVersion, apiVersion, row.doc)
	}
}

// The texts were compared with an API server's.
func TestRecognizeJSONErrors(t *testing.T) {
	const goType = `struct { APIVersion string "json:\"apiVersion,omitempty\""; Kind string "json:\"kind,omitempty\"" }`
	for _, row := range []struct{ doc, want string }{
		{``, `couldn't get version/kind; json parse error: unexpected end of JSON input`},
		{`{bad`, `couldn't get version/kind; json parse error: invalid character 'b' looking for beginning of object key string`},
		{`{}garbage`, `couldn't get version/kind; json parse error: invalid character 'g' after top-level value`},
		{`[]`, `couldn't get version/kind; json parse error: json: cannot unmarshal array into Go value of type ` + goType},
		{`"lease"`, `couldn't get version/kind; json parse error: json: cannot unmarshal string into Go value of type ` + goType},
		{`{"kind":3}`, `couldn't get version/kind; json parse error: json: cannot unmarshal number into Go struct field .kind of type string`},
		{`{"apiVersion":{}}`, `couldn't get version/kind; json parse error: json: cannot unmarshal object into Go struct field .apiVersion of type string`},
		{`{"apiVersion":"a/b/c"}`, `unexpected GroupVersion string: a/b/c`},
		{`{"apiVersion":"/v1/"}`, `unexpected GroupVersion string: /v1/`},
	} {
		_, _, err := RecognizeJSON([]byte(row.doc))
		assert.EqualError(t, err, row.want, row.doc)
	}
}
