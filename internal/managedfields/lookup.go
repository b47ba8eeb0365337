package managedfields

import (
	"bytes"

	"github.com/kubecoord/kubecoord/internal/codec"
)

// owns reports whether a field is in a set. text is the output of appendFields; owns
// does not parse all of it. ok is false if appendFields cannot have written text.
func owns(text []byte, path codec.Path) (owned, ok bool) {
	l := lookup{text: text}
	if !l.accept('{') {
		return false, false
	}
	for i := range path.Len() {
		found, ok := l.enter(path.At(i).Name)
		if !ok || !found {
			return false, ok
		}
	}
	// A field without children is {}. If a field with children is in the set, its
	// object begins with ".".
	rest := l.text[l.at:]
	return bytes.HasPrefix(rest, []byte("}")) || bytes.HasPrefix(rest, []byte(`"."`)), true
}

// lookup reads a FieldsV1 without spaces between its tokens.
type lookup struct {
	text []byte
	at   int
}

func (l *lookup) accept(c byte) bool {
	if l.at >= len(l.text) || l.text[l.at] != c {
		return false
	}
	l.at++
	return true
}

// enter starts after the opening brace of an object, and stops after the opening
// brace of the value of the named member.
func (l *lookup) enter(name string) (found, ok bool) {
	for !l.accept('}') {
		l.accept(',')
		start := l.at + 1
		if !l.skipString() || !l.accept(':') || !l.accept('{') {
			return false, false
		}
		if s, ok := bytes.CutPrefix(l.text[start:l.at-3], []byte("f:")); ok && string(s) == name {
			return true, true
		}
		if !l.skipObject() {
			return false, false
		}
	}
	return false, true
}

func (l *lookup) skipString() bool {
	if !l.accept('"') {
		return false
	}
	for l.at < len(l.text) {
		end := bytes.IndexByte(l.text[l.at:], '"')
		if end < 0 {
			break
		}
		escape := bytes.IndexByte(l.text[l.at:l.at+end], '\\')
		if escape < 0 {
			l.at += end + 1
			return true
		}
		l.at += escape + 2
	}
	return false
}

// skipObject skips the rest of an object after its opening brace.
func (l *lookup) skipObject() bool {
	for depth := 1; l.at < len(l.text); {
		switch l.text[l.at] {
		case '"':
			if !l.skipString() {
				return false
			}
			continue
		case '{':
			depth++
		case '}':
			depth--
		}
		l.at++
		if depth == 0 {
			return true
		}
	}
	return false
}
