package managedfields

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/kubecoord/kubecoord/internal/codec"
)

// number returns the value of an int64 or a float64.
func number(v any) (float64, bool) {
	switch v := v.(type) {
	case int64:
		return float64(v), true
	case float64:
		return v, true
	}
	return 0, false
}

// compareValues compares values that identify items. Their order is numbers, strings,
// bools, lists, objects, null.
func compareValues(a, b any) int {
	rank := func(v any) int {
		switch v.(type) {
		case int64, float64:
			return 0
		case string:
			return 1
		case bool:
			return 2
		case []any:
			return 3
		case map[string]any:
			return 4
		}
		return 5
	}
	if c := cmp.Compare(rank(a), rank(b)); c != 0 {
		return c
	}
	switch a := a.(type) {
	case int64:
		if b, ok := b.(int64); ok {
			return cmp.Compare(a, b)
		}
		return compareNumbers(a, b)
	case float64:
		return compareNumbers(a, b)
	case string:
		return strings.Compare(a, b.(string))
	case bool:
		switch {
		case a == b:
			return 0
		case a:
			return 1
		}
		return -1
	case []any:
		return slices.CompareFunc(a, b.([]any), compareValues)
	case map[string]any:
		return compareObjects(a, b.(map[string]any))
	}
	return 0
}

func compareNumbers(a, b any) int {
	x, _ := number(a)
	y, _ := number(b)
	return cmp.Compare(x, y)
}

func compareObjects(a, b map[string]any) int {
	both := maps.Clone(a)
	maps.Copy(both, b)
	for i, name := range slices.Sorted(maps.Keys(both)) {
		x, inA := a[name]
		y, inB := b[name]
		switch {
		case i == len(a):
			return -1
		case i == len(b) || !inA:
			return 1
		case !inB:
			return -1
		}
		if c := compareValues(x, y); c != 0 {
			return c
		}
	}
	return 0
}

func valueText(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case string:
		return strconv.Quote(v)
	case []any:
		var items []string
		for _, item := range v {
			items = append(items, valueText(item))
		}
		return "[" + strings.Join(items, ",") + "]"
	case map[string]any:
		var b strings.Builder
		for _, name := range slices.Sorted(maps.Keys(v)) {
			b.WriteString(name + "=" + valueText(v[name]))
		}
		return b.String()
	}
	return fmt.Sprint(v)
}

// appendValue appends the JSON of a value in a step. Strings in it are escaped for
// HTML; the names of keys in the step are not.
func appendValue(dst []byte, v any) []byte {
	switch v := v.(type) {
	case int64:
		return strconv.AppendInt(dst, v, 10)
	case float64:
		format := byte('f')
		if abs := math.Abs(v); abs != 0 && (abs < 1e-6 || abs >= 1e21) {
			format = 'e'
		}
		return strconv.AppendFloat(dst, v, format, -1, 64)
	case string:
		return appendQuoted(dst, v, true)
	case bool:
		return strconv.AppendBool(dst, v)
	case []any:
		dst = append(dst, '[')
		for i, item := range v {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = appendValue(dst, item)
		}
		return append(dst, ']')
	case map[string]any:
		dst = append(dst, '{')
		for i, name := range slices.Sorted(maps.Keys(v)) {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = append(appendQuoted(dst, name, true), ':')
			dst = appendValue(dst, v[name])
		}
		return append(dst, '}')
	}
	return append(dst, "null"...)
}

// appendString appends a JSON string that is not escaped for HTML, such as a member
// name.
func appendString[S string | []byte](dst []byte, s S) []byte { return appendQuoted(dst, s, false) }

// appendQuoted appends a JSON string. Unlike encoding/json it does not write \b and
// \f.
func appendQuoted[S string | []byte](dst []byte, s S, html bool) []byte {
	return append(codec.AppendEscaped(append(dst, '"'), s, html, false), '"')
}
