package reference

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
)

// token authenticates the only user. The server listens on loopback only and lives for one test.
const token = "reference"

func newTransport() *http.Transport {
	protocols := &http.Protocols{}
	protocols.SetHTTP1(true)
	return &http.Transport{
		TLSClientConfig:    &tls.Config{InsecureSkipVerify: true}, // the server signs its certificate itself
		Protocols:          protocols,
		DisableCompression: true,
	}
}

// URL returns the address of the server, without a slash at the end.
func (s *Server) URL() string { return s.url }

// RoundTrip sends a request with the token of the only user.
func (s *Server) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+token)
	return s.transport.RoundTrip(r)
}

// ready reports whether the server serves requests and has created its namespaces.
func (s *Server) ready(ctx context.Context) bool {
	for _, path := range []string{"/readyz", "/api/v1/namespaces/default", "/api/v1/namespaces/kube-system"} {
		if code, err := send(ctx, s, http.MethodGet, s.url+path, nil); err != nil || code != http.StatusOK {
			return false
		}
	}
	return true
}

// CreateNamespace creates a namespace.
func (s *Server) CreateNamespace(ctx context.Context, name string) error {
	return CreateNamespace(ctx, s, s.url, name)
}

// CreateNamespace creates a namespace on the server at url. It is no error if it exists, or if the server has no
// resource of namespaces.
func CreateNamespace(ctx context.Context, transport http.RoundTripper, url, name string) error {
	body, err := json.Marshal(map[string]any{"metadata": map[string]any{"name": name}})
	if err != nil {
		return err
	}
	code, err := send(ctx, transport, http.MethodPost, url+"/api/v1/namespaces", body)
	if err != nil {
		return err
	}
	switch code {
	case http.StatusCreated, http.StatusConflict, http.StatusNotFound, http.StatusMethodNotAllowed:
		return nil
	}
	return fmt.Errorf("creating namespace %s: status %d", name, code)
}

// send returns the status of the answer.
func send(ctx context.Context, transport http.RoundTripper, method, url string, body []byte) (int, error) {
	req, err := http.NewRequestWithContext(ctx, method, url, bytes.NewReader(body))
	if err != nil {
		return 0, err
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := transport.RoundTrip(req)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	_, err = io.Copy(io.Discard, resp.Body)
	return resp.StatusCode, err
}
