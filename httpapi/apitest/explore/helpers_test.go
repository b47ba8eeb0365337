package explore

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/kubecoord/kubecoord/httpapi/apitest"
)

// ask sends a request and returns the code of the answer with its body.
func ask(ctx context.Context, c Conn, method, path, body string) (int, string, error) {
	req, err := http.NewRequestWithContext(ctx, method, c.Host+path, strings.NewReader(body))
	if err != nil {
		return 0, "", err
	}
	req.Header.Set("Content-Type", "application/json")
	if method == http.MethodPatch {
		req.Header.Set("Content-Type", "application/merge-patch+json")
	}
	resp, err := c.Transport.RoundTrip(req)
	if err != nil {
		return 0, "", err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	return resp.StatusCode, string(text), err
}

const (
	leases    = "/apis/coordination.k8s.io/v1/namespaces/default/leases"
	endpoints = "/api/v1/namespaces/default/endpoints"
)

func leaseNamed(name string) string { return `{"metadata":{"name":"` + name + `"}}` }

// create is a step that creates a Lease.
func create(name string) Step {
	return Step{"create " + name, func(ctx context.Context, c Conn) error {
		_, _, err := ask(ctx, c, http.MethodPost, leases, leaseNamed(name))
		return err
	}}
}

// idle reads once, and does nothing until ctx ends.
func idle(ctx context.Context, c Conn) error {
	if _, _, err := ask(ctx, c, http.MethodGet, leases, ""); err != nil {
		return err
	}
	<-ctx.Done()
	return nil
}

// onEach is a controller that calls do when it starts, and after each change of Leases.
func onEach(do func(ctx context.Context, c Conn) error) func(ctx context.Context, c Conn) error {
	return func(ctx context.Context, c Conn) error {
		for ctx.Err() == nil {
			if do(ctx, c) != nil {
				sleep(ctx, 1e9)
				continue
			}
			// The answer ends with the first event.
			if _, _, err := askUntil(ctx, c, leases+"?watch=true&resourceVersion=0&timeoutSeconds=300"); err != nil {
				sleep(ctx, 1e9)
			}
		}
		return nil
	}
}

// askUntil returns when a watch has sent an event that is not one of the present objects, or has ended.
func askUntil(ctx context.Context, c Conn, path string) (string, string, error) {
	code, list, err := ask(ctx, c, http.MethodGet, strings.Split(path, "?")[0], "")
	if err != nil || code != http.StatusOK {
		return "", "", io.ErrUnexpectedEOF
	}
	_, rest, _ := strings.Cut(list, `"resourceVersion":"`)
	version, _, _ := strings.Cut(rest, `"`)
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, c.Host+strings.ReplaceAll(path, "resourceVersion=0", "resourceVersion="+version), nil)
	if err != nil {
		return "", "", err
	}
	resp, err := c.Transport.RoundTrip(req)
	if err != nil {
		return "", "", err
	}
	defer resp.Body.Close()
	buf := make([]byte, 4096)
	n, err := resp.Body.Read(buf)
	if err == io.EOF {
		err = nil
	}
	return string(buf[:n]), version, err
}

// exploring returns the findings of a scenario.
func exploring(t *testing.T, s Scenario, o Options) *Report {
	t.Helper()
	if s.API == nil {
		s.API = apitest.New(t)
	}
	r, err := Explore(t, s, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}
