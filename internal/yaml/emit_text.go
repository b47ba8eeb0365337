package yaml

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// style is how a string is written.
type style int

// The styles, in the order of preference.
const (
	stylePlain style = iota
	styleSingleQuoted
	styleDoubleQuoted
	styleLiteral
)

// text writes a string. Its lines after the first one start at a column.
func (e *emitter) text(s string, at place, column int) {
	if !utf8.ValidString(s) {
		s = strings.ToValidUTF8(s, "\ufffd")
	}
	fold := at != inKey
	switch chooseStyle(s) {
	case stylePlain:
		e.plain(s, column, fold)
	case styleSingleQuoted:
		e.singleQuoted(s, column, fold)
	case styleDoubleQuoted:
		e.doubleQuoted(s, column, fold)
	case styleLiteral:
		e.literal(s, column)
	}
}

// chooseStyle returns the style of a string. It has quotes when it would be
// something else without them.
func chooseStyle(s string) style {
	lines := strings.Contains(s, "\n")
	if tag, _ := resolve(s, false); !lines && (tag != tagString || isSexagesimal(s)) {
		return styleDoubleQuoted
	}
	switch can := analyze(s); {
	case lines && can.literal:
		return styleLiteral
	case lines:
		return styleDoubleQuoted
	case can.plain:
		return stylePlain
	case can.singleQuoted:
		return styleSingleQuoted
	}
	return styleDoubleQuoted
}

// abilities are the styles that a string can have.
type abilities struct {
	plain, singleQuoted, literal bool
}

// analyze finds out the abilities of a string that is not empty.
func analyze(s string) abilities {
	var breaks, breakSpace, spaceBreak, special bool
	before := ' '
	for i, char := range s {
		isBreak := isOutputBreak(char)
		breaks = breaks || isBreak
		breakSpace = breakSpace || char == ' ' && i > 0 && isOutputBreak(before)
		spaceBreak = spaceBreak || isBreak && i > 0 && before == ' '
		special = special || !isPrintable(char)
		before = char
	}
	edge := strings.Trim(s, " \n\u2028\u2029") != s
	var can abilities
	can.singleQuoted = !breakSpace && !spaceBreak && !special
	can.literal = !spaceBreak && !special && !strings.HasSuffix(s, " ")
	can.plain = can.singleQuoted && !breaks && !edge && !hasIndicators(s)
	return can
}

// isOutputBreak tells whether a character is a line break that needs no escape.
func isOutputBreak(char rune) bool { return char == '\n' || char == '\u2028' || char == '\u2029' }

// isPrintable tells whether a character is written as it is.
func isPrintable(char rune) bool {
	switch {
	case char < 0xa0:
		return char == '\n' || char >= ' ' && char <= '~'
	case char == 0xfeff:
		return false
	}
	return char <= 0xfffd
}

// hasIndicators tells whether a string without quotes would be something else,
// or a comment or key would begin inside of it.
func hasIndicators(s string) bool {
	switch {
	case strings.HasPrefix(s, "---"), strings.HasPrefix(s, "..."):
		return true
	case strings.IndexByte("#,[]{}&*!|>'\"%@`", s[0]) >= 0:
		return true
	case s == "-" || s == "?" || strings.HasPrefix(s, "- ") || strings.HasPrefix(s, "? "):
		return true
	}
	return strings.HasSuffix(s, ":") || strings.Contains(s, ": ") || strings.Contains(s, " #")
}

// plain writes text without quotes.
func (e *emitter) plain(s string, column int, fold bool) {
	e.space()
	e.folded(s, column, fold, func(i int) bool { return i+1 < len(s) && s[i+1] != ' ' })
	e.blank, e.fresh = false, false
}

// singleQuoted writes text in single quotes.
func (e *emitter) singleQuoted(s string, column int, fold bool) {
	e.indicator("'", false)
	quoted := strings.ReplaceAll(s, "'", "''")
	e.folded(quoted, column, fold, func(i int) bool { return i > 0 && i+1 < len(quoted) && quoted[i+1] != ' ' })
	e.put("'")
	e.blank, e.fresh = false, false
}

// folded writes text and, behind [bestWidth], a line break for a space that is
// alone and where it may be.
func (e *emitter) folded(s string, column int, fold bool, may func(i int) bool) {
	before := 'x'
	for i, char := range s {
		switch {
		case char == ' ' && before != ' ' && fold && e.column > bestWidth && may(i):
			e.indent(column)
		case isOutputBreak(char):
			e.out = utf8.AppendRune(e.out, char)
			e.column, e.fresh = 0, true
		default:
			if isOutputBreak(before) {
				e.indent(column)
			}
			e.out = utf8.AppendRune(e.out, char)
			e.column++
			e.fresh = e.fresh && char == ' '
		}
		before = char
	}
}

// doubleQuoted writes text in double quotes, with escapes. Behind a byte order
// mark v2 escapes everything.
func (e *emitter) doubleQuoted(s string, column int, fold bool) {
	e.indicator(`"`, false)
	all := strings.HasPrefix(s, "\ufeff")
	before := 'x'
	for i, char := range s {
		switch {
		case all || !isPrintable(char) || isOutputBreak(char) || char == '"' || char == '\\':
			e.put(escape(char))
			before = 'x'
			continue
		case char == ' ' && before != ' ' && fold && e.column > bestWidth && i > 0 && i+1 < len(s):
			e.indent(column)
			if s[i+1] == ' ' {
				e.put(`\`)
			}
		default:
			e.out = utf8.AppendRune(e.out, char)
			e.column++
		}
		before = char
	}
	e.put(`"`)
	e.blank, e.fresh = false, false
}

// escape returns a character with a backslash.
func escape(char rune) string {
	switch char {
	case 0x85:
		return `\N`
	case 0xa0:
		return `\_`
	case 0x2028:
		return `\L`
	case 0x2029:
		return `\P`
	case ' ', '\'': // have escapes, but v2 does not use them
		return fmt.Sprintf(`\x%02X`, char)
	}
	switch i := strings.IndexRune(meanings, char); {
	case i >= 0:
		return `\` + escapes[i:i+1]
	case char <= 0xff:
		return fmt.Sprintf(`\x%02X`, char)
	case char <= 0xffff:
		return fmt.Sprintf(`\u%04X`, char)
	}
	return fmt.Sprintf(`\U%08X`, char)
}

// literal writes text as lines below an indicator.
func (e *emitter) literal(s string, column int) {
	e.indicator("|"+literalHints(s), false)
	e.lineBreak()
	e.blank, e.fresh = true, true
	before := '\n'
	for _, char := range s {
		switch {
		case char == '\n':
			e.lineBreak()
			e.fresh = true
		case isOutputBreak(char):
			e.out = utf8.AppendRune(e.out, char)
			e.column, e.fresh = 0, true
		default:
			if isOutputBreak(before) {
				e.indent(column)
			}
			e.out = utf8.AppendRune(e.out, char)
			e.column++
			e.fresh = false
		}
		before = char
	}
}

// literalHints returns how much the lines are indented, if they do not show it,
// and what becomes of the line breaks at the end.
func literalHints(s string) string {
	hints := ""
	if first, _ := utf8.DecodeRuneInString(s); first == ' ' || isOutputBreak(first) {
		hints = "2"
	}
	last, width := utf8.DecodeLastRuneInString(s)
	if !isOutputBreak(last) {
		return hints + "-"
	}
	if rest := s[:len(s)-width]; rest != "" {
		if last, _ := utf8.DecodeLastRuneInString(rest); !isOutputBreak(last) {
			return hints
		}
	}
	return hints + "+"
}
