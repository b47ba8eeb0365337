package exchange

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// Object is a JSON object with its members in the order of the document. The other values of a tree are []any, string, json.Number,
// bool and nil.
type Object []Member

// Member is a member of an Object.
type Member struct {
	Key   string
	Value any
}

// Get returns a member, nil if there is none.
func (o Object) Get(key string) any {
	for _, m := range o {
		if m.Key == key {
			return m.Value
		}
	}
	return nil
}

// Has reports whether there is a member.
func (o Object) Has(key string) bool {
	for _, m := range o {
		if m.Key == key {
			return true
		}
	}
	return false
}

// At returns the value at a path of members.
func At(tree any, path ...string) any {
	for _, key := range path {
		o, _ := tree.(Object)
		tree = o.Get(key)
	}
	return tree
}

// TextAt returns the string at a path of members.
func TextAt(tree any, path ...string) string {
	s, _ := At(tree, path...).(string)
	return s
}

// Parse reads one JSON value. The rest of the data is the second result.
func Parse(data []byte) (tree any, rest []byte, err error) {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	tree, err = readValue(d)
	return tree, data[min(d.InputOffset(), int64(len(data))):], err
}

func readValue(d *json.Decoder) (any, error) {
	token, err := d.Token()
	if err != nil {
		return nil, err
	}
	switch token {
	case json.Delim('{'):
		return readObject(d)
	case json.Delim('['):
		list := []any{}
		for d.More() {
			v, err := readValue(d)
			if err != nil {
				return nil, err
			}
			list = append(list, v)
		}
		_, err := d.Token()
		return list, err
	}
	return token, nil
}

func readObject(d *json.Decoder) (any, error) {
	o := Object{}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return nil, err
		}
		v, err := readValue(d)
		if err != nil {
			return nil, err
		}
		o = append(o, Member{fmt.Sprint(key), v})
	}
	_, err := d.Token()
	return o, err
}

// MarshalJSON keeps the order of the members.
func (o Object) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, m := range o {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(Text(m.Key))
		b.WriteByte(':')
		b.WriteString(Text(m.Value))
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// Text returns the JSON of a tree.
func Text(tree any) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(tree); err != nil {
		return err.Error() // a tree of a document can be encoded
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// Plain returns a tree in which objects are maps.
func Plain(tree any) any {
	switch node := tree.(type) {
	case Object:
		out := make(map[string]any, len(node))
		for _, m := range node {
			out[m.Key] = Plain(m.Value)
		}
		return out
	case []any:
		out := make([]any, len(node))
		for i := range node {
			out[i] = Plain(node[i])
		}
		return out
	}
	return tree
}
