// Command etcdlocks measures etcd's own locks, to compare with kubecoord's loads "leaders" and
// "waiters" (internal/test/load): the CPU time of an etcd with n sessions that are kept alive, and
// of a release for which n sessions wait. It runs etcd in a process of its own, on the loopback,
// with its data in a temporary directory.
//
//	go run ./internal/etcdlocks -n 1000 -for 30s
package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/concurrency"
	"golang.org/x/sync/errgroup"

	"github.com/kubecoord/kubecoord/store/etcd/member"
)

// directory is the variable that makes this program an etcd on a directory.
const directory = "ETCDLOCKS_DIRECTORY"

func main() {
	n := flag.Int("n", 1000, "`sessions`, and those that wait for one lock")
	ttl := flag.Int("ttl", 15, "`seconds` after which a session ends that is not kept alive")
	d := flag.Duration("for", 30*time.Second, "how `long` the sessions are kept alive")
	flag.Parse()
	err := errors.New("unexpected arguments")
	switch dir := os.Getenv(directory); {
	case dir != "":
		err = serve(dir)
	case flag.NArg() == 0:
		err = run(*n, *ttl, *d)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "etcdlocks:", err)
		os.Exit(1)
	}
}

// serve runs etcd until the standard input ends. It prints its address.
func serve(dir string) error {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	url := "http://" + ln.Addr().String()
	ln.Close()
	m, err := member.Start(context.Background(), dir, member.Options{ClientURL: url})
	if err != nil {
		return err
	}
	fmt.Println(url)
	io.Copy(io.Discard, os.Stdin)
	return m.Close()
}

// server is the process with etcd.
type server struct {
	cmd *exec.Cmd
	url string
}

// run measures one etcd.
func run(n, ttl int, d time.Duration) error {
	dir, err := os.MkdirTemp("", "etcdlocks")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	s, stop, err := start(dir)
	if err != nil {
		return err
	}
	defer stop()
	client, err := clientv3.New(clientv3.Config{Endpoints: []string{s.url}})
	if err != nil {
		return err
	}
	defer client.Close()
	sessions, err := open(client, n, ttl)
	if err != nil {
		return err
	}
	before := s.cpu()
	time.Sleep(d)
	fmt.Printf("%d sessions of %d s, kept alive: %.4f cores\n", n, ttl, (s.cpu()-before).Seconds()/d.Seconds())
	return s.release(sessions)
}

// open makes sessions, which keep themselves alive.
func open(client *clientv3.Client, n, ttl int) ([]*concurrency.Session, error) {
	all := make([]*concurrency.Session, n)
	var g errgroup.Group
	g.SetLimit(32)
	for i := range all {
		g.Go(func() (err error) {
			all[i], err = concurrency.NewSession(client, concurrency.WithTTL(ttl))
			return err
		})
	}
	return all, g.Wait()
}

// release lets all sessions but the first wait for a lock that the first one holds. It measures two times from the release:
// until the next session acquires the lock, and until that session releases it.
func (s *server) release(sessions []*concurrency.Session) error {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	holder := concurrency.NewMutex(sessions[0], "/lock")
	if err := holder.Lock(ctx); err != nil {
		return err
	}
	locked := make(chan time.Time, len(sessions))
	var g errgroup.Group
	for _, session := range sessions[1:] {
		g.Go(func() error {
			err := concurrency.NewMutex(session, "/lock").Lock(ctx)
			if ctx.Err() != nil {
				return nil
			}
			locked <- time.Now()
			return err
		})
	}
	time.Sleep(5 * time.Second) // all of them wait
	before, began := s.cpu(), time.Now()
	if err := holder.Unlock(ctx); err != nil {
		return err
	}
	took := (<-locked).Sub(began)
	time.Sleep(time.Second)
	fmt.Printf("a release for which %d wait: another one has the lock after %s, %s of CPU in a second\n",
		len(sessions)-1, took.Round(time.Microsecond), s.cpu()-before)
	cancel()
	return g.Wait()
}

// start starts the process.
func start(dir string) (_ *server, stop func(), err error) {
	s := &server{cmd: exec.Command(os.Args[0])}
	s.cmd.Env = append(os.Environ(), directory+"="+dir)
	s.cmd.Stderr = os.Stderr
	in, err := s.cmd.StdinPipe()
	if err != nil {
		return nil, nil, err
	}
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		return nil, nil, err
	}
	if err := s.cmd.Start(); err != nil {
		return nil, nil, err
	}
	stop = func() {
		in.Close()
		s.cmd.Wait()
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		stop()
		return nil, nil, fmt.Errorf("etcd did not start: %w", err)
	}
	s.url = strings.TrimSpace(line)
	return s, stop, nil
}

// cpu returns the CPU time that the process has used.
func (s *server) cpu() time.Duration {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", s.cmd.Process.Pid))
	if err != nil {
		return 0 // not Linux
	}
	fields := strings.Fields(string(data)[strings.LastIndexByte(string(data), ')')+1:])
	user, _ := strconv.Atoi(fields[11])
	system, _ := strconv.Atoi(fields[12])
	return time.Duration(user+system) * 10 * time.Millisecond
}
