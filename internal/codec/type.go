package codec

import (
	"cmp"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/kubecoord/kubecoord/store/meta"
	"github.com/kubecoord/kubecoord/store/schema"
)

// Kind is the form of a value in a document.
type Kind uint8

// The kinds of values.
const (
	Scalar Kind = iota // a string, number, bool or time
	Struct             // an object with known members
	List
	Map     // an object with arbitrary members of one type
	Opaque  // JSON of any form, with one owner
	Untyped // JSON of any form, where each member may have another owner
)

// A request walks along some fifty Types and Fields, and what it reads of them is out of the caches of the processor then. So what
// every walk reads is in the first 64 bytes, a line of these caches, and what is read with it in the next ones; see TestLayout.

// Type is the compiled plan of a Go type, and its schema. Nothing in it may be
// changed.
type Type struct {
	Kind  Kind
	shape shape
	// Custom marks a type with JSON or text methods of its own: Untyped, or a Scalar if it is text.
	Custom    bool
	stringMap bool // exactly map[string]string, which needs no reflection
	flat      bool // a copy is an assignment
	fallible  bool // whether a value may have no JSON form; only for the object
	jsonOnly  bool // whether a field has no protobuf number; only for the object
	readable  bool // whether a jsonReader can read it; only for the object
	// Fields are the members of a Struct and of its inlined structs, in the order of encoding.
	Fields []*Field
	// Elem is the type of the items of a List, of the values of a Map, and of the undeclared members of a tree.
	Elem *Type
	// Rest holds the undeclared members of a Struct, or is nil. See Undeclared for their type.
	Rest   *Field
	goType reflect.Type

	all      []*Field // Fields, Rest, and fields that are not encoded
	numbered []*Field // the fields with a protobuf number, ascending
	custom   *Custom  // of a type of a Library, or nil
	boxed    *boxed   // of the object of a Library, or nil

	byName  []*Field       // Fields
	sorted  []string       // the names of byName
	zero    unsafe.Pointer // a zero value; only for the object
	ptrWord unsafe.Pointer // of an any that holds a ptrType

	deep    []*Field               // the fields in all that are not flat
	copier  atomic.Pointer[copier] // nil before the first copy, as it takes 60 µs to make
	ptrType reflect.Type           // only for a Struct
	names   *names                 // for label
	tree    *lazyTree              // nil without a schema; only for the object

	// Name is the Go name without its package. It is empty for unnamed types.
	Name string
	// Description is what clients are told about a Struct.
	Description string
	// Schema is where the type of a tree comes from. Such a type has no Go type.
	Schema *schema.Schema
	// AsField has the list type of a tree that is a list, where it is not a member.
	AsField *Field
	// Atomic marks an object that has one owner as a whole.
	Atomic bool
}

// Field is one member of a Struct.
type Field struct {
	// Type is the type of the value, without a pointer.
	Type *Type
	// Pointer reports whether the Go field is a pointer, so that the member can be absent.
	Pointer bool
	// OmitEmpty leaves the member out when it is empty.
	OmitEmpty bool
	omitZero  bool
	onWire    bool
	// keepsEmpty keeps an empty list or map in a copy; see Type.Settle.
	keepsEmpty bool
	index      int // in the Fields of the Struct
	offset     uintptr
	jsonKey    string // the encoded name and a colon
	tag        string // the encoded protobuf number and wire type

	// Name is the member's name in JSON.
	Name string
	// Number is the field number in the protobuf form, or 0 if the field is not in it.
	Number int
	// ListType is "atomic", "set" or "map" for lists. ListMapKeys are the members that
	// identify an item of a "map".
	ListType    string
	ListMapKeys []string

	// PatchStrategy is "merge" for lists that a strategic merge patch merges. PatchMergeKey is
	// the member that identifies an item. It is empty if items are scalars.
	PatchStrategy string
	PatchMergeKey string
	// Description is what clients are told about the member.
	Description string
	// Property is where the member of a tree comes from, and Default the value of one that is left out, or nil.
	Property *schema.Property
	Default  any
	goName   string
	_        [32]byte
}

// GoType returns the Go type.
func (t *Type) GoType() reflect.Type { return t.goType }

// New returns a pointer to a zero struct of the compiled type, or a Box of one.
func (t *Type) New() any { return t.object(reflect.New(t.goType)) }

// object returns a pointer to a struct of the compiled type as its objects are given to users.
func (t *Type) object(v reflect.Value) any {
	if t.boxed != nil {
		return t.box(v)
	}
	return v.Interface()
}

// Optional reports whether the JSON of an object may lack the member.
func (f *Field) Optional() bool { return f.OmitEmpty || f.omitZero }

// Field returns the member with the given JSON name, or nil.
func (t *Type) Field(name string) *Field {
	low, high := 0, len(t.sorted)
	for low < high { // slices.BinarySearch takes twice the time
		if middle := (low + high) / 2; t.sorted[middle] < name {
			low = middle + 1
		} else {
			high = middle
		}
	}
	if low == len(t.sorted) || t.sorted[low] != name {
		return nil
	}
	return t.byName[low]
}

// shape is the memory layout of a value.
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
	shapeTree        // a map[string]any
	shapeCustom      // memory without pointers
	shapeCustomBytes // a slice of bytes
)

// Compile returns the plan for the struct type t. version is the API version of the objects; error
// texts use it as the package of all types in the package of t. The error names the first field
// that cannot be encoded, its type, and the allowed types.
func Compile(t reflect.Type, version string) (*Type, error) { return CompileTree(t, version, nil) }

// CompileTree is Compile for a struct whose undeclared members have a schema.
// s describes the whole object, and the members that the struct declares are left out of it; nil allows any form.
func CompileTree(t reflect.Type, version string, s *schema.Schema) (*Type, error) {
	if t.Kind() != reflect.Struct {
		return nil, fmt.Errorf("got %v, want a struct", t)
	}
	c := &compiler{names: &names{pkg: t.PkgPath(), version: version}, seen: make([]*Type, 0, 24), path: append(make([]string, 0, 16), t.Name())}
	out := c.compile(t, nil)
	if out.Custom {
		c.fail("got %v with JSON or text methods of its own, want a struct without", t)
	}
	out.readable, out.zero = true, reflect.New(t).UnsafePointer()
	for _, part := range c.seen {
		out.jsonOnly = out.jsonOnly || part.Rest != nil || part.lacksNumbers(part == out)
		out.readable = out.readable && part.Rest == nil && len(part.Fields) <= 64 && part.goType != reflect.TypeFor[json.Number]()
		out.fallible = out.fallible || part.Custom || part.shape == shapeFloat64
		if part.Rest != nil && part != out {
			c.fail("%v.%s: only the object itself may keep undeclared members", part.goType, part.Rest.goName)
		}
	}
	if c.err != nil {
		return nil, c.err
	}
	if s == nil {
		return out, nil
	}
	if out.Rest == nil || out.Field("metadata") == nil {
		return nil, fmt.Errorf("Schema: got one for %v, want none: it does not embed meta.ObjectMeta, or has no field for other members", t)
	}
	out.tree = &lazyTree{schema: s}
	return out, checkSchema(s)
}

// lacksNumbers reports whether a member has no protobuf number. At the top level,
// kind and apiVersion need none, as they are in the envelope.
func (t *Type) lacksNumbers(topLevel bool) bool {
	return slices.ContainsFunc(t.Fields, func(f *Field) bool {
		return f.Number == 0 && !(topLevel && (f.Name == "kind" || f.Name == "apiVersion"))
	})
}

// HasProto reports whether objects have a protobuf form: every member has a number.
func (t *Type) HasProto() bool { return !t.jsonOnly }

// MustCompile is like Compile, but panics on an error. It is for types of this module.
func MustCompile(t reflect.Type, version string) *Type {
	out, err := Compile(t, version)
	if err != nil {
		panic("codec: " + err.Error())
	}
	return out
}

// compiler compiles the types of one object. After an error it continues, and keeps the first.
type compiler struct {
	names *names
	path  []string // the parts of the path of the current Go field
	err   error
	seen  []*Type // also types not yet complete, for recursion
	// enclosing are the types around the current one, up to the next named struct.
	enclosing []reflect.Type
	lib       *Library      // whose types are compiled, or nil
	unsaid    schema.Schema // of a type without a schema
}

// fail records an error if it is the first one.
func (c *compiler) fail(format string, args ...any) {
	if c.err == nil {
		c.err = fmt.Errorf(format, args...)
	}
}

// failHere is fail with the path of the current Go field.
func (c *compiler) failHere(format string, args ...any) {
	c.fail(strings.Join(c.path, "")+": "+format, args...)
}

// refuse records that the current field has type t, which cannot be encoded. want
// is an allowed type.
func (c *compiler) refuse(t reflect.Type, want string) {
	c.failHere("got type %v, want %s", t, want)
}

// compile compiles the type of the current field, or of its items. s is what a Library says about it, or nil.
func (c *compiler) compile(t reflect.Type, s *schema.Schema) *Type {
	if slices.Contains(c.enclosing, t) {
		c.refuse(t, "a named struct in each type that holds itself")
		return &Type{}
	}
	if c.lib != nil {
		return c.compileOf(t, s)
	}
	if i := slices.IndexFunc(c.seen, func(known *Type) bool { return known.goType == t }); i >= 0 {
		return c.seen[i]
	}
	out := &Type{Name: t.Name(), goType: t, names: c.names}
	c.seen = append(c.seen, out)
	c.compileInto(out, nil)
	return out
}

// compileInto compiles the parts of a type.
func (c *compiler) compileInto(out *Type, s *schema.Schema) {
	t := out.goType
	defer func(enclosing []reflect.Type) { c.enclosing = enclosing }(c.enclosing)
	switch kind := t.Kind(); {
	case kind == reflect.Struct && t.Name() != "":
		c.enclosing = nil
	case kind == reflect.Struct, kind == reflect.Slice, kind == reflect.Map:
		c.enclosing = append(slices.Clip(c.enclosing), t)
	}
	switch t {
	case reflect.TypeFor[meta.Time]():
		out.shape = shapeTime
	case reflect.TypeFor[meta.MicroTime]():
		out.shape = shapeMicroTime
	case reflect.TypeFor[meta.FieldsV1]():
		out.Kind, out.shape = Opaque, shapeFieldsV1
	default:
		if !c.compileCustom(out) {
			c.compileKind(out, s)
		}
	}
}

// compileKind compiles a type by its Go kind.
func (c *compiler) compileKind(out *Type, s *schema.Schema) {
	t := out.goType
	out.flat = true
	if s == nil {
		s = &c.unsaid
	}
	switch t.Kind() {
	case reflect.Bool:
		out.shape = shapeBool
	case reflect.Int32:
		out.shape = shapeInt32
	case reflect.Int64:
		out.shape = shapeInt64
	case reflect.Int:
		out.shape = shapeInt64
		if strconv.IntSize == 32 {
			out.shape = shapeInt32
		}
	case reflect.Float64:
		out.shape = shapeFloat64
	case reflect.String:
		out.shape = shapeString
	case reflect.Slice:
		out.flat = false
		if t.Elem().Kind() == reflect.Uint8 {
			out.shape = shapeBytes
			if hasMethods(t.Elem()) {
				c.refuse(t, "[]byte")
			}
			break
		}
		out.Kind, out.shape = List, shapeList // before the items, which may refer to the type
		out.Elem = c.compileElem(t.Elem(), s.Items)
	case reflect.Map:
		out.flat = false
		if t.Key().Kind() != reflect.String || hasMethods(t.Key()) {
			c.refuse(t, "a map whose keys are strings without JSON or text methods of their own")
		}
		out.Kind, out.shape = Map, shapeMap
		out.Elem = c.compileElem(t.Elem(), s.Additional)
		out.stringMap = t.ConvertibleTo(reflect.TypeFor[map[string]string]())
	case reflect.Struct:
		out.flat = false
		out.Kind, out.shape = Struct, shapeStruct
		c.compileStruct(out, s)
	default:
		c.refuse(t, supportedType(t.Kind()))
	}
}

// compileElem compiles the type of the items of a list or the values of a map.
func (c *compiler) compileElem(t reflect.Type, s *schema.Schema) *Type {
	depth := len(c.path)
	defer func() { c.path = c.path[:depth] }()
	c.path = append(c.path, "[]")
	return c.compile(t, s)
}

// supportedType returns the type that an error recommends in place of a kind of type.
func supportedType(kind reflect.Kind) string {
	switch kind {
	case reflect.Int8, reflect.Int16, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint, reflect.Uint64, reflect.Uintptr:
		return "int, int32 or int64"
	case reflect.Float32:
		return "float64"
	case reflect.Array:
		return "a slice"
	case reflect.Interface:
		return "json.RawMessage for JSON of any form"
	case reflect.Pointer:
		return "no pointer in a list, a map or another pointer"
	}
	return "a type that JSON can hold"
}

// names are the names of types in the API server's error texts, with API versions as packages.
type names struct {
	pkg     string            // the package of the object's type
	version string            // the name of that package in texts
	others  map[string]string // the names of further packages, from the tags goPackage
}

// label returns the name of the type in error texts.
func (t *Type) label() string { return t.names.of(t.goType) }

func (n *names) of(t reflect.Type) string {
	switch {
	case t.Name() == "":
		switch t.Kind() {
		case reflect.Pointer:
			return "*" + n.of(t.Elem())
		case reflect.Slice:
			return "[]" + n.of(t.Elem())
		case reflect.Map:
			return "map[" + n.of(t.Key()) + "]" + n.of(t.Elem())
		}
		return t.String()
	case t.PkgPath() == "":
		return t.Name()
	case t == reflect.TypeFor[meta.UID]():
		return "types.UID"
	case t.PkgPath() == reflect.TypeFor[meta.UID]().PkgPath():
		return "v1." + t.Name()
	case t.PkgPath() == n.pkg:
		return n.version + "." + t.Name()
	case n.others[t.PkgPath()] != "":
		return n.others[t.PkgPath()] + "." + t.Name()
	}
	return t.String()
}

func (c *compiler) compileStruct(t *Type, s *schema.Schema) {
	t.ptrType = reflect.PointerTo(t.goType)
	zero := reflect.Zero(t.ptrType).Interface()
	t.ptrWord = (*pointer)(unsafe.Pointer(&zero)).typ
	t.all = make([]*Field, 0, t.goType.NumField())
	c.addFields(t, t.goType, 0, s)
	n := len(t.all)
	room := make([]*Field, 3*n)
	t.Fields, t.numbered, t.byName, t.sorted = room[:0:n], room[n:n:2*n], room[2*n:2*n], make([]string, 0, n)
	for _, f := range t.all {
		if f.Pointer || !f.Type.flat {
			t.deep = append(t.deep, f)
		}
		if !f.onWire {
			continue
		}
		i, taken := slices.BinarySearch(t.sorted, f.Name)
		if taken {
			c.fail("%v: two fields have the JSON name %q, want one", t.goType, f.Name)
		}
		t.sorted, t.byName = slices.Insert(t.sorted, i, f.Name), slices.Insert(t.byName, i, f)
		f.index = len(t.Fields)
		t.Fields = append(t.Fields, f)
		if f.Number > 0 {
			i, taken := slices.BinarySearchFunc(t.numbered, f.Number, func(f *Field, n int) int { return f.Number - n })
			if taken {
				c.fail("%v: two fields have the protobuf number %d, want one", t.goType, f.Number)
			}
			t.numbered = slices.Insert(t.numbered, i, f)
		}
	}
	t.flat = len(t.deep) == 0
}

// addFields adds the fields of goType, which is at an offset in t, and the fields of
// its inlined structs.
func (c *compiler) addFields(t *Type, goType reflect.Type, offset uintptr, s *schema.Schema) {
	depth, fields, ours := len(c.path), make([]Field, goType.NumField()), goType.PkgPath() == reflect.TypeFor[meta.UID]().PkgPath()
	defer func() { c.path = c.path[:depth] }()
	for i := range fields {
		sf := goType.Field(i)
		c.path = append(c.path[:depth], ".", sf.Name)
		if sf.Name == "_" {
			t.Atomic = t.Atomic || sf.Tag.Get("structType") == "atomic"
			continue
		}
		tag := sf.Tag.Get("json")
		name, options, _ := strings.Cut(tag, ",")
		embedded := sf.Anonymous && name == ""
		switch {
		case options == "rest":
			c.addRest(t, sf, offset)
			continue
		case embedded && sf.Type.Kind() == reflect.Struct:
			t.Description = cmp.Or(t.Description, sf.Tag.Get("description"))
			c.addFields(t, sf.Type, offset+sf.Offset, s)
			continue
		case embedded:
			c.refuse(sf.Type, "a struct, as it is embedded without a JSON name")
			continue
		}
		f := &fields[i]
		f.goName, f.offset = sf.Name, offset+sf.Offset
		goType := sf.Type
		f.Pointer = goType.Kind() == reflect.Pointer
		if f.Pointer {
			goType = goType.Elem()
		}
		property := propertyNamed(s, cmp.Or(name, sf.Name))
		f.Type = c.compile(goType, property.Schema)
		if f.Pointer && f.Type.nilable() {
			c.refuse(sf.Type, goType.String())
		}
		f.onWire = sf.IsExported() && tag != "-"
		if f.onWire {
			c.readTags(f, sf, name, options)
			if c.lib == nil || ours { // other types of a Library have messages of their own
				c.setNumber(f, sf.Tag.Get("protobuf"))
			}
			c.describe(f, property)
		} else {
			f.OmitEmpty = true // so that nil and empty are the same
		}
		t.all = append(t.all, f)
	}
}

// addRest adds the field that holds the undeclared members.
func (c *compiler) addRest(t *Type, sf reflect.StructField, offset uintptr) {
	if sf.Type != reflect.TypeFor[map[string]any]() || t.Rest != nil {
		c.refuse(sf.Type, `one map[string]any with the JSON option "rest"`)
		return
	}
	t.Rest = &Field{goName: sf.Name, offset: offset + sf.Offset, OmitEmpty: true, Type: &Type{
		Kind: Map, shape: shapeTree, goType: sf.Type, names: c.names,
		Elem: &Type{Kind: Untyped},
	}}
	t.all = append(t.all, t.Rest)
}

// readTags sets the properties of f from the tags of an encoded field. name and
// options are from its json tag.
func (c *compiler) readTags(f *Field, sf reflect.StructField, name, options string) {
	f.Name = cmp.Or(name, sf.Name)
	if strings.ContainsAny(f.Name, "\"'\\` ") {
		c.failHere("got JSON name %q, want one without quotes, backslashes and spaces", f.Name)
	}
	f.jsonKey = string(append(AppendString(make([]byte, 0, 64), f.Name), ':'))
	for option := range strings.SplitSeq(options, ",") {
		switch option {
		case "omitempty":
			f.OmitEmpty = true
		case "omitzero":
			f.omitZero = true
		case "string":
			c.failHere("got JSON option \"string\", want omitempty, omitzero or inline")
		}
	}
	if name := sf.Tag.Get("goPackage"); name != "" {
		t := sf.Type
		for t.Name() == "" && (t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice) {
			t = t.Elem()
		}
		if c.names.others == nil {
			c.names.others = map[string]string{}
		}
		c.names.others[t.PkgPath()] = name
	}
	f.Description = sf.Tag.Get("description")
	f.PatchStrategy, f.PatchMergeKey = sf.Tag.Get("patchStrategy"), sf.Tag.Get("patchMergeKey")
	if f.Type.Kind == List {
		f.ListType = cmp.Or(sf.Tag.Get("listType"), "atomic")
		if keys := sf.Tag.Get("listMapKey"); keys != "" {
			f.ListMapKeys = strings.Split(keys, ",")
		}
	}
}

// setNumber reads a protobuf tag: a bare number, or the form of the Kubernetes
// code generators ("bytes,1,opt,name=…").
func (c *compiler) setNumber(f *Field, tag string) {
	if tag == "" || tag == "-" {
		return
	}
	elem := cmp.Or(f.Type.Elem, f.Type)
	switch {
	case elem != f.Type && elem.Elem != nil:
		c.failHere("got a protobuf tag, want none for a list or map of lists or maps")
		return
	case elem.Custom:
		c.failHere("got a protobuf tag, want none for type %v, which has JSON or text methods of its own", elem.goType)
		return
	}
	for part := range strings.SplitSeq(tag, ",") {
		if n, err := strconv.ParseInt(part, 10, 29); err == nil && n > 0 {
			f.Number = int(n)
			f.tag = string(binary.AppendUvarint(make([]byte, 0, binary.MaxVarintLen64), uint64(n)<<3|uint64(f.Type.wireType())))
			return
		}
	}
	c.failHere("got protobuf tag %q, want a field number in it", tag)
}

// check returns the address of the struct that obj points to. It panics for another type.
func (t *Type) check(obj any) unsafe.Pointer {
	if t.boxed != nil {
		return t.open(obj)
	}
	o := (*pointer)(unsafe.Pointer(&obj))
	if o.typ != t.ptrWord || o.p == nil {
		panic(fmt.Sprintf("codec: got %T, want a non-nil %v", obj, t.ptrType))
	}
	return o.p
}

// pointer has the memory layout of every any that holds a pointer. A look at it takes a tenth of the time of package reflect.
type pointer struct{ typ, p unsafe.Pointer }

// address returns the address of the struct that obj points to, or nil if obj is nil.
func (t *Type) address(obj any) unsafe.Pointer {
	if obj == nil {
		return nil
	}
	return t.check(obj)
}

// value returns the addressable value of type t at p.
func (t *Type) value(p unsafe.Pointer) reflect.Value { return reflect.NewAt(t.goType, p).Elem() }

// at returns the address of the field in the struct at p.
func (f *Field) at(p unsafe.Pointer) unsafe.Pointer { return unsafe.Add(p, f.offset) }

// target returns the address of the field's value in the struct at p: for a pointer field the
// pointer, which may be nil.
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

// nilable reports whether a value of the type, such as a slice or map, can be nil.
func (t *Type) nilable() bool {
	switch t.shape {
	case shapeBytes, shapeList, shapeMap, shapeTree, shapeCustomBytes:
		return true
	}
	return false
}

// integer returns the value of a bool, as 0 or 1, or of an integer.
func (t *Type) integer(p unsafe.Pointer) int64 {
	switch t.shape {
	case shapeBool:
		return int64(*(*uint8)(p))
	case shapeInt32:
		return int64(*(*int32)(p))
	}
	return *(*int64)(p)
}

// setInteger sets a bool or an integer, which drops the bits that it has no room for.
func (t *Type) setInteger(p unsafe.Pointer, n int64) {
	switch t.shape {
	case shapeBool:
		*(*bool)(p) = n != 0
	case shapeInt32:
		*(*int32)(p) = int32(n)
	default:
		*(*int64)(p) = n
	}
}

// time returns a time in the precision of its type. [meta.Time] and [meta.MicroTime] have the
// memory layout of a time.Time.
func (t *Type) time(p unsafe.Pointer) (seconds, nanos int64) {
	at := (*time.Time)(p)
	if t.shape == shapeMicroTime {
		nanos = int64(at.Nanosecond())
		nanos -= nanos % int64(time.Microsecond)
	}
	return at.Unix(), nanos
}

// isTime reports whether the values are times.
func (t *Type) isTime() bool { return t.shape == shapeTime || t.shape == shapeMicroTime }

// isZeroTime reports whether the value at p is a time and zero.
func (t *Type) isZeroTime(p unsafe.Pointer) bool { return t.isTime() && (*time.Time)(p).IsZero() }

// isNil reports whether the value at p is nil: bytes, a list or a map. They begin with a pointer.
func (t *Type) isNil(p unsafe.Pointer) bool { return t.nilable() && *(*unsafe.Pointer)(p) == nil }

// length returns the length of a list, a map, bytes or a string, and 1 for other values.
func (t *Type) length(p unsafe.Pointer) int {
	switch t.shape {
	case shapeString:
		return len(*(*string)(p))
	case shapeBytes, shapeCustomBytes, shapeList:
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
