package yaml

import (
	"fmt"
	"strings"
)

// fetch scans the next token, and what it implies, into the queue.
func (s *scanner) fetch() error {
	if err := s.skipToToken(); err != nil {
		return err
	}
	s.closeBlocks(s.mark.column)
	if err := s.need(4); err != nil {
		return err
	}
	c, next := s.text[s.pos], s.pos+1
	switch {
	case c == 0:
		return s.fetchEnd()
	case s.mark.column == 0 && c == '%':
		return s.fetchDirective()
	case s.atDocumentMark():
		return s.fetchDocumentMark(c)
	}
	switch c {
	case '[':
		return s.fetchFlowStart(tokenFlowSequence)
	case '{':
		return s.fetchFlowStart(tokenFlowMapping)
	case ']':
		return s.fetchFlowEnd(tokenFlowSequenceEnd)
	case '}':
		return s.fetchFlowEnd(tokenFlowMappingEnd)
	case ',':
		return s.fetchFlowEntry()
	case '*':
		return s.fetchKeyable(func() (token, error) { return s.scanAnchor(tokenAlias) })
	case '&':
		return s.fetchKeyable(func() (token, error) { return s.scanAnchor(tokenAnchor) })
	case '!':
		return s.fetchKeyable(s.scanTag)
	case '\'':
		return s.fetchKeyable(s.scanSingleQuoted)
	case '"':
		return s.fetchKeyable(s.scanDoubleQuoted)
	case '|', '>':
		if s.flow == 0 {
			return s.fetchBlockScalar()
		}
	case '-':
		if isBlankOrEnd(s.text, next) {
			return s.fetchBlockEntry()
		}
		return s.fetchKeyable(s.scanPlain)
	case '?':
		if s.flow > 0 || isBlankOrEnd(s.text, next) {
			return s.fetchKey()
		}
		return s.fetchKeyable(s.scanPlain)
	case ':':
		if s.flow > 0 || isBlankOrEnd(s.text, next) {
			return s.fetchValue()
		}
		return s.fetchKeyable(s.scanPlain)
	}
	if isBlank(c) || strings.IndexByte("#|>%@`", c) >= 0 {
		return s.fail("found character that cannot start any token")
	}
	return s.fetchKeyable(s.scanPlain)
}

// skipToToken steps over blanks, comments and line breaks. Tabs count as
// blanks only where no block collection can begin.
func (s *scanner) skipToToken() error {
	for {
		if err := s.need(1); err != nil {
			return err
		}
		if s.pos == 0 && strings.HasPrefix(s.text, "\ufeff") {
			s.skipTo(3)
		}
		for s.text[s.pos] == ' ' || s.text[s.pos] == '\t' && (s.flow > 0 || !s.keyAllowed) {
			s.skip(1)
		}
		s.skipComment()
		if err := s.need(1); err != nil {
			return err
		}
		if breakWidth(s.text, s.pos) == 0 {
			return nil
		}
		if err := s.need(2); err != nil {
			return err
		}
		s.skipBreak()
		if s.flow == 0 {
			s.keyAllowed = true
		}
	}
}

// pushMark appends a token of n characters.
func (s *scanner) pushMark(kind tokenKind, level, n int) {
	s.push(token{kind: kind, line: s.mark.line, level: level})
	s.skip(n)
}

// fetchKeyable fetches a token that may start a key and after which, on its
// line, none may start.
func (s *scanner) fetchKeyable(scan func() (token, error)) error {
	level, err := s.saveKey()
	if err != nil {
		return err
	}
	s.keyAllowed = false
	t, err := scan()
	if err != nil {
		return err
	}
	t.level = level
	s.push(t)
	return nil
}

func (s *scanner) fetchEnd() error {
	if s.mark.column != 0 {
		s.mark.column = 0
		s.mark.line++
	}
	s.closeBlocks(-1)
	if err := s.dropKey(); err != nil {
		return err
	}
	s.keyAllowed = false
	s.pushMark(tokenStreamEnd, 0, 0)
	return nil
}

func (s *scanner) fetchDirective() error {
	s.closeBlocks(-1)
	if err := s.dropKey(); err != nil {
		return err
	}
	s.keyAllowed = false
	t, err := s.scanDirective()
	if err != nil {
		return err
	}
	s.push(t)
	return nil
}

func (s *scanner) fetchDocumentMark(c byte) error {
	s.closeBlocks(-1)
	if err := s.dropKey(); err != nil {
		return err
	}
	s.keyAllowed = false
	kind := tokenDocumentStart
	if c == '.' {
		kind = tokenDocumentEnd
	}
	s.pushMark(kind, 0, 3)
	return nil
}

func (s *scanner) fetchFlowStart(kind tokenKind) error {
	level, err := s.saveKey()
	if err != nil {
		return err
	}
	s.keys = append(s.keys, simpleKey{token: s.nextNumber()})
	s.flow++
	if s.flow > maxDepth {
		return s.fail(fmt.Sprintf("exceeded max depth of %d", maxDepth))
	}
	s.keyAllowed = true
	s.pushMark(kind, level, 1)
	return nil
}

func (s *scanner) fetchFlowEnd(kind tokenKind) error {
	if err := s.dropKey(); err != nil {
		return err
	}
	if s.flow > 0 {
		s.flow--
		inner, outer := &s.keys[len(s.keys)-1], &s.keys[len(s.keys)-2]
		outer.unawaited = outer.unawaited || inner.token == outer.token
		s.keys = s.keys[:len(s.keys)-1]
	}
	s.keyAllowed = false
	s.pushMark(kind, 0, 1)
	return nil
}

func (s *scanner) fetchFlowEntry() error {
	if err := s.dropKey(); err != nil {
		return err
	}
	s.keyAllowed = true
	s.pushMark(tokenFlowEntry, 0, 1)
	return nil
}

// openBlock makes sure that a block collection goes on, or may begin, with the
// indicator that is here.
func (s *scanner) openBlock(kind tokenKind, problem string) error {
	if s.flow > 0 {
		return nil // if it should not be here, the parser says so
	}
	if !s.keyAllowed {
		return s.fail(problem)
	}
	return s.beginBlock(s.mark.column, -1, token{kind: kind, line: s.mark.line})
}

func (s *scanner) fetchBlockEntry() error {
	if err := s.openBlock(tokenBlockSequence, "block sequence entries are not allowed in this context"); err != nil {
		return err
	}
	if err := s.dropKey(); err != nil {
		return err
	}
	s.keyAllowed = true
	s.pushMark(tokenBlockEntry, 0, 1)
	return nil
}

func (s *scanner) fetchKey() error {
	if err := s.openBlock(tokenBlockMapping, "mapping keys are not allowed in this context"); err != nil {
		return err
	}
	if err := s.dropKey(); err != nil {
		return err
	}
	s.keyAllowed = s.flow == 0
	s.pushMark(tokenKey, 0, 1)
	return nil
}

// fetchValue fetches a colon. If a key was possible, it is one now, and its
// tokens go before it.
func (s *scanner) fetchValue() error {
	key := &s.keys[len(s.keys)-1]
	isKey, err := s.stillPossible(key)
	if err != nil {
		return err
	}
	if isKey {
		s.insert(key.token, token{kind: tokenKey, line: key.mark.line})
		if err := s.beginBlock(key.mark.column, key.token, token{kind: tokenBlockMapping, line: key.mark.line}); err != nil {
			return err
		}
		key.possible = false
		s.keyAllowed = false
	} else {
		if err := s.openBlock(tokenBlockMapping, "mapping values are not allowed in this context"); err != nil {
			return err
		}
		s.keyAllowed = s.flow == 0
	}
	s.pushMark(tokenValue, 0, 1)
	return nil
}

func (s *scanner) fetchBlockScalar() error {
	if err := s.dropKey(); err != nil {
		return err
	}
	s.keyAllowed = true
	t, err := s.scanBlockScalar()
	if err != nil {
		return err
	}
	s.push(t)
	return nil
}
