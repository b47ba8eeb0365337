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

// The texts were compared with an API server's.
func TestDecodeJSONErrors(t *testing.T) {
	lease, candidate := compileFor[Lease]("v1"), compileFor[LeaseCandidate]("v1beta1")
	for _, row := range []struct {
		typ       *Type
		doc, want string
	}{
		{lease, `{"spec":"s"}`, `json: cannot unmarshal string into Go struct field Lease.spec of type v1.LeaseSpec`},
		{lease, `{"spec":{"strategy":[]}}`, `json: cannot unmarshal array into Go struct field LeaseSpec.spec.strategy of type v1.CoordinatedLeaseStrategy`},
		{lease, `{"metadata":[]}`, `json: cannot unmarshal array into Go struct field Lease.metadata of type v1.ObjectMeta`},
		{lease, `{"metadata":{"uid":3}}`, `json: cannot unmarshal number into Go struct field ObjectMeta.metadata.uid of type types.UID`},
		{lease, `{"metadata":{"ownerReferences":{}}}`, `json: cannot unmarshal object into Go struct field ObjectMeta.metadata.ownerReferences of type []v1.OwnerReference`},
		{lease, `{"metadata":{"managedFields":[{"operation":3}]}}`, `json: cannot unmarshal number into Go struct field ManagedFieldsEntry.metadata.managedFields.operation of type v1.ManagedFieldsOperationType`},
		{lease, `{"metadata":{"labels":{"a":3}}}`, `json: cannot unmarshal number into Go struct field ObjectMeta.metadata.labels of type string`},
		{lease, `{"metadata":{"labels":[]}}`, `json: cannot unmarshal array into Go struct field ObjectMeta.metadata.labels of type map[string]string`},
		{lease, `{"metadata":{"creationTimestamp":3}}`, `json: cannot unmarshal number into Go struct field ObjectMeta.metadata.creationTimestamp of type string`},
		{lease, `{"spec":{"leaseDurationSeconds":15.0}}`, `json: cannot unmarshal number 15.0 into Go struct field LeaseSpec.spec.leaseDurationSeconds of type int32`},
		{lease, `{"spec":{"leaseDurationSeconds":"ten"}}`, `json: cannot unmarshal string into Go struct field LeaseSpec.spec.leaseDurationSeconds of type int32`},
		{lease, `{"spec":{"renewTime":"2024-01-02T03:04:05.1Z"}}`, `parsing time "2024-01-02T03:04:05.1Z" as "2006-01-02T15:04:05.000000Z07:00": cannot parse ".1Z" as ".000000"`},
		{lease, `[]`, `json: cannot unmarshal array into Go value of type v1.Lease`},
		{lease, `{bad`, `invalid character 'b' looking for beginning of object key string`},
		{candidate, `{"spec":[]}`, `json: cannot unmarshal array into Go struct field LeaseCandidate.spec of type v1beta1.LeaseCandidateSpec`},
		{candidate, strings.Repeat("[", 20000), `invalid character '[' exceeded max depth`},
	} {
		for _, strict := range []bool{true, false} {
			_, err := row.typ.DecodeJSON([]byte(row.doc), fresh(row.typ), strict)
			assert.EqualError(t, err, row.want, "%.50s", row.doc)
		}
	}
}

func TestDecodeJSONStrict(t *testing.T) {
	doc := []byte(`{"metadata":{"foo":1,"name":"a","name":"b","labels":{"x":"1","x":"2"}},"Spec":{},` +
		`"spec":{"x":1,"leaseTransitions":1,"leaseTransitions":2}}`)
	var lease Lease
	strictErrs, err := compileFor[Lease]("v1").DecodeJSON(doc, &lease, true)
	require.NoError(t, err)
	var texts []string
	for _, err := range strictErrs {
		texts = append(texts, err.Error())
	}
	assert.Equal(t, []string{
		`unknown field "metadata.foo"`, `duplicate field "metadata.name"`, `duplicate field "metadata.labels.x"`, `unknown field "Spec"`,
		`unknown field "spec.x"`, `duplicate field "spec.leaseTransitions"`,
	}, texts)
	assert.Equal(t, "b", lease.Name)
	assert.Equal(t, int32(2), *lease.Spec.LeaseTransitions)

	strictErrs, err = compileFor[Lease]("v1").DecodeJSON(doc, &lease, false)
	require.NoError(t, err)
	assert.Empty(t, strictErrs)
}
