package serve_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"io"
	"log"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/httpapi/serve"
	"github.com/kubecoord/kubecoord/store"
)

const leases = "/apis/coordination.k8s.io/v1/leases"

// lines is a log.
type lines struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// start serves an API until the test ends or stop is called, which returns the error of Serve.
func start(t *testing.T, opts serve.Options, of httpapi.Options) (server *serve.Server, logged *lines, stop func() error) {
	t.Helper()
	logged = &lines{}
	opts.Log = log.New(logged, "", 0)
	server, err := serve.Listen(opts)
	require.NoError(t, err)
	st := store.New(store.Options{})
	of.Hosts = server.Hosts()
	api := httpapi.New(st, of)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(ctx, api, api.Close) }()
	stop = sync.OnceValue(func() error {
		cancel()
		defer st.Close()
		return <-ended
	})
	t.Cleanup(func() { assert.NoError(t, stop()) })
	return server, logged, stop
}

// trusting returns a client that trusts the authority of a kubeconfig, and its token.
func trusting(t *testing.T, server *serve.Server, token string) (client *http.Client, sent string) {
	t.Helper()
	var config struct {
		Clusters []struct {
			Cluster struct {
				Server string
				CA     []byte `json:"certificate-authority-data"`
				Name   string `json:"tls-server-name"`
			}
		}
		Users []struct{ User struct{ Token string } }
	}
	require.NoError(t, json.Unmarshal(server.Kubeconfig(token), &config))
	cluster := config.Clusters[0].Cluster
	require.Equal(t, server.URL(), cluster.Server)
	pool := x509.NewCertPool()
	require.True(t, pool.AppendCertsFromPEM(cluster.CA))
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool, ServerName: cluster.Name}, ForceAttemptHTTP2: true}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}, config.Users[0].User.Token
}

func get(t *testing.T, client *http.Client, url string, headers ...string) *http.Response {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), "GET", url, nil)
	require.NoError(t, err)
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	resp, err := client.Do(req)
	require.NoError(t, err)
	t.Cleanup(func() { resp.Body.Close() })
	return resp
}

func TestCertificateIsMadeAndNamedByTheKubeconfig(t *testing.T) {
	server, _, _ := start(t, serve.Options{TLS: &tls.Config{}}, httpapi.Options{})
	client, token := trusting(t, server, "")
	resp := get(t, client, server.URL()+leases)
	assert.Equal(t, 200, resp.StatusCode)
	assert.Equal(t, 2, resp.ProtoMajor, "HTTP/2, for many watches on one connection")
	assert.Equal(t, "anonymous", token, "or kubectl asks for a user name")
	assert.Empty(t, server.ServerName())
	assert.Greater(t, time.Until(server.Certificate().NotAfter), 360*24*time.Hour)
}

func TestGivenCertificateIsNamedByTheKubeconfig(t *testing.T) {
	pair, err := serve.SelfSigned("kubecoord.example:443", time.Hour)
	require.NoError(t, err)
	for name, secure := range map[string]*tls.Config{
		"a certificate": {Certificates: []tls.Certificate{pair}},
		"a function":    {GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return &pair, nil }},
	} {
		t.Run(name, func(t *testing.T) {
			pair.Leaf = nil
			server, _, _ := start(t, serve.Options{TLS: secure}, httpapi.Options{})
			client, token := trusting(t, server, "s3cret")
			assert.Equal(t, 200, get(t, client, server.URL()+leases).StatusCode)
			assert.Equal(t, "s3cret", token)
			assert.Empty(t, server.ServerName(), "the certificate is for the loopback too")
		})
	}
}

func TestPlainHTTPHasNoCertificate(t *testing.T) {
	server, _, _ := start(t, serve.Options{}, httpapi.Options{})
	assert.True(t, strings.HasPrefix(server.URL(), "http://127.0.0.1:"))
	assert.Nil(t, server.Certificate())
	assert.Empty(t, server.ServerName())
	assert.Contains(t, string(server.Kubeconfig("")), `"insecure-skip-tls-verify": true`)
	assert.NotContains(t, string(server.Kubeconfig("")), "token")
	assert.Equal(t, 200, get(t, http.DefaultClient, server.URL()+leases).StatusCode)
}

func TestWrongOptionsAreRefusedBeforeThePortOpens(t *testing.T) {
	for name, row := range map[string]struct {
		opts serve.Options
		want string
	}{
		"no port":              {serve.Options{Address: "127.0.0.1"}, "missing port"},
		"an empty certificate": {serve.Options{TLS: &tls.Config{Certificates: []tls.Certificate{{}}}}, "TLS: got a certificate without bytes"},
		"no DER":               {serve.Options{TLS: &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{{1}}}}}}, "TLS: x509"},
		"an unnamed one": {serve.Options{TLS: &tls.Config{GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) { return nil, nil }}},
			"want a certificate too"},
		"no certificate now": {serve.Options{TLS: &tls.Config{GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return nil, io.EOF }}}, "TLS.GetCertificate: EOF"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := serve.Listen(row.opts)
			assert.ErrorContains(t, err, row.want)
		})
	}
}

func TestServeEndsWatchesAndKeepsOtherAnswers(t *testing.T) {
	entered, goOn := make(chan struct{}), make(chan struct{})
	server, _, stop := start(t, serve.Options{Grace: time.Hour}, httpapi.Options{Middleware: func(api http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/slow" {
				close(entered)
				<-goOn
			}
			api.ServeHTTP(w, r)
		})
	}})
	watch := get(t, &http.Client{Transport: &http.Transport{}}, server.URL()+leases+"?watch=true")
	answered := make(chan int, 1)
	go func() {
		resp, err := (&http.Client{Transport: &http.Transport{}}).Get(server.URL() + "/slow")
		if err != nil {
			answered <- 0
			return
		}
		resp.Body.Close()
		answered <- resp.StatusCode
	}()
	<-entered
	ended := make(chan error, 1)
	go func() { ended <- stop() }()
	_, err := io.ReadAll(watch.Body)
	assert.NoError(t, err, "the watch ends without a cut")
	select {
	case <-ended:
		t.Error("the answer in flight was not waited for")
	default:
	}
	close(goOn)
	assert.Equal(t, 404, <-answered)
	assert.NoError(t, <-ended)
}

func TestServeDoesNotWaitBeyondItsGrace(t *testing.T) {
	entered, goOn := make(chan struct{}), make(chan struct{})
	defer close(goOn)
	server, _, stop := start(t, serve.Options{Grace: time.Millisecond}, httpapi.Options{Middleware: func(http.Handler) http.Handler {
		return http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
			close(entered)
			<-goOn
		})
	}})
	answered := make(chan error, 1)
	go func() {
		_, err := (&http.Client{Transport: &http.Transport{}}).Get(server.URL() + "/")
		answered <- err
	}()
	<-entered
	assert.NoError(t, stop())
	assert.Error(t, <-answered)
}

func TestAPortThatFailsEndsServe(t *testing.T) {
	server, err := serve.Listen(serve.Options{})
	require.NoError(t, err)
	require.NoError(t, server.Close())
	ended := false
	assert.Error(t, server.Serve(t.Context(), http.NotFoundHandler(), func() { ended = true }))
	assert.True(t, ended)
}

func TestConnectionsOfAnAddressAreLimited(t *testing.T) {
	server, logged, _ := start(t, serve.Options{ConnectionsPerClient: 1}, httpapi.Options{})
	get(t, &http.Client{Transport: &http.Transport{}}, server.URL()+leases+"?watch=true")
	_, err := (&http.Client{Transport: &http.Transport{}}).Get(server.URL() + leases)
	assert.Error(t, err)
	assert.Equal(t, "refused: a connection of 127.0.0.1, which has 1\n", logged.String())
}

func TestServerSaysOnceWhyKubectlHasNoToken(t *testing.T) {
	const kubectl, curl = "kubectl/v1.37.2 (linux/amd64) kubernetes/abcdef0", "curl/8.0"
	bearers := httpapi.Options{Authenticate: httpapi.BearerTokens(map[string]httpapi.User{"s3cret": {Name: "me"}})}
	server, logged, _ := start(t, serve.Options{}, bearers)
	ask := func(code int, headers ...string) {
		t.Helper()
		assert.Equal(t, code, get(t, http.DefaultClient, server.URL()+leases, headers...).StatusCode)
	}
	ask(401, "User-Agent", curl)
	ask(401, "User-Agent", kubectl, "Authorization", "Bearer wrong")
	ask(200, "User-Agent", kubectl, "Authorization", "Bearer s3cret")
	assert.Equal(t, 200, get(t, http.DefaultClient, server.URL()+"/readyz", "User-Agent", kubectl).StatusCode)
	assert.Empty(t, logged.String())
	ask(401, "User-Agent", kubectl)
	ask(401, "User-Agent", kubectl)
	assert.Equal(t, `refused: "`+kubectl+`", which sent no token: kubectl, and client-go with a kubeconfig, send tokens by HTTPS only`+"\n", logged.String())

	secure, logged, _ := start(t, serve.Options{TLS: &tls.Config{}}, bearers)
	client, _ := trusting(t, secure, "s3cret")
	assert.Equal(t, 401, get(t, client, secure.URL()+leases, "User-Agent", kubectl).StatusCode)
	assert.Empty(t, logged.String(), "by HTTPS the reason is another one")
}
