package yaml

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

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
	text, err = marshalJSON(value)
	if err != nil {
		return nil, nil, err
	}
	return text, duplicates, nil
}

// recoverTo turns a panic of v2 or v3 into an error.
func recoverTo(err *error) {
	if v := recover(); v != nil {
		*err = fmt.Errorf("yaml: %v", v)
	}
}

// duplicateKeys returns the duplicate keys that strict decoding found, or nil if
// err is another error.
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
	if err := w.value(value); err != nil {
		return nil, err
	}
	return w.out, w.unsupported
}

// jsonWriter writes a tree without a second tree with names for keys.
type jsonWriter struct {
	out         []byte
	unsupported error // the first value that JSON does not have
}

func (w *jsonWriter) value(v any) error {
	switch v := v.(type) {
	case map[any]any:
		return w.object(v)
	case []any:
		return w.list(v)
	case string:
		w.out = codec.AppendString(w.out, v)
		return nil
	}
	text, err := json.Marshal(v)
	if w.unsupported == nil {
		w.unsupported = err
	}
	w.out = append(w.out, text...)
	return nil
}

func (w *jsonWriter) list(items []any) error {
	w.out = append(w.out, '[')
	for i, item := range items {
		if i > 0 {
			w.out = append(w.out, ',')
		}
		if err := w.value(item); err != nil {
			return err
		}
	}
	w.out = append(w.out, ']')
	return nil
}

// member is a member of an object. Two keys may have the same name, such as 1 and "1".
type member struct {
	name  string
	named bool // false for a key that JSON cannot have
	key   any
	value any
}

func (w *jsonWriter) object(o map[any]any) error {
	members := make([]member, 0, len(o))
	for key, value := range o {
		name, named := keyName(key)
		members = append(members, member{name, named, key, value})
	}
	slices.SortFunc(members, func(a, b member) int {
		if a.name != b.name {
			return strings.Compare(a.name, b.name)
		}
		return strings.Compare(fmt.Sprintf("%#v", a.key), fmt.Sprintf("%#v", b.key))
	})
	w.out = append(w.out, '{')
	for i, m := range members {
		if i+1 < len(members) && members[i+1].name == m.name {
			continue
		}
		if w.out[len(w.out)-1] != '{' {
			w.out = append(w.out, ',')
		}
		if !m.named {
			return fmt.Errorf("unsupported map key of type: %s, key: %+#v, value: %+#v", reflect.TypeOf(m.key), m.key, m.value)
		}
		w.value(m.name)
		w.out = append(w.out, ':')
		if err := w.value(m.value); err != nil {
			return err
		}
	}
	w.out = append(w.out, '}')
	return nil
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
		switch text := strconv.FormatFloat(key, 'g', -1, 32); text {
		case "+Inf":
			return ".inf", true
		case "-Inf":
			return "-.inf", true
		case "NaN":
			return ".nan", true
		default:
			return text, true
		}
	}
	return "", false
}
