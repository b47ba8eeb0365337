package yaml

import (
	"fmt"
	"reflect"
	"strconv"
)

// object is a mapping that keeps its keys in order.
type object struct {
	entries []entry
	index   map[any]int // where a key is; nil while there are few
}

// entry is a key of an object with its value.
type entry struct {
	key   any    // as it was written: nil, a bool, a number or a string
	name  string // as JSON needs it; set by [object.nameKeys]
	value any
}

// fewEntries is the size up to which an object is searched without index.
const fewEntries = 8

// find returns where a key is, or -1.
func (o *object) find(key any) int {
	if o.index != nil {
		if i, ok := o.index[key]; ok {
			return i
		}
		return -1
	}
	for i := range o.entries {
		if o.entries[i].key == key {
			return i
		}
	}
	return -1
}

// set adds a key, or replaces its value and returns true.
func (o *object) set(key, value any) (replaced bool) {
	if i := o.find(key); i >= 0 {
		o.entries[i].value = value
		return true
	}
	if o.index == nil && len(o.entries) == fewEntries {
		o.index = make(map[any]int, 2*fewEntries)
		for i := range o.entries {
			o.index[o.entries[i].key] = i
		}
	}
	if o.index != nil {
		o.index[key] = len(o.entries)
	}
	o.entries = append(o.entries, entry{key: key, value: value})
	return false
}

// nameKeys gives all keys in the value their names. The names of two keys may
// be the same, as those of 1 and "1".
func nameKeys(v any) error {
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			if err := nameKeys(item); err != nil {
				return err
			}
		}
	case *object:
		v.index = nil
		for i := range v.entries {
			e := &v.entries[i]
			name, ok := keyName(e.key)
			if !ok {
				return fmt.Errorf("unsupported map key of type: %s, key: %+#v, value: %+#v", reflect.TypeOf(e.key), e.key, native(e.value))
			}
			e.name = name
			if err := nameKeys(e.value); err != nil {
				return err
			}
		}
	}
	return nil
}

// keyName returns the text of a key. Floats lose precision.
func keyName(key any) (name string, ok bool) {
	switch key := key.(type) {
	case string:
		return key, true
	case bool:
		return strconv.FormatBool(key), true
	case int:
		return strconv.Itoa(key), true
	case int64:
		return strconv.FormatInt(key, 10), true
	case float64:
		return floatText(key, 32), true
	}
	return "", false
}

// floatText returns the text of a float as v2 writes it.
func floatText(f float64, bits int) string {
	switch s := strconv.FormatFloat(f, 'g', -1, bits); s {
	case "+Inf":
		return ".inf"
	case "-Inf":
		return "-.inf"
	case "NaN":
		return ".nan"
	default:
		return s
	}
}

// native returns the value with Go's maps for objects, to be printed in
// messages.
func native(v any) any {
	switch v := v.(type) {
	case []any:
		items := make([]any, len(v))
		for i := range v {
			items[i] = native(v[i])
		}
		return items
	case *object:
		m := make(map[any]any, len(v.entries))
		for _, e := range v.entries {
			m[e.key] = native(e.value)
		}
		return m
	}
	return v
}
