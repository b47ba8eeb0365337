package codec

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	kjson "sigs.k8s.io/json"

	"github.com/kubecoord/kubecoord/store/meta"
)

func TestToUnstructured(t *testing.T) {
	at := time.Date(2024, 1, 2, 3, 4, 5, 123456789, time.UTC)
	got := compileFor[Lease]("v1").ToUnstructured(&Lease{
		TypeMeta: meta.TypeMeta{Kind: "Lease"},
		ObjectMeta: meta.ObjectMeta{
			Name: "a", Labels: map[string]string{"x": "y"}, Finalizers: []string{"f"}, CreationTimestamp: meta.NewTime(at),
			ManagedFields: []meta.ManagedFieldsEntry{{FieldsV1: &meta.FieldsV1{Raw: []byte(`{"n":1,"f":1.5,"big":1e30,"l":[true]}`)}}},
		},
		Spec: LeaseSpec{LeaseDurationSeconds: ptr(int32(15)), AcquireTime: &meta.MicroTime{}, RenewTime: &meta.MicroTime{Time: at}},
	})
	assert.Equal(t, map[string]any{
		"kind": "Lease",
		"metadata": map[string]any{
			"name": "a", "labels": map[string]any{"x": "y"}, "finalizers": []any{"f"}, "creationTimestamp": "2024-01-02T03:04:05Z",
			"managedFields": []any{map[string]any{"fieldsV1": map[string]any{"n": int64(1), "f": 1.5, "big": 1e30, "l": []any{true}}}},
		},
		"spec": map[string]any{"leaseDurationSeconds": int64(15), "acquireTime": nil, "renewTime": "2024-01-02T03:04:05.123456Z"},
	}, got)
}

// floats makes all numbers float64, because JSON does not distinguish 1 and 1.0.
func floats(tree any) any {
	switch v := tree.(type) {
	case int64:
		return float64(v)
	case map[string]any:
		for key := range v {
			v[key] = floats(v[key])
		}
	case []any:
		for i := range v {
			v[i] = floats(v[i])
		}
	}
	return tree
}

func TestFromUnstructuredReadsWhatToUnstructuredWrites(t *testing.T) {
	every := compileFor[Everything]("v1")
	for seed := range uint64(500) {
		r := newFiller(seed)
		r.utf8, r.safe = true, true
		doc := every.ToUnstructured(fillNew[Everything](r))
		back := fillNew[Everything](r) // all existing content is replaced
		strictErrs, err := every.FromUnstructured(doc, back, true)
		require.NoError(t, err, "seed %d", seed)
		require.Empty(t, strictErrs)
		require.Equal(t, floats(doc), floats(every.ToUnstructured(back)), "seed %d", seed)
	}
}

func TestFromUnstructuredErrorsOfOtherForms(t *testing.T) {
	for _, row := range []struct{ doc, want string }{
		{`{"data":"%"}`, `error decoding from json: illegal base64 data at input byte 0`},
		{`{"data":{}}`, `cannot restore slice from map`},
		{`{"flag":"true"}`, `unrecognized type: bool`},
		{`{"ratio":"1"}`, `unrecognized type: float64`},
		{`{"ports":{"a":[]}}`, `cannot restore struct from: slice`},
	} {
		var doc map[string]any
		require.NoError(t, kjson.UnmarshalCaseSensitivePreserveInts([]byte(row.doc), &doc))
		_, err := compileFor[Everything]("v1").FromUnstructured(doc, &Everything{}, true)
		assert.EqualError(t, err, row.want, row.doc)
	}
}

func TestFromUnstructuredOfNilMapsAndLists(t *testing.T) {
	var e Everything
	_, err := compileFor[Everything]("v1").FromUnstructured(map[string]any{"names": []any(nil), "ports": map[string]any(nil), "zero": map[string]any(nil)}, &e, true)
	require.NoError(t, err)
	assert.Equal(t, Everything{}, e)
}

func TestFromUnstructuredConvertsNumbers(t *testing.T) {
	var e Everything
	_, err := compileFor[Everything]("v1").FromUnstructured(map[string]any{"count": 2.0, "ratio": int64(3), "numbers": []any{int64(1 << 40), 2.0, nil}}, &e, true)
	require.NoError(t, err)
	assert.Equal(t, int64(2), e.Count)
	assert.Equal(t, 3.0, e.Ratio)
	assert.Equal(t, []int32{0, 2, 0}, e.Numbers, "integers wrap around as in the API server")
}
