package codec

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/store/meta"
)

// sameJSON checks AppendJSON against encoding/json.
func sameJSON[T any](t *testing.T, typ *Type, obj *T, note any) {
	t.Helper()
	want, err := json.Marshal(obj)
	require.NoError(t, err)
	got, err := typ.AppendJSON([]byte("before:"), obj)
	require.NoError(t, err)
	require.Equal(t, "before:"+string(want), string(got), "%v", note)
}

func TestAppendJSONGivesTheBytesOfEncodingJSON(t *testing.T) {
	lease, candidate, endpoints := compileFor[Lease]("v1"), compileFor[LeaseCandidate]("v1beta1"), compileFor[Endpoints]("v1")
	everything, list := compileFor[Everything]("v1"), compileFor[LeaseList]("v1")
	for seed := range uint64(3000) {
		r := newFiller(seed)
		r.utf8 = !escapesInvalidText(t)
		sameJSON(t, lease, fillNew[Lease](r), seed)
		sameJSON(t, candidate, fillNew[LeaseCandidate](r), seed)
		sameJSON(t, endpoints, fillNew[Endpoints](r), seed)
		if seed%10 == 0 {
			sameJSON(t, everything, fillNew[Everything](r), seed)
			sameJSON(t, list, fillNew[LeaseList](r), seed)
		}
	}
	sameJSON(t, lease, &Lease{}, "zero")
	sameJSON(t, everything, &Everything{}, "zero")
}

// escapesInvalidText reports whether encoding/json writes \ufffd for bytes that are not UTF-8, as it does before Go 1.27.
func escapesInvalidText(t *testing.T) bool {
	text, err := json.Marshal("\xff")
	require.NoError(t, err)
	return string(text) == `"\ufffd"`
}

func TestAppendJSONFieldsV1(t *testing.T) {
	typ := compileFor[Everything]("v1")
	for _, raw := range []string{
		``, `null`, `{}`, `{"a":{}}`, `{"a":{},"b":{"c":{}},"d":{}}`, `{"a":{"b":{"c":{}}}}`, ` {}`, `{} `, `{ }`, "{\"a\":\n{}}",
		`{"k:{\"a\":1}":{}}`, `{"v:\\":{}}`, `{"\u003c":{}}`, `{"<":{}}`, "{\"\u2028\":{}}", "{\"\xff\":{}}", `{"a":1}`, `[]`, `"<"`, `7`,
		`{"a":{}, "b":{}}`,
	} {
		sameJSON(t, typ, &Everything{Raw: meta.FieldsV1{Raw: []byte(raw)}}, raw)
	}
	for _, raw := range []string{
		`{`, `}`, `{}}`, `{}{}`, `{"a"}`, `{"a":}`, `{"a":{}`, `{"a":{},}`, `{,}`, `{"a":{}"b":{}}`, `{"a:{}}`, `{"a\":{}}`, `{"a\`, `x`,
		strings.Repeat(`{"a":`, 50), "{\"\x01\":{}}",
	} {
		_, err := typ.AppendJSON(nil, &Everything{Raw: meta.FieldsV1{Raw: []byte(raw)}})
		require.ErrorContains(t, err, "json: error calling MarshalJSON for type *v1.FieldsV1: ", "%s", raw)
	}
	deep := strings.Repeat(`{"a":`, 300) + `{}` + strings.Repeat(`}`, 300)
	sameJSON(t, typ, &Everything{Raw: meta.FieldsV1{Raw: []byte(deep)}}, "deep")
}

func TestAppendJSONRefusesNaNAndInfinity(t *testing.T) {
	for _, f := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		obj := &Everything{Children: []Everything{{Ratio: f}}}
		_, want := json.Marshal(obj)
		_, err := compileFor[Everything]("v1").AppendJSON(nil, obj)
		assert.EqualError(t, err, want.Error())
	}
}
