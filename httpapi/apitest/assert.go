package apitest

import (
	"strings"
	"testing"
)

// Assert holds the requests, each in the form of Request.String, against the
// lines that are wanted, and reports whether they are the same. Where they are
// not it fails the test, which goes on, and shows the difference line by line:
// what is missing with "-" before it, what is not wanted with "+".
func (rs Requests) Assert(t testing.TB, want ...string) bool {
	t.Helper()
	got := make([]string, len(rs))
	for i, r := range rs {
		got[i] = r.String()
	}
	text, same := diff(want, got)
	if !same {
		t.Errorf("apitest: requests: got %d, want %d (- wanted, + got):\n%s", len(got), len(want), text)
	}
	return same
}

// diff shows how to get from want to got with the fewest lines changed.
func diff(want, got []string) (text string, same bool) {
	// common[i][j] is the length of the longest common part of want[i:], got[j:].
	common := make([][]int, len(want)+1)
	for i := range common {
		common[i] = make([]int, len(got)+1)
	}
	for i := len(want) - 1; i >= 0; i-- {
		for j := len(got) - 1; j >= 0; j-- {
			if want[i] == got[j] {
				common[i][j] = common[i+1][j+1] + 1
			} else {
				common[i][j] = max(common[i+1][j], common[i][j+1])
			}
		}
	}
	var b strings.Builder
	line := func(mark, s string) { b.WriteString("  " + mark + " " + s + "\n") }
	same = true
	for i, j := 0, 0; i < len(want) || j < len(got); {
		switch {
		case i < len(want) && j < len(got) && want[i] == got[j]:
			line(" ", want[i])
			i, j = i+1, j+1
		case i < len(want) && (j == len(got) || common[i+1][j] >= common[i][j+1]):
			line("-", want[i])
			i, same = i+1, false
		default:
			line("+", got[j])
			j, same = j+1, false
		}
	}
	return b.String(), same
}
