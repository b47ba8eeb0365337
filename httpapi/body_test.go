package httpapi_test

import (
	"bytes"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// goneWriter is a ResponseWriter whose client is gone. Like one of HTTP/2, it may read the
// data of the last Write after that has failed.
type goneWriter struct {
	header http.Header
	data   []byte
}

func (w *goneWriter) Header() http.Header { return w.header }
func (w *goneWriter) WriteHeader(int)     {}
func (w *goneWriter) Flush()              {}

func (w *goneWriter) Write(data []byte) (int, error) {
	w.data = data
	return 0, errors.New("the client is gone")
}

func TestDataOfAFailedWriteIsNotUsedAgain(t *testing.T) {
	for name, target := range map[string]string{
		"get":    leases + "/a",
		"status": leases + "/missing",
		"list":   leases,
		"table":  leases + "?as=table",
		"watch":  leases + "?watch=true&timeoutSeconds=1&resourceVersion=0",
	} {
		t.Run(name, func(t *testing.T) {
			s := newServer(t)
			s.must(t, "POST", leases, leaseNamed("a"))
			s.must(t, "POST", leases, leaseNamed("b"))
			request := func(target string) *http.Request {
				req := httptest.NewRequest("GET", target, nil)
				if name == "table" {
					req.Header.Set("Accept", "application/json;as=Table;v=v1;g=meta.k8s.io")
				}
				return req
			}
			var gone []*goneWriter
			var want [][]byte
			for range 8 {
				w := &goneWriter{header: http.Header{}}
				s.api.ServeHTTP(w, request(target))
				require.NotEmpty(t, w.data)
				gone, want = append(gone, w), append(want, bytes.Clone(w.data))
				// Others would use the same memory.
				other := strings.Replace(target, "default", "other", 1)
				s.must(t, "POST", "/apis/coordination.k8s.io/v1/namespaces/other/leases", `{"metadata":{"generateName":"other"}}`)
				s.api.ServeHTTP(&goneWriter{header: http.Header{}}, request(other))
			}
			for i := range gone {
				assert.Equal(t, string(want[i]), string(gone[i].data))
			}
		})
	}
}

// brokenBody is a body that a client sends in bad chunks.
type brokenBody struct{}

func (brokenBody) Read([]byte) (int, error) { return 0, errors.New("invalid byte in chunk length") }
func (brokenBody) Close() error             { return nil }

func TestBodyThatCannotBeReadIsAnErrorOfTheServer(t *testing.T) {
	s := newServer(t)
	for _, method := range []string{"POST", "DELETE"} {
		req := newRequest(t, method, leases, "", "Content-Type", typeJSON)
		req.Body, req.ContentLength = brokenBody{}, -1
		assertStatus(t, s.send(t, req), http.StatusInternalServerError, "", "invalid byte in chunk length")
	}
}
