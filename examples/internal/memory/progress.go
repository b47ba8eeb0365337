package memory

import (
	"fmt"
	"io"
)

// progress is a line on a terminal while objects are loaded. A CustomResourceDefinition takes 20 milliseconds.
type progress struct {
	terminal io.Writer // nil: show nothing
}

// show says how many objects are loaded, at each tenth.
func (p progress) show(objects int) {
	if p.terminal != nil && objects%10 == 0 {
		fmt.Fprintf(p.terminal, "\rloading: %d objects", objects)
	}
}

// end clears the line.
func (p progress) end() {
	if p.terminal != nil {
		fmt.Fprint(p.terminal, "\r\x1b[K")
	}
}
