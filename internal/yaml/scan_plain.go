package yaml

import "strings"

// scanPlain scans a scalar without quotes. It ends at a comment, at a colon
// that is followed by a blank, at less indentation, and in flow collections at
// their indicators.
func (s *scanner) scanPlain() (token, error) {
	t := token{kind: tokenScalar, plain: true, line: s.mark.line}
	var (
		text       []byte // folded lines before the current one
		start, end = s.pos, s.pos
		gap        lineGap
	)
	for {
		if err := s.need(4); err != nil {
			return t, err
		}
		if s.atDocumentMark() || s.text[s.pos] == '#' {
			break
		}
		if run := s.plainRun(); run > s.pos {
			if gap.broken {
				text = gap.fold(append(text, s.text[start:end]...))
				start = s.pos
			}
			s.skipTo(run)
			end = run
			if err := s.need(2); err != nil {
				return t, err
			}
		}
		if !isBlank(s.text[s.pos]) && breakWidth(s.text, s.pos) == 0 {
			break
		}
		if err := s.skipPlainGap(&gap); err != nil {
			return t, err
		}
		if s.flow == 0 && s.mark.column <= s.indent {
			break
		}
	}
	if gap.broken {
		s.keyAllowed = true // another line has begun
	}
	t.value = s.text[start:end]
	if text != nil {
		t.value = string(append(text, t.value...))
	}
	return t, nil
}

// plainRun returns where the characters end that are surely part of a plain
// scalar.
func (s *scanner) plainRun() int {
	for i := s.pos; ; {
		c := s.text[i]
		switch {
		case c == ':' && isBlankOrEnd(s.text, i+1), isBlankOrEnd(s.text, i):
			return i
		case s.flow > 0 && strings.IndexByte(",?[]{}", c) >= 0:
			return i
		}
		i += utf8Width(c)
	}
}

// skipPlainGap steps over the blanks and line breaks inside or after a plain
// scalar.
func (s *scanner) skipPlainGap(gap *lineGap) error {
	for {
		switch c := s.text[s.pos]; {
		case c == '\t' && gap.broken && s.mark.column <= s.indent:
			return s.fail("found a tab character that violates indentation")
		case isBlank(c):
			s.skip(1)
		case breakWidth(s.text, s.pos) > 0:
			if err := s.need(2); err != nil {
				return err
			}
			gap.add(s.skipBreak())
		default:
			return nil
		}
		if err := s.need(1); err != nil {
			return err
		}
	}
}

// lineGap is a sequence of line breaks between two lines of a scalar.
type lineGap struct {
	broken bool
	first  string
	rest   []byte
}

// add notes a line break.
func (g *lineGap) add(br string) {
	if !g.broken {
		g.broken, g.first = true, br
		return
	}
	g.rest = append(g.rest, br...)
}

// fold appends what the line breaks mean and forgets them: a single one is a
// space, of several the first one is dropped.
func (g *lineGap) fold(text []byte) []byte {
	switch {
	case g.first != "\n":
		text = append(append(text, g.first...), g.rest...)
	case len(g.rest) == 0:
		text = append(text, ' ')
	default:
		text = append(text, g.rest...)
	}
	*g = lineGap{rest: g.rest[:0]}
	return text
}
