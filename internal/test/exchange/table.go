package exchange

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// explained counts the differences that have a reason.
type explained map[row]int

// row is one line of the table of differences.
type row struct {
	reason                    int
	resource, path, want, got string
}

// add counts a difference.
func (e explained) add(r *reason, d difference) {
	e[row{r.line, d.resource, d.path, shortened(d.want), shortened(d.got)}]++
}

// shortened cuts a text that is too long for a table.
func shortened(s string) string {
	s = strings.NewReplacer("|", `\|`, "\n", " ").Replace(s)
	if r := []rune(s); len(r) > 100 {
		return string(r[:100]) + "…"
	}
	return s
}

// table returns the differences as a document: a table for each reason.
func (e explained) table(known reasons) string {
	var b strings.Builder
	b.WriteString("# Where kubecoord answers otherwise than kube-apiserver\n\nWritten by `go test . -write`. Each line is a point of the answers of a resource, and how many answers it concerns.\n")
	lines := slices.SortedFunc(maps.Keys(e), func(a, b row) int {
		return cmp.Or(cmp.Compare(a.reason, b.reason), strings.Compare(a.resource, b.resource), strings.Compare(a.path, b.path), strings.Compare(a.want, b.want), strings.Compare(a.got, b.got))
	})
	for _, r := range known {
		fmt.Fprintf(&b, "\n## %s\n\n| resource | where | kube-apiserver | kubecoord | answers |\n| --- | --- | --- | --- | --- |\n", r.why)
		for _, l := range lines {
			if l.reason == r.line {
				fmt.Fprintf(&b, "| %s | %s | %s | %s | %d |\n", l.resource, l.path, l.want, l.got, e[l])
			}
		}
	}
	return b.String()
}
