package skim

import "bytes"

// jsonEvent reads {"type":…,"object":{…}}.
func (h *Head) jsonEvent(data []byte) {
	s := scanner{data: data}
	s.members(func(key []byte) {
		switch string(key) {
		case "type":
			h.Type = string(s.text())
		case "object":
			if h.jsonObject(&s); h.Type != "" {
				s.stop()
			}
		default:
			s.skip()
		}
	})
}

// jsonObject reads an object up to the end of its metadata, or the whole of a Status.
func (h *Head) jsonObject(s *scanner) {
	s.members(func(key []byte) {
		switch string(key) {
		case "kind":
			h.Kind = string(s.text())
		case "metadata":
			h.jsonMetadata(s)
			if h.Kind != "" && h.Kind != "Status" {
				s.stop()
			}
		case "details":
			h.jsonMetadata(s)
		default:
			s.skip()
		}
	})
}

// jsonMetadata reads metadata, or the details of a Status. It stops the scanner when
// the head is complete.
func (h *Head) jsonMetadata(s *scanner) {
	s.members(func(key []byte) {
		switch string(key) {
		case "namespace":
			h.Namespace = string(s.text())
		case "name":
			h.Name = string(s.text())
		case "uid":
			h.UID = string(s.text())
		case "resourceVersion":
			h.ResourceVersion = version(s.text())
		default:
			s.skip()
		}
		if h.Enough() {
			s.stop()
		}
	})
}

// scanner reads a JSON document, which may be cut off or malformed. Every method
// terminates.
type scanner struct {
	data []byte
	at   int
}

// stop moves to the end, so that nothing more is read.
func (s *scanner) stop() { s.at = len(s.data) }

// peek skips spaces and returns the next byte, or 0 at the end.
func (s *scanner) peek() byte {
	for ; s.at < len(s.data); s.at++ {
		switch c := s.data[s.at]; c {
		case ' ', '\t', '\r', '\n':
		default:
			return c
		}
	}
	return 0
}

// members calls f before the value of each member of an object. f must skip the value.
// members skips a value that is not an object.
func (s *scanner) members(f func(key []byte)) {
	if s.peek() != '{' {
		s.skip()
		return
	}
	for s.at++; ; {
		switch s.peek() {
		case ',':
			s.at++
			continue
		case '"':
		default: // the end of the object, or malformed
			s.at = min(s.at+1, len(s.data))
			return
		}
		key := s.text()
		if s.peek() == ':' {
			s.at++
		}
		f(key)
	}
}

// text skips a string and returns the text between its quotes. It skips any other value
// and returns nil.
func (s *scanner) text() []byte {
	if s.peek() != '"' {
		s.skip()
		return nil
	}
	start := s.at + 1
	for i := start; ; {
		n := bytes.IndexByte(s.data[i:], '"')
		if n < 0 {
			s.stop()
			return nil
		}
		end := i + n
		backslashes := 0
		for end-backslashes > start && s.data[end-backslashes-1] == '\\' {
			backslashes++
		}
		if i = end + 1; backslashes%2 == 0 {
			s.at = i
			return s.data[start:end]
		}
	}
}

// literal skips a number, true, false or null and returns it.
func (s *scanner) literal() []byte {
	s.peek()
	start := s.at
	for s.at < len(s.data) && bytes.IndexByte([]byte(" \t\r\n,:]}[{\""), s.data[s.at]) < 0 {
		s.at++
	}
	return s.data[start:s.at]
}

// skip skips a value.
func (s *scanner) skip() {
	for depth := 0; ; {
		switch s.peek() {
		case 0:
			s.stop()
			return
		case '{', '[':
			depth++
			s.at++
		case '}', ']':
			depth--
			s.at++
		case ',', ':':
			s.at++
		case '"':
			s.text()
		default:
			s.literal()
		}
		if depth <= 0 {
			return
		}
	}
}
