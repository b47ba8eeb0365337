package main

import (
	"context"
	"crypto/tls"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

// from returns a client of HTTP/1.1 with an address of its own on the loopback.
func from(ip string) *http.Client {
	d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(ip)}}
	return &http.Client{Transport: &http.Transport{
		DialContext:     d.DialContext,
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, // a certificate of the loopback, made at the start
		MaxConnsPerHost: 1000,
	}}
}

// otherClient sends a request every 50 ms for a time, from an address of its own, and prints what
// it is answered.
func (s *server) otherClient(d time.Duration, method, path, body string) {
	client := from("127.0.0.2")
	defer client.CloseIdleConnections()
	codes, longest := map[int]int{}, time.Duration(0)
	for end := time.Now().Add(d); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		began := time.Now()
		codes[s.code(context.Background(), client, method, path, body)]++
		longest = max(longest, time.Since(began))
	}
	fmt.Printf("another client, %s: answers by code %v, the slowest after %v; the server has %d MB\n", method, codes, longest.Round(time.Millisecond), s.rss())
}

// code sends a request, reads the answer, and returns its code, or 0 if there is none.
func (s *server) code(ctx context.Context, client *http.Client, method, path, body string, headers ...string) int {
	req, err := http.NewRequestWithContext(ctx, method, s.scheme+"://"+s.addr+path, strings.NewReader(body))
	if err != nil {
		return 0
	}
	req.Header.Set("Content-Type", typeJSON)
	if method == "PATCH" {
		req.Header.Set("Content-Type", typeMerge)
	}
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	resp, err := client.Do(req)
	if err != nil {
		return 0
	}
	defer resp.Body.Close()
	io.Copy(io.Discard, resp.Body)
	return resp.StatusCode
}

const renewal = `{"metadata":{"name":"a","namespace":"default"},"spec":{"holderIdentity":"me","leaseDurationSeconds":15}}`

// slowBodies sends writes whose bodies do not come, while another client renews a Lease.
func slowBodies(args []string) error {
	f := flag.NewFlagSet("slowbodies", flag.ExitOnError)
	n := f.Int("n", 200, "how many")
	d := f.Duration("for", 20*time.Second, "how long")
	s, err := start(f, args)
	if err != nil {
		return err
	}
	defer s.end(syscall.SIGTERM)
	s.do("PUT", leases+"/a", typeJSON, renewal)
	all, err := s.dialMany(*n, "POST "+leases+" HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{")
	defer closeAll(all)
	if err != nil {
		return err
	}
	time.Sleep(time.Second)
	fmt.Printf("during %d POSTs of which one byte came: ", *n)
	s.otherClient(*d, "PATCH", leases+"/a", renewal)
	return nil
}

// future reads a version in the future again and again, while another client reads.
func future(args []string) error {
	f := flag.NewFlagSet("future", flag.ExitOnError)
	n := f.Int("n", 420, "how many at a time")
	d := f.Duration("for", 20*time.Second, "how long")
	s, err := start(f, args)
	if err != nil {
		return err
	}
	defer s.end(syscall.SIGTERM)
	s.do("PUT", leases+"/a", typeJSON, renewal)
	s.crowd(*n, func(ctx context.Context, client *http.Client) {
		if s.code(ctx, client, "GET", leases+"/a?resourceVersion=9000000000000000000", "") == http.StatusTooManyRequests {
			time.Sleep(100 * time.Millisecond)
		}
	}, func() {
		fmt.Printf("during %d reads of a version in the future: ", *n)
		s.otherClient(*d, "GET", leases+"/a", "")
	})
	return nil
}

// crowd repeats a request in n goroutines from one address while beside runs.
func (s *server) crowd(n int, request func(ctx context.Context, client *http.Client), beside func()) {
	ctx, cancel := context.WithCancel(context.Background())
	client := from("127.0.0.3")
	client.Transport.(*http.Transport).MaxIdleConnsPerHost = n
	var all sync.WaitGroup
	for range n {
		all.Go(func() {
			for ctx.Err() == nil {
				request(ctx, client)
			}
		})
	}
	time.Sleep(2 * time.Second)
	beside()
	cancel()
	all.Wait()
	client.CloseIdleConnections()
}

// greedy is one client that sends lists in YAML without pause, while another client reads.
func greedy(args []string) error {
	f := flag.NewFlagSet("greedy", flag.ExitOnError)
	n := f.Int("n", 1000, "how many requests at a time")
	d := f.Duration("for", 20*time.Second, "how long")
	s, err := start(f, args)
	if err != nil {
		return err
	}
	defer s.end(syscall.SIGTERM)
	s.do("PUT", leases+"/a", typeJSON, renewal)
	for i := range 500 {
		s.do("POST", leases, typeJSON, fmt.Sprintf(`{"metadata":{"name":"l%d","annotations":{"a":%q}}}`, i, strings.Repeat("x", 1000)))
	}
	var mu sync.Mutex
	codes := map[int]int{}
	s.crowd(*n, func(ctx context.Context, client *http.Client) {
		code := s.code(ctx, client, "GET", leases, "", "Accept", "application/yaml")
		mu.Lock()
		codes[code]++
		mu.Unlock()
	}, func() {
		fmt.Printf("during %d lists in YAML at a time: ", *n)
		s.otherClient(*d, "GET", leases+"/a", "")
	})
	delete(codes, 0) // requests that the end has cut
	fmt.Println("the greedy client: answers by code", codes)
	return nil
}

// forServer adds flags of the server to the arguments of a load.
func forServer(args []string, flags ...string) []string {
	if !slices.Contains(args, "--") {
		args = append(args, "--")
	}
	return append(args, flags...)
}

// unreadLists leaves lists of HTTP/2 unread, while another client lists.
func unreadLists(args []string) error {
	f := flag.NewFlagSet("h2lists", flag.ExitOnError)
	n := f.Int("n", 1200, "how many")
	d := f.Duration("for", 20*time.Second, "how long")
	s, err := start(f, forServer(args, "-tls"))
	if err != nil {
		return err
	}
	defer s.end(syscall.SIGTERM)
	client := from("127.0.0.3")
	client.Transport.(*http.Transport).MaxConnsPerHost = 0
	client.Transport.(*http.Transport).ForceAttemptHTTP2 = true
	client.Transport.(*http.Transport).HTTP2 = &http.HTTP2Config{MaxReceiveBufferPerStream: 4096}
	for i := range 100 {
		s.code(context.Background(), client, "POST", leases, fmt.Sprintf(`{"metadata":{"name":"l%d","annotations":{"a":%q}}}`, i, strings.Repeat("x", 10_000)))
	}
	before := s.rss()
	codes := map[int]int{}
	for range *n {
		resp, err := client.Get(s.scheme + "://" + s.addr + leases)
		if err != nil {
			codes[0]++
			continue
		}
		defer resp.Body.Close() // it is not read
		codes[resp.StatusCode]++
	}
	fmt.Printf("%d unread lists of 1 MB: answers by code %v, %d -> %d MB\n", *n, codes, before, s.rss())
	fmt.Print("meanwhile ")
	s.otherClient(*d, "GET", leases, "")
	return nil
}

// ranges asks for many ranges of a document.
func ranges(args []string) error {
	f := flag.NewFlagSet("ranges", flag.ExitOnError)
	n := f.Int("n", 60_000, "how many")
	s, err := start(f, args)
	if err != nil {
		return err
	}
	defer s.end(syscall.SIGTERM)
	s.do("GET", "/openapi/v2", "", "")
	before, began, size := s.cpu(), time.Now(), 0
	const rounds = 10
	code := 0
	for range rounds {
		var answer string
		code, answer = s.do("GET", "/openapi/v2", "", "", "Range", "bytes="+strings.Repeat("0-0,", *n-1)+"0-0")
		size = len(answer)
	}
	fmt.Printf("%d ranges of a document: %d, %d bytes after %v, %v of CPU\n", *n, code, size, time.Since(began)/rounds, (s.cpu()-before)/rounds)
	return nil
}
