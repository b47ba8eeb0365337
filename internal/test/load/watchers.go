package main

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/lease"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/meta"
)

// watchers measures how long events take to watchers that read, with and without as many
// that do not, and what each of these holds. Server and clients are one process.
func watchers(args []string) error {
	f := flag.NewFlagSet("watchers", flag.ExitOnError)
	healthy := f.Int("healthy", 1000, "how many read, each one Lease")
	deaf := f.Int("deaf", 1000, "how many do not, each all Leases")
	rate := f.Int("rate", 500, "writes a second")
	seconds := f.Int("seconds", 5, "of each phase")
	sndbuf := f.Int("sndbuf", 16<<10, "`bytes` of the send buffers of the server; 0: as the kernel likes, megabytes each")
	phases := f.String("phases", "0,1,0,1,0,1", "0: without the deaf, 1: with them")
	stall := f.Duration("stall", 0, "as -watch-stall of examples/server")
	f.Parse(args)
	raiseFiles()

	st := store.New(store.Options{})
	defer st.Close()
	api := httpapi.New(st, httpapi.Options{WatchStall: *stall})
	defer api.Close()
	web := httptest.NewUnstartedServer(api)
	web.Config.ConnState = func(c net.Conn, state http.ConnState) {
		if state == http.StateNew && *sndbuf > 0 {
			c.(*net.TCPConn).SetWriteBuffer(*sndbuf)
		}
	}
	web.Start()
	defer web.CloseClientConnections()
	crowd := &crowd{st: st, addr: web.Listener.Addr().String(), sent: make([]atomic.Int64, *healthy)}
	for i := range *healthy {
		if _, err := lease.In(st).Create(context.Background(), &lease.Lease{ObjectMeta: meta.ObjectMeta{Namespace: "d", Name: "l" + strconv.Itoa(i)}}, store.CreateOptions{}); err != nil {
			return err
		}
	}
	for phase := range strings.SplitSeq(*phases, ",") {
		n := 0
		if phase == "1" {
			n = *deaf
		}
		if err := crowd.phase(n, *rate, *seconds); err != nil {
			return err
		}
	}
	return nil
}

// crowd is the clients of watchers.
type crowd struct {
	st   *store.Store
	addr string
	sent []atomic.Int64 // when the last write of each Lease began

	mu        sync.Mutex
	latencies []time.Duration
	writes    []time.Duration
}

// watch opens a watch of a Lease, or without a name of all.
func (c *crowd) watch(name string) (net.Conn, error) {
	conn, err := net.Dial("tcp", c.addr)
	if err != nil {
		return nil, err
	}
	path := "/apis/coordination.k8s.io/v1/namespaces/d/leases?watch=true&resourceVersion=" + c.st.ResourceVersion()
	if name == "" {
		conn.(*net.TCPConn).SetReadBuffer(4096)
	} else {
		path += "&fieldSelector=metadata.name%3D" + name
	}
	_, err = io.WriteString(conn, get(path))
	return conn, err
}

// read measures the events of a watch of Lease i.
func (c *crowd) read(conn net.Conn, i int) {
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		return
	}
	events := bufio.NewReader(resp.Body)
	for {
		if _, err := events.ReadSlice('\n'); err != nil {
			return
		}
		took := time.Duration(time.Now().UnixNano() - c.sent[i].Load())
		c.mu.Lock()
		c.latencies = append(c.latencies, took)
		c.mu.Unlock()
	}
}

func (c *crowd) phase(deaf, rate, seconds int) error {
	var readers sync.WaitGroup
	var all []net.Conn
	defer func() { closeAll(all); readers.Wait() }()
	open := func(name string) (net.Conn, error) {
		conn, err := c.watch(name)
		if err == nil {
			all = append(all, conn)
		}
		return conn, err
	}
	for i := range c.sent {
		conn, err := open("l" + strconv.Itoa(i))
		if err != nil {
			return err
		}
		readers.Go(func() { c.read(conn, i) })
	}
	c.waitFor(len(c.sent))
	before := memory()
	for range deaf {
		if _, err := open(""); err != nil {
			return err
		}
	}
	c.waitFor(len(c.sent) + deaf)
	if deaf > 0 { // fill their buffers
		for i := range 2000 {
			c.write(i, strings.Repeat("x", 1000))
		}
		settle()
	}
	c.mu.Lock()
	c.latencies, c.writes = nil, nil
	c.mu.Unlock()
	used, began := cpu(), time.Now()
	tick := time.NewTicker(time.Second / time.Duration(rate))
	defer tick.Stop()
	for i := range rate * seconds {
		<-tick.C
		c.write(i, "")
	}
	time.Sleep(300 * time.Millisecond)
	used = cpu() - used
	c.mu.Lock()
	at := func(all []time.Duration, share float64) time.Duration {
		slices.Sort(all)
		return all[int(float64(len(all)-1)*share)].Round(100 * time.Nanosecond)
	}
	fmt.Printf("%d deaf: %d events, p50 %v p90 %v p99 %v; writes p50 %v; %.2f cores", deaf, len(c.latencies),
		at(c.latencies, .5), at(c.latencies, .9), at(c.latencies, .99), at(c.writes, .5), used.Seconds()/time.Since(began).Seconds())
	c.mu.Unlock()
	if deaf > 0 {
		fmt.Printf("; each deaf one holds %d KB", (memory()-before)/int64(deaf)>>10)
	}
	fmt.Println("; watches open:", c.st.Watchers())
	return nil
}

// write changes the holder of a Lease.
func (c *crowd) write(i int, padding string) {
	n := i % len(c.sent)
	began := time.Now()
	c.sent[n].Store(began.UnixNano())
	lease.In(c.st).Modify(context.Background(), "d", "l"+strconv.Itoa(n), func(l *lease.Lease) error {
		l.Spec.HolderIdentity = new(padding + strconv.FormatInt(time.Now().UnixNano(), 10))
		return nil
	}, store.UpdateOptions{})
	c.writes = append(c.writes, time.Since(began))
}

// waitFor waits until so many watches are open.
func (c *crowd) waitFor(n int) {
	for c.st.Watchers() < n {
		time.Sleep(10 * time.Millisecond)
	}
	settle()
}

// settle waits until the process does little.
func settle() {
	for range 60 {
		before := cpu()
		time.Sleep(500 * time.Millisecond)
		if cpu()-before < 50*time.Millisecond {
			return
		}
	}
}

// memory returns the bytes of the heap and of stacks in use.
func memory() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc + m.StackInuse)
}

// cpu returns the CPU time of this process.
func cpu() time.Duration {
	var u syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
