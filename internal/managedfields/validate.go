package managedfields

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/kubecoord/kubecoord/internal/codec"
)

// fault is one place where a document does not fit the schema.
type fault struct{ path, text string }

// faults are an error. Its texts are upstream's.
type faults []fault

func (fs faults) Error() string {
	var texts []string
	for _, f := range fs {
		texts = append(texts, f.path+": "+f.text)
	}
	if len(texts) == 1 {
		return texts[0]
	}
	return "errors:\n  " + strings.Join(texts, "\n  ")
}

func faultf(format string, args ...any) faults {
	return faults{{text: fmt.Sprintf(format, args...)}}
}

// prefixed adds a step before all paths.
func (fs faults) prefixed(st string) faults {
	for i := range fs {
		fs[i].path = st + fs[i].path
	}
	return fs
}

// err returns fs as an error, or nil if it is empty.
func (fs faults) err() error {
	if len(fs) == 0 {
		return nil
	}
	return fs
}

// validate checks a document against the schema. Upstream walks objects in random order and stops at the first unknown member. Here
// an object has the faults of all its known members, sorted by name, and then the fault of the unknown member with the lowest name.
func (s schema) validate(v codec.Value) faults {
	switch {
	case s.typ == nil || s.untyped() || v.IsTree() && v.Tree() == nil:
		return nil
	case s.isList():
		return s.validateList(v)
	case s.isObject():
		return s.validateObject(v)
	}
	return s.validateScalar(v)
}

func (s schema) validateScalar(value codec.Value) faults {
	if !value.IsTree() {
		return nil
	}
	v := value.Tree()
	_, isNumber := number(v)
	_, isString := v.(string)
	_, isBool := v.(bool)
	switch kind := s.typ.ScalarKind(); {
	case kind == codec.Numeric && !isNumber:
		return faultf("expected numeric (int or float), got %T", v)
	case kind == codec.String && !isString:
		return faultf("expected string, got &value.valueUnstructured{Value:%#v}", v)
	case kind == codec.Boolean && !isBool:
		return faultf("expected boolean, got &{%v}", v)
	case !isNumber && !isString && !isBool:
		return faultf("expected any scalar, got &{%v}", v)
	}
	return nil
}

func (s schema) validateList(v codec.Value) (fs faults) {
	if !v.IsTree() {
		return nil
	}
	list, ok := v.Tree().([]any)
	if !ok {
		return faultf("expected list, got &{%v}", v.Tree())
	}
	seen := map[string]bool{}
	for i, item := range list {
		at := "[" + strconv.Itoa(i) + "]"
		if !s.atomic() {
			st, err := s.step(codec.TreeValue(item))
			if err != nil {
				return append(fs, faultf("element %d: %v", i, err)...)
			}
			at = st.String()
			if text := st.text(); seen[text] {
				fs = append(fs, faultf("duplicate entries for key %v", at)...)
			} else {
				seen[text] = true
			}
		}
		fs = append(fs, s.item().validate(codec.TreeValue(item)).prefixed(at)...)
	}
	return fs
}

func (s schema) validateObject(v codec.Value) (fs faults) {
	if _, ok := v.Tree().(map[string]any); v.IsTree() && !ok {
		return faultf("expected map, got &{%v}", v.Tree())
	}
	closed := (v.IsTree() || s.typ.Rest != nil) && s.typ.IsClosed()
	var unknown faults
	var m codec.Members
	for m.Walk(v, codec.Value{}); m.Next(); {
		if _, declared := s.member(m.Name); closed && !declared {
			if unknown == nil {
				unknown = faultf("field not declared in schema").prefixed("." + m.Name)
			}
			continue
		}
		fs = append(fs, s.below(m.Name, m.Field).validate(m.X).prefixed("."+m.Name)...)
	}
	return append(fs, unknown...)
}

// fits reports whether validate finds no fault in a member of a custom resource but keys of lists that stand twice, which only an apply
// refuses. Every write of a custom resource asks twice: for one of 30 keyed items, validate would be an eighth of its allocations.
func (s schema) fits(v any) bool {
	switch {
	case s.typ == nil || s.untyped() || v == nil:
		return true
	case s.isList():
		list, ok := v.([]any)
		return ok && !slices.ContainsFunc(list, func(item any) bool {
			if !s.atomic() {
				if _, err := s.step(codec.TreeValue(item)); err != nil {
					return true
				}
			}
			return !s.item().fits(item)
		})
	case s.isObject():
		object, ok := v.(map[string]any)
		for name, x := range object {
			if below, declared := s.member(name); !declared && s.typ.IsClosed() || !below.fits(x) {
				return false
			}
		}
		return ok
	}
	return s.validateScalar(codec.TreeValue(v)) == nil
}
