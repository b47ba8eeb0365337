package codec

import (
	"encoding/base64"
	"strconv"
	"time"
)

func (r *jsonReader) integer() (int64, bool) {
	token, ok := r.number()
	n, err := strconv.ParseInt(string(token), 10, 64)
	return n, ok && err == nil
}

func (r *jsonReader) float(to *float64) bool {
	token, ok := r.number()
	if !ok {
		return false
	}
	f, err := strconv.ParseFloat(string(token), 64)
	*to = f
	return err == nil
}

// number skips a number and returns it.
func (r *jsonReader) number() ([]byte, bool) {
	start := r.at
	r.skip('-')
	if !r.skip('0') && r.digits() == 0 {
		return nil, false
	}
	if r.skip('.') && r.digits() == 0 {
		return nil, false
	}
	if r.skip('e') || r.skip('E') {
		if !r.skip('+') {
			r.skip('-')
		}
		if r.digits() == 0 {
			return nil, false
		}
	}
	return r.data[start:r.at], true
}

// skip skips a byte if it is c.
func (r *jsonReader) skip(c byte) bool {
	if r.at == len(r.data) || r.data[r.at] != c {
		return false
	}
	r.at++
	return true
}

// digits skips digits and returns their number.
func (r *jsonReader) digits() int {
	start := r.at
	for r.at < len(r.data) && r.data[r.at] >= '0' && r.data[r.at] <= '9' {
		r.at++
	}
	return r.at - start
}

func (r *jsonReader) bytes(to *[]byte) bool {
	text, form, ok := r.quoted()
	if !ok || form != 0 {
		return false
	}
	out := make([]byte, base64.StdEncoding.DecodedLen(len(text)))
	n, err := base64.StdEncoding.Decode(out, text)
	*to = out[:n]
	return err == nil
}

// time reads a time in UTC, such as "2006-01-02T15:04:05Z", with six digits of fraction
// if micros is set and else without a fraction.
func (r *jsonReader) time(to *time.Time, micros bool) bool {
	size := len("2006-01-02T15:04:05Z")
	if micros {
		size += len(".000000")
	}
	text, form, ok := r.quoted()
	return ok && form == 0 && len(text) == size && text[13] == ':' && text[size-1] == 'Z' && // UnmarshalText takes an hour of one digit
		to.UnmarshalText(text) == nil
}

// raw skips a value of any form and returns its text.
func (r *jsonReader) raw() ([]byte, bool) {
	r.peek()
	start := r.at
	ok := r.anything()
	return r.data[start:r.at], ok
}

// anything skips a value. Its text is valid JSON.
func (r *jsonReader) anything() bool {
	switch r.peek() {
	case '"':
		_, _, ok := r.quoted()
		return ok
	case '{':
		empty, ok := r.open('}')
		for more := !empty; ok && more; {
			r.peek()
			if _, _, ok = r.quoted(); !ok || r.peek() != ':' {
				return false
			}
			r.at++
			if !r.anything() {
				return false
			}
			more, ok = r.more('}')
		}
		return ok
	case '[':
		empty, ok := r.open(']')
		for more := !empty; ok && more; {
			if !r.anything() {
				return false
			}
			more, ok = r.more(']')
		}
		return ok
	case 'n':
		return r.word("null")
	case 't':
		return r.word("true")
	case 'f':
		return r.word("false")
	}
	_, ok := r.number()
	return ok
}
