package apitest

import (
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// numbers are what differs between two choices of one kind.
var numbers = regexp.MustCompile(`[0-9.]+(ms|µs|s)`)

func TestAdversaryChoosesAmongAllThatMayHappen(t *testing.T) {
	always := []string{"answer 429", "answer 500", "answer 503", "answer 504", "cut before", "delay D", "delay D, cut before", "expire history"}
	reads := []string{"cut after", "delay D, cut after"}
	versioned := url.Values{"resourceVersion": {"7"}}
	for name, row := range map[string]struct {
		r    Request
		want []string
	}{
		"another path": {Request{Verb: "get"}, reads},
		"create":       {Request{Verb: "create", Resource: "leases"}, reads},
		"get":          {Request{Verb: "get", Resource: "leases"}, reads},
		"get at a version": {Request{Verb: "get", Resource: "leases", Query: versioned},
			slices.Concat(reads, []string{"stale (N changes behind)"})},
		"list at a version": {Request{Verb: "list", Resource: "leases", Query: versioned},
			slices.Concat(reads, []string{"stale (N changes behind)"})},
		"watch": {Request{Verb: "watch", Resource: "leases"},
			[]string{"slow events D", "stale (D behind)", "tear after N cleanly", "tear after N in mid-frame", "tear after N with ERROR 410"}},
	} {
		t.Run(name, func(t *testing.T) {
			d := &dice{(Adversary{Seed: 7, Percent: 100}).withDefaults(), map[string]uint64{}}
			var got []string
			for range 2000 {
				text := numbers.ReplaceAllString(strings.Join(d.rollLocked(&row.r).actions(), ", "), "D")
				got = append(got, regexp.MustCompile(`\b[0-9]\b`).ReplaceAllString(text, "N"))
			}
			slices.Sort(got)
			want := slices.Concat(always, row.want)
			slices.Sort(want)
			assert.Equal(t, want, slices.Compact(got))
		})
	}
}
