package explore

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// entriesOf returns a timeline with an entry for each word, one a second. A word that begins with "step" begins a step, "!" is the perturbation.
func entriesOf(words string) (out []*entry) {
	for i, word := range strings.Fields(words) {
		out = append(out, &entry{At: time.Duration(i) * time.Second, Who: "c", Text: strings.TrimPrefix(word, "!"), mark: word[0] == '!', step: strings.HasPrefix(word, "step")})
	}
	return out
}

// shown returns lines without their times.
func shown(lines []line) (out []string) {
	for _, l := range lines {
		switch {
		case l.Folded > 0:
			out = append(out, l.Fold())
		case l.Got != nil:
			out = append(out, l.Mark()+l.Got.Text)
		default:
			out = append(out, l.Mark()+l.Want.Text)
		}
	}
	return out
}

func TestBeside(t *testing.T) {
	for _, c := range []struct{ got, want, lines string }{
		{"", "", ""},
		{"a b c", "a b c", " a| b| c"},
		{"a !b d", "a b c d", " a|!b|-c| d"},
		{"a x c", "a b c", " a|+x|-b| c"},
		{"a a a", "a a a", " a|… 2 times more"},
		{"a a", "a a", " a| a"},
		{"z a b a b a b", "z a b a b a b", " z| a| b|… these 2 lines 2 times more"},
		{"a a a a x a a a", "a a a a a a a", " a|… 3 times more|+x| a|… 2 times more"},
		{"a a a", "a", " a|+a|+a"},
		{"a a a a", "a", " a|+a|… 2 times more"},
		{"a !a !a !a", "a a a a", " a|!a|!a|!a"}, // the perturbation is never folded
		{"step1 a step2 b", "step1 x step2 b", " step1|+a|-x| step2| b"},
		{"a step1 b", "step1 a b", "+a| step1|-a| b"}, // what happens in another step is no longer the same
	} {
		want := strings.Split(c.lines, "|")
		if c.lines == "" {
			want = nil
		}
		assert.Equal(t, want, shown(beside(entriesOf(c.got), entriesOf(c.want))), "%q beside %q", c.got, c.want)
	}
}

// Two timelines that are too long to align are shown one after the other, in little memory.
func TestTimelinesThatAreTooLong(t *testing.T) {
	long := func(name string) string {
		var b strings.Builder
		b.WriteString("a ")
		for i := range 5000 {
			fmt.Fprintf(&b, "%s%d ", name, i)
		}
		return b.String()
	}
	got, want := entriesOf(long("x")), entriesOf(long("y"))
	lines := shown(beside(got, want))
	assert.Len(t, lines, 10_001)
	assert.Equal(t, []string{" a", "+x0"}, lines[:2])
	assert.Equal(t, "-y4999", lines[10_000])
	assert.Less(t, testing.AllocsPerRun(1, func() { beside(got, want) }), 1000.0, "no row of a table for each entry")
}

// A finding shows a fold as a line of its own.
func TestFoldInAFinding(t *testing.T) {
	entries := entriesOf("!a " + strings.Repeat("get put ", 51))
	f := Finding{Text: "x", Plans: []string{"restart 1"}, lines: beside(entries, entries)}
	assert.Contains(t, f.String(), "          1s  c              get\n")
	assert.Contains(t, f.String(), "        1m42s                 … these 2 lines 50 times more\n")
}
