package yaml

import (
	"cmp"
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// ToJSON converts the first document of a YAML stream to JSON, with the keys
// sorted and the characters escaped as encoding/json does. No document at all
// is null.
//
// Each duplicate key is an element of strictErrs: `line 5: key "name" already
// set in map`. This is the text of a warning; [StrictError] makes the single
// error of a strict request of them. The last value of a key wins.
//
// The text of err is that of sigs.k8s.io/yaml, mostly "yaml: " with the line
// and the problem.
func ToJSON(data []byte) (json []byte, strictErrs []error, err error) {
	root, err := parse(data)
	if err != nil {
		return nil, nil, err
	}
	value, duplicates, err := construct(root)
	if err != nil {
		return nil, nil, err
	}
	if err := nameKeys(value); err != nil {
		return nil, nil, err
	}
	json, err = appendJSON(make([]byte, 0, len(data)+len(data)/4), value)
	if err != nil {
		return nil, nil, err
	}
	return json, duplicates, nil
}

// StrictError returns the error that strict decoding upstream makes of the
// strictErrs of [ToJSON], nil if there are none: the line "yaml: unmarshal
// errors:" and a line for each.
func StrictError(strictErrs []error) error {
	if len(strictErrs) == 0 {
		return nil
	}
	var b strings.Builder
	b.WriteString("yaml: unmarshal errors:")
	for _, err := range strictErrs {
		b.WriteString("\n  ")
		b.WriteString(err.Error())
	}
	return errors.New(b.String())
}

// appendJSON appends a value whose keys have names.
func appendJSON(out []byte, v any) ([]byte, error) {
	switch v := v.(type) {
	case nil:
		return append(out, "null"...), nil
	case bool:
		return strconv.AppendBool(out, v), nil
	case int:
		return strconv.AppendInt(out, int64(v), 10), nil
	case int64:
		return strconv.AppendInt(out, v, 10), nil
	case uint64:
		return strconv.AppendUint(out, v, 10), nil
	case float64:
		return appendJSONFloat(out, v)
	case string:
		return appendJSONString(out, v), nil
	case []any:
		return appendJSONList(out, v)
	case *object:
		return appendJSONObject(out, v)
	}
	panic("yaml: value of a type that is never constructed")
}

func appendJSONList(out []byte, items []any) ([]byte, error) {
	out = append(out, '[')
	for i, item := range items {
		if i > 0 {
			out = append(out, ',')
		}
		var err error
		if out, err = appendJSON(out, item); err != nil {
			return nil, err
		}
	}
	return append(out, ']'), nil
}

func appendJSONObject(out []byte, o *object) ([]byte, error) {
	slices.SortStableFunc(o.entries, func(a, b entry) int { return cmp.Compare(a.name, b.name) })
	out = append(out, '{')
	first := true
	for i, e := range o.entries {
		if i+1 < len(o.entries) && o.entries[i+1].name == e.name {
			continue // keys like 1 and "1"
		}
		if !first {
			out = append(out, ',')
		}
		first = false
		out = append(appendJSONString(out, e.name), ':')
		var err error
		if out, err = appendJSON(out, e.value); err != nil {
			return nil, err
		}
	}
	return append(out, '}'), nil
}

// appendJSONFloat appends a float as encoding/json writes it.
func appendJSONFloat(out []byte, f float64) ([]byte, error) {
	if math.IsInf(f, 0) || math.IsNaN(f) {
		return nil, errors.New("json: unsupported value: " + strconv.FormatFloat(f, 'g', -1, 64))
	}
	abs := math.Abs(f)
	if abs == 0 || abs >= 1e-6 && abs < 1e21 {
		return strconv.AppendFloat(out, f, 'f', -1, 64), nil
	}
	out = strconv.AppendFloat(out, f, 'e', -1, 64)
	if n := len(out); string(out[n-4:n-1]) == "e-0" {
		out = append(out[:n-2], out[n-1]) // one digit is enough
	}
	return out, nil
}

// appendJSONString appends a string as encoding/json writes it.
func appendJSONString(out []byte, s string) []byte {
	const hex = "0123456789abcdef"
	out = append(out, '"')
	start := 0
	for i := 0; i < len(s); {
		c, width := rune(s[i]), 1
		if c >= utf8.RuneSelf {
			c, width = utf8.DecodeRuneInString(s[i:])
		}
		var escape string
		switch {
		case c == '"':
			escape = `\"`
		case c == '\\':
			escape = `\\`
		case c == '\b':
			escape = `\b`
		case c == '\f':
			escape = `\f`
		case c == '\n':
			escape = `\n`
		case c == '\r':
			escape = `\r`
		case c == '\t':
			escape = `\t`
		case c < ' ' || c == '<' || c == '>' || c == '&':
			escape = `\u00` + hex[c>>4:c>>4+1] + hex[c&15:c&15+1]
		case c == utf8.RuneError && width == 1:
			escape = `\ufffd`
		case c == '\u2028' || c == '\u2029':
			escape = `\u202` + hex[c&15:c&15+1]
		default:
			i += width
			continue
		}
		out = append(append(out, s[start:i]...), escape...)
		i += width
		start = i
	}
	return append(append(out, s[start:]...), '"')
}
