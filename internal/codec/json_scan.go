package codec

import "strings"

// Scanner finds the values in a text that is valid JSON.
type Scanner struct {
	Text []byte
	At   int // the index of the next byte
}

// Next skips spaces, commas and colons, and returns the next byte.
func (s *Scanner) Next() byte {
	for strings.IndexByte(" \t\n\r,:", s.Text[s.At]) >= 0 {
		s.At++
	}
	return s.Text[s.At]
}

// Value skips a value of any form and returns its text.
func (s *Scanner) Value() []byte {
	s.Next()
	start := s.At
	for depth := 0; ; {
		switch s.Next() {
		case '"':
			for s.At++; s.Text[s.At] != '"'; s.At++ {
				if s.Text[s.At] == '\\' {
					s.At++
				}
			}
			s.At++
		case '{', '[':
			depth++
			s.At++
		case '}', ']':
			depth--
			s.At++
		default:
			for s.At < len(s.Text) && strings.IndexByte(",]} \t\r\n", s.Text[s.At]) < 0 {
				s.At++
			}
		}
		if depth == 0 {
			return s.Text[start:s.At]
		}
	}
}
