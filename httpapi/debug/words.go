package debug

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/kubecoord/kubecoord/httpapi/apitest"
	"github.com/kubecoord/kubecoord/store/meta"
)

// faultJSON is a fault in JSON: the fields of an apitest.Match, and effects in their order. Names begin with a
// lower-case letter; a duration is a string such as "1.5s":
//
//	{"verb": "update", "resource": "leases", "first": 2, "answer": {"code": 409}}
//	{"verb": "watch", "delay": "1s", "tear": {"after": 3, "midFrame": true}}
//	{"verb": "create", "userAgent": "worker", "nth": 2, "crash": "after"}
//
// Empty members are left out. Unknown and duplicate members are errors that name the place
// and the expected value.
type faultJSON struct {
	apitest.Match `json:",inline"`
	First         int
	Delay         time.Duration
	ExpireHistory bool
	Answer        meta.Status
	Hang          bool
	Cut           string // before or after
	Partition     string // silent or refused
	Tear          *tearJSON
	SlowEvents    time.Duration
	Stale         *apitest.StaleOptions
	Adversary     *apitest.AdversaryOptions
	AnswerAfter   int
	Crash         string // before or after
	HideEvents    *hideJSON
	Nth           int
}

// hideJSON has the arguments of apitest.HideEvents.
type hideJSON struct{ Namespace, Name string }

// tearJSON is apitest.EndWatch, CutWatch or FailWatch.
type tearJSON struct {
	After    int
	MidFrame bool
	Error    meta.Status
}

// MarshalJSON returns the fault.
func (f faultJSON) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	err := writeWords(&b, reflect.ValueOf(f))
	return b.Bytes(), err
}

// UnmarshalJSON reads the fault. It does not check whether its fields agree.
func (f *faultJSON) UnmarshalJSON(data []byte) error {
	var fresh faultJSON
	if err := readWords("", data, reflect.ValueOf(&fresh).Elem()); err != nil {
		return fmt.Errorf("fault: %w", err)
	}
	*f = fresh
	return nil
}

// combined collects the effects of one fault.
type combined struct {
	apitest.Effect
	ends []string // the members that end the request
}

// add adds an effect that is set. end is its member if it ends the request, or "".
func (c *combined) add(set bool, next apitest.Effect, end string) {
	switch {
	case !set:
		return
	case c.String() == "":
		c.Effect = next
	default:
		c.Effect = c.Then(next)
	}
	if end != "" {
		c.ends = append(c.ends, end)
	}
}

// effect returns the effect of the fault.
func (f *faultJSON) effect() (apitest.Effect, error) {
	var c combined
	c.add(f.Delay != 0, apitest.Delay(f.Delay), "")
	c.add(f.ExpireHistory, apitest.ExpireHistory(), "")
	c.add(f.SlowEvents != 0, apitest.SlowEvents(f.SlowEvents), "")
	if f.Stale != nil {
		c.add(true, apitest.Stale(*f.Stale), "")
	}
	if f.HideEvents != nil {
		c.add(true, apitest.HideEvents(f.HideEvents.Namespace, f.HideEvents.Name), "")
	}
	if f.Tear != nil {
		c.add(true, f.Tear.effect(), "")
	}
	c.add(!reflect.ValueOf(f.Answer).IsZero(), apitest.AnswerStatus(f.Answer), "answer")
	c.add(f.Hang, apitest.Hang(), "hang")
	c.add(f.AnswerAfter != 0, apitest.AnswerAfter(f.AnswerAfter), "answerAfter")
	if err := f.addNamed(&c); err != nil {
		return c.Effect, err
	}
	if f.Adversary != nil {
		c.add(true, apitest.Adversary(*f.Adversary), "adversary")
	}
	switch {
	case len(c.ends) > 1:
		return c.Effect, fmt.Errorf("%s: got %d of them, want one: each ends the request", strings.Join(c.ends, ", "), len(c.ends))
	case c.String() == "":
		return c.Effect, errors.New("got no action, want one of delay, expireHistory, answer, hang, cut, partition, tear, slowEvents, stale, adversary, answerAfter, crash, hideEvents")
	case f.First != 0 && f.Nth != 0:
		return c.Effect, errors.New("nth: got it with first, want one of them")
	case f.First != 0:
		return c.First(f.First), nil
	case f.Nth != 0:
		return c.Nth(f.Nth), nil
	}
	return c.Effect, nil
}

// addNamed adds the effects that have one of two names.
func (f *faultJSON) addNamed(c *combined) error {
	crashed := func() {} // the process of a client is its own matter
	for _, way := range []struct {
		member, value string
		names         [2]string
		effects       [2]apitest.Effect
	}{
		{"cut", f.Cut, [2]string{"before", "after"}, [2]apitest.Effect{apitest.CutBefore(), apitest.CutAfter()}},
		{"crash", f.Crash, [2]string{"before", "after"}, [2]apitest.Effect{apitest.CrashBefore(crashed), apitest.CrashAfter(crashed)}},
		{"partition", f.Partition, [2]string{"silent", "refused"}, [2]apitest.Effect{apitest.Partition(), apitest.Refuse()}},
	} {
		i := slices.Index(way.names[:], way.value)
		if i < 0 && way.value != "" {
			return fmt.Errorf("%s: got %q, want %q or %q", way.member, way.value, way.names[0], way.names[1])
		}
		if i >= 0 {
			c.add(true, way.effects[i], way.member)
		}
	}
	return nil
}

func (t *tearJSON) effect() apitest.Effect {
	switch {
	case t.MidFrame:
		return apitest.CutWatch(t.After)
	case t.Error.Code != 0:
		return apitest.FailWatch(t.After, t.Error)
	}
	return apitest.EndWatch(t.After)
}

// word is a member of an object.
type word struct {
	name  string
	index []int // of the field
}

// wordsOf returns the members of a struct, by their tags or by their names.
func wordsOf(t reflect.Type) (words []word) {
	for i := range t.NumField() {
		f := t.Field(i)
		name, option, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case option == "inline":
			for _, w := range wordsOf(f.Type) {
				words = append(words, word{w.name, append([]int{i}, w.index...)})
			}
			continue
		case f.Type.Kind() == reflect.Func:
			continue
		case name == "":
			name = string(unicode.ToLower(rune(f.Name[0]))) + f.Name[1:]
		}
		words = append(words, word{name, []int{i}})
	}
	return words
}

// writeWords writes a value. It leaves out empty members of structs.
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

// readWords reads the value at a place. Null leaves it empty.
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

// wanted describes the expected value of a kind.
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

// maxQuoted limits how much of a wrong value an error quotes.
const maxQuoted = 40

func unexpected(place string, data []byte, want string) error {
	got := string(data)
	if len(got) > maxQuoted {
		got = strings.ToValidUTF8(got[:maxQuoted], "") + "..."
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

// readObject reads an object. Each member must be known and occur once.
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
