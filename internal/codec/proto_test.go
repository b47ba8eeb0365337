package codec

import (
	"encoding/binary"
	"encoding/hex"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/store/meta"
)

const zeroMeta = "0a00 1200 1a00 2200 2a00 3200 3800 4200"

func unhex(t *testing.T, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.ReplaceAll(s, " ", ""))
	require.NoError(t, err)
	return b
}

// The bytes were recorded from an API server.
func TestProtoVectors(t *testing.T) {
	at := meta.MicroTime{Time: time.Unix(1704164645, 123456789)}
	lease, spec := compileFor[Lease]("v1"), compileFor[LeaseSpec]("v1")
	for _, row := range []struct {
		name string
		typ  *Type
		obj  any
		want string
	}{
		{"empty metadata", compileFor[meta.ObjectMeta]("v1"), &meta.ObjectMeta{}, zeroMeta},
		{"empty Lease", lease, &Lease{}, "0a10" + zeroMeta + "1200"},
		{"the type is not in the message", lease, &Lease{TypeMeta: meta.TypeMeta{Kind: "Lease"}}, "0a10" + zeroMeta + "1200"},
		{"empty list", compileFor[LeaseList]("v1"), &LeaseList{}, "0a06 0a00 1200 1a00"},
		{
			"spec", spec,
			&LeaseSpec{HolderIdentity: ptr("h"), LeaseDurationSeconds: ptr(int32(15)), AcquireTime: &at, RenewTime: &at, LeaseTransitions: ptr(int32(0))},
			"0a0168 100f 1a0b08a5facdac06108094ef3a 220b08a5facdac06108094ef3a 2800",
		},
		{"pointer to a zero time", spec, &LeaseSpec{RenewTime: &meta.MicroTime{}}, "2200"},
		{"negative number", spec, &LeaseSpec{LeaseTransitions: ptr(int32(-1))}, "28ffffffffffffffffff01"},
		{"times without a fraction", compileFor[meta.ManagedFieldsEntry]("v1"), &meta.ManagedFieldsEntry{Time: &meta.Time{Time: time.Unix(5, 7)}}, "0a00 1200 1a00 2204 0805 1000 3200 4200"},
		{"raw JSON that is empty", compileFor[meta.ManagedFieldsEntry]("v1"), &meta.ManagedFieldsEntry{FieldsV1: &meta.FieldsV1{}}, "0a00 1200 1a00 3200 3a00 4200"},
		{"port", compileFor[EndpointPort]("v1"), &EndpointPort{Port: 80}, "0a00 1050 1a00"},
		{
			"Status", compileFor[meta.Status]("v1"),
			&meta.Status{Status: "Failure", Code: 404, Details: &meta.StatusDetails{Name: "n", Causes: []meta.StatusCause{{Type: "T"}}}},
			"0a060a0012001a00 12074661696c757265 1a00 2200 2a140a016e12001a0022070a015412001a0028003200 309403",
		},
		{
			"sorted map", compileFor[struct {
				M map[string]string `protobuf:"11"`
			}]("v1"),
			&struct {
				M map[string]string `protobuf:"11"`
			}{map[string]string{"b": "", "a": "x"}},
			"5a06 0a0161 120178 5a05 0a0162 1200",
		},
		{
			"policy", compileFor[deleteOptions]("v1"),
			&deleteOptions{PropagationPolicy: ptr(meta.DeletePropagationOrphan), DryRun: []string{"All"}, OrphanDependents: ptr(false)},
			"1800 22064f727068616e 2a03416c6c",
		},
	} {
		t.Run(row.name, func(t *testing.T) {
			want := unhex(t, row.want)
			assert.Equal(t, hex.EncodeToString(want), hex.EncodeToString(row.typ.AppendProto(nil, row.obj)))
			assert.Equal(t, "before"+string(want), string(row.typ.AppendProto([]byte("before"), row.obj)))
			back := fresh(row.typ)
			require.NoError(t, row.typ.DecodeProto(want, back))
			assert.Equal(t, hex.EncodeToString(want), hex.EncodeToString(row.typ.AppendProto(nil, back)))
		})
	}
}

// A live object saves memory. It changes neither the result nor the live object.
func TestDecodeProtoLikeIsDecodeProto(t *testing.T) {
	every := compileFor[Everything]("v1")
	for seed := range uint64(500) {
		live := fillNew[Everything](newFiller(seed))
		before := every.AppendProto(nil, live)
		for _, sent := range []*Everything{fillNew[Everything](newFiller(seed)), fillNew[Everything](newFiller(seed + 1))} {
			data := every.AppendProto(nil, sent)
			data = append(data, data[:len(data)/2]...) // fields seen twice, and most often a cut one
			want, got := new(Everything), new(Everything)
			require.Equal(t, every.DecodeProto(data, want), every.DecodeProtoLike(data, got, live), "seed %d", seed)
			require.Equal(t, want, got, "seed %d", seed)
		}
		require.Equal(t, before, every.AppendProto(nil, live), "seed %d", seed)
	}
}

// A renewal needs memory for the object, the entry of its manager, and what the pointers of
// the entry and of the spec point to.
func TestDecodeProtoSharesStringsOfTheLiveObject(t *testing.T) {
	typ := compileFor[Lease]("coordination.k8s.io/v1")
	long := strings.Repeat("long ", 100)
	live := &Lease{
		ObjectMeta: meta.ObjectMeta{Name: long, ManagedFields: []meta.ManagedFieldsEntry{{Manager: long, Time: &meta.Time{}, FieldsV1: &meta.FieldsV1{Raw: []byte(`{"f:spec":{}}`)}}}},
		Spec:       LeaseSpec{HolderIdentity: &long, LeaseDurationSeconds: ptr(int32(15)), LeaseTransitions: ptr(int32(3))},
	}
	data := typ.AppendProto(nil, live)
	allocs := testing.AllocsPerRun(100, func() {
		if typ.DecodeProtoLike(data, new(Lease), live) != nil {
			t.Fail()
		}
	})
	assert.LessOrEqual(t, allocs, 7.0)
}

func TestDecodeProtoReadsMapEntriesBeyondTheirEnd(t *testing.T) {
	typ := compileFor[Endpoints]("v1")
	var e Endpoints
	require.NoError(t, typ.DecodeProto(unhex(t, "0a07 5a02 0a03 0a0161"), &e))
	assert.Equal(t, meta.ObjectMeta{Name: "a", Labels: map[string]string{"\n\x01a": ""}}, e.ObjectMeta, "the bytes of the key are read again")
	assert.EqualError(t, typ.DecodeProto(unhex(t, "0a07 5a02 fa01 03 0a01"), &e), "unexpected EOF", "an unknown field must not reach beyond its end")

	// Each entry includes the 127 bytes after the next entry.
	reaching := func(entries int) error {
		m := strings.Repeat("\x5a\x02\x0a\x7f", entries) + "\xfa\x01\x7f" + strings.Repeat("x", 127)
		return compileFor[meta.ObjectMeta]("v1").DecodeProto([]byte(m), new(meta.ObjectMeta))
	}
	require.NoError(t, reaching(10))
	assert.EqualError(t, reaching(100), "unexpected EOF", "many times the size of the message")
}

func TestDecodeProtoReadsPackedNumbers(t *testing.T) {
	var e Everything
	require.NoError(t, compileFor[Everything]("v1").DecodeProto(unhex(t, "4801 4a03 02ac02 4a00 5a02 0100"), &e))
	assert.Equal(t, []int32{1, 2, 300}, e.Numbers)
	assert.Equal(t, []bool{true, false}, e.Flags)
}

func TestDecodeProtoOfTimes(t *testing.T) {
	for _, row := range []struct {
		name, data string
		want       time.Time
	}{
		{"empty is zero", "1a00", time.Time{}},
		{"only seconds", "1a02 0805", time.Unix(5, 0).UTC()},
		{"nanoseconds are cut", "1a05 0805 10e707", time.Unix(5, 0).UTC()},
		{"unknown fields", "1a04 0805 1801", time.Unix(5, 0).UTC()},
		{"the last wins", "1a04 0804 0805", time.Unix(5, 0).UTC()},
		{"a time after a time", "1a02 1001 1a02 0805", time.Unix(5, 0).UTC()},
	} {
		t.Run(row.name, func(t *testing.T) {
			var spec LeaseSpec
			require.NoError(t, compileFor[LeaseSpec]("v1").DecodeProto(unhex(t, row.data), &spec))
			require.NotNil(t, spec.AcquireTime)
			assert.Equal(t, row.want, spec.AcquireTime.Time)
		})
	}
}

// The texts were compared with the generated code of the API.
func TestDecodeProtoErrors(t *testing.T) {
	for _, row := range []struct{ data, want string }{
		{"0a", "unexpected EOF"},
		{"0a05 0a01", "unexpected EOF"},
		{"80", "unexpected EOF"},
		{"ffffffffffffffffffff01", "proto: integer overflow"},
		{"0affffffffffffffffff01", "proto: negative length found during unmarshaling"},
		{"0aff ffffffff07", "unexpected EOF"},
		{"0801", "proto: wrong wireType = 0 for field ObjectMeta"},
		{"1001", "proto: wrong wireType = 0 for field Spec"},
		{"1202 0801", "proto: wrong wireType = 0 for field HolderIdentity"},
		{"1202 1200", "proto: wrong wireType = 2 for field LeaseDurationSeconds"},
		{"1204 1a02 0a00", "proto: wrong wireType = 2 for field Seconds"},
		{"1204 1a02 0201", "proto: Timestamp: illegal tag 0 (wire type 2)"},
		{"0a02 5801", "proto: wrong wireType = 0 for field Labels"},
		{"0a07 8a01 04 3a02 0801", "proto: wrong wireType = 0 for field Raw"},
		{"0a02 7001", "proto: wrong wireType = 0 for field Finalizers"},
		{"0200", "proto: Lease: illegal tag 0 (wire type 2)"},
		{"1202 0200", "proto: LeaseSpec: illegal tag 0 (wire type 2)"},
		{"04", "proto: Lease: wiretype end group for non-group"},
		{"0a01 04", "proto: ObjectMeta: wiretype end group for non-group"},
		{"fe01", "proto: illegal wireType 6"},
		{"ff01", "proto: illegal wireType 7"},
		{"fb01", "unexpected EOF"},
		{"f901 01", "unexpected EOF"},
		{"fd01 01", "unexpected EOF"},
		{"fa01 05", "unexpected EOF"},
		{"0a03 5a01 04", "proto: unexpected end of group"},
		{"0a04 5a02 0a05", "unexpected EOF"},
	} {
		var lease Lease
		assert.EqualError(t, compileFor[Lease]("v1").DecodeProto(unhex(t, row.data), &lease), row.want, row.data)
	}
}

func TestDecodeProtoErrorsOfOtherForms(t *testing.T) {
	for _, row := range []struct{ data, want string }{
		{"4a05 01", "unexpected EOF"},
		{"4a01 80", "unexpected EOF"},
		{"1901", "unexpected EOF"},
		{"52 02 0102", "unexpected EOF"},
		{"3203 1001 0a", "unexpected EOF"},
		{"3203 80", "unexpected EOF"},
		{"3201 80", "unexpected EOF"},
		{"3203 3e0000", "proto: illegal wireType 6"},
		{"9201 02 1801 9201 01 04", "proto: FieldsV1: wiretype end group for non-group"},
		{"9201 02 1e01", "proto: illegal wireType 6"},
		{"6202 1e01", "proto: illegal wireType 6"},
		{"6a02 0804 6a01 08", "unexpected EOF"},
		{"fa01 ffffffffffffffffff7f", "proto: negative length found during unmarshaling"},
		{"f801 ffffffffffffffffffff01", "proto: integer overflow"},
	} {
		var e Everything
		assert.EqualError(t, compileFor[Everything]("v1").DecodeProto(unhex(t, row.data), &e), row.want, row.data)
	}
}

func TestDecodeProtoBoundsNesting(t *testing.T) {
	nested := func(levels int) []byte { // only the tags and lengths, the innermost message is empty
		var heads [][]byte
		size := 0
		for range levels {
			head := binary.AppendUvarint([]byte{15<<3 | wireBytes}, uint64(size))
			heads = append(heads, head)
			size += len(head)
		}
		slices.Reverse(heads)
		return slices.Concat(heads...)
	}
	every := compileFor[Everything]("v1")
	assert.NoError(t, every.DecodeProto(nested(maxProtoDepth), new(Everything)))
	assert.EqualError(t, every.DecodeProto(nested(maxProtoDepth+1), new(Everything)), "proto: exceeded maximum recursion depth")
}

// deleteOptions has pointers to a string and to a bool.
type deleteOptions struct {
	OrphanDependents  *bool                     `json:"orphanDependents,omitempty" protobuf:"3"`
	PropagationPolicy *meta.DeletionPropagation `json:"propagationPolicy,omitempty" protobuf:"4"`
	DryRun            []string                  `json:"dryRun,omitempty" protobuf:"5"`
}
