package main

import (
	_ "embed"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"
)

// etcdTable has the flags of etcd.
//
//go:embed etcd.txt
var etcdTable string

// The versions in the answer of /version, of the release whose flags are in etcd.txt.
const etcdVersion, etcdCluster = "3.7.3", "3.7.0"

// etcd is the program of that name: it answers health checks until a signal ends it. Its result is the exit code.
func etcd(args []string, out, errs io.Writer) int {
	fs := etcdFlags()
	version := fs.Bool("version", false, "")
	fs.SetOutput(errs)
	fs.Usage = func() { etcdUsage(fs, errs) }
	switch err := fs.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		return 2
	case *version:
		fmt.Fprintf(out, "etcd Version: %s\nkubecoord: health checks only\n", etcdVersion)
		return 0
	case fs.NArg() > 0:
		fmt.Fprintf(errs, "error verifying flags, %q is not a valid flag. See 'etcd --help'.\n", fs.Arg(0))
		return 1
	}
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, os.Interrupt, syscall.SIGTERM)
	server, err := serveEtcd(fs, errs)
	if err != nil {
		fmt.Fprintf(errs, "etcd (kubecoord): %v\n", err)
		return 1
	}
	got := <-stop
	_ = server.Close()
	return byDefault(got)
}

// byDefault ends the process by a signal, as etcd does. Its result is the exit code where that is not possible.
func byDefault(s os.Signal) int {
	signal.Reset(s)
	if self, err := os.FindProcess(os.Getpid()); err == nil && self.Signal(s) == nil {
		select {} // until the signal arrives
	}
	return 1
}

// etcdFlags returns the flags of the table.
func etcdFlags() *flag.FlagSet {
	fs := flag.NewFlagSet("etcd", flag.ContinueOnError)
	for line := range strings.Lines(etcdTable) {
		switch fields := strings.Fields(line); {
		case line[0] == '#':
		case len(fields) == 1:
			fs.String(fields[0], "", "")
		default:
			fs.Bool(fields[0], false, "")
		}
	}
	fs.Lookup("listen-client-urls").DefValue = "http://localhost:2379"
	_ = fs.Set("listen-client-urls", "http://localhost:2379")
	return fs
}

// etcdUsage prints the names of the flags. envtest looks for them there.
func etcdUsage(fs *flag.FlagSet, w io.Writer) {
	fmt.Fprint(w, "This etcd is a part of kubecoord. It answers /health, /livez, /readyz and /version, and keeps nothing:\n"+
		"the objects are in the memory of the kube-apiserver beside it. Of the flags of etcd only --listen-client-urls\n"+
		"and --version have an effect.\n\nUsage:\n\n  etcd [flags]\n\n")
	fs.VisitAll(func(f *flag.Flag) { fmt.Fprintf(w, "  --%s\n", f.Name) })
}

// serveEtcd answers at the URLs of clients.
func serveEtcd(fs *flag.FlagSet, errs io.Writer) (*http.Server, error) {
	server := &http.Server{Handler: etcdHandler(), ReadHeaderTimeout: 30 * time.Second}
	urls := fs.Lookup("listen-client-urls").Value.String()
	for at := range strings.SplitSeq(urls, ",") {
		u, err := url.Parse(at)
		if err != nil {
			return nil, fmt.Errorf("--listen-client-urls: %w", err)
		}
		if u.Scheme != "http" {
			return nil, fmt.Errorf("--listen-client-urls: %q: want a URL with http: this etcd has no certificates", at)
		}
		listener, err := listenLoopback(u.Hostname(), u.Port())
		if err != nil {
			return nil, fmt.Errorf("--listen-client-urls: %w", err)
		}
		go func() { _ = server.Serve(listener) }()
	}
	fmt.Fprintf(errs, "etcd (kubecoord): answers health checks at %s, and keeps nothing: the objects are in the memory of kube-apiserver\n", urls)
	return server, nil
}

// etcdHandler answers what a health check asks (etcd: server/etcdserver/api/etcdhttp).
func etcdHandler() http.Handler {
	mux := http.NewServeMux()
	for path, body := range map[string]string{
		"/health": `{"health":"true","reason":""}`, "/livez": "ok\n", "/readyz": "ok\n",
		"/version": `{"etcdserver":"` + etcdVersion + `","etcdcluster":"` + etcdCluster + `","storage":"` + etcdCluster + `"}`,
	} {
		mux.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) {
			if r.Method != http.MethodGet {
				w.Header().Set("Allow", http.MethodGet)
				http.Error(w, "Method Not Allowed", http.StatusMethodNotAllowed)
				return
			}
			mediaType := "text/plain; charset=utf-8"
			if path == "/version" {
				mediaType = "application/json"
			}
			w.Header().Set("Content-Type", mediaType)
			_, _ = io.WriteString(w, body)
		})
	}
	return mux
}

// listenLoopback opens a port of the loopback, and refuses other addresses.
func listenLoopback(host, port string) (net.Listener, error) {
	if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return nil, fmt.Errorf("%q is not an address of the loopback: this server is for tests, and has no other", host)
	}
	return net.Listen("tcp", net.JoinHostPort(host, port))
}
