package yaml

import (
	"errors"
	"fmt"
	"unicode/utf8"
)

// maxDepth limits how deep flow collections and block collections each nest.
const maxDepth = 10000

// maxKeyLength is the number of characters, on one line, within which a key
// without a question mark must reach its colon.
const maxKeyLength = 1024

// mark is a place in the stream. All members count from zero.
type mark struct {
	index, line, column int // index and column in characters
}

// simpleKey is a place where a key without a question mark may have begun. It
// becomes one when a colon follows in time.
type simpleKey struct {
	possible bool
	required bool // in this place nothing but a key makes sense
	// unawaited keys do not hold back their token, which may be taken before
	// their colon is seen. That is so after [] and {}: by a slip upstream, to
	// close a collection in which no key began forgets that it may be one.
	unawaited bool
	token     int // number of the token in the stream
	mark      mark
}

// scanner cuts a stream into tokens. Where block collections begin and whether
// a scalar is a key turn out later than the scalar itself, so tokens wait in a
// queue.
type scanner struct {
	source
	pos  int // in source.text
	mark mark

	queue []token
	head  int  // first token of the queue that was not taken
	taken int  // tokens taken so far
	ready bool // the token at head is final

	indent  int   // column of the innermost block collection, -1 outside
	indents []int // columns of the collections around it
	flow    int   // number of flow collections around
	// keys has an element per flow collection around, and one for the block context.
	keys       []simpleKey
	keyAllowed bool // a key without a question mark may start here
}

func newScanner(data []byte) *scanner {
	return &scanner{source: newSource(data), indent: -1, keys: make([]simpleKey, 1), keyAllowed: true}
}

// need makes sure that n more characters can be looked at. Behind the end of
// the stream there is no lack of NULs.
func (s *scanner) need(n int) error {
	if s.err == nil {
		return nil
	}
	at := s.pos
	for ; n > 0; n-- {
		if at >= s.size {
			return s.err
		}
		at += utf8Width(s.text[at])
	}
	return nil
}

// fail returns an error at the current place.
func (s *scanner) fail(problem string) error {
	if s.mark.line == 0 {
		return errors.New("yaml: " + problem)
	}
	return fmt.Errorf("yaml: line %d: %s", s.mark.line+1, problem)
}

// skip steps over n characters that are not line breaks and are ASCII.
func (s *scanner) skip(n int) {
	s.pos += n
	s.mark.index += n
	s.mark.column += n
}

// skipTo steps over characters of any width that are not line breaks.
func (s *scanner) skipTo(pos int) {
	n := utf8.RuneCountInString(s.text[s.pos:pos])
	s.pos = pos
	s.mark.index += n
	s.mark.column += n
}

// skipBreak steps over the line break that is here, if any, and returns what
// it means in a scalar.
func (s *scanner) skipBreak() string {
	width := breakWidth(s.text, s.pos)
	if width == 0 {
		return ""
	}
	meaning := "\n"
	if width == 3 {
		meaning = s.text[s.pos : s.pos+3] // U+2028 and U+2029 stay
	}
	s.mark.index++
	if s.text[s.pos] == '\r' && width == 2 {
		s.mark.index++
	}
	s.mark.column = 0
	s.mark.line++
	s.pos += width
	return meaning
}

// skipBlanks steps over spaces and tabs.
func (s *scanner) skipBlanks() {
	for isBlank(s.text[s.pos]) {
		s.skip(1)
	}
}

// skipComment steps over a comment, up to the end of its line.
func (s *scanner) skipComment() {
	if s.text[s.pos] != '#' {
		return
	}
	end := s.pos
	for !isBreakOrEnd(s.text, end) {
		end += utf8Width(s.text[end])
	}
	s.skipTo(end)
}

// atDocumentMark tells whether the line starts with --- or ... alone.
func (s *scanner) atDocumentMark() bool {
	if s.mark.column != 0 {
		return false
	}
	three := s.text[s.pos : s.pos+3]
	return (three == "---" || three == "...") && isBlankOrEnd(s.text, s.pos+3)
}

// peek returns the next token. It stays valid until the next call.
func (s *scanner) peek() (*token, error) {
	for !s.ready {
		if s.head < len(s.queue) {
			open, err := s.headMayBeKey()
			if err != nil {
				return nil, err
			}
			if !open {
				s.ready = true
				break
			}
		}
		if err := s.fetch(); err != nil {
			return nil, err
		}
	}
	return &s.queue[s.head], nil
}

// take removes the token that peek returned.
func (s *scanner) take() {
	s.ready = false
	s.head++
	s.taken++
	if s.head == len(s.queue) {
		s.queue, s.head = s.queue[:0], 0
	}
}

// headMayBeKey tells whether the next token may still turn out to start a key.
func (s *scanner) headMayBeKey() (bool, error) {
	level := s.queue[s.head].level
	if level == 0 || level > len(s.keys) {
		return false, nil
	}
	key := &s.keys[level-1]
	if key.token != s.taken || key.unawaited {
		return false, nil
	}
	return s.stillPossible(key)
}

// push appends a token to the queue.
func (s *scanner) push(t token) {
	if s.head > 0 && len(s.queue) == cap(s.queue) {
		s.queue, s.head = s.queue[:copy(s.queue, s.queue[s.head:])], 0
	}
	s.queue = append(s.queue, t)
}

// nextNumber returns the number of the token that is pushed next.
func (s *scanner) nextNumber() int { return s.taken + len(s.queue) - s.head }

// insert puts a token before the one with this number, or to the end if that
// one was taken.
func (s *scanner) insert(number int, t token) {
	s.push(t)
	if number < s.taken {
		return
	}
	waiting := s.queue[s.head+number-s.taken:]
	copy(waiting[1:], waiting)
	waiting[0] = t
}

// stillPossible tells whether a key that may have begun can still reach its
// colon.
func (s *scanner) stillPossible(key *simpleKey) (bool, error) {
	if !key.possible {
		return false, nil
	}
	if key.mark.line == s.mark.line && s.mark.index <= key.mark.index+maxKeyLength {
		return true, nil
	}
	if key.required {
		return false, s.fail("could not find expected ':'")
	}
	key.possible = false
	return false, nil
}

// saveKey notes that the next token may start a key. It returns the level that
// the token should carry.
func (s *scanner) saveKey() (int, error) {
	if !s.keyAllowed {
		return 0, nil
	}
	required := s.flow == 0 && s.indent == s.mark.column
	if err := s.dropKey(); err != nil {
		return 0, err
	}
	s.keys[len(s.keys)-1] = simpleKey{
		possible: true,
		required: required,
		token:    s.nextNumber(),
		mark:     s.mark,
	}
	return len(s.keys), nil
}

// dropKey gives up the key that may have begun at this level.
func (s *scanner) dropKey() error {
	key := &s.keys[len(s.keys)-1]
	if key.possible && key.required {
		return s.fail("could not find expected ':'")
	}
	key.possible = false
	return nil
}

// beginBlock opens a block collection at a column that is further right than the one
// around. Its token goes before the one with this number, or to the end for -1.
func (s *scanner) beginBlock(column, number int, t token) error {
	if s.flow > 0 || s.indent >= column {
		return nil
	}
	s.indents = append(s.indents, s.indent)
	s.indent = column
	if len(s.indents) > maxDepth {
		return s.fail(fmt.Sprintf("exceeded max depth of %d", maxDepth))
	}
	if number < 0 {
		s.push(t)
	} else {
		s.insert(number, t)
	}
	return nil
}

// closeBlocks closes the block collections that are further right than a column.
func (s *scanner) closeBlocks(column int) {
	if s.flow > 0 {
		return
	}
	for s.indent > column {
		s.push(token{kind: tokenBlockEnd, line: s.mark.line})
		s.indent = s.indents[len(s.indents)-1]
		s.indents = s.indents[:len(s.indents)-1]
	}
}
