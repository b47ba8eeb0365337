package main

import (
	"bufio"
	"crypto/tls"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"
)

const (
	leases = "/apis/coordination.k8s.io/v1/namespaces/default/leases"

	typeJSON  = "application/json"
	typeMerge = "application/merge-patch+json"
)

// server is a process of examples/server.
type server struct {
	binary string
	flags  []string
	cmd    *exec.Cmd
	scheme string
	addr   string
}

// start parses the arguments of a load and starts a server with flags of its own and the
// flags that follow the arguments.
func start(f *flag.FlagSet, args []string, own ...string) (*server, error) {
	s := &server{}
	f.StringVar(&s.binary, "server", "", "`file` of the built examples/server; what follows the flags is for it")
	f.Parse(args)
	if s.binary == "" {
		return nil, errors.New("set -server")
	}
	s.flags = append(own, f.Args()...)
	raiseFiles()
	http.DefaultTransport.(*http.Transport).TLSClientConfig = &tls.Config{InsecureSkipVerify: true} // the loopback
	return s, s.run()
}

// run starts the process with more flags.
func (s *server) run(more ...string) error {
	s.cmd = exec.Command(s.binary, append(append([]string{"-listen", "127.0.0.1:0"}, s.flags...), more...)...)
	s.cmd.Stderr = os.Stderr
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := s.cmd.Start(); err != nil {
		return err
	}
	lines := bufio.NewReader(out)
	line, err := lines.ReadString('\n')
	if err != nil {
		return fmt.Errorf("the server did not start: %w", err)
	}
	s.scheme, s.addr, _ = strings.Cut(strings.TrimPrefix(strings.TrimSpace(line), "serving on "), "://")
	go io.Copy(io.Discard, lines)
	return nil
}

// end ends the process with a signal.
func (s *server) end(signal syscall.Signal) {
	s.cmd.Process.Signal(signal)
	s.cmd.Wait()
}

// rss returns the resident memory in MB.
func (s *server) rss() int {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.cmd.Process.Pid))
	if err != nil {
		return 0 // not Linux
	}
	_, rest, _ := strings.Cut(string(data), "VmRSS:")
	kb, _ := strconv.Atoi(strings.Fields(rest)[0])
	return kb >> 10
}

// cpu returns the CPU time that was used.
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

// cores returns how many processors a server uses during a time.
func (s *server) cores(d time.Duration) float64 {
	before := s.cpu()
	time.Sleep(d)
	return (s.cpu() - before).Seconds() / d.Seconds()
}

// do sends a request and returns the code and the body of the answer.
func (s *server) do(method, path, contentType, body string, headers ...string) (int, string) {
	req, err := http.NewRequest(method, s.scheme+"://"+s.addr+path, strings.NewReader(body))
	if err != nil {
		return 0, err.Error()
	}
	if contentType != "" {
		req.Header.Set("Content-Type", contentType)
	}
	for i := 0; i < len(headers); i += 2 {
		if headers[i] == "Host" {
			req.Host = headers[i+1]
		}
		req.Header.Set(headers[i], headers[i+1])
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, err.Error()
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		return 0, err.Error()
	}
	return resp.StatusCode, string(data)
}

// dial opens a connection that keeps few unread bytes, and sends a text on it.
func (s *server) dial(text string) (net.Conn, error) {
	conn, err := net.Dial("tcp", s.addr)
	if err != nil {
		return nil, err
	}
	conn.(*net.TCPConn).SetReadBuffer(4096)
	_, err = io.WriteString(conn, text)
	return conn, err
}

// dialMany opens n connections; the caller must close them.
func (s *server) dialMany(n int, text string) (all []net.Conn, err error) {
	for range n {
		conn, err := s.dial(text)
		if err != nil {
			return all, err
		}
		all = append(all, conn)
	}
	return all, nil
}

// get returns the text of a GET.
func get(path string) string { return "GET " + path + " HTTP/1.1\r\nHost: localhost\r\n\r\n" }

// files returns how many files and connections are open.
func (s *server) files() int {
	all, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", s.cmd.Process.Pid))
	if err != nil {
		return 0 // not Linux
	}
	return len(all)
}

func closeAll(all []net.Conn) {
	for _, conn := range all {
		conn.Close()
	}
}

// raiseFiles allows as many open files as the system does.
func raiseFiles() {
	var limit syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit) == nil {
		limit.Cur = limit.Max
		syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit)
	}
}
