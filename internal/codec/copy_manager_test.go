package codec

import (
	"bytes"
	"reflect"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/store/meta"
)

func TestCopyOutIsCopy(t *testing.T) {
	typ := compileFor[Lease]("v1")
	alone := 0
	for seed := range uint64(1000) {
		lease := fillNew[Lease](newFiller(seed))
		if n := len(lease.ManagedFields); n > 0 && seed%2 == 0 {
			lease.ManagedFields = lease.ManagedFields[:1]
			lease.ManagedFields[0].FieldsV1 = &meta.FieldsV1{Raw: bytes.Repeat([]byte("x"), int(seed)/2)}
			alone++
		}
		want, got := typ.Copy(lease).(*Lease), typ.CopyOut(lease).(*Lease)
		require.Equal(t, want, got, "seed %d", seed)
		scramble(reflect.ValueOf(lease).Elem())
		require.Equal(t, want, got, "seed %d: shares memory", seed)
		for _, e := range got.ManagedFields {
			if e.FieldsV1 != nil {
				_ = append(e.FieldsV1.Raw, "more"...)
			}
		}
		_ = append(got.ManagedFields, meta.ManagedFieldsEntry{Manager: "more"})
		require.Equal(t, want, got, "seed %d: an append writes to the block", seed)
	}
	assert.Greater(t, alone, 100)
}

func TestCopyOutOfOneManagerIsOneBlock(t *testing.T) {
	typ := compileFor[Lease]("v1")
	for size, blocks := range map[int]float64{0: 1, 100: 1, 184: 1, 312: 1, 400: 3} {
		lease := &Lease{}
		lease.Spec.HolderIdentity = new("h")
		lease.ManagedFields = []meta.ManagedFieldsEntry{{Manager: "m", Time: &meta.Time{}, FieldsV1: &meta.FieldsV1{Raw: make([]byte, size)}}}
		for range firstCopies {
			typ.CopyOut(lease)
		}
		assert.Equal(t, blocks, testing.AllocsPerRun(100, func() { typ.CopyOut(lease) }), "a set of %d bytes", size)
	}
}

func BenchmarkCopyOut(b *testing.B) {
	typ, lease := compileFor[Lease]("v1"), aLease()
	b.ReportAllocs()
	for b.Loop() {
		typ.CopyOut(lease)
	}
}
