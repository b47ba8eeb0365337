package explore

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestSameTexts(t *testing.T) {
	const time1, time2 = `"2026-01-02T03:04:05Z"`, `"2026-01-02T03:04:06.123456Z"`
	same := func(a, b []byte) bool {
		return isTime(string(a)) && isTime(string(b)) || string(a) == "7" && string(b) == "8"
	}
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{`{}`, `{}`, true},
		{`{"a":` + time1 + `}`, `{"a":` + time2 + `}`, true},
		{`{"a":` + time1 + `,"b":"7"}`, `{"a":` + time2 + `,"b":"8"}`, true},
		{`{"a":` + time1 + `,"b":"7"}`, `{"a":` + time2 + `,"b":"9"}`, false},
		{`{"a":` + time1 + `,"b":1}`, `{"a":` + time2 + `,"b":2}`, false},
		{`{"a":` + time1 + `,"b":1}`, `{"a":` + time2 + `}`, false},
		{`{"a":"7"}`, `{"a":"8","b":1}`, false},
		{`{"a":7}`, `{"a":8}`, false},
		{`{"a":7,"b":"x"}`, `{"a":8,"b":"x"}`, false},
		{`{"a":` + time1 + `}`, `{"a":null}`, false},
		{`{"a":` + time1 + `}`, `{"a":"x"}`, false},
		{`{"7":1}`, `{"8":1}`, false}, // names of members are never the same
		{`{"a":"\"7"}`, `{"a":"\"8"}`, false},
		{`["7","7"]`, `["8","8"]`, true},
		{`{`, `{"a"`, false},
		{``, `{`, false},
	} {
		assert.Equal(t, c.want, sameTexts([]byte(c.a), []byte(c.b), same), "%s and %s", c.a, c.b)
	}
}
