package codec

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/store/meta"
)

// open is a type that keeps undeclared members.
type open struct {
	meta.TypeMeta   `json:",inline"`
	meta.ObjectMeta `json:"metadata"`
	Size            *int32         `json:"size,omitempty"`
	Rest            map[string]any `json:",rest"`
}

func TestUndeclaredMembersAreKept(t *testing.T) {
	typ := compileFor[open]("v1")
	const text = `{"a":[{"y":1.5,"x":null}],"kind":"K","metadata":{"name":"n"},"size":3,"z":{"b":true,"a":"<"}}`
	var o open
	problems, err := typ.DecodeJSON([]byte(text), &o, true)
	require.NoError(t, err)
	assert.Empty(t, problems)
	assert.EqualValues(t, 3, *o.Size)
	assert.Equal(t, map[string]any{"a": []any{map[string]any{"x": nil, "y": 1.5}}, "z": map[string]any{"a": "<", "b": true}}, o.Rest)
	written, err := typ.AppendJSON(nil, &o)
	require.NoError(t, err)
	assert.Equal(t, `{"a":[{"x":null,"y":1.5}],"kind":"K","metadata":{"name":"n"},"size":3,"z":{"a":"\u003c","b":true}}`, string(written))

	var back open
	strict, err := typ.FromUnstructured(typ.ToUnstructured(&o), &back, true)
	require.NoError(t, err)
	assert.Empty(t, strict)
	assert.True(t, typ.Equal(&o, &back))
	assert.Greater(t, typ.Size(&o), 20)
}

func TestUndeclaredMembersAreCopied(t *testing.T) {
	typ := compileFor[open]("v1")
	o := &open{Rest: map[string]any{"list": []any{map[string]any{"k": "v"}}, "n": 2.0}}
	c := typ.Copy(o).(*open)
	assert.True(t, typ.Equal(o, c))
	assert.Equal(t, 2.0, c.Rest["n"])
	typ.Normalize(c)
	assert.Equal(t, int64(2), c.Rest["n"], "a stored number has one type")
	assert.False(t, typ.Equal(o, c))
	typ.Normalize(o)
	assert.True(t, typ.Equal(o, c))
	o.Rest["list"].([]any)[0].(map[string]any)["k"] = "w"
	assert.False(t, typ.Equal(o, c))
	tree := typ.ToUnstructured(c)
	tree["list"].([]any)[0].(map[string]any)["k"] = "x"
	assert.Equal(t, "v", c.Rest["list"].([]any)[0].(map[string]any)["k"])
	assert.Nil(t, typ.Copy(&open{Rest: map[string]any{}}).(*open).Rest, "an empty map equals nil")
}

func TestUndeclaredMembersAreCompared(t *testing.T) {
	typ := compileFor[open]("v1")
	a := &open{Rest: map[string]any{"same": []any{int64(1)}, "gone": nil, "other": "x"}}
	b := &open{Rest: map[string]any{"same": []any{1.0}, "new": nil, "other": "y"}}
	var names []string
	var m Members
	for m.Walk(typ.Value(a), typ.Value(b)); m.Next(); {
		if !m.X.Equal(m.Y) {
			names = append(names, m.Name)
		}
	}
	assert.ElementsMatch(t, []string{"gone", "new", "other"}, names)
	typ.CopyMember(a, b, "other")
	typ.CopyMember(a, b, "new")
	typ.CopyMember(a, nil, "gone")
	assert.False(t, typ.Equal(a, b), "1 and 1.0")
	typ.Normalize(b)
	assert.True(t, typ.Equal(a, b))
	assert.True(t, typ.Has("anything"))
	assert.False(t, compileFor[Lease]("v1").Has("anything"))
}

func TestCompilePanicsForAnInvalidRestField(t *testing.T) {
	type nested struct {
		Spec struct {
			Rest map[string]any `json:",rest"`
		} `json:"spec"`
	}
	assert.PanicsWithValue(t, `codec: struct { Rest map[string]interface {} "json:\",rest\"" }.Rest: only the object itself may keep undeclared members`,
		func() { compileFor[nested]("v1") })
}
