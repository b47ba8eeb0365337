package apitest

import (
	"math/rand/v2"
	"net/url"
	"regexp"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
)

// number matches what differs between two choices of one kind.
var number = regexp.MustCompile(`\b[0-9]\b`)

func TestAdversaryChoosesAmongAllThatMayHappen(t *testing.T) {
	always := []string{"answer 429", "answer 500", "answer 503", "answer 504", "cut before", "delay 1ns", "delay 1ns, cut before", "expire history"}
	answered := []string{"cut after", "delay 1ns, cut after"}
	lagging := []string{"stale (N changes behind)"}
	versioned := url.Values{"resourceVersion": {"7"}}
	for name, row := range map[string]struct {
		r    Request
		want []string
	}{
		"another path":      {Request{Verb: "get"}, answered},
		"create":            {Request{Verb: "create", Resource: "leases"}, answered},
		"get":               {Request{Verb: "get", Resource: "leases"}, answered},
		"get at a version":  {Request{Verb: "get", Resource: "leases", Query: versioned}, slices.Concat(answered, lagging)},
		"list at a version": {Request{Verb: "list", Resource: "leases", Query: versioned}, slices.Concat(answered, lagging)},
		"watch": {Request{Verb: "watch", Resource: "leases"},
			[]string{"slow events 1ns", "stale (1ns behind)", "end watch after N", "cut watch after N", "fail watch after N with 410"}},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, e := range misfortunes(rand.New(rand.NewPCG(7, 7)), 1, &row.r) {
				got = append(got, number.ReplaceAllString(e.String(), "N"))
			}
			assert.ElementsMatch(t, slices.Concat(always, row.want), got)
		})
	}
}
