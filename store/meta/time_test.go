package meta_test

import (
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/store/meta"
)

func TestErrorOfAMicroTimeShowsTheLayout(t *testing.T) {
	var got meta.MicroTime
	assert.EqualError(t, got.UnmarshalJSON([]byte(`"2024-01-02T03:04:05.1Z"`)),
		`parsing time "2024-01-02T03:04:05.1Z" as "2006-01-02T15:04:05.000000Z07:00": cannot parse ".1Z" as ".000000"`)
}

func TestNullClearsATime(t *testing.T) {
	at, micro := meta.NewTime(time.Now()), meta.NewMicroTime(time.Now())
	require.NoError(t, at.UnmarshalJSON([]byte("null")))
	require.NoError(t, micro.UnmarshalJSON([]byte("null")))
	assert.True(t, at.IsZero())
	assert.True(t, micro.IsZero())
}

func TestNewTimesAreCutAndInUTC(t *testing.T) {
	in := time.Date(2026, 1, 2, 3, 4, 5, 678_901_234, time.FixedZone("", 3600))
	assert.Equal(t, time.Date(2026, 1, 2, 2, 4, 5, 0, time.UTC), meta.NewTime(in).Time)
	assert.Equal(t, time.Date(2026, 1, 2, 2, 4, 5, 678_901_000, time.UTC), meta.NewMicroTime(in).Time)
}

func TestTimesAreEqualWhereverTheyAre(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	a, b, c := meta.Time{Time: at}, meta.Time{Time: at.In(time.FixedZone("", 3600))}, meta.Time{Time: at.Add(1)}
	assert.True(t, a.Equal(&b))
	assert.False(t, a.Equal(&c))
	assert.False(t, a.Equal(nil))
	assert.True(t, (*meta.Time)(nil).Equal(nil))
	assert.False(t, (*meta.Time)(nil).Equal(&a))
	x, y := meta.MicroTime{Time: at}, meta.MicroTime(b)
	assert.True(t, x.Equal(&y))
	assert.False(t, x.Equal(nil))
	assert.False(t, (*meta.MicroTime)(nil).Equal(&x))
	assert.False(t, x.Equal(new(meta.NewMicroTime(x.Add(time.Microsecond)))))
	assert.True(t, (*meta.MicroTime)(nil).Equal(nil))
}

func FuzzMicroTime(f *testing.F) {
	for _, seed := range []string{"2024-01-02T03:04:05.123456Z", "2024-01-02T03:04:05.1Z", "0001-01-01T00:00:00.000000Z", "9999-12-31T23:59:59.999999-23:59",
		"0000-01-01T00:00:00.000000+23:59", "2024-01-02T3:04:05.123456Z", "2024-02-30T03:04:05,123456+14:00", "", "null"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, in string) {
		var got meta.MicroTime
		if err := got.UnmarshalJSON([]byte(strconv.Quote(in))); err != nil {
			if !got.IsZero() {
				t.Fatalf("%q: got %v beside the error %v", in, got, err)
			}
			return
		}
		if got.Nanosecond()%1000 != 0 || got.Location() != time.UTC {
			t.Fatalf("%q: got %v, want whole microseconds in UTC", in, got)
		}
		out, err := got.MarshalJSON()
		if err != nil {
			t.Fatalf("%q: %v", in, err)
		}
		if got.IsZero() {
			if string(out) != "null" {
				t.Fatalf("%q: got %s, want null", in, out)
			}
			return
		}
		if y := got.Year(); y < 0 || y > 9999 {
			return // an offset can lead to a year that has no such form
		}
		var again meta.MicroTime
		if err := again.UnmarshalJSON(out); err != nil || !again.Equal(&got) {
			t.Fatalf("%q prints as %s, and that reads as %v, %v", in, out, again, err)
		}
		if len(out) != len(`"2024-01-02T03:04:05.123456Z"`) {
			t.Fatalf("%q prints as %s, want six digits", in, out)
		}
	})
}
