package envtest

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"sync"

	"k8s.io/client-go/rest"

	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/httpapi/apitest"
	"github.com/kubecoord/kubecoord/httpapi/kube/cluster"
	"github.com/kubecoord/kubecoord/httpapi/kube/internal/controlplane"
)

// door is what an Environment says about its API server.
type door struct {
	inProcess bool
	tb        apitest.TB
	options   apitest.Options
	// controllers has the fields GarbageCollection and NamespaceDeletion.
	controllers cluster.Options
}

// server is a running API server.
type server struct {
	api     *apitest.API
	end     func() error // ends the api, and returns what was reported to its TB
	http    *http.Server // nil in process
	serving sync.WaitGroup

	ownDir, ownPort bool
}

// Start starts the server, and returns once it answers.
func (s *APIServer) Start() error {
	if s.running != nil {
		return nil
	}
	s.running = &server{}
	if err := s.start(); err != nil {
		return errors.Join(err, s.Stop())
	}
	return nil
}

func (s *APIServer) start() error {
	var listener net.Listener
	if !s.door.inProcess {
		var err error
		if listener, err = s.listen(); err != nil {
			return err
		}
		if err := s.prepareCertificates(); err != nil {
			return errors.Join(err, listener.Close())
		}
	}
	flags, err := s.prepareFlags()
	if err == nil {
		err = s.serve(listener, flags)
	}
	if err != nil && listener != nil {
		err = errors.Join(err, listener.Close())
	}
	return err
}

// listen opens the port. The listener is the first thing that Start makes, since the port is in flags and certificates.
func (s *APIServer) listen() (net.Listener, error) {
	if s.SecurePort != 0 {
		s.SecureServing.Port = strconv.Itoa(s.SecurePort)
	}
	for flag, field := range map[string]*string{"bind-address": &s.SecureServing.Address, "secure-port": &s.SecureServing.Port} {
		if v := s.Configure().Get(flag).Get(nil); len(v) > 0 {
			*field = v[len(v)-1]
		}
	}
	if s.SecureServing.Address == "" {
		s.SecureServing.Address = "127.0.0.1"
	}
	s.running.ownPort = s.SecureServing.Port == "" || s.SecureServing.Port == "0"
	if s.running.ownPort {
		s.SecureServing.Port = "0"
	}
	listener, err := net.Listen("tcp", s.SecureServing.HostPort())
	if err != nil {
		return nil, err
	}
	s.SecurePort = listener.Addr().(*net.TCPAddr).Port
	s.SecureServing.Port = strconv.Itoa(s.SecurePort)
	return listener, nil
}

// prepareCertificates makes the certificate of the server, unless the directory has one.
func (s *APIServer) prepareCertificates() (err error) {
	if s.CertDir == "" {
		if s.CertDir, err = os.MkdirTemp("", "envtest-"); err != nil {
			return err
		}
		s.running.ownDir = true
	}
	file := filepath.Join(s.CertDir, "apiserver.crt")
	if _, err := os.Stat(file); !errors.Is(err, os.ErrNotExist) {
		return err
	}
	own, err := serverCertFor(s.SecureServing.Address)
	if err != nil {
		return err
	}
	s.SecureServing.CA = own.ca
	return own.write(s.CertDir, "apiserver.crt", "apiserver.key")
}

// prepareFlags starts the Authn, and returns the flags.
func (s *APIServer) prepareFlags() (flags, error) {
	args := s.Configure()
	if s.SecureServing.Authn == nil {
		s.SecureServing.Authn = &certAuthn{}
	}
	if err := s.SecureServing.Configure(s.CertDir, args); err != nil {
		return flags{}, err
	}
	if err := s.SecureServing.Start(); err != nil {
		return flags{}, err
	}
	return readFlags(s)
}

// serve starts the API, and serves it at the listener, if there is one.
func (s *APIServer) serve(listener net.Listener, f flags) error {
	userOf, err := authenticator(f.clients)
	if err != nil {
		return err
	}
	opts := s.door.options
	if own := opts.API.Authenticate; own != nil {
		opts.API.Authenticate = httpapi.AnyOf(own, userOf)
	} else {
		opts.API.Authenticate = userOf
	}
	if authorize := f.rules.Authorizer(); authorize != nil {
		opts.API.Authorize = authorize
	}
	does := f.network.Cluster(f.rules.Cluster(s.door.controllers))
	does.ServicePort, does.LeaseCandidates = s.SecurePort, f.served.LeaseCandidates()
	does.Flags = f.values
	if len(f.served) > 0 {
		does.Versions = f.served.Versions
	}
	if does.ClientCA, err = f.clients.ClientCA(); err != nil {
		return err
	}
	if f.gates != nil {
		does.FeatureGates = f.gates
	}
	if opts.API, err = does.API(opts.API); err != nil {
		return err
	}
	opts.Fixtures = nil // loaded when the definitions are there
	tb, end := s.door.tb, func() error { return nil }
	if tb == nil {
		own := &ownTB{}
		tb, end = own, own.end
	}
	r := s.running
	r.api = apitest.New(tb, opts)
	s.reportServed(f.served, r.api.Handler().Kinds())
	r.end = func() error {
		r.api.Close()
		return end()
	}
	if listener == nil {
		return nil
	}
	return r.listen(listener, s.CertDir, userOf)
}

// listen serves the API at a socket until the listener is closed.
func (r *server) listen(listener net.Listener, certDir string, userOf httpapi.Authenticator) error {
	cert, err := tls.LoadX509KeyPair(filepath.Join(certDir, "apiserver.crt"), filepath.Join(certDir, "apiserver.key"))
	if err != nil {
		return err
	}
	r.http = &http.Server{
		Handler:  named(userOf, r.api.Handler()),
		ErrorLog: log.New(io.Discard, "", 0), // faults cut connections
		TLSConfig: &tls.Config{
			Certificates: []tls.Certificate{cert}, MinVersion: tls.VersionTLS12,
			// The Authenticator verifies the certificate: a wrong one is answered 401, as on a real server.
			ClientAuth: tls.RequestClientCert,
		},
		ConnContext: controlplane.ConnContext,
	}
	r.serving.Go(func() { _ = r.http.ServeTLS(listener, "", "") })
	return nil
}

// Stop stops the server, and removes its files.
func (s *APIServer) Stop() error {
	r := s.running
	if r == nil {
		return nil
	}
	s.running = nil
	var errs []error
	if r.http != nil {
		errs = append(errs, r.http.Close())
		r.serving.Wait()
	}
	if r.end != nil {
		errs = append(errs, r.end())
	}
	if s.SecureServing.Authn != nil {
		errs = append(errs, s.SecureServing.Stop())
	}
	if _, isDefault := s.SecureServing.Authn.(*certAuthn); isDefault {
		s.SecureServing.Authn = nil
		s.Configure().clear("client-ca-file")
	}
	if r.ownDir {
		errs = append(errs, os.RemoveAll(s.CertDir))
		s.CertDir = ""
	}
	if r.ownPort {
		s.SecurePort, s.SecureServing.Port = 0, ""
	}
	return errors.Join(errs...)
}

// connect completes a configuration with credentials of a user.
func (s *APIServer) connect(cfg *rest.Config, user User) {
	switch {
	case s.running == nil:
		panic("envtest: the API server has not been started: want Start before Config")
	case s.door.inProcess:
		cfg.Host = s.running.api.Host()
		cfg.TLSClientConfig = rest.TLSClientConfig{} // client-go refuses it beside a transport
		cfg.Transport = userTransport{s.running.api.Transport(), user}
	default:
		cfg.Host = s.SecureServing.URL("https", "/").String()
		cfg.CAData = s.SecureServing.CA
	}
}

// ownTB is the TB of an environment that has none: its end is Stop.
type ownTB struct {
	mu       sync.Mutex // guards all below
	cleanups []func()
	errs     []error
}

// Helper does nothing.
func (o *ownTB) Helper() {}

// TempDir returns a new directory, which end removes.
func (o *ownTB) TempDir() string {
	dir, err := os.MkdirTemp("", "envtest-")
	if err != nil {
		o.Fatalf("%v", err)
	}
	o.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// Cleanup makes end call a function.
func (o *ownTB) Cleanup(f func()) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.cleanups = append(o.cleanups, f)
}

// Logf does nothing.
func (o *ownTB) Logf(string, ...any) {}

// Errorf adds an error to the result of end.
func (o *ownTB) Errorf(format string, args ...any) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.errs = append(o.errs, fmt.Errorf(format, args...))
}

// Fatalf panics: a parameter is wrong.
func (o *ownTB) Fatalf(format string, args ...any) { panic(fmt.Sprintf(format, args...)) }

// end calls the functions of Cleanup, the last one first, and returns what was reported.
func (o *ownTB) end() error {
	for {
		o.mu.Lock()
		last := len(o.cleanups) - 1
		if last < 0 {
			defer o.mu.Unlock()
			return errors.Join(o.errs...)
		}
		f := o.cleanups[last]
		o.cleanups = o.cleanups[:last]
		o.mu.Unlock()
		f()
	}
}
