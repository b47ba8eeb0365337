package yaml

// chomping says what becomes of the line breaks at the end of a block scalar.
type chomping int

// The ways of chomping.
const (
	clip  chomping = iota // the first one stays
	strip                 // none stays
	keep                  // all stay
)

// scanBlockScalar scans a literal or folded scalar.
func (s *scanner) scanBlockScalar() (token, error) {
	t := token{kind: tokenScalar, line: s.mark.line}
	folded := s.text[s.pos] == '>'
	s.skip(1)
	chomp, indent, err := s.scanBlockHeader()
	if err != nil {
		return t, err
	}
	if indent > 0 && s.indent > 0 {
		indent += s.indent
	}
	breaks, err := s.scanBlockBreaks(nil, &indent)
	if err != nil {
		return t, err
	}
	var text []byte
	var last string // line break after the last line with text
	blankBefore := false
	for s.mark.column == indent && s.text[s.pos] != 0 {
		blank := isBlank(s.text[s.pos])
		if folded && last == "\n" && !blank && !blankBefore {
			if len(breaks) == 0 {
				text = append(text, ' ')
			}
		} else {
			text = append(text, last...)
		}
		text = append(text, breaks...)
		blankBefore = blank

		end := s.pos
		for !isBreakOrEnd(s.text, end) {
			end += utf8Width(s.text[end])
		}
		text = append(text, s.text[s.pos:end]...)
		if err := s.endRun(end); err != nil {
			return t, err
		}
		last = s.skipBreak()
		if breaks, err = s.scanBlockBreaks(breaks[:0], &indent); err != nil {
			return t, err
		}
	}
	if chomp != strip {
		text = append(text, last...)
	}
	if chomp == keep {
		text = append(text, breaks...)
	}
	t.value = string(text)
	return t, nil
}

// scanBlockHeader scans what follows the indicator on its line: chomping and
// indentation in any order. The indentation is zero if it is not given.
func (s *scanner) scanBlockHeader() (chomp chomping, indent int, err error) {
	if err := s.need(1); err != nil {
		return 0, 0, err
	}
	chomp = s.scanChomping()
	if indent, err = s.scanIndentation(); err != nil {
		return 0, 0, err
	}
	if chomp == clip && indent > 0 {
		chomp = s.scanChomping()
	}
	s.skipBlanks()
	s.skipComment()
	if err := s.need(1); err != nil {
		return 0, 0, err
	}
	if !isBreakOrEnd(s.text, s.pos) {
		return 0, 0, s.fail("did not find expected comment or line break")
	}
	if s.text[s.pos] != 0 {
		err = s.need(2)
	}
	s.skipBreak()
	return chomp, indent, err
}

func (s *scanner) scanChomping() chomping {
	switch s.text[s.pos] {
	case '-':
		s.skip(1)
		return strip
	case '+':
		s.skip(1)
		return keep
	}
	return clip
}

func (s *scanner) scanIndentation() (int, error) {
	if err := s.need(1); err != nil {
		return 0, err
	}
	c := s.text[s.pos]
	if !isDigit(c) {
		return 0, nil
	}
	if c == '0' {
		return 0, s.fail("found an indentation indicator equal to 0")
	}
	s.skip(1)
	return int(c - '0'), s.need(1)
}

// scanBlockBreaks appends the line breaks before the next line with text and
// steps over its indentation. If that is not known, the furthest right of these
// lines determines it.
func (s *scanner) scanBlockBreaks(breaks []byte, indent *int) ([]byte, error) {
	furthest := 0
	for {
		for s.text[s.pos] == ' ' && (*indent == 0 || s.mark.column < *indent) {
			s.skip(1)
		}
		if err := s.need(1); err != nil {
			return nil, err
		}
		furthest = max(furthest, s.mark.column)
		if s.text[s.pos] == '\t' && (*indent == 0 || s.mark.column < *indent) {
			return nil, s.fail("found a tab character where an indentation space is expected")
		}
		if breakWidth(s.text, s.pos) == 0 {
			break
		}
		if err := s.need(2); err != nil {
			return nil, err
		}
		breaks = append(breaks, s.skipBreak()...)
	}
	if *indent == 0 {
		*indent = max(furthest, s.indent+1, 1)
	}
	return breaks, nil
}
