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
	"time"
	"unicode/utf8"
	"unsafe"

	"github.com/kubecoord/kubecoord/store/meta"
)

// AppendJSON appends the JSON form of obj, a non-nil pointer to the compiled
// struct, byte for byte as encoding/json does. It returns an error for a value
// without JSON: a float that is infinite or not a number, a FieldsV1 that is not
// JSON, or a custom type whose method fails.
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
	case shapeInt32:
		return strconv.AppendInt(dst, int64(*(*int32)(p)), 10), nil
	case shapeInt64:
		return strconv.AppendInt(dst, *(*int64)(p), 10), nil
	case shapeFloat64:
		return appendJSONFloat(dst, *(*float64)(p))
	case shapeString:
		return appendJSONString(dst, *(*string)(p)), nil
	case shapeBytes:
		return appendJSONBytes(dst, *(*[]byte)(p)), nil
	case shapeTime:
		return appendJSONTime(dst, (*meta.Time)(p).Time, -1), nil
	case shapeMicroTime:
		s := (*meta.MicroTime)(p)
		return appendJSONTime(dst, s.Time, s.Nanosecond()/int(time.Microsecond)), nil
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
	first := true
	for _, f := range t.Fields {
		if f.omitted(p) {
			continue
		}
		if !first {
			dst = append(dst, ',')
		}
		first = false
		dst = append(dst, f.jsonKey...)
		if q := f.target(p); q == nil {
			dst = append(dst, "null"...)
		} else if dst, err = f.Type.appendJSON(dst, q); err != nil {
			return nil, err
		}
	}
	return append(dst, '}'), nil
}

// omitted reports whether the field is left out of the JSON form of the struct
// at p.
func (f *Field) omitted(p unsafe.Pointer) bool {
	if !f.Optional() {
		return false
	}
	q := f.target(p)
	switch {
	case q == nil:
		return true
	case f.Pointer:
		if !f.omitZero {
			return false
		}
		zero, ok := f.Type.isZeroByMethod(q)
		return ok && zero
	}
	return f.OmitEmpty && f.Type.isEmpty(q) || f.omitZero && f.Type.isZero(q)
}

// isEmpty reports whether omitempty leaves out the value at p.
func (t *Type) isEmpty(p unsafe.Pointer) bool {
	switch t.shape {
	case shapeBool:
		return !*(*bool)(p)
	case shapeInt32:
		return *(*int32)(p) == 0
	case shapeInt64:
		return *(*int64)(p) == 0
	case shapeFloat64:
		return *(*float64)(p) == 0
	case shapeCustom:
		kind := t.goType.Kind()
		return kind != reflect.Struct && kind != reflect.Array && t.value(p).IsZero()
	}
	return t.length(p) == 0
}

// isZero reports whether omitzero leaves out the value at p.
func (t *Type) isZero(p unsafe.Pointer) bool {
	if zero, ok := t.isZeroByMethod(p); ok {
		return zero
	}
	return t.value(p).IsZero()
}

// isZeroByMethod returns the result of IsZero for the value at p, if it has that
// method.
func (t *Type) isZeroByMethod(p unsafe.Pointer) (zero, ok bool) {
	if t.shape == shapeTime || t.shape == shapeMicroTime {
		return t.isZeroTime(p), true
	}
	v, ok := t.value(p).Addr().Interface().(interface{ IsZero() bool })
	return ok && v.IsZero(), ok
}

func (t *Type) isZeroTime(p unsafe.Pointer) bool {
	switch t.shape {
	case shapeTime:
		return (*meta.Time)(p).IsZero()
	case shapeMicroTime:
		return (*meta.MicroTime)(p).IsZero()
	}
	return false
}

func (t *Type) appendJSONList(dst []byte, s *slice) (_ []byte, err error) {
	if s.data == nil {
		return append(dst, "null"...), nil
	}
	dst = append(dst, '[')
	for i := range s.len {
		if i > 0 {
			dst = append(dst, ',')
		}
		if dst, err = t.Elem.appendJSON(dst, t.item(s, i)); err != nil {
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
	for i, key := range t.sortedKeys(buf[:0], p) {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(appendJSONString(dst, key), ':')
		if t.stringMap {
			dst = appendJSONString(dst, (*(*map[string]string)(p))[key])
		} else if dst, err = t.Elem.appendJSON(dst, t.mapValue(p, key)); err != nil {
			return nil, err
		}
	}
	return append(dst, '}'), nil
}

// sortedKeys returns the sorted keys of the map at p. It uses the memory of buf if
// they fit.
func (t *Type) sortedKeys(buf []string, p unsafe.Pointer) []string {
	if !t.stringMap {
		return t.sortedOtherKeys(p)
	}
	for key := range *(*map[string]string)(p) {
		buf = append(buf, key)
	}
	slices.Sort(buf)
	return buf
}

func (t *Type) sortedOtherKeys(p unsafe.Pointer) []string {
	var keys []string
	for key := range t.value(p).Seq() {
		keys = append(keys, key.String())
	}
	slices.Sort(keys)
	return keys
}

// mapValue returns the address of a copy of one value of the map at p.
func (t *Type) mapValue(p unsafe.Pointer, key string) unsafe.Pointer {
	return t.copyMapValue(t.value(p).MapIndex(reflect.ValueOf(key).Convert(t.goType.Key())))
}

const hexDigits = "0123456789abcdef"

// appendJSONString appends s in quotes, with the escapes of encoding/json.
func appendJSONString(dst []byte, s string) []byte {
	dst = append(dst, '"')
	copied := 0 // s[:copied] is in dst
	for i := 0; i < len(s); {
		c := s[i]
		if c < utf8.RuneSelf {
			if c >= ' ' && c != '"' && c != '\\' && c != '<' && c != '>' && c != '&' {
				i++
				continue
			}
			dst = append(dst, s[copied:i]...)
			dst = appendEscape(dst, c)
			i++
			copied = i
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			dst = append(append(dst, s[copied:i]...), `\ufffd`...)
			copied = i + size
		case r == '\u2028' || r == '\u2029':
			dst = append(append(dst, s[copied:i]...), `\u202`...)
			dst = append(dst, hexDigits[r&0xf])
			copied = i + size
		}
		i += size
	}
	return append(append(dst, s[copied:]...), '"')
}

func appendEscape(dst []byte, c byte) []byte {
	switch c {
	case '"', '\\':
		return append(dst, '\\', c)
	case '\b':
		return append(dst, '\\', 'b')
	case '\f':
		return append(dst, '\\', 'f')
	case '\n':
		return append(dst, '\\', 'n')
	case '\r':
		return append(dst, '\\', 'r')
	case '\t':
		return append(dst, '\\', 't')
	}
	return append(dst, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&0xf])
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

// appendJSONTime appends s in quotes, as RFC 3339 in UTC, with six digits of micros
// unless micros is negative. The zero time is null.
func appendJSONTime(dst []byte, s time.Time, micros int) []byte {
	if s.IsZero() {
		return append(dst, "null"...)
	}
	dst = append(dst, '"')
	dst = s.UTC().AppendFormat(dst, time.RFC3339)
	if micros >= 0 { // the fraction goes before the Z
		dst[len(dst)-1] = '.'
		for unit := 100_000; unit > 0; unit /= 10 {
			dst = append(dst, byte('0'+micros/unit%10))
		}
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

// isPlainJSON reports whether raw is JSON that encoding would not change, as field managers
// write it. The check takes a tenth of the time of compacting. If it returns false, raw may
// still be such JSON.
func isPlainJSON(raw []byte) bool {
	for _, c := range []byte(" \t\r\n<>&\xe2") { // spaces, and what encoding/json escapes; U+2028 begins with E2
		if bytes.IndexByte(raw, c) >= 0 {
			return false
		}
	}
	r := jsonReader{data: raw}
	return r.anything() && r.at == len(raw)
}
