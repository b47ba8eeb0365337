package managedfields

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// stepKind is the kind of a step. Kinds are in the order in which upstream sorts
// them.
type stepKind uint8

const (
	memberStep stepKind = iota // a member of a struct or map: "f:name"
	keyStep                    // the item of a list that has these keys: `k:{"uid":"u1"}`
	valueStep                  // the item of a set: `v:"a/b"`
	indexStep                  // the item of a list by its number: "i:0"
)

// step is one part of the path to a field.
type step struct {
	kind stepKind
	name string // of a memberStep
	// value is the item for a valueStep, keys for a keyStep, and an int for an
	// indexStep.
	value any
}

// keys identify an item of a list. They are sorted by name.
type keys []key

type key struct {
	name  string
	value any
}

func member(name string) step { return step{kind: memberStep, name: name} }

func compareSteps(a, b *step) int {
	if a.kind != b.kind {
		return cmp.Compare(a.kind, b.kind)
	}
	if a.kind == memberStep {
		return strings.Compare(a.name, b.name)
	}
	return compareValueSteps(a, b)
}

// compareValueSteps is compareSteps for two of one kind that have no names.
func compareValueSteps(a, b *step) int {
	switch a.kind {
	case keyStep:
		return slices.CompareFunc(a.value.(keys), b.value.(keys), func(x, y key) int {
			return cmp.Or(strings.Compare(x.name, y.name), compareValues(x.value, y.value))
		})
	case indexStep:
		return cmp.Compare(a.value.(int), b.value.(int))
	}
	return compareValues(a.value, b.value)
}

// appendText appends the name of the step in FieldsV1, without quotes. Equal steps have
// equal texts.
func (s step) appendText(dst []byte) []byte {
	switch s.kind {
	case memberStep:
		return append(append(dst, "f:"...), s.name...)
	case keyStep:
		dst = append(dst, "k:{"...)
		for i, k := range s.value.(keys) {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = append(appendString(dst, k.name), ':')
			dst = appendValue(dst, k.value)
		}
		return append(dst, '}')
	case indexStep:
		return strconv.AppendInt(append(dst, "i:"...), int64(s.value.(int)), 10)
	}
	return appendValue(append(dst, "v:"...), s.value)
}

// text returns the name of the step in FieldsV1.
func (s step) text() string { return string(s.appendText(nil)) }

// String returns the step as it appears in a path: `.name`, `[uid="u1"]`,
// `[="a/b"]`, `[0]`.
func (s step) String() string {
	switch s.kind {
	case memberStep:
		return "." + s.name
	case keyStep:
		var parts []string
		for _, k := range s.value.(keys) {
			parts = append(parts, k.name+"="+valueText(k.value))
		}
		return "[" + strings.Join(parts, ",") + "]"
	case indexStep:
		return "[" + strconv.Itoa(s.value.(int)) + "]"
	}
	return "[=" + valueText(s.value) + "]"
}

func pathText(path []step) string {
	var b strings.Builder
	for _, s := range path {
		b.WriteString(s.String())
	}
	return b.String()
}
