package patch

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/store/meta"
)

// The error texts in the tests of this package are from an API server 1.37.2.

const plain = `{"metadata":{"name":"x"},"spec":{"holderIdentity":"h"}}`

func TestUnknownAndDuplicateFieldsByDirective(t *testing.T) {
	jsonDoc := `{\"apiVersion\":\"coordination.k8s.io/v1\",\"kind\":\"Lease\",\"metadata\":{\"name\":\"x\"},` +
		`\"spec\":{\"holderIdentity\":\"a\",\"holderIdentity\":\"b\",\"q\":1}}`
	mergeDoc := `{\"apiVersion\":\"coordination.k8s.io/v1\",\"kind\":\"Lease\",\"metadata\":{\"name\":\"x\"},` +
		`\"spec\":{\"holderIdentity\":\"b\",\"q\":1}}`
	tests := map[string]struct {
		apply    patchFunc
		body     string
		document string
		warnings []string
		joined   string
	}{
		"JSON patch, where raw values keep their duplicates": {
			JSON, `[{"op":"add","path":"/spec","value":{"holderIdentity":"a","holderIdentity":"b","q":1},"extra":1}]`, jsonDoc,
			[]string{
				`json patch duplicate field "[0].value.holderIdentity"`, `json patch unknown field "[0].extra"`,
				`duplicate field "spec.holderIdentity"`, `unknown field "spec.q"`,
			},
			`json patch duplicate field \"[0].value.holderIdentity\", json patch unknown field \"[0].extra\", ` +
				`duplicate field \"spec.holderIdentity\", unknown field \"spec.q\"`,
		},
		"merge patch": {
			Merge, `{"spec":{"holderIdentity":"a","holderIdentity":"b","q":1}}`, mergeDoc,
			[]string{`duplicate field "spec.holderIdentity"`, `unknown field "spec.q"`},
			`duplicate field \"spec.holderIdentity\", unknown field \"spec.q\"`,
		},
		"strategic merge patch, which shows the patch": {
			Strategic, `{"spec":{"holderIdentity":"a","holderIdentity":"b","q":1}}`, `map[spec:map[holderIdentity:b q:1]]`,
			[]string{`duplicate field "spec.holderIdentity"`, `unknown field "spec.q"`},
			`duplicate field \"spec.holderIdentity\", unknown field \"spec.q\"`,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, plain)
			for _, v := range []Validation{Ignore, Warn} {
				obj, warnings, err := test.apply(f.object(), []byte(test.body), v)
				require.NoError(t, err)
				assert.Equal(t, "b", *obj.(*Lease).Spec.HolderIdentity)
				if v == Warn {
					assert.Equal(t, test.warnings, warnings)
				} else {
					assert.Empty(t, warnings)
				}
			}
			_, _, err := test.apply(f.object(), []byte(test.body), Strict)
			status := meta.StatusOf(err)
			assert.EqualValues(t, 422, status.Code)
			assert.Equal(t, meta.ReasonInvalid, status.Reason)
			require.NotNil(t, status.Details)
			assert.Empty(t, status.Details.Kind)
			require.Len(t, status.Details.Causes, 1)
			assert.Equal(t, "patch", status.Details.Causes[0].Field)
			assert.Equal(t, ` "" is invalid: patch: `+status.Details.Causes[0].Message, status.Message)
			assert.Equal(t, `Invalid value: "`+test.document+`": strict decoding error: `+unescape(test.joined), status.Details.Causes[0].Message)
		})
	}
}

// unescape undoes the quoting of quotes.
func unescape(s string) string {
	return unquote([]byte(`"` + s + `"`))
}

func TestBodyThatIsNotJSONIsRefused(t *testing.T) {
	for _, apply := range []patchFunc{JSON, Merge, Strategic} {
		for _, body := range []string{"", " ", "{", "{} x", "\xff", `{"a":"` + "\n" + `"}`, "nul"} {
			checkRefused(t, apply, plain, body, Warn, 400, "invalid JSON patch")
		}
	}
}
