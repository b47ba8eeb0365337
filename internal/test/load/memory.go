package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// history writes one large object often.
func history(args []string) error {
	f := flag.NewFlagSet("history", flag.ExitOnError)
	n := f.Int("n", 3073, "how many writes")
	size := f.Int("size", 200_000, "`bytes` of the object")
	s, err := start(f, args)
	if err != nil {
		return err
	}
	defer s.end(syscall.SIGTERM)
	s.do("POST", leases, typeJSON, `{"metadata":{"name":"a"}}`)
	before := s.rss()
	value := strings.Repeat("y", *size)
	for i := range *n {
		if code, answer := s.do("PATCH", leases+"/a", typeMerge, fmt.Sprintf(`{"metadata":{"annotations":{"a":"%d%s"}}}`, i, value)); code != 200 {
			return fmt.Errorf("patch: %d %.200s", code, answer)
		}
	}
	fmt.Printf("%d writes of one Lease of %d bytes: %d -> %d MB\n", *n, *size, before, s.rss())
	return nil
}

// quota fills the store.
func quota(args []string) error {
	f := flag.NewFlagSet("quota", flag.ExitOnError)
	most := f.Int("n", 10_000, "how many objects at most")
	size := f.Int("size", 200_000, "`bytes` of an object")
	s, err := start(f, args)
	if err != nil {
		return err
	}
	defer s.end(syscall.SIGTERM)
	before := s.rss()
	object := func(i int) (int, string) {
		return s.do("POST", leases, typeJSON, fmt.Sprintf(`{"metadata":{"name":"l%d","annotations":{"a":%q}}}`, i, strings.Repeat("x", *size)))
	}
	n := 0
	for ; n < *most; n++ {
		if code, answer := object(n); code != 201 {
			fmt.Printf("after %d objects of %d bytes, %d -> %d MB: %d %s", n, *size, before, s.rss(), code, answer)
			break
		}
	}
	fmt.Printf("%d objects of %d bytes: %d -> %d MB\n", n, *size, before, s.rss())
	read, _ := s.do("GET", leases+"/l0", "", "")
	deletion, _ := s.do("DELETE", leases+"/l0", "", "")
	code, _ := object(n)
	fmt.Printf("a read: %d, a deletion: %d, a creation after it: %d\n", read, deletion, code)
	return nil
}

// crash kills a server, and writes to the next one with a version of the first.
func crash(args []string) error {
	s, err := start(flag.NewFlagSet("crash", flag.ExitOnError), args)
	if err != nil {
		return err
	}
	s.end(syscall.SIGTERM)
	dir, err := os.MkdirTemp("", "load")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	dump := filepath.Join(dir, "state.yaml")
	if err := s.run("-dump", dump); err != nil {
		return err
	}
	s.do("POST", leases, typeJSON, `{"metadata":{"name":"a"}}`)
	s.end(syscall.SIGTERM)
	holders := func(name string) (last string) {
		for i := range 3 {
			_, last = s.do("PATCH", leases+"/a", typeMerge, fmt.Sprintf(`{"spec":{"holderIdentity":"%s%d"}}`, name, i))
		}
		return last
	}
	if err := s.run("-load", dump, "-dump", dump); err != nil {
		return err
	}
	before := holders("before")
	s.end(syscall.SIGKILL)
	if err := s.run("-load", dump); err != nil {
		return err
	}
	defer s.end(syscall.SIGTERM)
	after := holders("after")
	code, answer := s.do("PUT", leases+"/a", typeJSON, before)
	fmt.Printf("versions before and after SIGKILL: %s, %s; a PUT with the first: %d %.120s\n", versionOf(before), versionOf(after), code, answer)
	return nil
}

// versionOf returns the resourceVersion of an object.
func versionOf(object string) string {
	var o struct {
		Metadata struct{ ResourceVersion string }
	}
	if err := json.Unmarshal([]byte(object), &o); err != nil {
		return err.Error()
	}
	return o.Metadata.ResourceVersion
}
