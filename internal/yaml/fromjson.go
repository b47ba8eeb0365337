package yaml

import (
	"slices"
	"unicode"
	"unicode/utf8"
)

// FromJSON converts a JSON document to YAML.
//
// JSON is read as the YAML that it is, hence what JSON allows and YAML 1.1 does
// not is an error as it is upstream: escaped slashes and surrogate pairs, and
// keys longer than 1024 characters. encoding/json writes none of the former.
func FromJSON(data []byte) ([]byte, error) {
	root, err := parse(data)
	if err != nil {
		return nil, err
	}
	value, _, err := construct(root)
	if err != nil {
		return nil, err
	}
	if err := nameKeys(value); err != nil {
		return nil, err
	}
	e := emitter{out: make([]byte, 0, len(data)+len(data)/4), blank: true, fresh: true}
	e.value(value, -1, inDocument)
	e.indent(0)
	return e.out, nil
}

// sortNaturally sorts the keys as v2 does.
func (o *object) sortNaturally() {
	slices.SortStableFunc(o.entries, func(a, b entry) int { return compareNaturally(a.name, b.name) })
}

// compareNaturally compares texts by the first characters that differ: letters
// come after everything else, and digits count as numbers.
func compareNaturally(a, b string) int {
	i := commonPrefix(a, b)
	if i == len(a) || i == len(b) {
		return len(a) - len(b)
	}
	charA, _ := utf8.DecodeRuneInString(a[i:])
	charB, _ := utf8.DecodeRuneInString(b[i:])
	letterA, letterB := unicode.IsLetter(charA), unicode.IsLetter(charB)
	switch {
	case letterA && letterB:
		return int(charA - charB)
	case letterA:
		return 1
	case letterB:
		return -1
	}
	var start int64
	if (charA == '0' || charB == '0') && endsInNumber(a[:i]) {
		start = 1 // the zero is not a leading one
	}
	numberA, digitsA := naturalNumber(start, a[i:])
	numberB, digitsB := naturalNumber(start, b[i:])
	switch {
	case numberA < numberB:
		return -1
	case numberA > numberB:
		return 1
	case digitsA != digitsB:
		return digitsA - digitsB
	}
	return int(charA - charB)
}

// commonPrefix returns the size of the characters that both texts start with.
func commonPrefix(a, b string) int {
	i := 0
	for i < len(a) && i < len(b) && a[i] == b[i] {
		i++
	}
	for i > 0 && (i < len(a) && !utf8.RuneStart(a[i]) || i < len(b) && !utf8.RuneStart(b[i])) {
		i--
	}
	return i
}

// endsInNumber tells whether the digits at the end of text are not all zero.
func endsInNumber(text string) bool {
	for text != "" {
		char, width := utf8.DecodeLastRuneInString(text)
		if !unicode.IsDigit(char) {
			return false
		}
		if char != '0' {
			return true
		}
		text = text[:len(text)-width]
	}
	return false
}

// naturalNumber appends the digits that text starts with to a number and counts
// them. The number overflows when there are many.
func naturalNumber(n int64, text string) (number int64, digits int) {
	for _, char := range text {
		if !unicode.IsDigit(char) {
			break
		}
		n = n*10 + int64(char-'0')
		digits++
	}
	return n, digits
}
