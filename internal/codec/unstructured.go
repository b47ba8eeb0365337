package codec

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"unsafe"

	kjson "sigs.k8s.io/json"

	"github.com/kubecoord/kubecoord/store/meta"
)

// ToUnstructured returns the tree that the JSON of obj decodes to: of map[string]any,
// []any, string, int64, float64, bool and nil. A value without JSON becomes nil. obj
// is a non-nil pointer to the compiled struct.
func (t *Type) ToUnstructured(obj any) map[string]any {
	return t.structToTree(t.check(obj), true)
}

// toTree returns the tree of the value at p.
func (t *Type) toTree(p unsafe.Pointer) any {
	switch t.shape {
	case shapeBool:
		return *(*bool)(p)
	case shapeInt32, shapeInt64:
		return t.integer(p)
	case shapeFloat64:
		return *(*float64)(p)
	case shapeString:
		return *(*string)(p)
	case shapeBytes:
		if b := *(*[]byte)(p); b != nil {
			return base64.StdEncoding.EncodeToString(b)
		}
		return nil
	case shapeTime, shapeMicroTime:
		if t.isZeroTime(p) {
			return nil
		}
		quoted, _ := t.appendJSON(nil, p) // cannot fail for a time
		return string(quoted[1 : len(quoted)-1])
	case shapeFieldsV1:
		var tree any
		if kjson.UnmarshalCaseSensitivePreserveInts((*meta.FieldsV1)(p).Raw, &tree) != nil {
			return nil
		}
		return tree
	case shapeCustom, shapeCustomBytes:
		return t.customTree(p)
	case shapeList:
		return t.listToTree((*slice)(p))
	case shapeMap:
		return t.mapToTree(p)
	}
	return t.structToTree(p, true)
}

// structToTree returns the tree of the struct at p. It has copies of undeclared members if
// copies is set.
func (t *Type) structToTree(p unsafe.Pointer, copies bool) map[string]any {
	tree := make(map[string]any, len(t.Fields))
	for _, f := range t.Fields {
		if f.omitted(p) {
			continue
		}
		if q := f.target(p); q == nil {
			tree[f.Name] = nil
		} else {
			tree[f.Name] = f.Type.toTree(q)
		}
	}
	if t.Rest == nil {
		return tree
	}
	for name, v := range *t.rest(p) {
		switch {
		case t.Field(name) != nil:
		case copies:
			tree[name] = copyTree(v)
		default:
			tree[name] = v
		}
	}
	return tree
}

func (t *Type) listToTree(s *slice) any {
	if s.data == nil {
		return nil
	}
	tree := make([]any, s.len)
	for i := range tree {
		tree[i] = t.Elem.toTree(t.item(s, i))
	}
	return tree
}

func (t *Type) mapToTree(p unsafe.Pointer) any {
	if *(*unsafe.Pointer)(p) == nil {
		return nil
	}
	tree := make(map[string]any, t.length(p))
	if t.stringMap {
		for key, value := range *(*map[string]string)(p) {
			tree[key] = value
		}
		return tree
	}
	for key, value := range t.value(p).Seq2() {
		tree[key.String()] = t.Elem.toTree(t.copyMapValue(value))
	}
	return tree
}

// FromUnstructured reads a tree of the types that ToUnstructured returns into obj, a pointer to the
// compiled struct. Members that doc lacks become zero. If strict is set, strictErrs reports unknown
// members, sorted by text. Rules and error texts come from the API server's converter
// (apimachinery, runtime/converter.go), which differ from its JSON decoder's.
func (t *Type) FromUnstructured(doc map[string]any, obj any, strict bool) (strictErrs []error, err error) {
	r := &treeReader{strict: strict}
	if err := r.readStruct(t, t.check(obj), doc); err != nil {
		return nil, err
	}
	slices.Sort(r.unknown)
	for _, path := range r.unknown {
		strictErrs = append(strictErrs, errors.New(`unknown field "`+path[1:]+`"`))
	}
	return strictErrs, nil
}

// treeReader converts one document to a struct.
type treeReader struct {
	strict  bool
	unknown []string // the paths of unknown members below the current value, such as .spec.list[0].name
}

// within puts a part of the path before the paths of the unknown members after the first n.
func (r *treeReader) within(part string, n int) {
	for i := range r.unknown[n:] {
		r.unknown[n+i] = part + r.unknown[n+i]
	}
}

// read sets the value of type t at p, which is zero, to tree. It stays zero for nil.
func (r *treeReader) read(t *Type, p unsafe.Pointer, tree any) error {
	if part, ok := tree.(Value); ok {
		t.assign(p, part.at)
		return nil
	}
	if tree == nil {
		return nil
	}
	switch t.shape {
	case shapeTime, shapeMicroTime, shapeFieldsV1, shapeCustom, shapeCustomBytes:
		return t.setFromJSON(p, tree)
	case shapeBytes:
		return readBytes((*[]byte)(p), tree)
	case shapeStruct:
		return r.readStruct(t, p, tree)
	case shapeList:
		return r.readList(t, p, tree)
	case shapeMap:
		return r.readMap(t, p, tree)
	}
	return t.setScalar(p, tree)
}

// setFromJSON sets a value whose type has methods that read JSON or text.
func (t *Type) setFromJSON(p unsafe.Pointer, tree any) error {
	to := t.value(p).Addr().Interface()
	text, err := json.Marshal(tree)
	switch {
	case err == nil && t.Custom:
		return json.Unmarshal(text, to)
	case err == nil:
		return to.(json.Unmarshaler).UnmarshalJSON(text)
	case t.Custom:
		return err
	}
	return fmt.Errorf("error encoding %s to json: %w", t.label(), err)
}

// setScalar sets a string, a bool or a number from a tree of the same form. An integer takes a float
// without a fraction, and wraps around if the number does not fit.
func (t *Type) setScalar(p unsafe.Pointer, tree any) error {
	n, ok := tree.(int64)
	f, isFloat := tree.(float64)
	switch t.shape {
	case shapeString:
		*(*string)(p), ok = tree.(string)
	case shapeBool:
		*(*bool)(p), ok = tree.(bool)
	case shapeFloat64:
		if ok {
			f = float64(n)
		}
		*(*float64)(p), ok = f, ok || isFloat
	default:
		if isFloat && f == math.Trunc(f) {
			n, ok = int64(f), true
		}
		t.setInteger(p, n)
	}
	if ok {
		return nil
	}
	// The API server has another text for types that Go could convert, such as an
	// integer to a string.
	if from := reflect.TypeOf(tree); from.ConvertibleTo(t.goType) {
		return fmt.Errorf("cannot convert %s to %s", from, t.label())
	}
	return fmt.Errorf("unrecognized type: %v", t.goType.Kind())
}

func readBytes(b *[]byte, tree any) error {
	text, ok := tree.(string)
	if !ok {
		return fmt.Errorf("cannot restore slice from %v", reflect.TypeOf(tree).Kind())
	}
	decoded, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return fmt.Errorf("error decoding from json: %w", err)
	}
	*b = decoded
	return nil
}

func (r *treeReader) readStruct(t *Type, p unsafe.Pointer, tree any) error {
	doc, ok := tree.(map[string]any)
	if !ok {
		return fmt.Errorf("cannot restore struct from: %v", reflect.TypeOf(tree).Kind())
	}
	for _, f := range t.Fields {
		if err := r.readField(f, p, doc[f.Name]); err != nil {
			return err
		}
	}
	if t.Rest != nil {
		t.setRest(p, doc)
	} else if r.strict {
		for name := range doc {
			if t.Field(name) == nil {
				r.unknown = append(r.unknown, "."+name)
			}
		}
	}
	return nil
}

func (r *treeReader) readField(f *Field, p unsafe.Pointer, tree any) error {
	p = f.at(p)
	f.setZero(p)
	if tree == nil {
		return nil
	}
	if f.Pointer {
		p = f.Type.allocate((*unsafe.Pointer)(p))
	}
	n := len(r.unknown)
	err := r.read(f.Type, p, tree)
	if len(r.unknown) > n {
		r.within("."+f.Name, n)
	}
	return err
}

// allocate returns the address of a new zero value of type t and makes the
// pointer at p point to it.
func (t *Type) allocate(p *unsafe.Pointer) unsafe.Pointer {
	*p = reflect.New(t.goType).UnsafePointer()
	return *p
}

func (r *treeReader) readList(t *Type, p unsafe.Pointer, tree any) error {
	items, ok := tree.([]any)
	if !ok {
		return fmt.Errorf("cannot restore slice from %v", reflect.TypeOf(tree).Kind())
	}
	if items == nil {
		return nil
	}
	list := reflect.MakeSlice(t.goType, len(items), len(items))
	t.value(p).Set(list)
	for i, item := range items {
		n := len(r.unknown)
		if err := r.read(t.Elem, list.Index(i).Addr().UnsafePointer(), item); err != nil {
			return err
		}
		if len(r.unknown) > n {
			r.within("["+strconv.Itoa(i)+"]", n)
		}
	}
	return nil
}

func (r *treeReader) readMap(t *Type, p unsafe.Pointer, tree any) error {
	doc, ok := tree.(map[string]any)
	if !ok {
		return fmt.Errorf("cannot restore map from %v", reflect.TypeOf(tree).Kind())
	}
	if doc == nil {
		return nil
	}
	t.makeMap(p)
	for key, item := range doc {
		value := reflect.New(t.goType.Elem())
		if err := r.read(t.Elem, value.UnsafePointer(), item); err != nil {
			return err
		}
		t.put(p, key, value.Elem())
	}
	return nil
}
