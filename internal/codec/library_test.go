package codec

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/store/meta"
	"github.com/kubecoord/kubecoord/store/schema"
)

// The types of another library: their metadata has the members of ours.
type (
	OtherType struct {
		Kind       string `json:"kind,omitempty"`
		APIVersion string `json:"apiVersion,omitempty"`
	}
	OtherMeta meta.ObjectMeta
	OtherTime struct{ time.Time }

	// amount is a number with a unit, and remembers its text.
	amount struct {
		n      *int64
		cached string
	}
	box struct {
		OtherType `json:",inline"`
		OtherMeta `json:"metadata,omitempty"`
		Spec      boxSpec `json:"spec"`
	}
	boxSpec struct {
		Names  []string          `json:"names,omitempty"`
		Always []string          `json:"always"`
		Labels map[string]string `json:"labels,omitempty"`
		Data   map[string][]byte `json:"data,omitempty"`
		Ports  []port            `json:"ports,omitempty" patchStrategy:"merge" patchMergeKey:"number"`
		Sizes  map[string]amount `json:"sizes,omitempty"`
		Size   amount            `json:"size"`
		Since  *OtherTime        `json:"since,omitempty"`
		Next   *boxSpec          `json:"next,omitempty"`
	}
	port struct {
		Number   int32  `json:"number"`
		Protocol string `json:"protocol,omitempty"`
	}
)

func (a amount) MarshalJSON() ([]byte, error) { return json.Marshal(a.text()) }

func (a *amount) UnmarshalJSON(data []byte) error {
	var s string
	if err := json.Unmarshal(data, &s); err != nil {
		return err
	}
	*a = amount{n: new(int64(len(s)))}
	return nil
}

func (a amount) text() string {
	if a.n == nil {
		return ""
	}
	return strings.Repeat("x", int(*a.n))
}

func newLibrary() *Library {
	return &Library{
		Same: map[reflect.Type]reflect.Type{
			reflect.TypeFor[OtherType](): reflect.TypeFor[meta.TypeMeta](),
			reflect.TypeFor[OtherMeta](): reflect.TypeFor[meta.ObjectMeta](),
			reflect.TypeFor[OtherTime](): reflect.TypeFor[meta.Time](),
		},
		Custom: map[reflect.Type]*Custom{
			reflect.TypeFor[amount](): NewCustom(Scalar,
				func(a *amount) amount { return amount{n: new(*a.n), cached: a.cached} }, func(a *amount) any { return a.text() },
				func(a, b *amount) bool { return a.text() == b.text() }, func(a *amount) { a.cached = a.text() }),
		},
	}
}

func boxSchema() *schema.Schema {
	labels := &schema.Schema{Type: "object", Additional: textSchema(), Atomic: true}
	protocol := propertyOf("protocol", textSchema())
	protocol.Default = "TCP"
	port := &schema.Schema{Name: "port", Type: "object", Properties: []schema.Property{propertyOf("number", &schema.Schema{Type: "integer"}), protocol}}
	ports := &schema.Schema{Type: "array", Items: port}
	names := &schema.Schema{Type: "array", Items: textSchema(), ListType: "set"}
	spec := withMembers(propertyOf("labels", labels), propertyOf("ports", ports), propertyOf("names", names))
	spec.Name = "spec"
	spec.Properties = append(spec.Properties, propertyOf("next", spec))
	return withMembers(propertyOf("spec", spec))
}

func TestLibrary(t *testing.T) {
	typ, err := newLibrary().Compile(reflect.TypeFor[box](), boxSchema())
	require.NoError(t, err)
	o := typ.New().(*Box)
	const text = `{"metadata":{"name":"a","labels":{"k":"v"}},"spec":{"names":[],"always":[],"labels":{},"data":{"a":null},"ports":[{"number":1}],` +
		`"sizes":{"s":"xx"},"size":"xxx","since":"2026-01-02T03:04:05Z","next":{"always":null,"labels":{},"size":"x"}}}`
	problems, err := typ.DecodeJSON([]byte(text), o, true)
	require.NoError(t, err)
	assert.Empty(t, problems)
	b := o.Value().(*box)
	assert.Equal(t, "a", b.Name)
	o.GetObjectMeta().Labels["k"], o.GetTypeMeta().Kind = "w", "Box"
	assert.Equal(t, "w", b.Labels["k"], "a box lends the memory of the object")
	assert.Equal(t, "Box", b.Kind)
	*o.GetTypeMeta() = meta.TypeMeta{}

	spec := typ.Field("spec").Type
	assert.Equal(t, "set", spec.Field("names").ListType)
	assert.Equal(t, []string{"number"}, spec.Field("ports").ListMapKeys)
	assert.Equal(t, "TCP", spec.Field("ports").Type.Elem.Field("protocol").Default)
	assert.True(t, spec.Field("labels").Type.Atomic)
	assert.False(t, typ.Field("metadata").Type.Field("labels").Type.Atomic, "another member of the same Go type")
	assert.Equal(t, "xxx", o.Member("spec", "size").Tree())
	assert.Nil(t, o.Member("spec", "names", "x").Tree())

	same := typ.Copy(o).(*Box)
	c := same.Value().(*box)
	assert.NotNil(t, c.Spec.Names, "a copy has the empty lists and maps of the object")
	assert.NotNil(t, c.Spec.Next.Labels)
	assert.NotSame(t, b.Spec.Size.n, c.Spec.Size.n)
	assert.True(t, typ.Equal(o, same))
	assert.True(t, typ.EqualMember(o, same, "spec"))
	c.Spec.Next.Always = []string{"x"}
	assert.False(t, typ.EqualMember(o, same, "spec"))

	typ.Settle(o)
	assert.Nil(t, b.Spec.Names)
	assert.Nil(t, b.Spec.Always)
	assert.Nil(t, b.Spec.Next.Labels)
	assert.Equal(t, map[string][]byte{"a": {}}, b.Spec.Data)
	assert.Equal(t, "xx", b.Spec.Sizes["s"].cached)
	assert.Equal(t, "xxx", b.Spec.Size.cached)
	got, err := typ.AppendJSON(nil, o)
	require.NoError(t, err)
	assert.Equal(t, `{"metadata":{"name":"a","labels":{"k":"w"}},"spec":{"always":null,"data":{"a":""},"ports":[{"number":1}],"sizes":{"s":"xx"},"size":"xxx",`+
		`"since":"2026-01-02T03:04:05Z","next":{"always":null,"size":"x"}}}`, string(got))
	assert.False(t, typ.HasProto())
	ours := MustCompile(reflect.TypeFor[meta.ObjectMeta](), "v1")
	m := &meta.ObjectMeta{Name: "a", OwnerReferences: []meta.OwnerReference{{Kind: "K"}}}
	assert.Equal(t, ours.AppendProto(nil, m), typ.Field("metadata").Type.AppendProto(nil, m), "metadata alone has a message")

	assert.Same(t, b, typ.Box(b).Value())
	assert.PanicsWithValue(t, "codec: got *codec.port, want a non-nil *codec.box", func() { typ.Box(&port{}) })
	assert.PanicsWithValue(t, "codec: got *codec.box, want a Box of codec.box", func() { typ.Copy(b) })
}

func TestTypesThatALibraryCannotCompile(t *testing.T) {
	type ShortMeta struct{ Name string }
	type short struct {
		OtherType `json:",inline"`
		ShortMeta `json:"metadata"`
	}
	l := newLibrary()
	_, err := l.Compile(reflect.TypeFor[short](), nil)
	assert.EqualError(t, err, "got codec.short, want a struct with the type and the metadata of an object")
	_, err = l.Compile(reflect.TypeFor[string](), nil)
	assert.EqualError(t, err, "got string, want a struct")
	l.Same[reflect.TypeFor[ShortMeta]()] = reflect.TypeFor[meta.ObjectMeta]()
	_, err = l.Compile(reflect.TypeFor[short](), nil)
	assert.EqualError(t, err, "short.ShortMeta: got codec.ShortMeta, want a type with the memory of meta.ObjectMeta")
	type bad struct {
		OtherType `json:",inline"`
		OtherMeta `json:"metadata"`
		Channel   chan int `json:"channel"`
	}
	_, err = l.Compile(reflect.TypeFor[bad](), nil)
	assert.EqualError(t, err, "bad.Channel: got type chan int, want a type that JSON can hold")
}
