package meta

import (
	"encoding/json"
	"time"
)

// microLayout is RFC 3339 with six digits of fraction (API reference, "MicroTime").
const microLayout = "2006-01-02T15:04:05.000000Z07:00"

// Time is a time in whole seconds. Its JSON form is RFC 3339 in UTC without a fraction; a
// fraction in input is dropped. The zero Time is null.
type Time struct {
	time.Time
}

// NewTime returns t in UTC, truncated to seconds.
func NewTime(t time.Time) Time { return Time{t.UTC().Truncate(time.Second)} }

// Equal reports whether both are the same point in time, or both nil.
func (t *Time) Equal(u *Time) bool { return t == u || t != nil && u != nil && t.Time.Equal(u.Time) }

// MarshalJSON returns the RFC 3339 form in UTC, or null for the zero Time.
func (t Time) MarshalJSON() ([]byte, error) { return marshalTime(t.Time, time.RFC3339) }

// UnmarshalJSON reads an RFC 3339 string, with or without a fraction, or null.
func (t *Time) UnmarshalJSON(b []byte) error { return unmarshalTime(b, time.RFC3339, &t.Time) }

// MicroTime is a time in whole microseconds. Its JSON form is RFC 3339 in UTC with six digits
// of fraction; input with another number of digits is an error. The zero MicroTime is null.
type MicroTime struct {
	time.Time
}

// NewMicroTime returns t in UTC, truncated to microseconds.
func NewMicroTime(t time.Time) MicroTime { return MicroTime{t.UTC().Truncate(time.Microsecond)} }

// Equal reports whether both are the same point in time, or both nil.
func (t *MicroTime) Equal(u *MicroTime) bool {
	return t == u || t != nil && u != nil && t.Time.Equal(u.Time)
}

// MarshalJSON returns the form with six digits in UTC, or null for the zero MicroTime.
func (t MicroTime) MarshalJSON() ([]byte, error) { return marshalTime(t.Time, microLayout) }

// UnmarshalJSON reads the form with six digits, with any offset, or null.
func (t *MicroTime) UnmarshalJSON(b []byte) error { return unmarshalTime(b, microLayout, &t.Time) }

func marshalTime(t time.Time, layout string) ([]byte, error) {
	if t.IsZero() {
		return []byte("null"), nil
	}
	b := make([]byte, 0, len(microLayout)+2)
	b = append(b, '"')
	b = t.UTC().AppendFormat(b, layout)
	return append(b, '"'), nil
}

func unmarshalTime(b []byte, layout string, out *time.Time) error {
	if string(b) == "null" {
		*out = time.Time{}
		return nil
	}
	var s string
	if err := json.Unmarshal(b, &s); err != nil {
		return err
	}
	t, err := time.Parse(layout, s)
	if err != nil {
		return err
	}
	*out = t.UTC()
	return nil
}
