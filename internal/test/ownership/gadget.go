package ownership

import "strings"

// GadgetSpec is the spec of Gadget, a kind with the features that the kinds of kubecoord lack. This is its version v1, which
// is the stored form. O is Point for upstream, which does not read the tag that makes a struct atomic, and AtomicPoint for
// kubecoord.
type GadgetSpec[O any] struct {
	Mode    string                 `json:"mode,omitempty" protobuf:"1"`
	Count   *int32                 `json:"count,omitempty" protobuf:"2"`
	On      bool                   `json:"on" protobuf:"3"`
	Tags    []string               `json:"tags,omitempty" listType:"set" protobuf:"4"`
	Numbers []int32                `json:"numbers,omitempty" listType:"set" protobuf:"5"`
	Steps   []string               `json:"steps,omitempty" protobuf:"6"`
	Parts   []GadgetPart           `json:"parts,omitempty" listType:"map" listMapKey:"name" protobuf:"7"`
	Ports   []GadgetPort           `json:"ports,omitempty" listType:"map" listMapKey:"port,protocol" protobuf:"8"`
	Flags   []GadgetFlag           `json:"flags,omitempty" listType:"map" listMapKey:"on,level" protobuf:"9"`
	Options map[string]string      `json:"options,omitempty" protobuf:"10"`
	Groups  map[string]GadgetGroup `json:"groups,omitempty" protobuf:"11"`
	Origin  O                      `json:"origin,omitempty" protobuf:"12"`
	Nested  *GadgetNested          `json:"nested,omitempty" protobuf:"13"`
	Free    GadgetOptional         `json:"free,omitzero" protobuf:"14"`
	Rows    map[string][]string    `json:"rows,omitempty"` // an item has one owner
}

// GadgetPart is an item that always has its key.
type GadgetPart struct {
	Name   string   `json:"name" protobuf:"1"`
	Size   int64    `json:"size,omitempty" protobuf:"2"`
	Labels []string `json:"labels,omitempty" listType:"set" protobuf:"3"`
}

// GadgetPort is an item that may lack one of its keys.
type GadgetPort struct {
	Port     int32  `json:"port,omitempty" protobuf:"1"`
	Protocol string `json:"protocol,omitempty" protobuf:"2"`
	Target   string `json:"target,omitempty" protobuf:"3"`
}

// GadgetFlag is an item whose keys have defaults.
type GadgetFlag struct {
	On    bool   `json:"on" protobuf:"1"`
	Level int32  `json:"level" protobuf:"2"`
	Note  string `json:"note,omitempty" protobuf:"3"`
}

// GadgetGroup is an item of a map.
type GadgetGroup struct {
	A string   `json:"a,omitempty" protobuf:"1"`
	B *int32   `json:"b,omitempty" protobuf:"2"`
	C []string `json:"c,omitempty" listType:"set" protobuf:"3"`
}

// Point has one owner.
type Point struct {
	X int32 `json:"x,omitempty" protobuf:"1"`
	Y int32 `json:"y,omitempty" protobuf:"2"`
}

// AtomicPoint is Point with the tag that says so.
type AtomicPoint struct {
	_ struct{} `structType:"atomic"`
	X int32    `json:"x,omitempty" protobuf:"1"`
	Y int32    `json:"y,omitempty" protobuf:"2"`
}

// GadgetNested is granular.
type GadgetNested struct {
	A string          `json:"a,omitempty" protobuf:"1"`
	B *GadgetOptional `json:"b,omitempty" protobuf:"2"`
}

// GadgetOptional is one level below.
type GadgetOptional struct {
	C string            `json:"c,omitempty" protobuf:"1"`
	D map[string]string `json:"d,omitempty" protobuf:"2"`
}

// GadgetSpec2 is the spec of version v2. It has a set of modes for the mode, one tag for the set of tags, and an atomic list of
// parts.
type GadgetSpec2[O any] struct {
	Modes   []string               `json:"modes,omitempty" listType:"set" protobuf:"1"`
	Count   *int32                 `json:"count,omitempty" protobuf:"2"`
	On      bool                   `json:"on" protobuf:"3"`
	Tag     string                 `json:"tag,omitempty" protobuf:"4"`
	Numbers []int32                `json:"numbers,omitempty" listType:"set" protobuf:"5"`
	Steps   []string               `json:"steps,omitempty" protobuf:"6"`
	Parts   []GadgetPart           `json:"parts,omitempty" protobuf:"7"`
	Ports   []GadgetPort           `json:"ports,omitempty" listType:"map" listMapKey:"port,protocol" protobuf:"8"`
	Flags   []GadgetFlag           `json:"flags,omitempty" listType:"map" listMapKey:"on,level" protobuf:"9"`
	Options map[string]string      `json:"options,omitempty" protobuf:"10"`
	Groups  map[string]GadgetGroup `json:"groups,omitempty" protobuf:"11"`
	Origin  O                      `json:"origin,omitempty" protobuf:"12"`
	Nested  *GadgetNested          `json:"nested,omitempty" protobuf:"13"`
	Free    GadgetOptional         `json:"free,omitzero" protobuf:"14"`
	Rows    map[string][]string    `json:"rows,omitempty"`
}

// GadgetStatus is the status of both versions.
type GadgetStatus struct {
	Phase string `json:"phase,omitempty" protobuf:"1"`
	Seen  *int64 `json:"seen,omitempty" protobuf:"2"`
}

// To2 converts to version v2.
func (s GadgetSpec[O]) To2() GadgetSpec2[O] {
	return GadgetSpec2[O]{
		Modes: split(s.Mode), Count: s.Count, On: s.On, Tag: strings.Join(s.Tags, ","), Numbers: s.Numbers, Steps: s.Steps, Parts: s.Parts,
		Ports: s.Ports, Flags: s.Flags, Options: s.Options, Groups: s.Groups, Origin: s.Origin, Nested: s.Nested, Free: s.Free, Rows: s.Rows,
	}
}

// To1 converts to version v1.
func (s GadgetSpec2[O]) To1() GadgetSpec[O] {
	return GadgetSpec[O]{
		Mode: strings.Join(s.Modes, ","), Count: s.Count, On: s.On, Tags: split(s.Tag), Numbers: s.Numbers, Steps: s.Steps, Parts: s.Parts,
		Ports: s.Ports, Flags: s.Flags, Options: s.Options, Groups: s.Groups, Origin: s.Origin, Nested: s.Nested, Free: s.Free, Rows: s.Rows,
	}
}

func split(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(text, ",")
}
