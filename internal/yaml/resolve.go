package yaml

import (
	"encoding/base64"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// tagPrefix is what !! stands for.
const tagPrefix = "tag:yaml.org,2002:"

// The tags that mean something.
const (
	tagNull      = tagPrefix + "null"
	tagBool      = tagPrefix + "bool"
	tagInt       = tagPrefix + "int"
	tagFloat     = tagPrefix + "float"
	tagString    = tagPrefix + "str"
	tagTimestamp = tagPrefix + "timestamp"
	tagBinary    = tagPrefix + "binary"
	tagMerge     = tagPrefix + "merge"
)

// scalarValue returns the value of a scalar: nil or a bool, int, int64, uint64,
// float64 or string.
func scalarValue(n *node) (any, error) {
	switch n.tag {
	case "":
		if !n.plain {
			return n.value, nil
		}
		_, v := resolve(n.value, false)
		return v, nil
	case tagString:
		return n.value, nil
	case tagNull, tagBool, tagInt, tagFloat, tagTimestamp:
		return taggedValue(n)
	case tagBinary:
		text, err := base64.StdEncoding.DecodeString(n.value)
		if err != nil {
			return nil, errors.New("yaml: !!binary value contains invalid base64 data")
		}
		return string(text), nil
	}
	return n.value, nil // tags of others mean nothing
}

// taggedValue returns the value of a scalar whose tag says what it has to be.
func taggedValue(n *node) (any, error) {
	tag, v := resolve(n.value, n.tag != tagTimestamp)
	if tag == n.tag {
		return v, nil
	}
	if n.tag == tagFloat {
		switch i := v.(type) {
		case int:
			return float64(i), nil
		case int64:
			return float64(i), nil
		}
	}
	return nil, fmt.Errorf("yaml: cannot decode %s `%s` as a %s", shortTag(tag), n.value, shortTag(n.tag))
}

// shortTag writes a tag of YAML itself with two exclamation marks.
func shortTag(tag string) string { return "!!" + strings.TrimPrefix(tag, tagPrefix) }

// resolve returns the tag and the value of text without quotes. Timestamps are
// not recognised if something else is wanted; their value is their text.
func resolve(text string, wanted bool) (tag string, value any) {
	if text == "" {
		return tagNull, nil
	}
	switch c := text[0]; {
	case isDigit(c) || c == '+' || c == '-':
		if tag, value := resolveSpecialFloat(text); tag != "" {
			return tag, value
		}
		if !wanted && isTimestamp(text) {
			return tagTimestamp, text
		}
		return resolveNumber(text)
	case c == '.':
		if tag, value := resolveSpecialFloat(text); tag != "" {
			return tag, value
		}
		if f, err := strconv.ParseFloat(text, 64); err == nil {
			return tagFloat, f
		}
	default:
		return resolveWord(text)
	}
	return tagString, text
}

// resolveWord resolves the words of YAML 1.1.
func resolveWord(text string) (tag string, value any) {
	switch text {
	case "~", "null", "Null", "NULL":
		return tagNull, nil
	case "y", "Y", "yes", "Yes", "YES", "on", "On", "ON", "true", "True", "TRUE":
		return tagBool, true
	case "n", "N", "no", "No", "NO", "off", "Off", "OFF", "false", "False", "FALSE":
		return tagBool, false
	}
	return tagString, text
}

// resolveSpecialFloat resolves the floats that have no digits. The tag is empty
// for everything else.
func resolveSpecialFloat(text string) (tag string, value any) {
	switch text {
	case ".nan", ".NaN", ".NAN":
		return tagFloat, math.NaN()
	case ".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF":
		return tagFloat, math.Inf(1)
	case "-.inf", "-.Inf", "-.INF":
		return tagFloat, math.Inf(-1)
	}
	return "", nil
}

// resolveNumber resolves text that starts with a digit or a sign. Underscores
// may be anywhere in a number.
func resolveNumber(text string) (tag string, value any) {
	plain := strings.ReplaceAll(text, "_", "")
	if v := parseInteger(plain, 0); v != nil {
		return tagInt, v
	}
	if isFloat(plain) {
		if f, err := strconv.ParseFloat(plain, 64); err == nil {
			return tagFloat, f
		}
	}
	if digits, ok := strings.CutPrefix(plain, "0b"); ok {
		if v := parseInteger(digits, 2); v != nil {
			return tagInt, v // "0b-1", too
		}
	}
	return tagString, text
}

// parseInteger returns an int, a uint64 if it does not fit, or nil.
func parseInteger(text string, base int) any {
	if i, err := strconv.ParseInt(text, base, 64); err == nil {
		if int64(int(i)) == i {
			return int(i)
		}
		return i
	}
	if u, err := strconv.ParseUint(text, base, 64); err == nil {
		return u
	}
	return nil
}

// isFloat tells whether text is a sign, digits with at most one dot, and an
// exponent, of which only a digit before the exponent is required.
func isFloat(text string) bool {
	text = cutSign(text)
	whole := countDigits(text)
	text = text[whole:]
	fraction := 0
	if text != "" && text[0] == '.' {
		fraction = countDigits(text[1:])
		text = text[1+fraction:]
	}
	if whole+fraction == 0 {
		return false
	}
	if text != "" && (text[0] == 'e' || text[0] == 'E') {
		text = cutSign(text[1:])
		return text != "" && countDigits(text) == len(text)
	}
	return text == ""
}

// countDigits returns the number of digits that text starts with.
func countDigits(text string) int {
	return len(text) - len(strings.TrimLeft(text, "0123456789"))
}

// cutSign returns the text after its sign, if it has one.
func cutSign(text string) string {
	if text != "" && (text[0] == '+' || text[0] == '-') {
		return text[1:]
	}
	return text
}

// isTimestamp tells whether text is a date, with or without a time.
func isTimestamp(text string) bool {
	if len(text) < 5 || text[4] != '-' || strings.Trim(text[:4], "0123456789") != "" {
		return false
	}
	for _, layout := range [...]string{
		"2006-1-2T15:4:5.999999999Z07:00",
		"2006-1-2t15:4:5.999999999Z07:00",
		"2006-1-2 15:4:5.999999999",
		"2006-1-2",
	} {
		if _, err := time.Parse(layout, text); err == nil {
			return true
		}
	}
	return false
}

// isSexagesimal tells whether text is a number to the base 60, which only
// other parsers take it for.
func isSexagesimal(text string) bool {
	text = cutSign(text)
	if text == "" || !isDigit(text[0]) {
		return false
	}
	whole, rest, found := strings.Cut(text, ":")
	if !found || strings.Trim(whole, "0123456789_") != "" {
		return false
	}
	rest, fraction, _ := strings.Cut(rest, ".")
	if strings.Trim(fraction, "0123456789_") != "" {
		return false
	}
	for part := range strings.SplitSeq(rest, ":") {
		if len(part) == 0 || len(part) > 2 || strings.Trim(part, "0123456789") != "" || len(part) == 2 && part[0] > '5' {
			return false
		}
	}
	return true
}
