package yaml

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// bestWidth is the column behind which text is folded at the next space.
const bestWidth = 80

// maxSimpleKey is the size of a key up to which it needs no question mark.
const maxSimpleKey = 128

// place is where a value is written.
type place int

// The places.
const (
	inDocument place = iota
	inSequence
	inMapping // as a value, or as a key with a question mark
	inKey     // as a key without one
)

// emitter writes values in block style.
type emitter struct {
	out    []byte
	column int  // in characters
	blank  bool // what comes next needs no space before it
	fresh  bool // the line has only indentation and indicators so far
	exact  bool // what upstream writes wrong is written right
}

// value writes a value inside of a collection at some level; -1 is no
// collection.
func (e *emitter) value(v any, level int, at place) {
	switch v := v.(type) {
	case *object:
		if len(v.entries) == 0 {
			e.indicator("{}", false)
			return
		}
		e.mapping(v, deeper(level))
	case []any:
		switch {
		case len(v) == 0:
			e.indicator("[]", false)
		case level >= 0 && at == inMapping && !e.fresh:
			e.sequence(v, level)
		default:
			e.sequence(v, deeper(level))
		}
	case string:
		e.text(v, at, max(level, 0)+2)
	default:
		e.plain(constant(v), max(level, 0)+2, false)
	}
}

// deeper returns the level inside of a collection.
func deeper(level int) int {
	if level < 0 {
		return 0
	}
	return level + 2
}

// constant returns the text of a value that is not a string.
func constant(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case bool:
		return strconv.FormatBool(v)
	case int:
		return strconv.Itoa(v)
	case int64:
		return strconv.FormatInt(v, 10)
	case uint64:
		return strconv.FormatUint(v, 10)
	case float64:
		return floatText(v, 64)
	}
	panic("yaml: value of a type that is never constructed")
}

func (e *emitter) sequence(items []any, level int) {
	for _, item := range items {
		e.indent(level)
		e.indicator("-", true)
		e.value(item, level, inSequence)
	}
}

func (e *emitter) mapping(o *object, level int) {
	o.sortNaturally()
	for _, entry := range o.entries {
		e.indent(level)
		if len(entry.name) <= maxSimpleKey && !hasBreak(entry.name) {
			if e.exact && entry.name == "<<" {
				e.doubleQuoted(entry.name, level, false) // or it is a merge
			} else {
				e.value(entry.name, level, inKey)
			}
			e.put(":")
			e.blank = false
		} else {
			e.indicator("?", true)
			e.value(entry.name, level, inMapping)
			e.indent(level)
			e.indicator(":", true)
		}
		e.value(entry.value, level, inMapping)
	}
}

// put writes text that has no line breaks.
func (e *emitter) put(text string) {
	e.out = append(e.out, text...)
	e.column += utf8.RuneCountInString(text)
}

// space separates what comes next from what is there.
func (e *emitter) space() {
	if !e.blank {
		e.put(" ")
	}
}

// indicator writes punctuation. A collection can begin on the line of some.
func (e *emitter) indicator(text string, staysFresh bool) {
	e.space()
	e.put(text)
	e.blank = false
	e.fresh = e.fresh && staysFresh
}

func (e *emitter) lineBreak() {
	e.out = append(e.out, '\n')
	e.column = 0
}

// indent goes to a column, on the next line unless this one is fresh and short
// enough.
func (e *emitter) indent(column int) {
	if !e.fresh || e.column > column || e.column == column && !e.blank {
		e.lineBreak()
	}
	for e.column < column {
		e.put(" ")
	}
	e.blank, e.fresh = true, true
}

// hasBreak tells whether text has a line break of any kind.
func hasBreak(text string) bool { return strings.ContainsAny(text, "\n\r\u0085\u2028\u2029") }
