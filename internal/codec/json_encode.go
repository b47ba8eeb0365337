package codec

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
	"unsafe"

	"github.com/kubecoord/kubecoord/store/meta"
)

// AppendJSON appends the JSON form of obj, a non-nil pointer to the compiled struct, with the
// bytes of encoding/json. It returns an error for a value without JSON: a float that is infinite
// or not a number, a FieldsV1 that is not JSON, or a custom type whose method fails.
func (t *Type) AppendJSON(dst []byte, obj any) ([]byte, error) {
	p := t.check(obj)
	if cap(dst) == 0 {
		dst = make([]byte, 0, 1024)
	}
	return t.appendJSON(dst, p)
}

func (t *Type) appendJSON(dst []byte, p unsafe.Pointer) ([]byte, error) {
	switch t.shape {
	case shapeBool:
		return strconv.AppendBool(dst, *(*bool)(p)), nil
	case shapeInt32, shapeInt64:
		return strconv.AppendInt(dst, t.integer(p), 10), nil
	case shapeFloat64:
		return appendJSONFloat(dst, *(*float64)(p))
	case shapeString:
		return AppendString(dst, *(*string)(p)), nil
	case shapeBytes:
		return appendJSONBytes(dst, *(*[]byte)(p)), nil
	case shapeTime, shapeMicroTime:
		return t.appendJSONTime(dst, p), nil
	case shapeFieldsV1:
		return appendRawJSON(dst, (*meta.FieldsV1)(p).Raw)
	case shapeCustom, shapeCustomBytes:
		return t.appendCustom(dst, p)
	case shapeList:
		return t.appendJSONList(dst, (*slice)(p))
	case shapeMap:
		return t.appendJSONMap(dst, p)
	}
	return t.appendJSONStruct(dst, p)
}

func (t *Type) appendJSONStruct(dst []byte, p unsafe.Pointer) (_ []byte, err error) {
	if t.Rest != nil {
		return appendTree(dst, t.structToTree(p, false))
	}
	dst = append(dst, '{')
	for _, f := range t.Fields {
		if f.omitted(p) {
			continue
		}
		dst = append(appendComma(dst), f.jsonKey...)
		if q := f.target(p); q == nil {
			dst = append(dst, "null"...)
		} else if dst, err = f.Type.appendJSON(dst, q); err != nil {
			return nil, err
		}
	}
	return append(dst, '}'), nil
}

// appendComma appends a comma, except at the start of an object or list.
func appendComma(dst []byte) []byte {
	if c := dst[len(dst)-1]; c == '{' || c == '[' {
		return dst
	}
	return append(dst, ',')
}

// omitted reports whether the JSON of the struct at p lacks the field.
func (f *Field) omitted(p unsafe.Pointer) bool {
	if !f.Optional() {
		return false
	}
	q := f.target(p)
	if q == nil || f.OmitEmpty && !f.Pointer && f.Type.isEmpty(q) {
		return true
	}
	if !f.omitZero {
		return false
	}
	zero, byMethod := f.Type.isZero(q)
	return zero && (byMethod || !f.Pointer)
}

// isEmpty reports whether omitempty leaves out the value at p.
func (t *Type) isEmpty(p unsafe.Pointer) bool {
	switch t.shape {
	case shapeBool, shapeInt32, shapeInt64:
		return t.integer(p) == 0
	case shapeFloat64:
		return *(*float64)(p) == 0
	case shapeCustom:
		kind := t.goType.Kind()
		return kind != reflect.Struct && kind != reflect.Array && t.value(p).IsZero()
	}
	return t.length(p) == 0
}

// isZero reports whether the value at p is zero, and whether a method IsZero of its own says so.
func (t *Type) isZero(p unsafe.Pointer) (zero, byMethod bool) {
	if t.isTime() {
		return t.isZeroTime(p), true
	}
	if v, ok := t.value(p).Addr().Interface().(interface{ IsZero() bool }); ok {
		return v.IsZero(), true
	}
	return t.value(p).IsZero(), false
}

func (t *Type) appendJSONList(dst []byte, s *slice) (_ []byte, err error) {
	if s.data == nil {
		return append(dst, "null"...), nil
	}
	dst = append(dst, '[')
	for i := range s.len {
		if dst, err = t.Elem.appendJSON(appendComma(dst), t.item(s, i)); err != nil {
			return nil, err
		}
	}
	return append(dst, ']'), nil
}

func (t *Type) appendJSONMap(dst []byte, p unsafe.Pointer) (_ []byte, err error) {
	if *(*unsafe.Pointer)(p) == nil {
		return append(dst, "null"...), nil
	}
	var buf [16]string
	dst = append(dst, '{')
	for _, key := range t.sortedKeys(buf[:0], p) {
		dst = append(AppendString(appendComma(dst), key), ':')
		if t.stringMap {
			dst = AppendString(dst, (*(*map[string]string)(p))[key])
		} else if dst, err = t.Elem.appendJSON(dst, t.mapValue(p, key)); err != nil {
			return nil, err
		}
	}
	return append(dst, '}'), nil
}

// sortedKeys returns the sorted keys of the map at p, in the memory of buf if they fit.
func (t *Type) sortedKeys(buf []string, p unsafe.Pointer) []string {
	if t.stringMap {
		for key := range *(*map[string]string)(p) {
			buf = append(buf, key)
		}
	} else {
		for _, key := range t.value(p).MapKeys() {
			buf = append(buf, key.String())
		}
	}
	slices.Sort(buf)
	return buf
}

// mapValue returns the address of a copy of one value of the map at p.
func (t *Type) mapValue(p unsafe.Pointer, key string) unsafe.Pointer {
	return t.copyMapValue(t.value(p).MapIndex(reflect.ValueOf(key).Convert(t.goType.Key())))
}

// AppendString appends s in quotes, with the escapes of a real server: bytes that are not UTF-8
// become \ufffd. From Go 1.27 on, encoding/json writes that character itself.
func AppendString(dst []byte, s string) []byte {
	return append(AppendEscaped(append(dst, '"'), s, true, true), '"')
}

// AppendEscaped appends s with the escapes of JSON. If html is set, more is escaped, as by encoding/json: <, > and &, the two
// separators of lines, and bytes that are not UTF-8. If letters is set, so are the escapes of backspace and form feed.
func AppendEscaped[S string | []byte](dst []byte, s S, html, letters bool) []byte {
	const hex = "0123456789abcdef"
	copied := 0 // s[:copied] is in dst
	for i := PlainLen(s, html); i < len(s); i += PlainLen(s[i:], html) {
		c, r, size := s[i], rune(0), 1
		if c >= utf8.RuneSelf {
			r, size = utf8.DecodeRuneInString(string(s[i:min(len(s), i+utf8.UTFMax)]))
		}
		if i += size; c >= utf8.RuneSelf && (!html || r != '\u2028' && r != '\u2029' && (r != utf8.RuneError || size > 1)) {
			continue
		}
		dst = append(dst, s[copied:i-size]...)
		copied = i
		letter := strings.IndexByte(escapedBytes, c)
		switch {
		case r == utf8.RuneError:
			dst = append(dst, `\ufffd`...)
		case r > 0:
			dst = append(dst, '\\', 'u', '2', '0', '2', hex[r&0xf])
		case letter >= 0 && (letters || c != '\b' && c != '\f'):
			dst = append(dst, '\\', escapeLetters[letter])
		default:
			dst = append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&0xf])
		}
	}
	return append(dst, s[copied:]...)
}

func appendJSONBytes(dst, b []byte) []byte {
	if b == nil {
		return append(dst, "null"...)
	}
	dst = append(dst, '"')
	dst = base64.StdEncoding.AppendEncode(dst, b)
	return append(dst, '"')
}

// appendJSONFloat appends f as encoding/json does, which follows ECMAScript: very
// large and very small numbers have exponents, without a leading zero.
func appendJSONFloat(dst []byte, f float64) ([]byte, error) {
	if math.IsInf(f, 0) || math.IsNaN(f) {
		return nil, fmt.Errorf("json: unsupported value: %s", strconv.FormatFloat(f, 'g', -1, 64))
	}
	format := byte('f')
	if abs := math.Abs(f); abs != 0 && (abs < 1e-6 || abs >= 1e21) {
		format = 'e'
	}
	dst = strconv.AppendFloat(dst, f, format, -1, 64)
	if n := len(dst); format == 'e' && n >= 4 && dst[n-4] == 'e' && dst[n-3] == '-' && dst[n-2] == '0' {
		dst[n-2] = dst[n-1]
		dst = dst[:n-1]
	}
	return dst, nil
}

// appendJSONTime appends a time in quotes, as RFC 3339 in UTC. A MicroTime has six digits of
// fraction. The zero time is null.
func (t *Type) appendJSONTime(dst []byte, p unsafe.Pointer) []byte {
	if t.isZeroTime(p) {
		return append(dst, "null"...)
	}
	at := (*time.Time)(p).UTC()
	dst = at.AppendFormat(append(dst, '"'), time.RFC3339)
	if end := len(dst) - 1; t.shape == shapeMicroTime { // the fraction goes before the Z
		dst = strconv.AppendInt(dst[:end], int64(1_000_000+at.Nanosecond()/1000), 10)
		dst[end] = '.' // in place of the 1
		dst = append(dst, 'Z')
	}
	return append(dst, '"')
}

// appendRawJSON appends a JSON text without spaces and with the escapes of
// encoding/json. An empty text becomes null.
func appendRawJSON(dst, raw []byte) ([]byte, error) {
	if len(raw) == 0 {
		return append(dst, "null"...), nil
	}
	if isPlainJSON(raw) {
		return append(dst, raw...), nil
	}
	var compact, escaped bytes.Buffer
	if json.Compact(&compact, raw) != nil {
		return nil, fmt.Errorf("json: error calling MarshalJSON for type *v1.FieldsV1: %w", syntaxError(raw))
	}
	json.HTMLEscape(&escaped, compact.Bytes())
	return append(dst, escaped.Bytes()...), nil
}

// isPlainJSON reports whether it is easy to see that raw is JSON that encoding would not change: an object without spaces, whose
// members are such objects, as nearly every FieldsV1.
func isPlainJSON(raw []byte) bool {
	depth := 0
	for i := 0; i < len(raw) && raw[i] == '{'; i++ { // at each value
		if depth++; depth > maxReadDepth {
			return false
		}
		if i++; i < len(raw) && raw[i] == '}' {
			for ; i < len(raw) && raw[i] == '}' && depth > 0; i++ {
				depth--
			}
			if depth == 0 || i == len(raw) || raw[i] != ',' {
				return depth == 0 && i == len(raw)
			}
			i++
		}
		i = plainName(raw, i)
		if i >= len(raw) || raw[i] != ':' {
			return false
		}
	}
	return false
}

// plainName returns the index after the string at i, or the length of raw if encoding may change the string.
func plainName(raw []byte, i int) int {
	if i >= len(raw) || raw[i] != '"' {
		return len(raw)
	}
	for i++; i < len(raw); {
		i += PlainLen(raw[i:], true)
		switch {
		case i < len(raw) && raw[i] == '"':
			return i + 1
		case i < len(raw) && raw[i] == '\\' && escapeLen(raw[i:]) > 0:
			i += escapeLen(raw[i:])
		default:
			return len(raw)
		}
	}
	return len(raw)
}
