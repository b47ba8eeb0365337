// Package serve is what the servers among the examples share: flags, credentials, limits,
// a kubeconfig, and the life of the process.
package serve

import (
	"crypto/tls"
	"crypto/x509"
	"flag"
	"fmt"
	"log"
	"net"
	"time"

	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/internal/registry"
)

// Options is the part of the command line that servers share.
type Options struct {
	Address      string // of -listen
	History      int
	HistoryBytes int64
	Verbose      bool
	TokenFile    string
	TLSCert      string
	TLSKey       string
	SelfSigned   bool
	ClientCA     string
	Insecure     bool
	Kubeconfig   string
	Elect        bool
	limits
}

// Register adds the flags, and sets the options to their defaults.
func (o *Options) Register(f *flag.FlagSet) {
	f.StringVar(&o.Address, "listen", "127.0.0.1:8001", "`address` to serve on; port 0 picks one")
	f.IntVar(&o.History, "history", registry.DefaultHistory, "how many `events` are kept for watches and for lists at older versions")
	f.Int64Var(&o.HistoryBytes, "history-bytes", registry.DefaultHistoryBytes, "how many `bytes` of events are kept at most")
	f.BoolVar(&o.Verbose, "v", false, "log every request to standard error")
	f.StringVar(&o.TokenFile, "token-file", "", "let in only bearer tokens of this `file`: lines of token,user,uid[,\"group1,group2\"]")
	f.StringVar(&o.TLSCert, "tls-cert", "", "serve HTTPS with the certificate in this `file`")
	f.StringVar(&o.TLSKey, "tls-key", "", "`file` with the key of -tls-cert")
	f.BoolVar(&o.SelfSigned, "tls", false, "serve HTTPS with a self-signed certificate made at the start")
	f.BoolVar(&o.Insecure, "insecure", false, "allow an address that others can reach without authentication")
	f.StringVar(&o.Kubeconfig, "kubeconfig", "", "write a kubeconfig for this server to this `file`")
	f.BoolVar(&o.Elect, "elect", true, "elect the holders of leases among their LeaseCandidates")
	f.StringVar(&o.ClientCA, "client-ca", "", "let in clients with a certificate that one in this `file` has signed: the common name is the user, the organizations are the groups")
	o.limits.register(f)
}

// Front is the side of a server that faces its clients. Its files have been read.
type Front struct {
	Options
	tokens   map[string]httpapi.User // nil without -token-file
	clientCA *x509.CertPool          // nil without -client-ca
	cert     *tls.Certificate        // nil for plain HTTP
	calm     calmLog
}

// Open checks the options and reads the files that they name.
func (o Options) Open() (f *Front, err error) {
	if o.History < 1 {
		return nil, fmt.Errorf("-history %d: must be at least 1", o.History)
	}
	f = &Front{Options: o}
	if f.tokens, err = readTokens(o.TokenFile); err != nil {
		return nil, err
	}
	if f.clientCA, err = o.readClientCA(); err != nil {
		return nil, err
	}
	if err := f.checkExposure(); err != nil {
		return nil, err
	}
	f.cert, err = o.certificate()
	return f, err
}

// checkExposure refuses an address that other machines can reach if requests need no
// authentication.
func (f *Front) checkExposure() error {
	if f.tokens != nil || f.clientCA != nil || f.Insecure {
		return nil
	}
	host, _, err := net.SplitHostPort(f.Address)
	if err != nil {
		return fmt.Errorf("-listen: %w", err)
	}
	if ip := net.ParseIP(host); host == "localhost" || ip != nil && ip.IsLoopback() {
		return nil
	}
	return fmt.Errorf("-listen %s: other machines can reach it: set -token-file, or -insecure to allow requests without authentication", f.Address)
}

// API returns the options of an API behind the Front: authentication, limits and the log.
func (f *Front) API() httpapi.Options {
	opts := httpapi.Options{Authenticate: authenticator(f.tokens, f.clientCA), Log: f.calm.refusal}
	if f.Verbose {
		opts.Log = logRequest
	}
	f.limits.options(&opts, f.Address)
	return opts
}

func logRequest(e httpapi.LogEntry) {
	uri := e.Path
	if e.Query != "" {
		uri += "?" + e.Query
	}
	log.Printf("%s %q %d %dB %s %q", e.Method, uri, e.Code, e.Bytes, e.Duration.Round(time.Microsecond), e.UserAgent)
}
