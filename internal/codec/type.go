package codec

import (
	"cmp"
	"encoding"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unsafe"

	"github.com/kubecoord/kubecoord/store/meta"
)

// Kind is the form a value has in a document.
type Kind int

// The kinds of values.
const (
	Scalar Kind = iota // a string, number, bool or time
	Struct             // an object with known members
	List
	Map     // an object with arbitrary members of one type
	Opaque  // JSON of any form, kept as it is
	Untyped // JSON of any form, looked into as it comes
)

// Type is the compiled plan of a Go type, and its schema. Nothing in it may be
// changed.
type Type struct {
	Kind Kind
	// Name is the Go name without its package, empty for unnamed types.
	Name string
	// Fields are the members of a Struct in the order they are encoded in.
	// Members of inlined structs are among them.
	Fields []*Field
	// Rest holds the members of a Struct that are not among Fields, as a Map of
	// Untyped values; nil where there can be none.
	Rest *Field
	// Elem is the type of the items of a List and of the values of a Map.
	Elem *Type
	// Atomic marks a Struct that has one owner as a whole.
	Atomic bool

	goType    reflect.Type
	ptrType   reflect.Type
	shape     shape
	label     string // how error texts name the type
	stringMap bool   // exactly map[string]string, which needs no reflection
	flat      bool   // a copy is an assignment
	byName    map[string]*Field
	all       []*Field                // Fields, and those that are on no wire
	deep      []*Field                // those of all that are not flat
	numbered  []*Field                // those with a protobuf number, ascending
	labels    map[reflect.Type]string // of all types it is made of; only at the top
	room      *room                   // how it is copied; of structs only
}

// Field is one member of a Struct.
type Field struct {
	// Name is the member's name in JSON.
	Name string
	// Type is the type of the value; a pointer's is that of what it points to.
	Type *Type
	// Pointer tells whether the Go field is a pointer, so that the member can
	// be absent.
	Pointer bool
	// OmitEmpty leaves the member out when it is empty.
	OmitEmpty bool
	// PatchStrategy is "merge" for lists that a strategic merge patch merges,
	// PatchMergeKey the member that tells their items apart, or empty when the
	// items are scalars.
	PatchStrategy string
	PatchMergeKey string
	// ListType is "atomic", "set" or "map" for lists, ListMapKeys the members
	// that identify an item of a "map". Both are empty for all else.
	ListType    string
	ListMapKeys []string
	// Number is the number in the protobuf form, 0 when the field is not there.
	Number int

	goName   string
	offset   uintptr
	omitZero bool
	onWire   bool
	jsonKey  string // the encoded name and a colon
	tag      []byte // the encoded protobuf number and wire type
}

// Field returns the member with the given JSON name, or nil.
func (t *Type) Field(name string) *Field { return t.byName[name] }

// shape is what a value is in memory.
type shape uint8

const (
	shapeBool shape = iota
	shapeInt32
	shapeInt64
	shapeFloat64
	shapeString
	shapeBytes
	shapeTime
	shapeMicroTime
	shapeFieldsV1
	shapeStruct
	shapeList
	shapeMap
	shapeTree // a map[string]any
)

// Compile returns the plan for the struct type t. version is the API version
// that t is the form of; error texts use it as the package of the types that
// are declared beside t. Compile panics when t holds something that has no
// wire form.
func Compile(t reflect.Type, version string) *Type {
	if t.Kind() != reflect.Struct {
		panic(fmt.Sprintf("codec: %v is not a struct", t))
	}
	c := &compiler{pkg: t.PkgPath(), version: version, seen: map[reflect.Type]*Type{}}
	out := c.compile(t)
	out.labels = map[reflect.Type]string{}
	for goType, part := range c.seen {
		out.labels[goType] = part.label
		if part.Rest != nil && part != out {
			panic(fmt.Sprintf("codec: %v.%s: only the object itself may keep what it does not declare", goType, part.Rest.goName))
		}
		if part.shape == shapeStruct {
			part.room = newRoom(part)
		}
	}
	return out
}

type compiler struct {
	pkg     string
	version string
	seen    map[reflect.Type]*Type // also types not yet complete, for recursion
	place   func() string          // of what is compiled, for who has declared it wrongly; nil for the whole
}

// noForm panics for a type that has no wire form.
func (c *compiler) noForm(t reflect.Type) {
	place := ""
	if c.place != nil {
		place = c.place() + ": "
	}
	panic(fmt.Sprintf("codec: %s%v has no wire form", place, t))
}

func (c *compiler) compile(t reflect.Type) *Type {
	if known, ok := c.seen[t]; ok {
		return known
	}
	out := &Type{Name: t.Name(), goType: t, ptrType: reflect.PointerTo(t), label: c.label(t)}
	c.seen[t] = out
	switch t {
	case reflect.TypeFor[meta.Time]():
		out.shape = shapeTime
		return out
	case reflect.TypeFor[meta.MicroTime]():
		out.shape = shapeMicroTime
		return out
	case reflect.TypeFor[meta.FieldsV1]():
		out.Kind, out.shape = Opaque, shapeFieldsV1
		return out
	}
	refuseMethods(t)
	switch t.Kind() {
	case reflect.Bool:
		out.shape, out.flat = shapeBool, true
	case reflect.Int32:
		out.shape, out.flat = shapeInt32, true
	case reflect.Int64:
		out.shape, out.flat = shapeInt64, true
	case reflect.Float64:
		out.shape, out.flat = shapeFloat64, true
	case reflect.String:
		out.shape, out.flat = shapeString, true
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			out.shape = shapeBytes
			break
		}
		out.Kind, out.shape = List, shapeList
		out.Elem = c.compile(t.Elem())
	case reflect.Map:
		if t.Key().Kind() != reflect.String {
			panic(fmt.Sprintf("codec: the keys of %v are not strings", t))
		}
		refuseMethods(t.Key())
		out.Kind, out.shape = Map, shapeMap
		out.Elem = c.compile(t.Elem())
		out.stringMap = t.ConvertibleTo(reflect.TypeFor[map[string]string]())
	case reflect.Struct:
		out.Kind, out.shape = Struct, shapeStruct
		c.compileStruct(out)
	default:
		c.noForm(t)
	}
	return out
}

// refuseMethods panics for types that encode themselves.
func refuseMethods(t reflect.Type) {
	for _, custom := range []reflect.Type{
		reflect.TypeFor[json.Marshaler](), reflect.TypeFor[json.Unmarshaler](),
		reflect.TypeFor[encoding.TextMarshaler](), reflect.TypeFor[encoding.TextUnmarshaler](),
	} {
		if reflect.PointerTo(t).Implements(custom) {
			panic(fmt.Sprintf("codec: %v encodes itself; only meta.Time, meta.MicroTime and meta.FieldsV1 may", t))
		}
	}
}

// label returns the name of a type as the API server would print it, whose
// types live in packages named for their API versions.
func (c *compiler) label(t reflect.Type) string {
	switch {
	case t.Name() == "":
		switch t.Kind() {
		case reflect.Pointer:
			return "*" + c.label(t.Elem())
		case reflect.Slice:
			return "[]" + c.label(t.Elem())
		case reflect.Map:
			return "map[" + c.label(t.Key()) + "]" + c.label(t.Elem())
		}
		return t.String()
	case t.PkgPath() == "":
		return t.Name()
	case t == reflect.TypeFor[meta.UID]():
		return "types.UID"
	case t.PkgPath() == c.pkg && t.PkgPath() != reflect.TypeFor[meta.UID]().PkgPath():
		return c.version + "." + t.Name()
	}
	return "v1." + t.Name()
}

func (c *compiler) compileStruct(t *Type) {
	t.byName = map[string]*Field{}
	c.addFields(t, t.goType, 0)
	t.flat = true
	for _, f := range t.all {
		if f.Pointer || !f.Type.flat {
			t.deep = append(t.deep, f)
			t.flat = false
		}
		if !f.onWire {
			continue
		}
		if t.byName[f.Name] != nil {
			panic(fmt.Sprintf("codec: %v has two fields %q", t.goType, f.Name))
		}
		t.byName[f.Name] = f
		t.Fields = append(t.Fields, f)
		if f.Number > 0 {
			t.numbered = append(t.numbered, f)
		}
	}
	slices.SortFunc(t.numbered, func(a, b *Field) int { return cmp.Compare(a.Number, b.Number) })
	for i := 1; i < len(t.numbered); i++ {
		if t.numbered[i].Number == t.numbered[i-1].Number {
			panic(fmt.Sprintf("codec: %v has two fields of protobuf number %d", t.goType, t.numbered[i].Number))
		}
	}
}

// addFields adds the fields of goType, which starts offset bytes into t, and
// those of the structs it inlines.
func (c *compiler) addFields(t *Type, goType reflect.Type, offset uintptr) {
	for i := range goType.NumField() {
		sf := goType.Field(i)
		if sf.Name == "_" {
			t.Atomic = t.Atomic || sf.Tag.Get("structType") == "atomic"
			continue
		}
		tag := sf.Tag.Get("json")
		name, options, _ := strings.Cut(tag, ",")
		if options == "rest" {
			c.addRest(t, sf, offset)
			continue
		}
		if sf.Anonymous && name == "" {
			if sf.Type.Kind() != reflect.Struct {
				panic(fmt.Sprintf("codec: %v embeds %v, which is not a struct", goType, sf.Type))
			}
			c.addFields(t, sf.Type, offset+sf.Offset)
			continue
		}
		around := c.place
		c.place = func() string { return fmt.Sprintf("%v.%s", goType, sf.Name) }
		f := c.newField(sf)
		c.place = around
		f.offset += offset
		if f.onWire = sf.IsExported() && tag != "-"; f.onWire {
			f.readTags(goType, sf, name, options)
		} else {
			f.OmitEmpty = true // so that nil and empty are the same
		}
		t.all = append(t.all, f)
	}
}

// addRest adds the field that holds all other members of the document.
func (c *compiler) addRest(t *Type, sf reflect.StructField, offset uintptr) {
	if sf.Type != reflect.TypeFor[map[string]any]() || t.Rest != nil {
		panic(fmt.Sprintf("codec: %v.%s: the rest of the members must be one map[string]any", t.goType, sf.Name))
	}
	t.Rest = &Field{goName: sf.Name, offset: offset + sf.Offset, OmitEmpty: true, Type: &Type{
		Kind: Map, shape: shapeTree, goType: sf.Type, ptrType: reflect.PointerTo(sf.Type), label: "map[string]interface {}",
		Elem: &Type{Kind: Untyped, label: "interface {}"},
	}}
	t.all = append(t.all, t.Rest)
}

func (c *compiler) newField(sf reflect.StructField) *Field {
	f := &Field{goName: sf.Name, offset: sf.Offset}
	goType := sf.Type
	if f.Pointer = goType.Kind() == reflect.Pointer; f.Pointer {
		goType = goType.Elem()
	}
	f.Type = c.compile(goType)
	if f.Pointer && f.Type.refers() {
		c.noForm(sf.Type)
	}
	return f
}

// readTags fills in what the tags of a field that is on the wire say; name and
// options are from its json tag.
func (f *Field) readTags(in reflect.Type, sf reflect.StructField, name, options string) {
	f.Name = cmp.Or(name, sf.Name)
	f.jsonKey = string(appendJSONString(nil, f.Name)) + ":"
	for option := range strings.SplitSeq(options, ",") {
		switch option {
		case "omitempty":
			f.OmitEmpty = true
		case "omitzero":
			f.omitZero = true
		case "string":
			panic(fmt.Sprintf("codec: %v.%s: json option \"string\" is not supported", in, sf.Name))
		}
	}
	f.PatchStrategy = sf.Tag.Get("patchStrategy")
	f.PatchMergeKey = sf.Tag.Get("patchMergeKey")
	if f.Type.Kind == List {
		f.ListType = cmp.Or(sf.Tag.Get("listType"), "atomic")
		if keys := sf.Tag.Get("listMapKey"); keys != "" {
			f.ListMapKeys = strings.Split(keys, ",")
		}
	}
	f.setNumber(in, sf.Tag.Get("protobuf"))
}

// setNumber reads a protobuf tag: the bare number, or what the Kubernetes code
// generators write ("bytes,1,opt,name=…").
func (f *Field) setNumber(in reflect.Type, tag string) {
	if tag == "" || tag == "-" {
		return
	}
	for part := range strings.SplitSeq(tag, ",") {
		if n, err := strconv.ParseInt(part, 10, 29); err == nil && n > 0 {
			if e := f.Type.Elem; e != nil && e.Elem != nil {
				panic(fmt.Sprintf("codec: %v.%s: protobuf has no lists or maps of lists or maps", in, f.goName))
			}
			f.Number = int(n)
			f.tag = binary.AppendUvarint(nil, uint64(n)<<3|uint64(f.Type.wireType()))
			return
		}
	}
	panic(fmt.Sprintf("codec: %v.%s: no field number in protobuf tag %q", in, f.goName, tag))
}

// check returns the address of the struct that obj points to, and panics if it
// is not of the compiled type.
func (t *Type) check(obj any) unsafe.Pointer {
	v := reflect.ValueOf(obj)
	if !v.IsValid() || v.Type() != t.ptrType || v.IsNil() {
		panic(fmt.Sprintf("codec: got %T, want a non-nil %v", obj, t.ptrType))
	}
	return v.UnsafePointer()
}

// value returns the addressable value of type t at p.
func (t *Type) value(p unsafe.Pointer) reflect.Value { return reflect.NewAt(t.goType, p).Elem() }

// at returns the address of the field in the struct at p.
func (f *Field) at(p unsafe.Pointer) unsafe.Pointer { return unsafe.Add(p, f.offset) }

// target returns the address of the field's value in the struct at p: what the
// pointer points to for a pointer, which is nil when there is none.
func (f *Field) target(p unsafe.Pointer) unsafe.Pointer {
	p = unsafe.Add(p, f.offset)
	if f.Pointer {
		return *(*unsafe.Pointer)(p)
	}
	return p
}

// slice has the memory layout of every slice.
type slice struct {
	data     unsafe.Pointer
	len, cap int
}

// item returns the address of item i of a list.
func (t *Type) item(s *slice, i int) unsafe.Pointer {
	return unsafe.Add(s.data, uintptr(i)*t.Elem.goType.Size())
}

// refers reports whether a value of the type is a reference that can be nil.
func (t *Type) refers() bool {
	return t.shape == shapeBytes || t.shape == shapeList || t.shape == shapeMap || t.shape == shapeTree
}

// length returns the number of items of a value that has them: of a list, a
// map, bytes or a string.
func (t *Type) length(p unsafe.Pointer) int {
	switch t.shape {
	case shapeString:
		return len(*(*string)(p))
	case shapeBytes, shapeList:
		return (*slice)(p).len
	case shapeTree:
		return len(*(*map[string]any)(p))
	case shapeMap:
		if t.stringMap {
			return len(*(*map[string]string)(p))
		}
		return t.value(p).Len()
	}
	return 1
}
