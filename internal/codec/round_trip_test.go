package codec

import (
	"reflect"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/store/meta"
)

// decoded returns the result of decoding the JSON of an object, or nil if it cannot be
// decoded.
func decoded(t *testing.T, typ *Type, obj any) any {
	t.Helper()
	data, err := typ.AppendJSON(nil, obj)
	require.NoError(t, err)
	out := fresh(typ)
	if _, err = typ.DecodeJSON(data, out, true); err != nil {
		return nil
	}
	return out
}

func TestCopyOfWhatRoundTripsIsWhatDecodingReturns(t *testing.T) {
	for _, typ := range []*Type{compileFor[Lease]("v1"), compileFor[Endpoints]("v1")} {
		done := 0
		for seed := range uint64(500) {
			obj := fresh(typ)
			newFiller(seed).fill(reflect.ValueOf(obj).Elem(), 2)
			for i := 0; i < 2 && obj != nil; i++ { // a decoded object round-trips more often
				next := decoded(t, typ, obj)
				if typ.RoundTrips(obj) {
					done++
					require.Equal(t, next, typ.Copy(obj))
				}
				obj = next
			}
		}
		assert.Greater(t, done, 100)
	}
}

func TestWhatDecodingChangesDoesNotRoundTrip(t *testing.T) {
	lease := compileFor[Lease]("v1")
	assert.True(t, lease.RoundTrips(new(Lease)))
	for name, change := range map[string]func(*Lease){
		"invalid text":      func(l *Lease) { l.Name = "\xff" },
		"invalid text, map": func(l *Lease) { l.Labels = map[string]string{"\xff": ""} },
		"empty map":         func(l *Lease) { l.Labels = map[string]string{} },
		"empty list":        func(l *Lease) { l.Finalizers = []string{} },
		"zero time":         func(l *Lease) { l.DeletionTimestamp = new(meta.Time{}) },
		"far time":          func(l *Lease) { l.Spec.RenewTime = new(meta.NewMicroTime(time.Unix(1<<40, 0))) },
		"set with spaces": func(l *Lease) {
			l.ManagedFields = []meta.ManagedFieldsEntry{{FieldsV1: &meta.FieldsV1{Raw: []byte(`{ }`)}}}
		},
	} {
		l := new(Lease)
		change(l)
		assert.False(t, lease.RoundTrips(l), name)
	}
}
