package codec

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/store/meta"
)

func TestProtobufTagOfTheCodeGenerators(t *testing.T) {
	type generated struct {
		A string `json:"a" protobuf:"bytes,7,opt,name=a"`
	}
	assert.Equal(t, 7, compileFor[generated]("v1").Field("a").Number)
}

type (
	onlyWrites   struct{ A string }
	withPointer  struct{ A *string }
	withMethods  struct{ A string }
	listOfItself []listOfItself
	stamp        struct{ meta.Time }
)

func (onlyWrites) MarshalText() ([]byte, error)   { return nil, nil }
func (withPointer) MarshalText() ([]byte, error)  { return nil, nil }
func (*withPointer) UnmarshalText([]byte) error   { return nil }
func (withMethods) MarshalJSON() ([]byte, error)  { return []byte("1"), nil }
func (*withMethods) UnmarshalJSON(_ []byte) error { return nil }

func TestCompileRefusesWhatHasNoWireForm(t *testing.T) {
	const copied = "a type without pointers, slices and maps, or a slice of bytes, as it has JSON or text methods of its own"
	for name, row := range map[string]struct {
		value any
		want  string
	}{
		"not a struct":               {"", "got string, want a struct"},
		"the whole encodes itself":   {withMethods{}, "got codec.withMethods with JSON or text methods of its own, want a struct without"},
		"an interface":               {struct{ A any }{}, ".A: got type interface {}, want json.RawMessage for JSON of any form"},
		"a channel":                  {struct{ A chan int }{}, ".A: got type chan int, want a type that JSON can hold"},
		"a hidden function":          {struct{ a func() }{}, ".a: got type func(), want a type that JSON can hold"},
		"an unsigned integer":        {struct{ A uint64 }{}, ".A: got type uint64, want int, int32 or int64"},
		"a small integer":            {struct{ A int16 }{}, ".A: got type int16, want int, int32 or int64"},
		"a small float":              {struct{ A float32 }{}, ".A: got type float32, want float64"},
		"an array":                   {struct{ A [2]string }{}, ".A: got type [2]string, want a slice"},
		"keys that are not strings":  {struct{ A map[int32]string }{}, ".A: got type map[int32]string, want a map whose keys are strings without JSON or text methods of their own"},
		"a pointer to a list":        {struct{ A *[]string }{}, ".A: got type *[]string, want []string"},
		"a pointer to a pointer":     {struct{ A **string }{}, ".A: got type *string, want no pointer in a list, a map or another pointer"},
		"a list of pointers":         {struct{ A []*string }{}, ".A[]: got type *string, want no pointer in a list, a map or another pointer"},
		"a list of itself":           {struct{ A listOfItself }{}, ".A[]: got type codec.listOfItself, want a named struct in each type that holds itself"},
		"a type that only writes":    {struct{ A onlyWrites }{}, ".A: got type codec.onlyWrites, want MarshalJSON and UnmarshalJSON, or MarshalText and UnmarshalText"},
		"a custom type with pointer": {struct{ A withPointer }{}, ".A: got type codec.withPointer, want " + copied},
		"a custom type of a time":    {struct{ A stamp }{}, ".A: got type codec.stamp, want " + copied},
		"a number for a custom type": {
			struct {
				A withMethods `protobuf:"1"`
			}{}, ".A: got a protobuf tag, want none for type codec.withMethods, which has JSON or text methods of its own",
		},
		"a time of the library": {struct{ A time.Time }{}, ".A: got type time.Time, want meta.Time or meta.MicroTime"},
		"below other fields": {struct {
			A map[string]struct{ B []uint32 }
		}{}, ".A[].B[]: got type uint32, want int, int32 or int64"},
		"an embedded pointer": {struct{ *meta.TypeMeta }{}, ".TypeMeta: got type *meta.TypeMeta, want a struct, as it is embedded without a JSON name"},
		"one name twice": {struct {
			meta.TypeMeta `json:",inline"`
			B             string `json:"kind"`
		}{}, `: two fields have the JSON name "kind", want one`},
		"one number twice": {struct {
			A string `json:"a" protobuf:"1"`
			B string `json:"b" protobuf:"1"`
		}{}, ": two fields have the protobuf number 1, want one"},
		"a protobuf tag with no number": {struct {
			A string `protobuf:"bytes"`
		}{}, `.A: got protobuf tag "bytes", want a field number in it`},
		"a list of lists with a number": {struct {
			A [][]string `protobuf:"1"`
		}{}, ".A: got a protobuf tag, want none for a list or map of lists or maps"},
		"a number in a string": {struct {
			A int32 `json:"a,string"`
		}{}, `.A: got JSON option "string", want omitempty, omitzero or inline`},
		"a name with a quote": {struct {
			A int32 `json:"a'"`
		}{}, `.A: got JSON name "a'", want one without quotes, backslashes and spaces`},
		"a rest that is no tree": {struct {
			A map[string]string `json:",rest"`
		}{}, `.A: got type map[string]string, want one map[string]any with the JSON option "rest"`},
	} {
		t.Run(name, func(t *testing.T) {
			typ, err := Compile(reflect.TypeOf(row.value), "v1")
			require.Error(t, err)
			assert.Nil(t, typ)
			assert.True(t, strings.HasSuffix(err.Error(), row.want), "got %s, want %s", err, row.want)
			assert.PanicsWithValue(t, "codec: "+err.Error(), func() { MustCompile(reflect.TypeOf(row.value), "v1") })
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

// The first use of a kind in a process pays for its compilation.
func TestCompileAllocatesLittle(t *testing.T) {
	assert.LessOrEqual(t, testing.AllocsPerRun(10, func() { compileFor[Lease]("v1") }), 110.0)
}
