package main

import (
	"flag"
	"log"
	"net"
	"strings"
	"sync"
	"time"

	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/internal/registry"
	"github.com/kubecoord/kubecoord/internal/tally"
)

// limits is the part of the command line that bounds what clients can use. 0 means no
// limit.
type limits struct {
	reads, writes  int
	timeout        time.Duration
	watchStall     time.Duration
	watchesPer     int
	connectionsPer int
	historyBytes   int64
	quota          int64
	hosts          string
}

// register adds the flags. Those that a kube-apiserver or etcd has too are named as there.
func (l *limits) register(f *flag.FlagSet) {
	f.IntVar(&l.reads, "max-requests-inflight", 400, "answer 429 to more `reads` than this at a time, watches not counted; 0: no limit")
	f.IntVar(&l.writes, "max-mutating-requests-inflight", 200, "answer 429 to more `writes` than this at a time; 0: no limit")
	f.DurationVar(&l.timeout, "request-timeout", time.Minute, "answer 504 to a request, other than a watch, after this `time`; 0: no limit")
	f.DurationVar(&l.watchStall, "watch-stall", time.Minute, "cut a watch whose client does not read for this `time`; 0: no limit")
	f.IntVar(&l.watchesPer, "max-watches-per-client", 5000, "answer 429 to more `watches` of one address; 0: no limit")
	f.IntVar(&l.connectionsPer, "max-connections-per-client", 5000, "close more `connections` of one address; 0: no limit")
	f.Int64Var(&l.historyBytes, "history-bytes", registry.DefaultHistoryBytes, "how many `bytes` of events are kept at most")
	f.Int64Var(&l.quota, "quota-backend-bytes", 512<<20, "refuse writes that add bytes to more than so many `bytes` of objects; 0: no limit")
	f.StringVar(&l.hosts, "allow-host", "", "further `names`, separated by commas, by which clients may call this server, beside those of the loopback and the address of -listen")
}

// options sets the limits of an API that listens at an address.
func (l *limits) options(o *httpapi.Options, listen string) {
	o.Reads, o.Writes, o.WatchesPerClient, o.WatchStall = l.reads, l.writes, l.watchesPer, l.watchStall
	if o.RequestTimeout = l.timeout; o.RequestTimeout <= 0 {
		o.RequestTimeout = -1
	}
	o.Hosts = append(strings.FieldsFunc(l.hosts, func(r rune) bool { return r == ',' }), listen)
}

// clientListener closes connections of addresses that have too many.
type clientListener struct {
	net.Listener
	open    *tally.Clients
	refused func(client string)
}

func (l *clientListener) Accept() (net.Conn, error) {
	for {
		conn, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		client := tally.Host(conn.RemoteAddr().String())
		if leave := l.open.Take(client); leave != nil {
			return &clientConn{Conn: conn, closed: leave}, nil
		}
		conn.Close()
		l.refused(client)
	}
}

// clientConn is a connection that is counted until it is closed.
type clientConn struct {
	net.Conn
	closed func()
}

func (c *clientConn) Close() error {
	c.closed()
	return c.Conn.Close()
}

// calmLog logs one line a second. The next line says how many were left out.
type calmLog struct {
	mu   sync.Mutex
	last time.Time
	left int
}

func (l *calmLog) printf(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	if now.Sub(l.last) < time.Second {
		l.left++
		return
	}
	l.last = now
	if l.left > 0 {
		format += " (and %d more)"
		args = append(args, l.left)
		l.left = 0
	}
	log.Printf(format, args...)
}

// Write is for the log of an http.Server.
func (l *calmLog) Write(line []byte) (int, error) {
	l.printf("%s", strings.TrimSuffix(string(line), "\n"))
	return len(line), nil
}

// refusal logs answers to requests that broke a limit.
func (l *calmLog) refusal(e httpapi.LogEntry) {
	switch e.Code {
	case 403, 413, 429, 504:
		l.printf("refused: %s %q %d %q", e.Method, e.Path, e.Code, e.UserAgent)
	}
}
