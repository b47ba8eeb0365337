package wiretest

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"
)

// encodeProtobuf turns a JSON object with apiVersion and kind into its enveloped form.
func encodeProtobuf(doc []byte) ([]byte, error) {
	value, err := decodeJSON(doc)
	if err != nil {
		return nil, err
	}
	tree, ok := value.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("%s is not an object", short(doc))
	}
	kind, _ := tree["kind"].(string)
	apiVersion, _ := tree["apiVersion"].(string)
	tree = maps.Clone(tree)
	delete(tree, "kind")
	delete(tree, "apiVersion")
	raw, err := encodeMessage(kind, tree)
	if err != nil {
		return nil, err
	}
	typeMeta := appendBytes(appendBytes(nil, 1, []byte(apiVersion)), 2, []byte(kind))
	out := appendBytes([]byte(protobufMagic), 1, typeMeta)
	out = appendBytes(out, 2, raw)
	// Content encoding and content type: both empty, both there.
	return appendBytes(appendBytes(out, 3, nil), 4, nil), nil
}

func appendBytes(b []byte, number int, data []byte) []byte {
	b = binary.AppendUvarint(b, uint64(number)<<3|2)
	b = binary.AppendUvarint(b, uint64(len(data)))
	return append(b, data...)
}

func appendInt(b []byte, number int, v uint64) []byte {
	return binary.AppendUvarint(binary.AppendUvarint(b, uint64(number)<<3), v)
}

func encodeMessage(name string, tree map[string]any) ([]byte, error) {
	fields, err := messageFields(name)
	if err != nil {
		return nil, err
	}
	known := map[string]bool{}
	var out []byte
	for _, f := range fields {
		known[f.name] = true
		value := tree[f.name]
		if value == nil {
			continue
		}
		items := []any{value}
		if f.repeated {
			items, _ = value.([]any)
		}
		for _, item := range items {
			if out, err = f.encode(out, item); err != nil {
				return nil, fmt.Errorf("%s.%s: %w", name, f.name, err)
			}
		}
	}
	for key := range tree {
		if !known[key] {
			return nil, fmt.Errorf("%s has no field %q", name, key)
		}
	}
	return out, nil
}

// encode appends one occurrence of the field.
func (f protoField) encode(out []byte, value any) ([]byte, error) {
	switch f.typ {
	case "string":
		text, ok := value.(string)
		if !ok {
			return nil, fmt.Errorf("%v is not a string", value)
		}
		return appendBytes(out, f.number, []byte(text)), nil
	case "int":
		number, ok := value.(json.Number)
		if !ok {
			return nil, fmt.Errorf("%v is not a number", value)
		}
		i, err := number.Int64()
		return appendInt(out, f.number, uint64(i)), err
	case "bool":
		if value == true {
			return appendInt(out, f.number, 1), nil
		}
		return appendInt(out, f.number, 0), nil
	case "time", "micro":
		t, err := time.Parse(time.RFC3339Nano, fmt.Sprint(value))
		stamp := appendInt(appendInt(nil, 1, uint64(t.Unix())), 2, uint64(t.Nanosecond()))
		return appendBytes(out, f.number, stamp), err
	case "json":
		b, err := json.Marshal(value)
		return appendBytes(out, f.number, appendBytes(nil, 1, b)), err
	}
	object, ok := value.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("%v is not an object", value)
	}
	if f.typ == "map" {
		for _, key := range slices.Sorted(maps.Keys(object)) {
			entry := appendBytes(appendBytes(nil, 1, []byte(key)), 2, []byte(fmt.Sprint(object[key])))
			out = appendBytes(out, f.number, entry)
		}
		return out, nil
	}
	b, err := encodeMessage(f.typ, object)
	return appendBytes(out, f.number, b), err
}
