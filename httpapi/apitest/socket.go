package apitest

import (
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"io"
	"log"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync"
)

// socket is the server on a loopback port.
type socket struct {
	mu     sync.Mutex // guards server
	server *httptest.Server
}

// URL returns the address of the API on a loopback port. The first call opens the
// port. It speaks HTTP/1.1, with one request at a time on each connection, so that a
// fault which cuts a connection affects one request only. URL fails the test if the
// API has ended.
func (a *API) URL() string {
	a.t.Helper()
	if s := a.listen(); s != nil {
		return s.URL
	}
	return ""
}

// CA returns the certificate of URL as PEM if Options.TLS is set, and else nil. It
// is self-signed and valid for 127.0.0.1.
func (a *API) CA() []byte {
	a.t.Helper()
	s := a.listen()
	if s == nil || s.Certificate() == nil {
		return nil
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
}

// listen returns the server, and starts it if necessary. It returns nil after Close.
func (a *API) listen() *httptest.Server {
	a.t.Helper()
	a.socket.mu.Lock()
	defer a.socket.mu.Unlock()
	if a.socket.server != nil {
		return a.socket.server
	}
	select {
	case <-a.closing:
		a.t.Fatalf("apitest: the API has ended: want URL, CA and Kubeconfig before its end")
		return nil
	default:
	}
	s := httptest.NewUnstartedServer(a.api)
	s.Config.ErrorLog = log.New(io.Discard, "", 0) // faults cut connections
	if a.opts.TLS {
		s.StartTLS()
	} else {
		s.Start()
	}
	a.socket.server = s
	return s
}

func (s *socket) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.server != nil {
		s.server.CloseClientConnections()
		s.server.Close()
	}
}

// kubeconfigToken keeps kubectl from asking for a user name: it does so over TLS if
// it has no credentials. The API ignores it unless Options.API.Authenticate is set.
const kubeconfigToken = "apitest"

// Kubeconfig writes a kubeconfig file that points kubectl and clients in any
// language to URL, and returns its name. Pass the name as KUBECONFIG. The file is
// removed with the test. Each call writes a new file. The user's bearer token is
// "apitest".
func (a *API) Kubeconfig() string {
	a.t.Helper()
	s := a.listen()
	if s == nil {
		return ""
	}
	cluster := map[string]any{"server": s.URL}
	if a.opts.TLS {
		cluster["certificate-authority-data"] = base64.StdEncoding.EncodeToString(a.CA())
	} else {
		cluster["insecure-skip-tls-verify"] = true // Node's client refuses plain HTTP without it
	}
	const name = "kubecoord"
	data, err := json.MarshalIndent(map[string]any{ // JSON is also YAML
		"apiVersion": "v1", "kind": "Config", "current-context": name,
		"clusters": []any{map[string]any{"name": name, "cluster": cluster}},
		"users":    []any{map[string]any{"name": name, "user": map[string]string{"token": kubeconfigToken}}},
		"contexts": []any{map[string]any{"name": name, "context": map[string]any{"cluster": name, "user": name}}},
	}, "", "  ")
	file := filepath.Join(a.t.TempDir(), "kubeconfig")
	if err == nil {
		err = os.WriteFile(file, append(data, '\n'), 0o600)
	}
	if err != nil {
		a.t.Fatalf("apitest: kubeconfig: %v", err)
		return ""
	}
	return file
}
