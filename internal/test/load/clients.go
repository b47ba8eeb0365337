package main

import (
	"flag"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// conflicts sends four patches of 9,000 operations on an object with 4,000 owner references
// that another client writes without pause, and leaves after a second.
func conflicts(args []string) error {
	s, err := start(flag.NewFlagSet("conflicts", flag.ExitOnError), args)
	if err != nil {
		return err
	}
	defer s.end(syscall.SIGTERM)
	var owners []string
	for i := range 4000 {
		owners = append(owners, fmt.Sprintf(`{"apiVersion":"v1","kind":"K","name":"n%d","uid":"u%d"}`, i, i))
	}
	code, _ := s.do("POST", leases, typeJSON, `{"metadata":{"name":"a","ownerReferences":[`+strings.Join(owners, ",")+`]}}`)
	fmt.Println("create:", code)
	var end atomic.Bool
	var writer sync.WaitGroup
	writer.Go(func() {
		for i := 0; !end.Load(); i++ {
			s.do("PATCH", leases+"/a", typeMerge, fmt.Sprintf(`{"spec":{"holderIdentity":"h%d"}}`, i))
			time.Sleep(5 * time.Millisecond)
		}
	})
	fmt.Printf("the writer alone: %.2f cores\n", s.cores(5*time.Second))
	ops := []string{`{"op":"add","path":"/metadata/labels","value":{}}`}
	for i := range 9000 {
		ops = append(ops, fmt.Sprintf(`{"op":"add","path":"/metadata/labels/l%d","value":"v"}`, i))
	}
	body := "[" + strings.Join(ops, ",") + "]"
	const head = "PATCH " + leases + "/a HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json-patch+json\r\nContent-Length: %d\r\n\r\n%s"
	all, err := s.dialMany(4, fmt.Sprintf(head, len(body), body))
	if err != nil {
		return err
	}
	time.Sleep(time.Second)
	closeAll(all)
	time.Sleep(time.Second)
	fmt.Printf("a second after the clients of 4 patches have left, with the writer: %.2f cores\n", s.cores(10*time.Second))
	began := time.Now()
	code, answer := s.do("PATCH", leases+"/a", "application/json-patch+json", body)
	fmt.Printf("a patch that waits for its answer: %d after %.1f s: %.150s\n", code, time.Since(began).Seconds(), answer)
	end.Store(true)
	writer.Wait()
	return nil
}

// bodies begins requests with a large body and sends one byte of it.
func bodies(args []string) error {
	f := flag.NewFlagSet("bodies", flag.ExitOnError)
	n := f.Int("n", 500, "how many")
	wait := f.Duration("wait", 75*time.Second, "how long to wait for their ends")
	s, err := start(f, args)
	if err != nil {
		return err
	}
	defer s.end(syscall.SIGTERM)
	const head = "POST " + leases + " HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 3145728\r\n\r\n{"
	return s.outlast(*n, fmt.Sprintf("%d bodies of 3 MiB of which one byte came", *n), head, *wait)
}

// outlast opens connections, sends a text on each, and returns how many the server ends.
func (s *server) outlast(n int, what, text string, wait time.Duration) error {
	memory, files := s.rss(), s.files()
	all, err := s.dialMany(n, text)
	defer closeAll(all)
	if err != nil {
		return err
	}
	time.Sleep(2 * time.Second)
	full := s.rss()
	time.Sleep(wait)
	fmt.Printf("%s: %d -> %d MB, %d MB after %v; ended: %d of %d\n", what, memory, full, s.rss(), wait, n+files-s.files(), n)
	return nil
}

// unread leaves lists and watches unread.
func unread(args []string) error {
	f := flag.NewFlagSet("unread", flag.ExitOnError)
	wait := f.Duration("wait", 65*time.Second, "how long to wait for the ends of each sort")
	s, err := start(f, args)
	if err != nil {
		return err
	}
	defer s.end(syscall.SIGTERM)
	for i := range 300 {
		s.do("POST", leases, typeJSON, fmt.Sprintf(`{"metadata":{"name":"l%d","annotations":{"a":%q}}}`, i, strings.Repeat("x", 100<<10)))
	}
	http.DefaultClient.CloseIdleConnections()
	for _, r := range [][2]string{
		{"40 unread lists of 30 MB", ""}, {"40 unread watches with timeoutSeconds=4", "?watch=true&timeoutSeconds=4"}, {"40 unread watches", "?watch=true"},
	} {
		if err := s.outlast(40, r[0], get(leases+r[1]), *wait); err != nil {
			return err
		}
	}
	return nil
}

// inflight sends more slow bodies at a time than the server takes from one client, and compares
// what a refusal costs with what it refuses.
func inflight(args []string) error {
	f := flag.NewFlagSet("inflight", flag.ExitOnError)
	n := f.Int("n", 1000, "how many at a time")
	s, err := start(f, forServer(args, "-max-watches-per-client", "100"))
	if err != nil {
		return err
	}
	defer s.end(syscall.SIGTERM)
	s.do("POST", leases, typeJSON, `{"metadata":{"name":"a"}}`)
	cost := func() time.Duration {
		const rounds = 2000
		before := s.cpu()
		for i := range rounds {
			s.do("PATCH", leases+"/a", typeMerge, fmt.Sprintf(`{"spec":{"leaseTransitions":%d}}`, i))
		}
		return (s.cpu() - before) / rounds
	}
	served := cost()
	const slow = "POST " + leases + " HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{"
	all, err := s.dialMany(*n, slow)
	defer closeAll(all)
	if err != nil {
		return err
	}
	time.Sleep(time.Second)
	write, text := s.do("PATCH", leases+"/a", typeMerge, `{"spec":{"leaseTransitions":1}}`)
	read, _ := s.do("GET", leases+"/a", "", "")
	fmt.Printf("during %d slow writes: a write %d %.60q, a read %d\n", *n, write, text, read)
	fmt.Printf("CPU of a write that is served: %v, that is refused: %v\n", served, cost())
	return nil
}

// connections opens more connections than a client may have.
func connections(args []string) error {
	f := flag.NewFlagSet("connections", flag.ExitOnError)
	n := f.Int("n", 6000, "how many")
	s, err := start(f, args)
	if err != nil {
		return err
	}
	defer s.end(syscall.SIGTERM)
	before := s.rss()
	all, err := s.dialMany(*n, "")
	defer closeAll(all)
	if err != nil {
		return err
	}
	time.Sleep(time.Second)
	closed := 0
	for _, conn := range all {
		conn.SetReadDeadline(time.Now().Add(time.Millisecond))
		if _, err := conn.Read(make([]byte, 1)); err != nil && !strings.Contains(err.Error(), "timeout") {
			closed++
		}
	}
	fmt.Printf("%d idle connections: %d closed, %d -> %d MB\n", *n, closed, before, s.rss())
	return nil
}

// browser sends the requests that a page of another site can make a browser send.
func browser(args []string) error {
	s, err := start(flag.NewFlagSet("browser", flag.ExitOnError), args)
	if err != nil {
		return err
	}
	defer s.end(syscall.SIGTERM)
	const evil = "http://evil.example"
	page := []string{"Origin", evil, "Sec-Fetch-Site", "cross-site"}
	rebound := []string{"Host", "evil.example:8001", "Origin", evil + ":8001", "Sec-Fetch-Site", "same-origin"}
	for _, r := range []struct {
		what, method, path, contentType, body string
		headers                               []string
	}{
		{"a form of another site", "POST", leases, "", `{"metadata":{"name":"a"}}`, page},
		{"a form, to /debug/", "POST", "/debug/reset", "", `{}`, page},
		{"a read after DNS rebinding", "GET", leases, "", "", rebound},
		{"a write after it", "POST", leases, typeJSON, `{"metadata":{"name":"b"}}`, rebound},
		{"a deletion after it", "DELETE", leases, "", "", rebound},
		{"a read of /debug/ after it", "GET", "/debug/fixtures", "", "", rebound},
		{"curl", "GET", leases, "", "", nil},
	} {
		code, answer := s.do(r.method, r.path, r.contentType, r.body, r.headers...)
		fmt.Printf("%-28s %d %.200s\n", r.what+":", code, strings.TrimSpace(strings.ReplaceAll(answer, "\n", " ")))
	}
	return nil
}
