// Package serve has the parts that the servers among the examples share: flags, credentials, limits,
// a kubeconfig, and the life of the process.
package serve

import (
	"context"
	"crypto/tls"
	"flag"
	"fmt"
	"log"
	"net"
	"time"

	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/store/kind"
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
	Authorize    string // the file
	Insecure     bool
	Kubeconfig   string
	Elect        bool
	// Kinds are served beside httpapi.Kinds. No flag sets them.
	Kinds []kind.Kind
	// Try has the arguments of the kubectl commands that Greet prints; by default commands for Leases. No flag sets it.
	Try []string
	limits
}

// all returns the kinds that are served at the start.
func (o *Options) all() []kind.Kind { return append(httpapi.Kinds(), o.Kinds...) }

// Register adds the flags, and sets the options to their defaults.
func (o *Options) Register(f *flag.FlagSet) {
	f.StringVar(&o.Address, "listen", "127.0.0.1:8001", "`address` to serve on; port 0 picks one")
	f.IntVar(&o.History, "history", 4096, "how many `events` are kept for watches and for lists at older versions")
	f.Int64Var(&o.HistoryBytes, "history-bytes", 64<<20, "how many `bytes` of events are kept at most")
	f.BoolVar(&o.Verbose, "v", false, "log every request to standard error")
	f.StringVar(&o.TokenFile, "token-file", "", "let in only bearer tokens of this `file`: lines of token,user,uid[,\"group1,group2\"]")
	f.StringVar(&o.TLSCert, "tls-cert", "", "serve HTTPS with the certificate in this `file`")
	f.StringVar(&o.TLSKey, "tls-key", "", "`file` with the key of -tls-cert")
	f.BoolVar(&o.SelfSigned, "tls", false, "serve HTTPS with a self-signed certificate made at the start")
	f.BoolVar(&o.Insecure, "insecure", false, "allow an address that others can reach without authentication, or tokens without HTTPS")
	f.StringVar(&o.Kubeconfig, "kubeconfig", "", "write a kubeconfig for this server to this `file`")
	f.BoolVar(&o.Elect, "elect", true, "elect the holders of leases among their LeaseCandidates")
	f.StringVar(&o.ClientCA, "client-ca", "", "let in clients with a certificate that one in this `file` has signed: the common name is the user, the organizations are the groups")
	f.StringVar(&o.Authorize, "authorize", "", "allow only what this `file` allows: lines of user:NAME or group:NAME, verbs, resources, namespaces, names; or of verbs and paths")
	o.limits.register(f)
}

// secure reports whether the server speaks HTTPS.
func (o *Options) secure() bool { return o.TLSCert != "" || o.SelfSigned }

// Front is the side of a server that faces its clients. Its files have been read. They are
// read again when they change.
type Front struct {
	Options
	authenticate httpapi.Authenticator
	authorize    httpapi.Authorizer
	cert         *reloaded[*tls.Certificate] // of -tls-cert, or nil
	calm         calmLog
	start        time.Time
}

// Open checks the options and reads the files that they name.
func (o Options) Open() (f *Front, err error) {
	if o.History < 1 {
		return nil, fmt.Errorf("-history %d: must be at least 1", o.History)
	}
	f = &Front{Options: o, start: time.Now()}
	if f.authenticate, err = o.openAuthenticator(); err != nil {
		return nil, err
	}
	if f.authorize, err = o.openAuthorizer(); err != nil {
		return nil, err
	}
	if err := o.checkExposure(); err != nil {
		return nil, err
	}
	f.cert, err = o.openCertificate()
	return f, err
}

// checkExposure refuses an address that other machines can reach if requests need no
// authentication, or if others could read the tokens.
func (o *Options) checkExposure() error {
	host, _, err := net.SplitHostPort(o.Address)
	if err != nil {
		return fmt.Errorf("-listen: %w", err)
	}
	switch {
	case o.Insecure, isLoopback(host):
		return nil
	case o.TokenFile == "" && o.ClientCA == "":
		return fmt.Errorf("-listen %s: other machines can reach it: set -token-file, or -insecure to allow requests without authentication", o.Address)
	case !o.secure():
		return fmt.Errorf("-token-file: needs HTTPS at -listen %s, because others could read the tokens: set -tls or -tls-cert, or -insecure to allow it", o.Address)
	}
	return nil
}

// Loopback reports whether only this machine can reach the address.
func (o *Options) Loopback() bool {
	host, _, err := net.SplitHostPort(o.Address)
	return err == nil && isLoopback(host)
}

func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// API returns the options of an API that is served by a Listener of the Front: authentication, limits, the log, and that requests
// are counted.
func (l *Listener) API() httpapi.Options {
	f := l.front
	opts := httpapi.Options{Authenticate: f.authenticate, Authorize: f.authorize, Log: f.log, Kinds: f.Kinds}
	f.limits.options(&opts, f.Address)
	opts.Hosts = append(opts.Hosts, l.Hosts()...)
	opts.Parts = append(opts.Parts, func(api *httpapi.API, _ *httpapi.Options) func(context.Context) {
		httpapi.Metrics(api)
		return nil
	})
	return opts
}

// log logs an answer if it is a refusal or if all requests are logged.
func (f *Front) log(e httpapi.LogEntry) {
	if f.Verbose {
		logRequest(e)
	} else {
		f.calm.refusal(e)
	}
}

func logRequest(e httpapi.LogEntry) {
	uri := e.Path
	if e.Query != "" {
		uri += "?" + e.Query
	}
	log.Printf("%s %q %d %dB %s %q", e.Method, uri, e.Code, e.Bytes, e.Duration.Round(time.Microsecond), e.UserAgent)
}
