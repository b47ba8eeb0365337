package apitest

import (
	"encoding/pem"
	"io"
	"log"
	"net/http/httptest"
)

// URL returns the address of the API on a loopback port, which is opened by the
// first call and closed with the test. It speaks HTTP/1.1: each request has a
// connection to itself while it runs, so that a fault which cuts one cuts
// nothing else.
func (a *API) URL() string {
	a.t.Helper()
	return a.listen(&a.plain, (*httptest.Server).Start).URL
}

// TLSURL is URL with TLS, on a port of its own; clients are to trust CA.
func (a *API) TLSURL() string {
	a.t.Helper()
	return a.listen(&a.secure, (*httptest.Server).StartTLS).URL
}

// CA returns the certificate that TLSURL is served with, as PEM. It is its own
// authority and good for 127.0.0.1.
func (a *API) CA() []byte {
	a.t.Helper()
	cert := a.listen(&a.secure, (*httptest.Server).StartTLS).Certificate()
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert.Raw})
}

// listen returns the server kept at slot, and starts it if that has not been
// done.
func (a *API) listen(slot **httptest.Server, start func(*httptest.Server)) *httptest.Server {
	a.t.Helper()
	a.socketMu.Lock()
	defer a.socketMu.Unlock()
	if *slot == nil {
		select {
		case <-a.closing:
			a.t.Fatalf("apitest: %s has ended: got a call for a socket, want it before the end", a.t.Name())
		default:
		}
		s := httptest.NewUnstartedServer(a.api)
		s.Config.ErrorLog = log.New(io.Discard, "", 0) // connections that faults cut
		start(s)
		*slot = s
	}
	return *slot
}

func (a *API) closeSockets() {
	a.socketMu.Lock()
	defer a.socketMu.Unlock()
	for _, s := range []*httptest.Server{a.plain, a.secure} {
		if s != nil {
			s.CloseClientConnections()
			s.Close()
		}
	}
}
