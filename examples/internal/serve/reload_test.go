package serve

import (
	"bytes"
	"log"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/httpapi"
)

func TestChangedFilesAreReadAgain(t *testing.T) {
	var lines bytes.Buffer
	log.SetOutput(&lines)
	defer log.SetOutput(os.Stderr)
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		at := func(name string) string { return filepath.Join(dir, name) }
		write := func(name, text string) { require.NoError(t, os.WriteFile(at(name), []byte(text), 0o600)) }
		write("tokens", "s3cret,alice,1\n")
		write("table", "user:alice get leases a *\n")
		require.NoError(t, WriteSelfSigned(at("crt"), at("key"), "127.0.0.1:0", time.Hour))
		o := Options{Address: "127.0.0.1:0", History: 1, TokenFile: at("tokens"), Authorize: at("table"), TLSCert: at("crt"), TLSKey: at("key"), ClientCA: at("crt")}
		front, err := o.Open()
		require.NoError(t, err)
		user := func(token string) string {
			r := httptest.NewRequest("GET", "/", nil)
			r.Header.Set("Authorization", "Bearer "+token)
			u, _ := front.authenticate(r)
			return u.Name
		}
		may := func(namespace string) bool {
			r := httptest.NewRequest("GET", "/apis/coordination.k8s.io/v1/namespaces/"+namespace+"/leases/x", nil)
			a := httpapi.AttributesOf(r)
			a.User.Name = "alice"
			ok, reason := front.authorize(a)
			assert.Empty(t, reason, "RBAC gives none")
			return ok
		}
		require.Equal(t, "alice", user("s3cret"))
		require.True(t, may("a"))
		first := front.cert.get()

		write("tokens", "other,bob,1\n")
		write("table", "user:alice get leases bb *\n")
		assert.Equal(t, "alice", user("s3cret"), "within a second")
		assert.True(t, may("a"))
		time.Sleep(reloadEvery)
		assert.Equal(t, "", user("s3cret"))
		assert.Equal(t, "bob", user("other"))
		assert.False(t, may("a"))
		assert.True(t, may("bb"))

		lines.Reset()
		write("tokens", "broken\n")
		write("table", "user:alice get leases\n")
		for range 3 {
			time.Sleep(reloadEvery)
			assert.Equal(t, "bob", user("other"), "the contents before stay in use")
			assert.True(t, may("bb"))
		}
		require.NoError(t, os.Remove(at("tokens")))
		for range 3 {
			time.Sleep(reloadEvery)
			assert.Equal(t, "bob", user("other"))
		}
		logged := lines.String()
		assert.Equal(t, 1, strings.Count(logged, "-token-file: line 1: want token,user,uid"), logged)
		assert.Equal(t, 1, strings.Count(logged, "line 1: got 3 columns"), logged)
		assert.Equal(t, 1, strings.Count(logged, "no such file"), logged)
		assert.NotContains(t, logged, "broken", "a line may hold a secret")
		write("tokens", "s3cret,alice,1\n")
		time.Sleep(reloadEvery)
		assert.Equal(t, "alice", user("s3cret"))

		assert.Same(t, first, front.cert.get())
		require.NoError(t, WriteSelfSigned(at("crt"), at("key"), "127.0.0.1:0", time.Hour))
		time.Sleep(reloadEvery)
		second := front.cert.get()
		assert.NotEqual(t, first.Certificate, second.Certificate)
		require.NoError(t, os.Truncate(at("key"), 0))
		time.Sleep(reloadEvery)
		assert.Same(t, second, front.cert.get())
	})
}

func TestTokensOfOthersNeedHTTPS(t *testing.T) {
	tokens := filepath.Join(t.TempDir(), "tokens")
	require.NoError(t, os.WriteFile(tokens, []byte("s3cret,a,1"), 0o600))
	for _, row := range []struct {
		o    Options
		want string
	}{
		{Options{Address: "10.0.0.1:80", TokenFile: tokens}, "-token-file: needs HTTPS at -listen 10.0.0.1:80, because others could read the tokens"},
		{Options{Address: ":80", TokenFile: tokens}, "-token-file: needs HTTPS"},
		{Options{Address: "0.0.0.0:80"}, "other machines can reach it: set -token-file"},
		{Options{Address: "nowhere", TokenFile: tokens}, "-listen: address nowhere: missing port"},
		{Options{Address: "10.0.0.1:80", TokenFile: tokens, Insecure: true}, ""},
		{Options{Address: "10.0.0.1:80", TokenFile: tokens, SelfSigned: true}, ""},
		{Options{Address: "127.0.0.1:80", TokenFile: tokens}, ""},
		{Options{Address: "[::1]:80", TokenFile: tokens}, ""},
		{Options{Address: "localhost:80", TokenFile: tokens}, ""},
	} {
		row.o.History = 1
		_, err := row.o.Open()
		if row.want == "" {
			assert.NoError(t, err, row.o.Address)
		} else {
			assert.ErrorContains(t, err, row.want)
		}
	}
}
