package codec

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/store/meta"
)

func TestSchemaOfALease(t *testing.T) {
	lease := compileFor[Lease]("v1")
	assert.Equal(t, Struct, lease.Kind)
	assert.Equal(t, "Lease", lease.Name)
	var names []string
	for _, f := range lease.Fields {
		names = append(names, f.Name)
	}
	assert.Equal(t, []string{"kind", "apiVersion", "metadata", "spec"}, names)

	metadata := lease.Field("metadata").Type
	owners := metadata.Field("ownerReferences")
	assert.Equal(t, "merge", owners.PatchStrategy)
	assert.Equal(t, "uid", owners.PatchMergeKey)
	assert.Equal(t, "map", owners.ListType)
	assert.Equal(t, []string{"uid"}, owners.ListMapKeys)
	assert.Equal(t, 13, owners.Number)
	assert.Equal(t, List, owners.Type.Kind)
	assert.True(t, owners.Type.Elem.Atomic)
	assert.Equal(t, "set", metadata.Field("finalizers").ListType)
	assert.Equal(t, "atomic", metadata.Field("managedFields").ListType)
	assert.Equal(t, Map, metadata.Field("labels").Type.Kind)
	assert.Empty(t, metadata.Field("labels").ListType)
	assert.Equal(t, Opaque, metadata.Field("managedFields").Type.Elem.Field("fieldsV1").Type.Kind)

	renewTime := lease.Field("spec").Type.Field("renewTime")
	assert.Equal(t, Scalar, renewTime.Type.Kind)
	assert.True(t, renewTime.Pointer)
	assert.True(t, renewTime.OmitEmpty)
	assert.Nil(t, lease.Field("Spec"), "names are case-sensitive")
}

func TestListsAreAtomicUnlessTagged(t *testing.T) {
	assert.Equal(t, "atomic", compileFor[Endpoints]("v1").Field("subsets").ListType)
}

func TestOffWireFieldsAreNotInTheSchema(t *testing.T) {
	spec := compileFor[LeaseCandidate]("v1beta1").Field("spec").Type
	assert.Nil(t, spec.Field("-"))
	assert.Nil(t, spec.Field("OffWire"))
	assert.Len(t, spec.Fields, 6)
}

func TestRecursiveTypeCompiles(t *testing.T) {
	every := compileFor[Everything]("v1")
	assert.Same(t, every, every.Field("child").Type)
	assert.Same(t, every, every.Field("children").Type.Elem)
}

func TestProtobufTagOfTheCodeGenerators(t *testing.T) {
	type generated struct {
		A string `json:"a" protobuf:"bytes,7,opt,name=a"`
	}
	assert.Equal(t, 7, compileFor[generated]("v1").Field("a").Number)
}

type selfEncoding struct{ A string }

func (selfEncoding) MarshalText() ([]byte, error) { return nil, nil }

func TestCompilePanicsForWhatHasNoWireForm(t *testing.T) {
	for name, v := range map[string]any{
		"not a struct":               "",
		"an interface":               struct{ A any }{},
		"a channel":                  struct{ A chan int }{},
		"an int of unknown size":     struct{ A int }{},
		"an unsigned integer":        struct{ A uint32 }{},
		"an array":                   struct{ A [2]string }{},
		"keys that are not strings":  struct{ A map[int32]string }{},
		"a pointer to a list":        struct{ A *[]string }{},
		"a pointer to a pointer":     struct{ A **string }{},
		"a list of pointers":         struct{ A []*string }{},
		"a type that encodes itself": struct{ A selfEncoding }{},
		"raw JSON":                   struct{ A json.RawMessage }{},
		"a time of the library":      struct{ A time.Time }{},
		"an embedded pointer":        struct{ *meta.TypeMeta }{},
		"one name twice": struct {
			meta.TypeMeta `json:",inline"`
			B             string `json:"kind"`
		}{},
		"one number twice": struct {
			A string `json:"a" protobuf:"1"`
			B string `json:"b" protobuf:"1"`
		}{},
		"a protobuf tag with no number": struct {
			A string `protobuf:"bytes"`
		}{},
		"a list of lists with a number": struct {
			A [][]string `protobuf:"1"`
		}{},
		"a number in a string": struct {
			A int32 `json:"a,string"`
		}{},
	} {
		t.Run(name, func(t *testing.T) {
			assert.Panics(t, func() { Compile(reflect.TypeOf(v), "v1") })
		})
	}
}

func TestObjectsOfAnotherTypeAreRefused(t *testing.T) {
	lease := compileFor[Lease]("v1")
	for name, obj := range map[string]any{
		"nil": nil, "nil pointer": (*Lease)(nil), "value": Lease{}, "other type": &Endpoints{},
	} {
		t.Run(name, func(t *testing.T) {
			assert.Panics(t, func() { lease.Copy(obj) })
			assert.Panics(t, func() { lease.Equal(obj, &Lease{}) })
			assert.Panics(t, func() { lease.AppendProto(nil, obj) })
			assert.Panics(t, func() { _ = lease.DecodeProto(nil, obj) })
			assert.Panics(t, func() { _, _ = lease.DecodeJSON([]byte(`{}`), obj, false) })
			assert.Panics(t, func() { _, _ = lease.FromUnstructured(nil, obj, false) })
		})
	}
	require.NotPanics(t, func() { lease.Copy(&Lease{}) })
}
