// Package gated drops the members of built-in objects whose feature gates are off, as kube-apiserver's strategies do when an object is
// written: a member stays that the state before has (upstream: pkg/registry and pkg/api, the functions dropDisabledFields).
//
// Not dropped: strategy and preferredHolder of a Lease, since coordinated leader elections are always on here.
package gated

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubecoord/kubecoord/httpapi/kube/internal/gates"
)

// Dropper drops members of the objects of a kind.
type Dropper []compiled

// compiled is a rule for a Go type.
type compiled struct {
	drops, uses []path
	when        path
}

// Of returns the Dropper for the objects of a Go type in creates and updates, and Statuses for writes of the status. It is nil if the
// gates leave nothing to drop.
func Of(kind string, t reflect.Type, g *gates.Gates) Dropper { return compile(specs(kind), t, g) }

// Statuses is Of for writes of the status.
func Statuses(kind string, t reflect.Type, g *gates.Gates) Dropper {
	return compile(statuses(kind), t, g)
}

func compile(rules []rule, t reflect.Type, g *gates.Gates) (out Dropper) {
	for _, r := range rules {
		if r.gate != "" && allOn(r.gate, g) {
			continue
		}
		c := compiled{drops: pathsOf(t, r.drops)}
		c.uses = c.drops
		if r.uses != nil {
			c.uses = pathsOf(t, r.uses)
		}
		if r.when != "" {
			c.when = pathsOf(t, []string{r.when})[0]
		}
		out = append(out, c)
	}
	return out
}

// Relevant returns the names of the gates that are not as by default and that a Dropper or package scheme asks for, or that are among also.
// Kinds for equal results are equal.
func Relevant(g *gates.Gates, also ...string) string {
	asked := map[string]bool{"HPAGeneration": true}
	for _, name := range also {
		asked[name] = true
	}
	for _, kind := range kinds() {
		for _, r := range slices.Concat(specs(kind), statuses(kind)) {
			for _, name := range strings.Fields(r.gate) {
				asked[name] = true
			}
		}
	}
	return strings.Join(slices.DeleteFunc(strings.Fields(g.Changed()), func(name string) bool { return !asked[name] }), " ")
}

func allOn(names string, g *gates.Gates) bool {
	for _, name := range strings.Fields(names) {
		if !g.Enabled(name) {
			return false
		}
	}
	return true
}

// Drop drops members of obj, which may share no memory with others. old is the state before, or nil.
func (d Dropper) Drop(obj, old runtime.Object) {
	if len(d) == 0 {
		return
	}
	now, before := reflect.ValueOf(obj).Elem(), reflect.Value{}
	if old != nil {
		before = reflect.ValueOf(old).Elem()
	}
	for _, r := range d {
		if !has(now, r.drops) || r.when != nil && !r.when.isSet(now) || before.IsValid() && has(before, r.uses) {
			continue
		}
		for _, p := range r.drops {
			p.clear(now)
		}
	}
}

func has(v reflect.Value, paths []path) bool {
	for _, p := range paths {
		if p.isSet(v) {
			return true
		}
	}
	return false
}

// path is a compiled path of members. The text has their names in JSON, separated by dots: "[]" after a name stands for all items of a
// list, "{}" for all values of a map, "?" for a member that goes when nothing is left in it, and "!x" for any value but x.
type path []step

type step struct {
	index  []int // of the field
	each   byte  // '[', '{' or 0
	fades  bool
	except *string
}

// pathsOf compiles paths for a Go type. The rules are constants: a path without a member is a mistake of the program.
func pathsOf(t reflect.Type, texts []string) (out []path) {
	for _, text := range texts {
		var p path
		at := t
		for _, name := range strings.Split(text, ".") {
			var s step
			name, except, found := strings.Cut(name, "!")
			if found {
				s.except = &except
			}
			for _, end := range []string{"[]", "{}", "?"} {
				var cut bool
				if name, cut = strings.CutSuffix(name, end); cut {
					s.each, s.fades = end[0], end == "?"
				}
			}
			if s.fades {
				s.each = 0
			}
			f, ok := member(at, name)
			if !ok {
				panic(fmt.Sprintf("gated: %s: %s has no member %s", text, at, name))
			}
			s.index, at = f.Index, f.Type
			for at.Kind() == reflect.Pointer || s.each != 0 && (at.Kind() == reflect.Slice || at.Kind() == reflect.Map) {
				at = at.Elem()
			}
			p = append(p, s)
		}
		out = append(out, p)
	}
	return out
}

// member returns the field with a name in JSON, also of an embedded struct.
func member(t reflect.Type, name string) (reflect.StructField, bool) {
	if t.Kind() != reflect.Struct {
		return reflect.StructField{}, false
	}
	for _, f := range reflect.VisibleFields(t) {
		if tag, _, _ := strings.Cut(f.Tag.Get("json"), ","); tag == name && !f.Anonymous {
			return f, true
		}
	}
	return reflect.StructField{}, false
}

// isSet reports whether a value has a member at the path.
func (p path) isSet(v reflect.Value) bool {
	f, ok := p.field(v)
	if !ok {
		return false
	}
	s := p[0]
	if len(p) == 1 {
		return s.except == nil || !isText(f, *s.except)
	}
	switch s.each {
	case '[':
		for i := range f.Len() {
			if p[1:].isSet(f.Index(i)) {
				return true
			}
		}
		return false
	case '{':
		for _, key := range f.MapKeys() {
			if p[1:].isSet(f.MapIndex(key)) {
				return true
			}
		}
		return false
	}
	return p[1:].isSet(f)
}

// field returns the field of the first step, if it has a value.
func (p path) field(v reflect.Value) (reflect.Value, bool) {
	if v.Kind() == reflect.Pointer {
		v = v.Elem()
	}
	f := v.FieldByIndex(p[0].index)
	if f.IsZero() || (f.Kind() == reflect.Slice || f.Kind() == reflect.Map) && f.Len() == 0 {
		return f, false
	}
	return f, true
}

func isText(v reflect.Value, text string) bool {
	if v.Kind() == reflect.Pointer {
		v = v.Elem()
	}
	return v.String() == text
}

// clear removes the member at the path.
func (p path) clear(v reflect.Value) {
	f, ok := p.field(v)
	if !ok || !p.isSet(v) {
		return
	}
	s := p[0]
	switch {
	case len(p) == 1:
		f.SetZero()
	case s.each == '[':
		for i := range f.Len() {
			p[1:].clear(f.Index(i))
		}
	case s.each == '{':
		for _, key := range f.MapKeys() {
			value := reflect.New(f.Type().Elem()).Elem()
			value.Set(f.MapIndex(key))
			p[1:].clear(value)
			f.SetMapIndex(key, value)
		}
	default:
		p[1:].clear(f)
		if s.fades && f.Elem().IsZero() {
			f.SetZero()
		}
	}
}
