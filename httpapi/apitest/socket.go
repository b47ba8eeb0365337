package apitest

import (
	"encoding/pem"
	"io"
	"log"
	"net/http/httptest"
	"os"
	"path/filepath"

	"github.com/kubecoord/kubecoord/internal/kubeconfig"
)

// URL returns the address of the API on a loopback port, which the first call opens. It speaks
// HTTP/1.1, so that a fault which cuts a connection affects one request only. URL fails the test if
// the API has ended.
func (a *API) URL() string {
	a.t.Helper()
	if s := a.listen(); s != nil {
		return s.URL
	}
	return ""
}

// CA returns the certificate of URL as PEM if Options.TLS is set, and else nil. It is self-signed and
// valid for 127.0.0.1.
func (a *API) CA() []byte {
	a.t.Helper()
	s := a.listen()
	if s == nil || s.Certificate() == nil {
		return nil
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
}

// listen returns the server on a loopback port, and starts it if necessary. After Close it is nil.
func (a *API) listen() *httptest.Server {
	a.t.Helper()
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case a.server != nil:
		return a.server
	case a.closed:
		a.t.Fatalf("apitest: the API has ended: want URL, CA and Kubeconfig before its end")
		return nil
	}
	a.server = httptest.NewUnstartedServer(a.api)
	a.server.Config.ErrorLog = log.New(io.Discard, "", 0) // faults cut connections
	if a.opts.TLS {
		a.server.StartTLS()
	} else {
		a.server.Start()
	}
	return a.server
}

// Kubeconfig writes a kubeconfig file that points kubectl and clients in any language to URL, and
// returns its name, for KUBECONFIG. Each call writes a new file, which is removed with the test. The
// user's bearer token is "apitest".
func (a *API) Kubeconfig() string {
	a.t.Helper()
	s := a.listen()
	if s == nil {
		return ""
	}
	file := filepath.Join(a.t.TempDir(), "kubeconfig")
	// Without credentials kubectl asks for a user name over TLS.
	config := kubeconfig.File{Server: s.URL, CA: a.CA(), Token: "apitest"}
	if err := os.WriteFile(file, config.Bytes(), 0o600); err != nil {
		a.t.Fatalf("apitest: kubeconfig: %v", err)
		return ""
	}
	return file
}
