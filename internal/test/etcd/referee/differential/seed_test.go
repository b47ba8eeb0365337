package differential

import (
	"flag"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"
)

var (
	seedFlag  = flag.Uint64("seed", 0, "seed of all cases; 0 takes the clock")
	casesFlag = flag.Int("cases", 0, "number of cases of each test; 0 is the default of each test")
	caseFlag  = flag.Int("case", -1, "the one case to run")
)

// generator makes the values of one case.
type generator struct{ *rand.Rand }

// eachCase runs n cases until one fails, each with a new generator. A case returns an error text, or "".
func eachCase(t *testing.T, usual int, run func(g generator) string) {
	t.Helper()
	seed := *seedFlag
	if seed == 0 {
		seed = uint64(time.Now().UnixNano()) & (1<<32 - 1)
	}
	first, end := 0, usual
	if *casesFlag > 0 {
		end = *casesFlag
	}
	if *caseFlag >= 0 {
		first, end = *caseFlag, *caseFlag+1
	}
	t.Logf("seed %d, cases %d to %d", seed, first, end-1)
	name := fnv.New64a()
	_, _ = name.Write([]byte(t.Name()))
	for i := first; i < end; i++ {
		g := generator{rand.New(rand.NewPCG(seed, name.Sum64()+uint64(i)))}
		if wrong := run(g); wrong != "" {
			t.Fatalf("%s\n\nagain: go test ./differential -run '^%s$' -seed %d -case %d", wrong, t.Name(), seed, i)
		}
	}
}

// eachCaseInABubble is eachCase with a clock that starts at the same time for each case.
func eachCaseInABubble(t *testing.T, usual int, run func(g generator) string) {
	t.Helper()
	eachCase(t, usual, func(g generator) (wrong string) {
		synctest.Test(t, func(*testing.T) { wrong = run(g) })
		return wrong
	})
}

// percent returns true in n percent of the calls.
func (g generator) percent(n int) bool { return g.IntN(100) < n }

// pick returns one of the choices.
func pick[T any](g generator, choices ...T) T { return choices[g.IntN(len(choices))] }

// some returns a random subset of the choices in random order.
func some[T any](g generator, choices ...T) []T {
	order := g.Perm(len(choices))[:g.IntN(len(choices)+1)]
	out := make([]T, len(order))
	for i, at := range order {
		out[i] = choices[at]
	}
	return out
}

// upTo returns 0 to n values.
func upTo[T any](g generator, n int, value func() T) []T {
	out := make([]T, g.IntN(n+1))
	for i := range out {
		out[i] = value()
	}
	return out
}

// mutate changes a text at random places: it deletes, inserts, replaces and moves characters.
func (g generator) mutate(text string, alphabet string) string {
	b := []byte(text)
	for range 1 + g.IntN(3) {
		at := g.IntN(len(b) + 1)
		switch c := alphabet[g.IntN(len(alphabet))]; {
		case g.percent(40):
			b = append(b[:at:at], append([]byte{c}, b[at:]...)...)
		case at == len(b):
		case g.percent(40):
			b = append(b[:at:at], b[at+1:]...)
		case g.percent(50):
			b[at] = c
		default:
			end := at + g.IntN(len(b)-at)
			b = append(b[:end:end], b[at:]...)
		}
	}
	return string(b)
}

// differs describes the difference between got and want, "" if they are equal.
func differs(label string, got, want any) string {
	g, w := fmt.Sprint(got), fmt.Sprint(want)
	if g == w {
		return ""
	}
	return fmt.Sprintf("%s\n  kubecoord: %s\n  upstream:  %s", label, g, w)
}
