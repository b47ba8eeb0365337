package main

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// debugged is a server without a port, whose user with the token root may do everything.
type debugged struct{ *server }

func newDebugged(t *testing.T, args ...string) debugged {
	t.Helper()
	file := filepath.Join(t.TempDir(), "tokens")
	require.NoError(t, os.WriteFile(file, []byte("root,root,1,system:masters\nworker,worker,2\n"), 0o600))
	o, problems := optionsOf(t, arguments(t, append(args, "--token-auth-file="+file)...)...)
	require.Empty(t, problems)
	s, err := o.newServer()
	require.NoError(t, err)
	t.Cleanup(s.api.Close)
	return debugged{s}
}

// do sends a request to a name of the loopback. Headers come in pairs.
func (d debugged) do(method, path, token, body string, headers ...string) (int, string) {
	r, w := httptest.NewRequest(method, path, strings.NewReader(body)), httptest.NewRecorder()
	r.Host = "127.0.0.1:6443"
	r.Header.Set("Content-Type", "application/json")
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	if host := r.Header.Get("Host"); host != "" {
		r.Host = host
	}
	func() {
		defer func() {
			if p := recover(); p != nil { // the connection is cut
				w = &httptest.ResponseRecorder{}
			}
		}()
		d.api.ServeHTTP(w, r)
	}()
	if w.Body == nil {
		return 0, ""
	}
	text, _ := io.ReadAll(w.Body)
	return w.Code, string(text)
}

func TestDebugIsServedOnlyWithItsFlag(t *testing.T) {
	d := newDebugged(t)
	code, text := d.do("GET", "/debug/", "root", "")
	assert.Equal(t, http.StatusNotFound, code, text)
	code, text = d.do("GET", "/flagz", "root", "")
	assert.Equal(t, http.StatusOK, code)
	assert.NotContains(t, text, debugFlag)
}

func TestDebugIsForThoseWhoMay(t *testing.T) {
	d := newDebugged(t, "--kubecoord-debug")
	for _, row := range []struct {
		method, token string
		headers       []string
		code          int
		want          string
	}{
		{"GET", "root", nil, 200, `"operations"`},
		{"POST", "root", nil, 415, "got no form of the page"},
		{"GET", "", nil, 403, `User \"system:anonymous\" cannot get path \"/debug/\"`},
		{"GET", "worker", nil, 403, `User \"worker\" cannot get path \"/debug/\"`},
		{"GET", "unknown", nil, 401, "Unauthorized"},
		{"GET", "root", []string{"Host", "evil.example"}, 403, `this server is not known as host`},
		{"POST", "root", []string{"Origin", "https://evil.example"}, 403, "must not write"},
		{"GET", "root", []string{"Host", "kubernetes.default.svc:443"}, 200, `"operations"`},
	} {
		code, text := d.do(row.method, "/debug/", row.token, "", row.headers...)
		assert.Equal(t, row.code, code, "%v: %s", row, text)
		assert.Contains(t, text, row.want)
	}
}

func TestDebugHasFaultsCrashesAndForks(t *testing.T) {
	d := newDebugged(t, "--kubecoord-debug")
	must := func(want int, method, path, token, body string) string {
		t.Helper()
		code, text := d.do(method, path, token, body)
		require.Equal(t, want, code, "%s %s: %s", method, path, text)
		return text
	}
	const accounts = "/api/v1/namespaces/default/serviceaccounts"
	must(201, "POST", "/debug/faults", "root", `{"verb": "create", "resource": "configmaps", "first": 1, "answer": {"code": 503}}`)
	const configMap = `{"metadata": {"name": "a"}}`
	must(503, "POST", "/api/v1/namespaces/default/configmaps", "root", configMap)
	must(201, "POST", "/api/v1/namespaces/default/configmaps", "root", configMap)

	must(201, "POST", accounts, "root", `{"metadata": {"name": "robot"}}`)
	var made struct{ Status struct{ Token string } }
	require.NoError(t, json.Unmarshal([]byte(must(201, "POST", accounts+"/robot/token", "root", `{"spec": {}}`)), &made))
	must(201, "POST", "/debug/forks", "root", `{"name": "copy"}`)
	must(200, "DELETE", "/api/v1/namespaces/default/configmaps/a", "root", "")
	must(200, "GET", "/debug/forks/copy/api/v1/namespaces/default/configmaps/a", "root", "")
	assert.Contains(t, must(403, "GET", "/debug/forks/copy/api/v1/nodes", made.Status.Token, ""), "system:serviceaccount:default:robot", "who is known to a fork is let into it")
	must(403, "GET", "/debug/forks/copy/api", "", "")

	must(201, "POST", "/debug/faults", "root", `{"client": "system:serviceaccount:default:robot", "crash": "before"}`)
	must(0, "GET", "/version", made.Status.Token, "")
	must(0, "GET", "/api", made.Status.Token, "")
	must(200, "GET", "/version", "worker", "")
	must(204, "DELETE", "/debug/faults", "root", "")
	must(200, "GET", "/version", made.Status.Token, "")
}
