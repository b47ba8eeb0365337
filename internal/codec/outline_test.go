package codec

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/kubecoord/kubecoord/store/meta"
)

// planned has the forms of members that an outline tells apart.
type planned struct {
	meta.TypeMeta   `json:",inline"`
	meta.ObjectMeta `json:"metadata"`
	Spec            plannedSpec  `json:"spec,omitempty"` // as most kinds of Kubernetes: it is never left out
	Part            *plannedSpec `json:"part,omitempty"`
}

type plannedSpec struct {
	Always int32             `json:"always"`
	Often  *int32            `json:"often,omitempty"`
	Set    map[string]string `json:"set,omitempty"`
	Names  []string          `json:"names,omitempty" listType:"atomic"`
	Keyed  []plannedItem     `json:"keyed,omitempty" listType:"map" listMapKey:"name"`
}

type plannedItem struct {
	Name string `json:"name"`
}

func TestOutlineTellsMembersAndNoValues(t *testing.T) {
	typ := compileFor[planned]("v1")
	outline := func(o planned) string {
		text, ok := typ.Value(&o).AppendOutline(nil)
		if !ok {
			return "none"
		}
		return string(text)
	}
	one, two := new(int32(1)), new(int32(2))
	with := func(s plannedSpec) planned { return planned{Spec: s} }
	assert.Equal(t, outline(with(plannedSpec{Always: 1})), outline(with(plannedSpec{Always: 2})))
	assert.Equal(t, outline(with(plannedSpec{Often: one})), outline(with(plannedSpec{Often: two})))
	assert.Equal(t, outline(with(plannedSpec{Set: map[string]string{"a": "1", "b": "2"}})), outline(with(plannedSpec{Set: map[string]string{"b": "1", "a": "2"}})))
	seen := map[string]string{}
	for name, o := range map[string]planned{
		"nothing":                 with(plannedSpec{}),
		"a value":                 with(plannedSpec{Always: 1}), // an empty object has this member with another value
		"an optional value":       with(plannedSpec{Often: one}),
		"both":                    with(plannedSpec{Always: 1, Often: one}),
		"a key":                   with(plannedSpec{Set: map[string]string{"a": "1"}}),
		"another key":             with(plannedSpec{Set: map[string]string{"b": "1"}}),
		"two keys":                with(plannedSpec{Set: map[string]string{"a": "1", "b": "1"}}),
		"one key of both letters": with(plannedSpec{Set: map[string]string{"ab": "1"}}),
		"names":                   with(plannedSpec{Names: []string{"a"}}),
		"a part":                  {Part: &plannedSpec{}},
		"list items with a key":   with(plannedSpec{Keyed: []plannedItem{{Name: "a"}}}), // has no outline
	} {
		other, isTwice := seen[outline(o)]
		assert.False(t, isTwice, "%s and %s", name, other)
		seen[outline(o)] = name
	}
	assert.Equal(t, "list items with a key", seen["none"])
}
