package differential

import (
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/fields"

	"github.com/kubecoord/kubecoord/selector"
)

func TestFieldSelectorsAreParsedAsUpstream(t *testing.T) {
	known := []string{"metadata.name", "metadata.namespace", "spec.leaseName", "", "a b"}
	values := []string{"", "a", "b", "a,b", "a=b", `a\b`, " a", "é", "!", `\`}
	eachCase(t, 20000, func(g generator) string {
		var terms []string
		for range g.IntN(4) {
			value := pick(g, values...)
			if g.percent(80) {
				value = fields.EscapeValue(value)
			}
			terms = append(terms, pick(g, known...)+pick(g, "=", "==", "!=", "", "===", "=!")+value)
		}
		text := strings.Join(terms, ",")
		if g.percent(40) {
			text = g.mutate(text, `=!,\ ab.é`)
		}
		got, err := selector.ParseFields(text)
		want, wantErr := fields.ParseSelector(text)
		if wrong := differs(fmt.Sprintf("error of %q", text), err, wantErr); wrong != "" || err != nil {
			return wrong
		}
		for range 5 {
			set := fields.Set{}
			for _, field := range some(g, known...) {
				set[field] = pick(g, values...)
			}
			if wrong := differs(fmt.Sprintf("%q matches %v", text, set), got.Matches(set.Get), want.Matches(set)); wrong != "" {
				return wrong
			}
		}
		for _, field := range known {
			value, ok := got.Exact(field)
			wantValue, wantOK := want.RequiresExactMatch(field)
			if wrong := differs(fmt.Sprintf("value that %q requires of %q", text, field), fmt.Sprint(value, ok), fmt.Sprint(wantValue, wantOK)); wrong != "" {
				return wrong
			}
		}
		return differs(fmt.Sprintf("%q is empty", text), got.Empty(), want.Empty())
	})
}
