package main

import (
	"flag"
	"fmt"
	"strings"
	"syscall"
)

// fixtures sends fixtures to /debug/fixtures: as many bytes as are refused, and as many as are read.
func fixtures(args []string) error {
	f := flag.NewFlagSet("fixtures", flag.ExitOnError)
	size := f.Int("size", 60<<20, "`bytes` of the first two fixtures")
	s, err := start(f, args)
	if err != nil {
		return err
	}
	defer s.end(syscall.SIGTERM)
	var leases strings.Builder
	for i := 0; leases.Len() < *size; i++ {
		fmt.Fprintf(&leases, "apiVersion: coordination.k8s.io/v1\nkind: Lease\nmetadata:\n  name: l%d\n  namespace: default\nspec:\n  holderIdentity: a\n---\n", i)
	}
	small := leases.String()[:4<<20]
	for _, r := range []struct{ name, body string }{
		{"Leases", leases.String()},
		{"one list of letters", "[" + strings.Repeat("a,", *size/2) + "a]"},
		{"Leases", small[:strings.LastIndex(small, "---\n")]},
		{"one list of letters", "[" + strings.Repeat("a,", 1<<19) + "a]"},
	} {
		before := s.cpu()
		code, answer := s.do("POST", "/debug/fixtures", "application/yaml", r.body)
		fmt.Printf("%s, %d bytes: %d after %v of CPU, %d MB: %.80q\n", r.name, len(r.body), code, s.cpu()-before, s.rss(), answer)
	}
	return nil
}
