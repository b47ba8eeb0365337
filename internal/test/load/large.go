package main

import (
	"flag"
	"fmt"
	"strings"
	"syscall"
)

// large sends requests whose cost would be the square of their size if one thing were wrong: each
// problem shows the whole value, each line its whole indentation, each item moves all others.
func large(args []string) error {
	s, err := start(flag.NewFlagSet("large", flag.ExitOnError), args)
	if err != nil {
		return err
	}
	defer s.end(syscall.SIGTERM)
	object := func(metadata string) string { return `{"metadata":{"name":"a",` + metadata + `}}` }
	entry := func(manager, fields string) string {
		return `"managedFields":[{"manager":"` + manager + `","operation":"Update","apiVersion":"coordination.k8s.io/v1","fieldsType":"FieldsV1","fieldsV1":` + fields + `}]`
	}
	const depth = 9000
	for _, r := range []struct{ name, method, path, body string }{
		{"30,000 owners that are all controllers", "POST", leases, object(`"ownerReferences":[` + items(30_000, `{"apiVersion":"v1","kind":"K","name":"n","uid":"u%d","controller":true}`) + `]`)},
		{"a field manager of 300,000 control characters", "POST", leases + "?fieldManager=" + strings.Repeat("%07", 300_000), "{}"},
		{"a manager of 700,000 unprintable characters", "POST", leases, object(entry(strings.Repeat("\u00ad", 700_000), `{"f:metadata":{"f:annotations":{"f:x":{}}}}`))},
		{"150,000 bad labels", "POST", leases, object(`"labels":{` + items(150_000, `"!%d":"!"`) + `}`)},
		{"180,000 bad addresses", "POST", "/api/v1/namespaces/default/endpoints", `{"metadata":{"name":"a"},"subsets":[{"addresses":[` + items(180_000, `{"ip":"%d"}`) + `]}]}`},
		{"200,000 bad finalizers in no order", "POST", leases, object(`"finalizers":[` + items(200_000, `"!%x"`) + `]`)},
		{"100,000 fields, 9,000 deep", "POST", leases, object(entry("m", `{"f:metadata":{"f:annotations":`+strings.Repeat(`{"f:a":`, depth)+`{`+items(100_000, `"f:%d":{}`)+`}`+strings.Repeat(`}`, depth)+`}}`))},
		{"the same, indented", "GET", leases + "/a?pretty=true", ""},
	} {
		before := s.cpu()
		code, answer := s.do(r.method, r.path, typeJSON, r.body)
		fmt.Printf("%s: %d bytes sent, %d with %d bytes after %v of CPU; %d MB\n", r.name, len(r.path)+len(r.body), code, len(answer), s.cpu()-before, s.rss())
	}
	return nil
}

// items returns n items that have each a number, in no order, with commas between them.
func items(n int, format string) string {
	all := make([]string, n)
	for i := range all {
		all[i] = fmt.Sprintf(format, i*7919%n)
	}
	return strings.Join(all, ",")
}
