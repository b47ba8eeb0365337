package kinds

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// object is a JSON object with its members in the order of the document. The other values of a tree are []any, string, json.Number,
// bool and nil.
type object []member

type member struct {
	key   string
	value any
}

// get returns a member, nil if there is none.
func (o object) get(key string) any {
	for _, m := range o {
		if m.key == key {
			return m.value
		}
	}
	return nil
}

func (o object) has(key string) bool {
	for _, m := range o {
		if m.key == key {
			return true
		}
	}
	return false
}

// at returns the value at a path of members.
func at(tree any, path ...string) any {
	for _, key := range path {
		o, _ := tree.(object)
		tree = o.get(key)
	}
	return tree
}

// textAt returns the string at a path of members.
func textAt(tree any, path ...string) string {
	s, _ := at(tree, path...).(string)
	return s
}

// parse reads one JSON value. The rest of the data is the second result.
func parse(data []byte) (tree any, rest []byte, err error) {
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
	o := object{}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return nil, err
		}
		v, err := readValue(d)
		if err != nil {
			return nil, err
		}
		o = append(o, member{fmt.Sprint(key), v})
	}
	_, err := d.Token()
	return o, err
}

// MarshalJSON keeps the order of the members.
func (o object) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, m := range o {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(text(m.key))
		b.WriteByte(':')
		b.WriteString(text(m.value))
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// text returns the JSON of a tree.
func text(tree any) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(tree); err != nil {
		return err.Error() // a tree of a document can be encoded
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// plain returns a tree in which objects are maps.
func plain(tree any) any {
	switch node := tree.(type) {
	case object:
		out := make(map[string]any, len(node))
		for _, m := range node {
			out[m.key] = plain(m.value)
		}
		return out
	case []any:
		out := make([]any, len(node))
		for i := range node {
			out[i] = plain(node[i])
		}
		return out
	}
	return tree
}
