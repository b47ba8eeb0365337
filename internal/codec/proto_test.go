package codec

import (
	"encoding/binary"
	"encoding/hex"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/store/meta"
)

func unhex(t *testing.T, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.ReplaceAll(s, " ", ""))
	require.NoError(t, err)
	return b
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
