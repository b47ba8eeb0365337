package main

import (
	"fmt"
	"io"
	"text/tabwriter"
	"time"
)

// printTerms writes a table of the terms.
func printTerms(out io.Writer, terms []term) {
	w := tabwriter.NewWriter(out, 0, 0, 3, ' ', 0)
	fmt.Fprintln(w, "LEADER\tFROM\tLAST RENEWED\tTO\tBEGAN\tENDED\tRENEWALS\tLEASETRANSITIONS")
	for _, t := range terms {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%d\t%d\n", t.holder,
			clock(t.from), clock(t.renewed), clock(t.until), t.began, t.ended, t.renewals, t.transitions)
	}
	w.Flush()
}

// clock shows the time of day.
func clock(t time.Time) string { return t.UTC().Format("15:04:05.000") }
