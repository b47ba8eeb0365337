package wiretest

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// toy is a server that counts versions and has optional faults.
type toy struct {
	version  int
	jumps    bool // reads answer another version than writes
	lastBody string
}

func (s *toy) RoundTrip(r *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	w.Header().Set("Content-Type", "application/json")
	if r.Body != nil {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return nil, err
		}
		s.lastBody = string(body)
	}
	if r.Method == http.MethodPost {
		s.version += 7
	}
	version := s.version
	if s.jumps && r.Method == http.MethodGet {
		version += 1000
	}
	ns := strings.Split(r.URL.Path, "/")[1]
	fmt.Fprintf(w, `{"kind":"Thing","metadata":{"name":"x-7wqzb","generateName":"x-","namespace":%q,"uid":"aaaaaaaa-bbbb-4ccc-8ddd-%012d","resourceVersion":"%d","creationTimestamp":%q}}`,
		ns, 1, version, time.Now().UTC().Format(time.RFC3339))
	return w.Result(), nil
}

// toyScenario is a scenario for toy.
func toyScenario() Scenario {
	return Scenario{Name: "toy", Steps: []Step{
		{Method: "POST", Path: "/{{ns}}/things", Body: json.RawMessage(`{"metadata":{"generateName":"x-"}}`), Capture: map[string]string{"n": "/metadata/name"}},
		{Method: "GET", Path: "/{{ns}}/things/{{n}}"},
		{Method: "POST", Path: "/{{ns}}/things", Body: json.RawMessage(`{}`)},
	}}
}

// roundTrip is a function as a transport.
type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// streaming returns a transport whose answer is the output of write, until write returns. A closed body cancels its context
// and makes its writer fail.
func streaming(mediaType string, write func(context.Context, io.Writer)) roundTrip {
	return func(r *http.Request) (*http.Response, error) {
		body, w := io.Pipe()
		go func() {
			write(r.Context(), w)
			w.Close()
		}()
		return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {mediaType}}, Body: body, Request: r}, nil
	}
}

func parse(t *testing.T, text string) any {
	t.Helper()
	tree, err := decodeJSON([]byte(text))
	require.NoError(t, err, "%s", text)
	return tree
}
