package memory

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/examples/internal/serve"
)

// start runs the server and returns its address, and what run returned.
func start(t *testing.T, c config) (ctx context.Context, stop func(), url string, done chan error) {
	t.Helper()
	ctx, stop = context.WithCancel(t.Context())
	r, w := io.Pipe()
	done = make(chan error, 1)
	go func() {
		done <- run(ctx, w, c)
		w.Close()
	}()
	out := bufio.NewReader(r)
	line, err := out.ReadString('\n')
	require.NoError(t, err)
	url, found := strings.CutPrefix(strings.TrimSpace(line), "serving on ")
	require.True(t, found, "the first line is %q", line)
	go io.Copy(io.Discard, out)
	return ctx, stop, url, done
}

func TestServerAnswersAndStopsWithOpenWatches(t *testing.T) {
	_, stop, url, done := start(t, config{Options: serve.Options{Address: "127.0.0.1:0", History: 100}})
	resp, err := http.Get(url + "/readyz")
	require.NoError(t, err)
	resp.Body.Close()
	require.Equal(t, http.StatusOK, resp.StatusCode)

	watch, err := http.Get(url + "/apis/coordination.k8s.io/v1/leases?watch=true")
	require.NoError(t, err)
	defer watch.Body.Close()
	require.Equal(t, http.StatusOK, watch.StatusCode)

	stop()
	_, err = io.ReadAll(watch.Body)
	require.NoError(t, err, "the watch ends cleanly")
	require.NoError(t, <-done)
}

func TestServerRefusesWhatCannotWork(t *testing.T) {
	missing, noPEM := filepath.Join(t.TempDir(), "none"), filepath.Join(t.TempDir(), "none.pem")
	require.NoError(t, os.WriteFile(noPEM, []byte("none"), 0o600))
	for name, tt := range map[string]struct {
		c    config
		want string
	}{
		"a bad port":               {config{Options: serve.Options{Address: "127.0.0.1:notaport", History: 1}}, "notaport"},
		"a negative quota":         {config{Options: serve.Options{Address: "127.0.0.1:0"}, quota: -5}, "-quota-backend-bytes -5: must not be negative"},
		"no history":               {config{Options: serve.Options{Address: "127.0.0.1:0"}}, "-history 0: must be at least 1"},
		"an open address":          {config{Options: serve.Options{Address: "0.0.0.0:0", History: 1}}, "other machines can reach it"},
		"every address":            {config{Options: serve.Options{Address: ":0", History: 1}}, "other machines can reach it"},
		"a missing token file":     {config{Options: serve.Options{Address: "127.0.0.1:0", History: 1, TokenFile: missing}}, "-token-file"},
		"a certificate alone":      {config{Options: serve.Options{Address: "127.0.0.1:0", History: 1, TLSCert: missing}}, "must be set together"},
		"two certificates":         {config{Options: serve.Options{Address: "127.0.0.1:0", History: 1, TLSCert: missing, TLSKey: missing, SelfSigned: true}}, "not both"},
		"a missing certificate":    {config{Options: serve.Options{Address: "127.0.0.1:0", History: 1, TLSCert: missing, TLSKey: missing}}, "-tls-cert"},
		"a clock of its own":       {config{Options: serve.Options{Address: "127.0.0.1:0", History: 1}, clock: "2026-01-01T00:00:00Z"}, "-clock: got it without -debug, want both"},
		"a clock without a time":   {config{Options: serve.Options{Address: "127.0.0.1:0", History: 1}, debug: true, clock: "noon"}, `-clock: got "noon", want a time such as 2026-01-01T00:00:00Z`},
		"a client CA without TLS":  {config{Options: serve.Options{Address: "127.0.0.1:0", History: 1, ClientCA: missing}}, "-client-ca: needs HTTPS"},
		"a missing client CA":      {config{Options: serve.Options{Address: "127.0.0.1:0", History: 1, SelfSigned: true, ClientCA: missing}}, "-client-ca: open"},
		"a client CA of no kind":   {config{Options: serve.Options{Address: "127.0.0.1:0", History: 1, SelfSigned: true, ClientCA: noPEM}}, "has no certificate"},
		"an unwritable kubeconfig": {config{Options: serve.Options{Address: "127.0.0.1:0", History: 1, Kubeconfig: filepath.Join(missing, "k")}}, "-kubeconfig"},
	} {
		t.Run(name, func(t *testing.T) {
			require.ErrorContains(t, run(t.Context(), io.Discard, tt.c), tt.want)
		})
	}
}

func TestServerWithTokensAndTLSLetsInOnlyTheirBearers(t *testing.T) {
	dir := t.TempDir()
	tokens, kubeconfig := filepath.Join(dir, "tokens"), filepath.Join(dir, "kubeconfig")
	require.NoError(t, os.WriteFile(tokens, []byte("s3cret,alice,1,\"admins,devs\"\nother,bob,2\n"), 0o600))
	_, stop, url, done := start(t, config{Options: serve.Options{Address: "127.0.0.1:0", History: 1, TokenFile: tokens, SelfSigned: true, Kubeconfig: kubeconfig}})
	defer func() { stop(); require.NoError(t, <-done) }()
	require.True(t, strings.HasPrefix(url, "https://"), url)

	var config struct {
		Clusters []struct {
			Cluster struct {
				Server string
				CA     []byte `json:"certificate-authority-data"`
			}
		}
		Users []struct{ User struct{ Token string } }
	}
	data, err := os.ReadFile(kubeconfig)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(data, &config))
	require.Equal(t, url, config.Clusters[0].Cluster.Server)
	require.Equal(t, "s3cret", config.Users[0].User.Token)

	pool := x509.NewCertPool()
	require.True(t, pool.AppendCertsFromPEM(config.Clusters[0].Cluster.CA))
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}, ForceAttemptHTTP2: true}}
	defer client.CloseIdleConnections()
	get := func(path, token string) int {
		req, err := http.NewRequest("GET", url+path, nil)
		require.NoError(t, err)
		if token != "" {
			req.Header.Set("Authorization", "Bearer "+token)
		}
		resp, err := client.Do(req)
		require.NoError(t, err)
		defer resp.Body.Close()
		return resp.StatusCode
	}
	const leases = "/apis/coordination.k8s.io/v1/leases"
	require.Equal(t, 401, get(leases, ""))
	require.Equal(t, 401, get(leases, "wrong"))
	require.Equal(t, 401, get("/apis", ""))
	require.Equal(t, 200, get(leases, "s3cret"))
	require.Equal(t, 200, get(leases, "other"))
	require.Equal(t, 200, get("/healthz", ""))
}
