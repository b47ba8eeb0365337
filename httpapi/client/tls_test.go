package client_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"io"
	"log"
	"math/big"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"text/template"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/httpapi/client"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/meta"
)

// secureServer is an API on a loopback port, with TLS and users. The user of a request becomes a
// label of nothing: tests ask whether the request was let in.
type secureServer struct {
	url      string
	st       *store.Store
	ca       []byte
	cert     []byte // of a client
	key      []byte
	lastHTTP atomic.Int32 // the major version of the last request
	lastUser atomic.Pointer[string]
	revoked  atomic.Bool // the token "secret"
}

func newSecureServer(t *testing.T, http2 bool) *secureServer {
	t.Helper()
	s := &secureServer{st: store.New(store.Options{})}
	t.Cleanup(s.st.Close)
	var authority *x509.CertPool
	s.cert, s.key, authority = newCertificate(t)
	users := httpapi.AnyOf(httpapi.BearerTokens(map[string]httpapi.User{"secret": {Name: "bearer"}, "new": {Name: "newer"}}), httpapi.ClientCertificates)
	api := httpapi.New(s.st, httpapi.Options{
		Authenticate: func(r *http.Request) (httpapi.User, bool) {
			u, ok := users(r)
			s.lastHTTP.Store(int32(r.ProtoMajor))
			s.lastUser.Store(&u.Name)
			return u, ok && !(u.Name == "bearer" && s.revoked.Load())
		},
	})
	t.Cleanup(api.Close)
	server := httptest.NewUnstartedServer(api)
	server.EnableHTTP2 = http2
	server.TLS = &tls.Config{ClientAuth: tls.VerifyClientCertIfGiven, ClientCAs: authority}
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.StartTLS()
	t.Cleanup(func() { server.CloseClientConnections(); server.Close() })
	s.url, s.ca = server.URL, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	return s
}

// newCertificate returns a certificate for the user "certified", its key, and its authority, which
// is the certificate itself.
func newCertificate(t *testing.T) (cert, key []byte, authority *x509.CertPool) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	der, err := x509.MarshalECPrivateKey(private)
	require.NoError(t, err)
	form := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "certified"}, NotAfter: time.Now().Add(time.Hour),
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}, IsCA: true, BasicConstraintsValid: true,
	}
	raw, err := x509.CreateCertificate(rand.Reader, form, form, private.Public(), private)
	require.NoError(t, err)
	authority = x509.NewCertPool()
	cert = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: raw})
	require.True(t, authority.AppendCertsFromPEM(cert))
	return cert, pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: der}), authority
}

// write writes a file into a folder of the test.
func write(t *testing.T, dir, name string, data []byte) string {
	t.Helper()
	file := filepath.Join(dir, name)
	require.NoError(t, os.WriteFile(file, data, 0o600))
	return file
}

// kubeconfig writes a kubeconfig. cluster and user are YAML in braces.
func kubeconfig(t *testing.T, dir, cluster, user string) string {
	t.Helper()
	var b strings.Builder
	template.Must(template.New("").Parse(`
apiVersion: v1
kind: Config
current-context: here
contexts:
- {name: other, context: {cluster: other, user: other}}
- {name: here, context: {cluster: this, user: me, namespace: default}}
clusters:
- {name: this, cluster: {{.Cluster}}}
users:
- {name: other, user: {exec: {command: other}}}
- {name: me, user: {{.User}}}
`)).Execute(&b, map[string]string{"Cluster": cluster, "User": user})
	return write(t, dir, "config", []byte(b.String()))
}

func encode(data []byte) string { return base64.StdEncoding.EncodeToString(data) }

func TestKubeconfigsLeadToAServerWithTLS(t *testing.T) {
	for name, http2 := range map[string]bool{"HTTP/2": true, "HTTP/1.1": false} {
		t.Run(name, func(t *testing.T) {
			s := newSecureServer(t, http2)
			dir := t.TempDir()
			write(t, dir, "ca.crt", s.ca)
			write(t, dir, "me.crt", s.cert)
			write(t, dir, "me.key", s.key)
			write(t, dir, "token", []byte("secret\n"))
			authority := "{server: " + s.url + ", certificate-authority: ca.crt}"
			for name, row := range map[string]struct{ cluster, user, want string }{
				"token":                        {authority, "{token: secret}", "bearer"},
				"file of a token":              {authority, "{tokenFile: token}", "bearer"},
				"file of a token before token": {authority, "{tokenFile: token, token: wrong}", "bearer"},
				"no file of a token":           {authority, "{tokenFile: none, token: secret}", "bearer"},
				"certificate":                  {authority, "{client-certificate: me.crt, client-key: me.key}", "certified"},
				"everything in it": {"{server: " + s.url + ", certificate-authority-data: " + encode(s.ca) + "}",
					"{client-certificate-data: " + encode(s.cert) + ", client-key-data: " + encode(s.key) + "}", "certified"},
				"data before files": {"{server: " + s.url + ", certificate-authority: none, certificate-authority-data: " + encode(s.ca) + "}",
					"{client-certificate: none, client-certificate-data: " + encode(s.cert) + ", client-key-data: " + encode(s.key) + "}", "certified"},
				"no check of the server": {"{server: " + s.url + ", insecure-skip-tls-verify: true}", "{token: secret}", "bearer"},
				"another name":           {"{server: " + s.url + ", certificate-authority: ca.crt, tls-server-name: example.com}", "{token: secret}", "bearer"},
				"a wrong name":           {"{server: " + s.url + ", certificate-authority: ca.crt, tls-server-name: example.org}", "{token: secret}", "x509: certificate is valid for"},
				"an unknown authority":   {"{server: " + s.url + "}", "{token: secret}", "x509: certificate signed by unknown authority"},
				"a wrong token":          {authority, "{token: wrong}", "Unauthorized"},
				"nobody":                 {authority, "{}", "Unauthorized"},
			} {
				t.Run(name, func(t *testing.T) {
					config, err := client.Kubeconfig(kubeconfig(t, dir, row.cluster, row.user))
					require.NoError(t, err)
					leases := leasesAt(t, config)
					_, err = leases.Create(t.Context(), newLease("a", "1"), store.CreateOptions{})
					if row.want != "bearer" && row.want != "certified" {
						assert.ErrorContains(t, err, row.want)
						for _, err := range leases.Watch(t.Context(), store.WatchOptions{}) {
							assert.ErrorContains(t, err, row.want, "a watch ends, too")
						}
						return
					}
					require.NoError(t, err)
					assert.Equal(t, row.want, *s.lastUser.Load())
					for ev, err := range leases.Watch(t.Context(), store.WatchOptions{}) {
						require.NoError(t, err)
						assert.Equal(t, "ADDED a 1", text(ev))
						break
					}
					assert.EqualValues(t, map[bool]int{true: 2, false: 1}[http2], s.lastHTTP.Load())
					remove(t, s.st, "a")
				})
			}
		})
	}
}

// A token in a file is replaced before it ends. The first refusal makes the client read it.
func TestTokenOfAFileIsReadAgain(t *testing.T) {
	s := newSecureServer(t, true)
	dir := t.TempDir()
	write(t, dir, "ca.crt", s.ca)
	write(t, dir, "token", []byte("old"))
	config, err := client.Kubeconfig(kubeconfig(t, dir, "{server: "+s.url+", certificate-authority: ca.crt}", "{tokenFile: token}"))
	require.NoError(t, err)
	leases := leasesAt(t, config)
	_, err = leases.List(t.Context(), store.ListOptions{})
	assert.ErrorIs(t, err, meta.ReasonUnauthorized)
	write(t, dir, "token", []byte("secret"))
	_, err = leases.List(t.Context(), store.ListOptions{})
	require.NoError(t, err)
	s.revoked.Store(true)
	write(t, dir, "token", []byte("new"))
	_, err = leases.Create(t.Context(), newLease("a", "me"), store.CreateOptions{})
	require.NoError(t, err, "the request is repeated with the new token")
	assert.Equal(t, "newer", *s.lastUser.Load())

	write(t, dir, "token", []byte("newest"))
	_, err = leases.List(t.Context(), store.ListOptions{})
	require.NoError(t, err, "an accepted token is kept for a minute")

	require.NoError(t, os.Remove(filepath.Join(dir, "token")))
	_, err = leases.List(t.Context(), store.ListOptions{})
	require.NoError(t, err, "the token is known")
	_, err = leasesAt(t, config).List(t.Context(), store.ListOptions{})
	assert.ErrorContains(t, err, "client: token file: open ")
	for _, text := range []string{" \n", "two\nlines", "two\rlines"} {
		write(t, dir, "token", []byte(text))
		_, err = leasesAt(t, config).List(t.Context(), store.ListOptions{})
		assert.ErrorContains(t, err, "token: got no single line, want one token", "%q", text)
	}
}
