package codec

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// aSeed is a small random object: the fuzzer is slow with large ones.
func aSeed(seed uint64) *Everything {
	obj := new(Everything)
	newFiller(seed).fill(reflect.ValueOf(obj).Elem(), 2)
	return obj
}

// A decoded message can be encoded, and decodes to the same object.
func FuzzDecodeProto(f *testing.F) {
	every := compileFor[Everything]("v1")
	for seed := range uint64(20) {
		f.Add(every.AppendProto(nil, aSeed(seed)))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		first, second := new(Everything), new(Everything)
		if every.DecodeProto(data, first) != nil {
			return
		}
		like := new(Everything)
		require.NoError(t, every.DecodeProtoLike(data, like, first))
		require.True(t, every.Equal(first, like))
		encoded := every.AppendProto(nil, first)
		require.Equal(t, len(encoded), every.messageSize(every.check(first)))
		require.NoError(t, every.DecodeProto(encoded, second))
		require.True(t, string(encoded) == string(every.AppendProto(nil, second)), "the second encoding differs")
		require.True(t, every.Equal(first, second))
		require.True(t, every.Equal(first, every.Copy(first)))
		_, _ = every.AppendJSON(nil, first) // fails for a FieldsV1 that is not JSON
		_ = every.ToUnstructured(first)
	})
}

func FuzzDecodeJSON(f *testing.F) {
	every := compileFor[Everything]("v1")
	for seed := range uint64(20) {
		doc, err := every.AppendJSON(nil, aSeed(seed))
		require.NoError(f, err)
		f.Add(doc)
	}
	f.Add([]byte(`{"flag":1,"zzz":[],"flag":true}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		_, _, _ = RecognizeJSON(data)
		first, second := new(Everything), new(Everything)
		if _, err := every.DecodeJSON(data, first, true); err != nil {
			return
		}
		encoded, err := every.AppendJSON(nil, first)
		require.NoError(t, err)
		want, err := json.Marshal(first)
		require.NoError(t, err)
		require.Equal(t, string(want), string(encoded))

		strictErrs, err := every.DecodeJSON(encoded, second, true)
		if err != nil && strings.Contains(err.Error(), "parsing time") {
			return // an offset can lead to a year that cannot be encoded
		}
		require.NoError(t, err)
		require.Empty(t, strictErrs)
		again, err := every.AppendJSON(nil, second)
		require.NoError(t, err)
		require.Equal(t, string(encoded), string(again))
		require.True(t, every.Equal(first, every.Copy(first)))
	})
}

func FuzzOpenEnvelope(f *testing.F) {
	f.Add(AppendEnvelope(nil, "coordination.k8s.io/v1", "Lease", []byte("raw")))
	f.Fuzz(func(t *testing.T, data []byte) {
		e, err := OpenEnvelope(data)
		if err != nil || e.ContentEncoding != "" || e.ContentType != "" {
			return
		}
		again, err := OpenEnvelope(AppendEnvelope(nil, e.APIVersion, e.Kind, e.Raw))
		require.NoError(t, err)
		require.Equal(t, string(e.Raw), string(again.Raw))
		require.Equal(t, e.Kind, again.Kind)
		require.Equal(t, e.APIVersion, again.APIVersion)
	})
}
