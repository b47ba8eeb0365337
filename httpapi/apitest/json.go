package apitest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"time"
	"unicode"
)

// Fault and Adversary have a form in JSON, for programs in other languages. Its
// words are those of the fields, beginning with a small letter, and durations
// are texts such as "1.5s":
//
//	{"verb": "update", "resource": "leases", "first": 2, "answer": {"code": 409}}
//	{"verb": "watch", "delay": "1s", "tear": {"after": 3, "midFrame": true}}
//
// When, which is a function, has none. What is empty is left out. It is read
// strictly: each error names the place and what was expected.

// MarshalJSON returns the fault in the form that UnmarshalJSON reads, without
// When.
func (f Fault) MarshalJSON() ([]byte, error) { return marshalWords(f) }

// UnmarshalJSON reads a fault: {"verb": "update", "answer": {"code": 409}}. The
// words are those of the fields, with a small letter first; durations are texts
// such as "1s". An error names the place and what was expected. What the fault
// makes of it, Validate tells.
func (f *Fault) UnmarshalJSON(data []byte) error { return unmarshalWords(data, "apitest.Fault", f) }

// MarshalJSON returns the adversary in the form that UnmarshalJSON reads, without
// When.
func (adv Adversary) MarshalJSON() ([]byte, error) { return marshalWords(adv) }

// UnmarshalJSON reads an adversary, such as {"seed": 42, "maxDelay": "1s"}, as
// that of Fault does.
func (adv *Adversary) UnmarshalJSON(data []byte) error {
	return unmarshalWords(data, "apitest.Adversary", adv)
}

// marshalWords writes a struct.
func marshalWords(v any) ([]byte, error) {
	var b bytes.Buffer
	err := writeWords(&b, reflect.ValueOf(v))
	return b.Bytes(), err
}

// unmarshalWords reads a struct in place of what v points to.
func unmarshalWords(data []byte, what string, v any) error {
	fresh := reflect.New(reflect.TypeOf(v).Elem())
	if err := readWords("", data, fresh.Elem()); err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	reflect.ValueOf(v).Elem().Set(fresh.Elem())
	return nil
}

// word is a member of an object and where its value goes.
type word struct {
	name  string
	index []int
}

// wordsOf returns the words of a struct: by their tags, if they have some.
func wordsOf(t reflect.Type) (words []word) {
	for _, f := range reflect.VisibleFields(t) {
		if f.Anonymous && strings.Contains(f.Tag.Get("json"), ",inline") || f.Type.Kind() == reflect.Func || len(f.Index) > 1 && !inline(t, f) {
			continue
		}
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "-" {
			continue
		}
		if name == "" {
			name = string(unicode.ToLower(rune(f.Name[0]))) + f.Name[1:]
		}
		words = append(words, word{name, f.Index})
	}
	return words
}

// inline reports whether a promoted field comes by way of a struct that is written as
// if its fields were those of the one around it.
func inline(t reflect.Type, f reflect.StructField) bool {
	return strings.Contains(t.FieldByIndex(f.Index[:1]).Tag.Get("json"), ",inline")
}

// writeWords writes a value, leaving out what is empty in structs.
func writeWords(b *bytes.Buffer, v reflect.Value) error {
	if d, ok := v.Interface().(time.Duration); ok {
		v = reflect.ValueOf(d.String())
	}
	if v.Kind() == reflect.Pointer {
		v = v.Elem()
	}
	if v.Kind() != reflect.Struct {
		text, err := json.Marshal(v.Interface())
		b.Write(text)
		return err
	}
	b.WriteByte('{')
	comma := false
	for _, w := range wordsOf(v.Type()) {
		field := v.FieldByIndex(w.index)
		if field.IsZero() {
			continue
		}
		if comma {
			b.WriteByte(',')
		}
		comma = true
		fmt.Fprintf(b, "%q:", w.name)
		if err := writeWords(b, field); err != nil {
			return err
		}
	}
	b.WriteByte('}')
	return nil
}

// readWords reads the value at a place; null leaves it empty.
func readWords(place string, data []byte, v reflect.Value) error {
	data = bytes.TrimSpace(data)
	if string(data) == "null" && place != "" {
		return nil
	}
	if _, ok := v.Interface().(time.Duration); ok {
		return readDuration(place, data, v)
	}
	switch v.Kind() {
	case reflect.Struct:
		return readObject(place, data, v)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		return readWords(place, data, v.Elem())
	case reflect.Slice:
		return readList(place, data, v)
	}
	if err := json.Unmarshal(data, v.Addr().Interface()); err != nil {
		return unexpected(place, data, wanted(v.Kind()))
	}
	return nil
}

// wanted says what a value of a kind looks like.
func wanted(k reflect.Kind) string {
	switch k {
	case reflect.String:
		return "a text"
	case reflect.Bool:
		return "true or false"
	case reflect.Uint64:
		return "a whole number, 0 or more"
	}
	return "a whole number"
}

// mostShown is how much of what was found is shown.
const mostShown = 40

func unexpected(place string, data []byte, want string) error {
	got := string(data)
	if len(got) > mostShown {
		got = strings.ToValidUTF8(got[:mostShown], "") + "..."
	}
	if place != "" {
		place += ": "
	}
	return fmt.Errorf("%sgot %s, want %s", place, got, want)
}

func readDuration(place string, data []byte, v reflect.Value) error {
	var text string
	err := json.Unmarshal(data, &text)
	if err == nil {
		var d time.Duration
		d, err = time.ParseDuration(text)
		v.SetInt(int64(d))
	}
	if err != nil {
		return unexpected(place, data, `a duration such as "1.5s" or "10m"`)
	}
	return nil
}

func readList(place string, data []byte, v reflect.Value) error {
	var items []json.RawMessage
	if err := json.Unmarshal(data, &items); err != nil {
		return unexpected(place, data, "a list")
	}
	v.Set(reflect.MakeSlice(v.Type(), len(items), len(items)))
	for i, item := range items {
		if err := readWords(fmt.Sprintf("%s[%d]", place, i), item, v.Index(i)); err != nil {
			return err
		}
	}
	return nil
}

// readObject reads members in their order, each known and there once.
func readObject(place string, data []byte, v reflect.Value) error {
	in := json.NewDecoder(bytes.NewReader(data))
	if open, err := in.Token(); err != nil || open != json.Delim('{') {
		return unexpected(place, data, "an object")
	}
	if place != "" {
		place += "."
	}
	known := map[string][]int{}
	var names []string
	for _, w := range wordsOf(v.Type()) {
		known[w.name] = w.index
		names = append(names, w.name)
	}
	seen := map[string]bool{}
	for in.More() {
		var value json.RawMessage
		name, err := in.Token()
		if err == nil {
			err = in.Decode(&value)
		}
		if err != nil {
			return err
		}
		member := place + name.(string)
		index, ok := known[name.(string)]
		switch {
		case !ok:
			return fmt.Errorf("%s: got an unknown member, want one of %s", member, strings.Join(names, ", "))
		case seen[member]:
			return fmt.Errorf("%s: got it twice, want it once", member)
		}
		seen[member] = true
		if err := readWords(member, value, v.FieldByIndex(index)); err != nil {
			return err
		}
	}
	return nil
}
