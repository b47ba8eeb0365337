package codec

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unsafe"

	kjson "sigs.k8s.io/json"
)

// This file handles undeclared members: trees of map[string]any, []any, string, int64, float64,
// bool and nil. The JSON of a struct that may have some is sorted by name at each level, as in the
// API server's answers for custom resources.

// copyObject returns a deep copy of a tree, or nil for nil.
func copyObject(m map[string]any) map[string]any {
	if m == nil {
		return nil
	}
	out := make(map[string]any, len(m))
	for name, v := range m {
		out[name] = copyTree(v)
	}
	return out
}

// copyTree returns a deep copy of a tree, in which a value of another Go type becomes the tree of its JSON. It panics for a value
// without JSON.
func copyTree(v any) any {
	switch v := v.(type) {
	case nil, string, bool, int64:
		return v
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			panic(fmt.Sprintf("codec: %v cannot be part of an object: JSON has no such number", v))
		}
		return v
	case map[string]any:
		return copyObject(v)
	case []any:
		if v == nil {
			return v
		}
		out := make([]any, len(v))
		for i := range v {
			out[i] = copyTree(v[i])
		}
		return out
	}
	var out any
	text, err := json.Marshal(v)
	if err == nil {
		err = kjson.UnmarshalCaseSensitivePreserveInts(text, &out)
	}
	if err != nil {
		panic(fmt.Sprintf("codec: %T cannot be part of an object: %v", v, err))
	}
	return copyTree(out)
}

// Normalize gives each number of an undeclared member the type that its JSON decodes to: a body may write 1 as 1.0, which is
// another number until it was stored, as for a real server. obj is a non-nil pointer to the compiled struct.
func (t *Type) Normalize(obj any) {
	if t.Rest != nil {
		NormalTree(*t.rest(t.check(obj)))
	}
}

// NormalTree is Normalize for a tree, which it changes.
func NormalTree(v any) any {
	switch v := v.(type) {
	case float64:
		if v == math.Trunc(v) && v >= math.MinInt64 && v < -math.MinInt64 {
			return int64(v)
		}
	case map[string]any:
		for name, member := range v {
			if normal := NormalTree(member); isFloat(member) {
				v[name] = normal
			}
		}
	case []any:
		for i, item := range v {
			if normal := NormalTree(item); isFloat(item) {
				v[i] = normal
			}
		}
	}
	return v
}

func isFloat(v any) bool { _, ok := v.(float64); return ok }

// equalTrees reports whether two objects have the same meaning on the wire. A nil object equals an empty one. As for a real
// server, the integer 1 and the float 1.0 differ; Normalize makes them equal.
func equalTrees(a, b map[string]any) bool { return maps.EqualFunc(a, b, equalTree) }

func equalTree(a, b any) bool {
	switch a := a.(type) {
	case map[string]any:
		b, ok := b.(map[string]any)
		return ok && (a == nil) == (b == nil) && equalTrees(a, b)
	case []any:
		b, ok := b.([]any)
		return ok && (a == nil) == (b == nil) && slices.EqualFunc(a, b, equalTree)
	case nil, string, bool:
		return a == b
	case int64, float64:
		return a == copyTree(b)
	}
	return equalTree(copyTree(a), b)
}

// appendTree appends a tree as JSON with sorted members.
func appendTree(dst []byte, v any) (_ []byte, err error) {
	switch v := v.(type) {
	case nil:
		return append(dst, "null"...), nil
	case string:
		return AppendString(dst, v), nil
	case bool:
		return strconv.AppendBool(dst, v), nil
	case int64:
		return strconv.AppendInt(dst, v, 10), nil
	case float64:
		return appendJSONFloat(dst, v)
	case []any:
		if v == nil {
			return append(dst, "null"...), nil
		}
		dst = append(dst, '[')
		for _, item := range v {
			if dst, err = appendTree(appendComma(dst), item); err != nil {
				return nil, err
			}
		}
		return append(dst, ']'), nil
	case map[string]any:
		if v == nil {
			return append(dst, "null"...), nil
		}
		dst = append(dst, '{')
		for _, name := range slices.Sorted(maps.Keys(v)) {
			dst = append(AppendString(appendComma(dst), name), ':')
			if dst, err = appendTree(dst, v[name]); err != nil {
				return nil, err
			}
		}
		return append(dst, '}'), nil
	}
	return appendTree(dst, copyTree(v))
}

// rest returns the undeclared members of the struct at p.
func (t *Type) rest(p unsafe.Pointer) *map[string]any { return (*map[string]any)(t.Rest.at(p)) }

// setRest sets the undeclared members of the struct at p to copies of the undeclared members of a document.
func (t *Type) setRest(p unsafe.Pointer, doc map[string]any) {
	rest := make(map[string]any, len(doc))
	for name, v := range doc {
		if t.Field(name) == nil {
			rest[name] = copyTree(v)
		}
	}
	*t.rest(p) = rest
}

// copyRestMember sets an undeclared member of the struct at p to a copy of the member of the
// struct at from, or removes it if from is nil or lacks it.
func (t *Type) copyRestMember(p, from unsafe.Pointer, name string) {
	rest := t.rest(p)
	delete(*rest, name)
	if from == nil {
		return
	}
	if v, found := (*t.rest(from))[name]; found {
		if *rest == nil {
			*rest = map[string]any{}
		}
		(*rest)[name] = copyTree(v)
	}
}

// decodeWithRest is DecodeJSON for a struct with undeclared members. It decodes declared members
// from the tree of the document, so that duplicates in them are reported once.
func (t *Type) decodeWithRest(data []byte, p unsafe.Pointer, strict bool) (strictErrs []error, err error) {
	var doc map[string]any
	if strictErrs, err = unmarshal(data, &doc, strict); err != nil {
		return nil, err
	}
	for _, f := range t.Fields {
		problems, err := f.decodeMember(p, doc[f.Name], strict)
		if err != nil {
			return nil, err
		}
		strictErrs = append(strictErrs, problems...)
	}
	t.setRest(p, doc)
	removed, err := t.prune(p, strict)
	return append(strictErrs, removed...), err
}

// decodeMember decodes a tree into the field of the struct at p.
func (f *Field) decodeMember(p unsafe.Pointer, tree any, strict bool) (problems []error, err error) {
	goType := f.Type.goType
	if f.Pointer {
		goType = reflect.PointerTo(goType)
	}
	into := reflect.NewAt(goType, f.at(p))
	into.Elem().SetZero()
	if tree == nil {
		return nil, nil
	}
	text, err := json.Marshal(tree)
	if err != nil {
		return nil, err
	}
	problems, err = unmarshal(text, into.Interface(), strict)
	for i, problem := range problems {
		if rest, ok := strings.CutPrefix(problem.Error(), `unknown field "`); ok {
			problems[i] = fmt.Errorf(`unknown field "%s.%s`, f.Name, rest)
		}
	}
	return problems, err
}
