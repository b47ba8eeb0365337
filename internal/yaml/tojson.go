package yaml

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"

	"go.yaml.in/yaml/v2"

	"github.com/kubecoord/kubecoord/internal/codec"
)

// ToJSON converts the first document of a YAML stream to JSON, with sorted keys.
// Without any document it returns null.
//
// Each error of duplicates names a key that was set before, such as
// `line 5: key "name" already set in map`: the text of a warning. The last value
// of such a key wins. [StrictError] joins them to the error of a strict request.
func ToJSON(data []byte) (text []byte, duplicates []error, err error) {
	defer recoverTo(&err)
	if err := checkDirectives(data); err != nil {
		return nil, nil, err
	}
	if err := checkAliases(data); err != nil {
		return nil, nil, err
	}
	var value any
	if err := yaml.UnmarshalStrict(data, &value); err != nil {
		// v2 keeps the first value of a duplicate key, also in an error.
		duplicates, value = duplicateKeys(err), nil
		if err := yaml.Unmarshal(data, &value); err != nil {
			return nil, nil, err
		}
	}
	if text, err = marshalJSON(value); err != nil {
		return nil, nil, err
	}
	return text, duplicates, nil
}

func recoverTo(err *error) {
	if v := recover(); v != nil {
		*err = fmt.Errorf("yaml: %v", v)
	}
}

// duplicateKeys returns the duplicate keys that strict decoding found, or nil for another error.
func duplicateKeys(err error) (duplicates []error) {
	if wrong, ok := errors.AsType[*yaml.TypeError](err); ok {
		for _, text := range wrong.Errors {
			duplicates = append(duplicates, errors.New(text))
		}
	}
	return duplicates
}

// StrictError returns the error that strict decoding upstream makes of the
// duplicates of [ToJSON], or nil if there are none.
func StrictError(duplicates []error) error {
	if len(duplicates) == 0 {
		return nil
	}
	texts := make([]string, len(duplicates))
	for i, err := range duplicates {
		texts[i] = err.Error()
	}
	return &yaml.TypeError{Errors: texts}
}

// marshalJSON returns a value that v2 decoded as JSON. An error about a key comes
// before one about a value (upstream: convertToJSONableObject, json.Marshal).
func marshalJSON(value any) ([]byte, error) {
	var w jsonWriter
	w.value(value)
	return w.out, cmp.Or(w.badKey, w.badValue)
}

// jsonWriter writes a tree without a second tree with names for keys.
type jsonWriter struct {
	out              []byte
	badKey, badValue error // the first key, and the first value, that JSON does not have
}

func (w *jsonWriter) value(v any) {
	switch v := v.(type) {
	case map[any]any:
		w.object(v)
	case []any:
		w.out = append(w.out, '[')
		for i, item := range v {
			if i > 0 {
				w.out = append(w.out, ',')
			}
			w.value(item)
		}
		w.out = append(w.out, ']')
	case string:
		w.out = codec.AppendString(w.out, v)
	default:
		text, err := json.Marshal(v)
		w.badValue = cmp.Or(w.badValue, err)
		w.out = append(w.out, text...)
	}
}

// object writes an object in the order of names. Two keys may have the same name, such as 1 and "1":
// the key with the greater Go text wins.
func (w *jsonWriter) object(o map[any]any) {
	type member struct{ key, value any } // no map lookup finds the value of the key .nan
	members := make(map[string]member, len(o))
	for key, value := range o {
		name, _ := keyName(key)
		if have, found := members[name]; !found || fmt.Sprintf("%#v", have.key) < fmt.Sprintf("%#v", key) {
			members[name] = member{key, value}
		}
	}
	w.out = append(w.out, '{')
	for i, name := range slices.Sorted(maps.Keys(members)) {
		if i > 0 {
			w.out = append(w.out, ',')
		}
		m := members[name]
		if _, ok := keyName(m.key); !ok && w.badKey == nil {
			w.badKey = fmt.Errorf("unsupported map key of type: %s, key: %+#v, value: %+#v", reflect.TypeOf(m.key), m.key, m.value)
		}
		w.out = append(codec.AppendString(w.out, name), ':')
		w.value(m.value)
	}
	w.out = append(w.out, '}')
}

// keyName returns the text of a key that JSON can have. Floats lose precision.
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
		text := strconv.FormatFloat(key, 'g', -1, 32)
		return cmp.Or(map[string]string{"+Inf": ".inf", "-Inf": "-.inf", "NaN": ".nan"}[text], text), true
	}
	return "", false
}
