package yaml

import (
	"strings"
	"unicode/utf8"
)

// scanSingleQuoted scans a scalar in single quotes.
func (s *scanner) scanSingleQuoted() (token, error) {
	return s.scanQuoted('\'', s.singleQuotedRun)
}

// scanDoubleQuoted scans a scalar in double quotes.
func (s *scanner) scanDoubleQuoted() (token, error) {
	return s.scanQuoted('"', s.doubleQuotedRun)
}

// quotedRun appends what is before the next blank, line break or closing
// quote. It tells whether it ended with an escaped line break.
type quotedRun func(text []byte) (longer []byte, broken bool, err error)

func (s *scanner) scanQuoted(quote byte, run quotedRun) (token, error) {
	t := token{kind: tokenScalar, line: s.mark.line}
	s.skip(1)
	if end := s.simpleQuoted(quote); end >= 0 {
		t.value = s.text[s.pos:end]
		s.skipTo(end)
		s.skip(1)
		return t, nil
	}
	var text []byte
	for {
		if err := s.need(4); err != nil {
			return t, err
		}
		if s.atDocumentMark() {
			return t, s.fail("found unexpected document indicator")
		}
		if s.text[s.pos] == 0 {
			return t, s.fail("found unexpected end of stream")
		}
		longer, broken, err := run(text)
		if err != nil {
			return t, err
		}
		if err := s.need(1); err != nil {
			return t, err
		}
		if s.text[s.pos] == quote {
			s.skip(1)
			t.value = string(longer)
			return t, nil
		}
		if text, err = s.foldQuoted(longer, broken); err != nil {
			return t, err
		}
	}
}

// simpleQuoted returns where the closing quote is if the scalar is on one line
// and without escapes, or else -1.
func (s *scanner) simpleQuoted(quote byte) int {
	if s.err != nil {
		return -1
	}
	for i := s.pos; ; {
		c := s.text[i]
		switch {
		case c == quote && (quote == '"' || s.text[i+1] != quote):
			return i
		case c == quote, c == '\\' && quote == '"', c < ' ' && isBreakOrEnd(s.text, i), c > '~' && isBreakOrEnd(s.text, i):
			return -1
		}
		i += utf8Width(c)
	}
}

// foldQuoted steps over blanks and line breaks and appends what they mean.
// After an escaped line break, blanks mean nothing and line breaks themselves.
func (s *scanner) foldQuoted(text []byte, broken bool) ([]byte, error) {
	start := s.pos
	gap := lineGap{broken: broken}
	for {
		switch {
		case isBlank(s.text[s.pos]):
			s.skip(1)
		case breakWidth(s.text, s.pos) > 0:
			if err := s.need(2); err != nil {
				return nil, err
			}
			gap.add(s.skipBreak())
		case gap.broken:
			return gap.fold(text), nil
		default:
			return append(text, s.text[start:s.pos]...), nil
		}
		if err := s.need(1); err != nil {
			return nil, err
		}
	}
}

// singleQuotedRun is the [quotedRun] of single quotes, where two stand for one.
func (s *scanner) singleQuotedRun(text []byte) ([]byte, bool, error) {
	for i := s.pos; ; {
		c := s.text[i]
		if isBlankOrEnd(s.text, i) || c == '\'' && s.text[i+1] != '\'' {
			text = append(text, s.text[s.pos:i]...)
			return text, false, s.endRun(i)
		}
		if c == '\'' {
			text = append(text, s.text[s.pos:i+1]...)
			s.skipTo(i + 2)
			i = s.pos
			continue
		}
		i += utf8Width(c)
	}
}

// endRun steps to the end of a run.
func (s *scanner) endRun(end int) error {
	s.skipTo(end)
	return s.need(2)
}

// doubleQuotedRun is the [quotedRun] of double quotes, where a backslash starts
// an escape.
func (s *scanner) doubleQuotedRun(text []byte) ([]byte, bool, error) {
	for i := s.pos; ; {
		c := s.text[i]
		switch {
		case isBlankOrEnd(s.text, i) || c == '"':
			text = append(text, s.text[s.pos:i]...)
			return text, false, s.endRun(i)
		case c != '\\':
			i += utf8Width(c)
			continue
		}
		text = append(text, s.text[s.pos:i]...)
		s.skipTo(i)
		if err := s.need(2); err != nil {
			return nil, false, err
		}
		if breakWidth(s.text, i+1) > 0 {
			if err := s.need(3); err != nil {
				return nil, false, err
			}
			s.skip(1)
			s.skipBreak()
			return text, true, nil
		}
		var err error
		if text, err = s.scanEscape(text); err != nil {
			return nil, false, err
		}
		i = s.pos
	}
}

// escapes lists the characters that may follow a backslash, and meanings what
// they stand for.
const escapes = "0abt\tnvfre \"'\\"

const meanings = "\x00\a\b\t\t\n\v\f\r\x1b \"'\\"

// scanEscape appends what the escape that is here stands for.
func (s *scanner) scanEscape(text []byte) ([]byte, error) {
	digits := 0
	switch c := s.text[s.pos+1]; c {
	case 'N':
		text = append(text, "\u0085"...)
	case '_':
		text = append(text, "\u00a0"...)
	case 'L':
		text = append(text, "\u2028"...)
	case 'P':
		text = append(text, "\u2029"...)
	case 'x':
		digits = 2
	case 'u':
		digits = 4
	case 'U':
		digits = 8
	default:
		i := strings.IndexByte(escapes, c)
		if i < 0 {
			return nil, s.fail("found unknown escape character")
		}
		text = append(text, meanings[i])
	}
	s.skip(2)
	if digits > 0 {
		return s.scanCodePoint(text, digits)
	}
	return text, s.need(2)
}

// scanCodePoint appends the character whose number is here in hexadecimal.
func (s *scanner) scanCodePoint(text []byte, digits int) ([]byte, error) {
	if err := s.need(digits); err != nil {
		return nil, err
	}
	char := 0
	for i := range digits {
		digit := hexValue(s.text[s.pos+i])
		if digit < 0 {
			return nil, s.fail("did not find expected hexdecimal number")
		}
		char = char<<4 | digit
	}
	if char > utf8.MaxRune || !utf8.ValidRune(rune(char)) {
		return nil, s.fail("found invalid Unicode character escape code")
	}
	s.skip(digits)
	return utf8.AppendRune(text, rune(char)), s.need(2)
}
