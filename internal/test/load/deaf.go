package main

import (
	"bytes"
	"crypto/tls"
	"encoding/binary"
	"flag"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"strings"
	"syscall"
	"time"
)

// deaf opens watches that read nothing, of a state of large objects, while another client changes
// the objects.
func deaf(args []string) error {
	f := flag.NewFlagSet("deaf", flag.ExitOnError)
	n := f.Int("n", 4800, "how many watches")
	connections := f.Int("connections", 20, "of HTTP/2; 0: each watch has a connection of HTTP/1.1")
	window := f.Bool("window", false, "HTTP/2 clients allow any number of bytes, but take none")
	objects := f.Int("objects", 40, "of the state")
	size := f.Int("size", 200_000, "`bytes` of an object")
	seconds := f.Int("seconds", 10, "how long the objects are changed")
	s, err := start(f, args, "-tls")
	if err != nil {
		return err
	}
	defer s.end(syscall.SIGTERM)
	value := strings.Repeat("x", *size)
	for i := range *objects {
		if code, answer := s.do("POST", leases, typeJSON, fmt.Sprintf(`{"metadata":{"name":"l%d"},"spec":{"holderIdentity":%q}}`, i, value)); code != http.StatusCreated {
			return fmt.Errorf("%d %.200s", code, answer)
		}
	}
	before, cpu, began := s.rss(), s.cpu(), time.Now()
	var all []net.Conn
	defer func() { closeAll(all) }()
	for i := range max(*connections, *n*(1-min(*connections, 1))) {
		conn, err := s.deafConnection(i, *connections, *n, *window)
		if err != nil {
			return err
		}
		all = append(all, conn)
	}
	peak, writes := 0, 0
	for end := time.Now().Add(time.Duration(*seconds) * time.Second); time.Now().Before(end); writes++ {
		code, answer := s.do("PATCH", fmt.Sprintf("%s/l%d", leases, writes%*objects), typeMerge, fmt.Sprintf(`{"spec":{"leaseTransitions":%d}}`, writes))
		if code != http.StatusOK {
			return fmt.Errorf("%d %.200s", code, answer)
		}
		peak = max(peak, s.rss())
		time.Sleep(20 * time.Millisecond)
	}
	fmt.Printf("%d watches of %d objects of %d bytes that read nothing, %d changes: %d -> at most %d MB, then %d MB; %v of CPU in %v\n",
		*n, *objects, *size, writes, before, peak, s.rss(), s.cpu()-cpu, time.Since(began).Round(time.Second))
	return nil
}

// deafConnection opens connection i of so many, with its share of n watches.
func (s *server) deafConnection(i, connections, n int, window bool) (net.Conn, error) {
	raw, err := net.Dial("tcp", s.addr)
	if err != nil {
		return nil, err
	}
	raw.(*net.TCPConn).SetReadBuffer(4096)
	config := &tls.Config{InsecureSkipVerify: true} // the loopback
	path := allLeases + "?watch=true"
	if connections == 0 {
		conn := tls.Client(raw, config)
		_, err := io.WriteString(conn, get(path))
		return conn, err
	}
	config.NextProtos = []string{"h2"}
	conn := tls.Client(raw, config)
	share := n / connections
	if i < n%connections {
		share++
	}
	_, err = conn.Write(streams(share, path, window))
	return conn, err
}

// streams returns the bytes that a client of HTTP/2 (RFC 9113) sends to open n requests.
func streams(n int, path string, window bool) []byte {
	var b bytes.Buffer
	frame := func(kind, flags byte, stream uint32, payload []byte) {
		b.Write([]byte{byte(len(payload) >> 16), byte(len(payload) >> 8), byte(len(payload)), kind, flags})
		b.Write(binary.BigEndian.AppendUint32(nil, stream))
		b.Write(payload)
	}
	const headers, settings, windowUpdate, endOfStreamAndHeaders = 1, 4, 8, 5
	b.WriteString("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
	if window {
		frame(settings, 0, 0, binary.BigEndian.AppendUint32([]byte{0, 4}, math.MaxInt32)) // SETTINGS_INITIAL_WINDOW_SIZE
		frame(windowUpdate, 0, 0, binary.BigEndian.AppendUint32(nil, math.MaxInt32-65535))
	} else {
		frame(settings, 0, 0, nil)
	}
	const get, https = 0x82, 0x87 // :method GET, :scheme https (RFC 7541, appendix A)
	block := []byte{get, https}
	for _, h := range []struct {
		name  byte // in the static table
		value string
	}{{4, path}, {1, "localhost"}} {
		block = append(block, h.name, byte(len(h.value)))
		block = append(block, h.value...)
	}
	for i := range n {
		frame(headers, endOfStreamAndHeaders, uint32(2*i+1), block)
	}
	return b.Bytes()
}

// deliveries measures the CPU time of the server for one event to one watch, for objects of several sizes.
func deliveries(args []string) error {
	f := flag.NewFlagSet("deliveries", flag.ExitOnError)
	n := f.Int("n", 200, "how many watches")
	rounds := f.Int("rounds", 50, "how many changes of each size")
	s, err := start(f, args)
	if err != nil {
		return err
	}
	defer s.end(syscall.SIGTERM)
	for _, kilobytes := range []int{1, 16, 63, 68, 1000} {
		name := fmt.Sprintf("l%d", kilobytes)
		s.do("POST", leases, typeJSON, fmt.Sprintf(`{"metadata":{"name":%q},"spec":{"holderIdentity":%q}}`, name, strings.Repeat("x", kilobytes<<10)))
		read := make(chan int64)
		var all []net.Conn
		for range *n {
			conn, err := net.Dial("tcp", s.addr)
			if err != nil {
				return err
			}
			all = append(all, conn)
			if _, err := io.WriteString(conn, get(allLeases+"?watch=true&fieldSelector=metadata.name%3D"+name)); err != nil {
				return err
			}
			go func() { drain(conn, int64(kilobytes<<10), read) }()
		}
		event := func() {
			for range *n {
				<-read
			}
		}
		event() // the state
		before := s.cpu()
		for i := range *rounds {
			s.do("PATCH", leases+"/"+name, typeMerge, fmt.Sprintf(`{"spec":{"leaseTransitions":%d}}`, i))
			event()
		}
		fmt.Printf("%d KB: %.1f µs of CPU a delivery, %d MB\n", kilobytes, float64((s.cpu()-before).Microseconds())/float64(*n**rounds), s.rss())
		closeAll(all)
	}
	return nil
}

// drain reads a connection and reports each event, which has at least so many bytes and ends in a
// line end.
func drain(conn net.Conn, size int64, read chan<- int64) {
	buf, sum := make([]byte, 64<<10), int64(0)
	for {
		n, err := conn.Read(buf)
		if err != nil {
			return
		}
		if sum += int64(n); sum >= size && bytes.HasSuffix(buf[:n], []byte("\n\r\n")) {
			read <- sum
			sum = 0
		}
	}
}
