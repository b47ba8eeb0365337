package differential

import (
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubecoord/kubecoord/selector"
)

func TestLabelSelectorsAreParsedAsUpstream(t *testing.T) {
	eachCase(t, 20000, func(g generator) string {
		text := g.labelSelector()
		if g.percent(40) {
			text = g.mutate(text, "=!()<>, \t\n-._/aA0é\x00")
		}
		got, err := selector.ParseLabels(text)
		want, wantErr := labels.Parse(text)
		if wrong := differs(fmt.Sprintf("error of %q", text), err, wantErr); wrong != "" || err != nil {
			return wrong
		}
		for range 5 {
			set := g.labels()
			if wrong := differs(fmt.Sprintf("%q matches %v", text, set), got.Matches(set), want.Matches(labels.Set(set))); wrong != "" {
				return wrong
			}
		}
		return differs(fmt.Sprintf("%q is empty", text), got.Empty(), want.Empty())
	})
}

var (
	labelKeys   = []string{"a", "b", "x.y/z", "in", "notin", "A_b-c.d", strings.Repeat("k", 63), strings.Repeat("k", 64), "bad/", "/bad", "-a", "a/b/c"}
	labelValues = []string{"", "1", "2", "3", "-7", "9223372036854775808", "007", "+5", "v", "in", "V_-.v", strings.Repeat("v", 63), strings.Repeat("v", 64), "bad!", ".v"}
)

// labelSelector returns a selector that is mostly valid.
func (g generator) labelSelector() string {
	var terms []string
	for range g.IntN(4) {
		key, value := g.rarelyBad(labelKeys, 7), g.rarelyBad(labelValues, 12)
		list := strings.Join(upTo(g, 4, func() string { return g.rarelyBad(labelValues, 12) }), ","+g.blank())
		term := pick(g, "K", "!K", "K=V", "K==V", "K!=V", "K in (L)", "K notin (L)", "K>V", "K<V", "K in(L)", "KnotinL", "K = V", "! K", "K > V", "K in")
		terms = append(terms, g.blank()+strings.NewReplacer("K", key, "V", value, "L", list).Replace(term)+g.blank())
	}
	return strings.Join(terms, ",")
}

func (g generator) blank() string { return pick(g, "", "", "", " ", "\t", "\r\n") }

// rarelyBad returns one of the values, seldom one of those from good on.
func (g generator) rarelyBad(values []string, good int) string {
	if g.percent(5) {
		return pick(g, values...)
	}
	return pick(g, values[:good]...)
}

// labels returns labels that selectors use.
func (g generator) labels() map[string]string {
	set := map[string]string{}
	for _, key := range some(g, labelKeys...) {
		set[key] = pick(g, labelValues...)
	}
	return set
}
