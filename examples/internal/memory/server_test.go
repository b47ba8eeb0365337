package memory

import (
	"bufio"
	"context"
	"io"
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
