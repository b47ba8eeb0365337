package main

import (
	"flag"
	"fmt"
	"strings"
	"syscall"
	"time"
)

// selectors lists with selectors of many terms, and leaves in the middle of a list.
func selectors(args []string) error {
	f := flag.NewFlagSet("selector", flag.ExitOnError)
	n := f.Int("n", 100_000, "how many objects")
	terms := f.Int("terms", 20_000, "how many terms")
	s, err := start(f, args)
	if err != nil {
		return err
	}
	if err := s.restartWith(*n); err != nil {
		return err
	}
	defer s.end(syscall.SIGTERM)
	many := func(form string) string {
		var b strings.Builder
		for i := range *terms {
			fmt.Fprintf(&b, form+",", i)
		}
		return b.String()
	}
	keys := allLeases + "?labelSelector=" + many("!k%d") + "zz"
	for name, path := range map[string]string{
		"labels, a key each": keys,
		"labels, one key":    allLeases + "?labelSelector=" + many("a!=v%d") + "zz",
		"fields":             allLeases + "?labelSelector=a&fieldSelector=" + many("metadata.name!=x%d") + "metadata.name!=y",
	} {
		before := s.cpu()
		code, _ := s.do("GET", path, "", "")
		fmt.Printf("%d terms over %d objects, %s: %d, %.2f s of CPU\n", *terms, *n, name, code, (s.cpu() - before).Seconds())
	}
	conn, err := s.dial(get(keys))
	if err != nil {
		return err
	}
	time.Sleep(20 * time.Millisecond)
	conn.Close()
	fmt.Printf("after a client has left: %.2f cores\n", s.cores(2*time.Second))
	return nil
}
