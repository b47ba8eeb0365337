package yaml

import "strings"

// scanWord steps over the characters that may stand in a name and returns them.
func (s *scanner) scanWord() (string, error) {
	start := s.pos
	for isWord(s.text[s.pos]) {
		s.skip(1)
	}
	return s.text[start:s.pos], s.need(1)
}

// scanAnchor scans an anchor or an alias.
func (s *scanner) scanAnchor(kind tokenKind) (token, error) {
	t := token{kind: kind, line: s.mark.line}
	s.skip(1)
	name, err := s.scanWord()
	if err != nil {
		return t, err
	}
	if name == "" || !isBlankOrEnd(s.text, s.pos) && strings.IndexByte("?:,]}%@`", s.text[s.pos]) < 0 {
		return t, s.fail("did not find expected alphabetic or numeric character")
	}
	t.value = name
	return t, nil
}

// scanTag scans a tag: !<uri>, !handle!suffix, !suffix or the exclamation mark
// alone, which comes without handle.
func (s *scanner) scanTag() (token, error) {
	t := token{kind: tokenTag, line: s.mark.line}
	var err error
	if s.text[s.pos+1] == '<' {
		s.skip(2)
		if t.suffix, err = s.scanURI(""); err != nil {
			return t, err
		}
		if s.text[s.pos] != '>' {
			return t, s.fail("did not find the expected '>'")
		}
		s.skip(1)
	} else {
		if t.value, err = s.scanHandle(false); err != nil {
			return t, err
		}
		head := ""
		if len(t.value) == 1 || !strings.HasSuffix(t.value, "!") {
			head, t.value = t.value, "!"
		}
		if t.suffix, err = s.scanURI(head); err != nil {
			return t, err
		}
		if t.suffix == "" {
			t.value, t.suffix = "", "!"
		}
	}
	if err := s.need(1); err != nil {
		return t, err
	}
	if !isBlankOrEnd(s.text, s.pos) {
		return t, s.fail("did not find expected whitespace or line break")
	}
	return t, nil
}

// scanHandle scans a tag handle with the exclamation marks around it. In a tag
// the second one may be missing; then it was not a handle.
func (s *scanner) scanHandle(directive bool) (string, error) {
	start := s.pos
	if s.text[s.pos] != '!' {
		return "", s.fail("did not find expected '!'")
	}
	s.skip(1)
	if _, err := s.scanWord(); err != nil {
		return "", err
	}
	if s.text[s.pos] == '!' {
		s.skip(1)
	} else if directive && s.pos-start > 1 {
		return "", s.fail("did not find expected '!'")
	}
	return s.text[start:s.pos], nil
}

// scanURI scans the rest of a tag. The head is what was scanned of it already,
// with the exclamation mark before it, which is dropped.
func (s *scanner) scanURI(head string) (string, error) {
	uri := []byte(strings.TrimPrefix(head, "!"))
	found := head != ""
	for {
		if err := s.need(1); err != nil {
			return "", err
		}
		c := s.text[s.pos]
		switch {
		case c == '%':
			var err error
			if uri, err = s.scanURIEscape(uri); err != nil {
				return "", err
			}
		case isWord(c) || c != 0 && strings.IndexByte(";/?:@&=+$,.!~*'()[]", c) >= 0:
			uri = append(uri, c)
			s.skip(1)
		case found:
			return string(uri), nil
		default:
			return "", s.fail("did not find expected tag URI")
		}
		found = true
	}
}

// scanURIEscape appends a character of which each byte is a percent sign and
// two hexadecimal digits.
func (s *scanner) scanURIEscape(uri []byte) ([]byte, error) {
	for missing := -1; missing != 0; missing-- {
		if err := s.need(3); err != nil {
			return nil, err
		}
		if s.text[s.pos] != '%' || hexValue(s.text[s.pos+1]) < 0 || hexValue(s.text[s.pos+2]) < 0 {
			return nil, s.fail("did not find URI escaped octet")
		}
		octet := byte(hexValue(s.text[s.pos+1])<<4 | hexValue(s.text[s.pos+2]))
		switch {
		case missing < 0:
			if missing = utf8Width(octet); missing == 0 {
				return nil, s.fail("found an incorrect leading UTF-8 octet")
			}
		case octet&0xc0 != 0x80:
			return nil, s.fail("found an incorrect trailing UTF-8 octet")
		}
		uri = append(uri, octet)
		s.skip(3)
	}
	return uri, nil
}

// scanDirective scans a line that starts with a percent sign.
func (s *scanner) scanDirective() (token, error) {
	t := token{line: s.mark.line}
	s.skip(1)
	name, err := s.scanWord()
	switch {
	case err != nil:
		return t, err
	case name == "":
		return t, s.fail("could not find expected directive name")
	case !isBlankOrEnd(s.text, s.pos):
		return t, s.fail("found unexpected non-alphabetical character")
	case name == "YAML":
		t.kind = tokenVersion
		t.value, err = s.scanVersion()
	case name == "TAG":
		t.kind = tokenTagDirective
		t.value, t.suffix, err = s.scanTagDirective()
	default:
		return t, s.fail("found unknown directive name")
	}
	if err != nil {
		return t, err
	}
	s.skipBlanks()
	s.skipComment()
	if err := s.need(1); err != nil {
		return t, err
	}
	if !isBreakOrEnd(s.text, s.pos) {
		return t, s.fail("did not find expected comment or line break")
	}
	if s.text[s.pos] != 0 {
		if err := s.need(2); err != nil {
			return t, err
		}
	}
	s.skipBreak()
	return t, nil
}

// scanVersion scans the version after %YAML, without zeros in front.
func (s *scanner) scanVersion() (string, error) {
	s.skipBlanks()
	major, err := s.scanVersionNumber()
	if err != nil {
		return "", err
	}
	if s.text[s.pos] != '.' {
		return "", s.fail("did not find expected digit or '.' character")
	}
	s.skip(1)
	minor, err := s.scanVersionNumber()
	return major + "." + minor, err
}

func (s *scanner) scanVersionNumber() (string, error) {
	start := s.pos
	for {
		if err := s.need(1); err != nil {
			return "", err
		}
		if !isDigit(s.text[s.pos]) {
			break
		}
		if s.pos-start == 2 {
			return "", s.fail("found extremely long version number")
		}
		s.skip(1)
	}
	if s.pos == start {
		return "", s.fail("did not find expected version number")
	}
	return strings.TrimPrefix(s.text[start:s.pos], "0"), nil
}

// scanTagDirective scans the handle and the prefix after %TAG.
func (s *scanner) scanTagDirective() (handle, prefix string, err error) {
	s.skipBlanks()
	if err := s.need(1); err != nil {
		return "", "", err
	}
	if handle, err = s.scanHandle(true); err != nil {
		return "", "", err
	}
	if err := s.need(1); err != nil {
		return "", "", err
	}
	if !isBlank(s.text[s.pos]) {
		return "", "", s.fail("did not find expected whitespace")
	}
	s.skipBlanks()
	if prefix, err = s.scanURI(""); err != nil {
		return "", "", err
	}
	if !isBlankOrEnd(s.text, s.pos) {
		return "", "", s.fail("did not find expected whitespace or line break")
	}
	return handle, prefix, nil
}
