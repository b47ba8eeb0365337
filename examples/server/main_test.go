package main

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// start runs the server and returns its address, and what run returned.
func start(t *testing.T) (ctx context.Context, stop func(), url string, done chan error) {
	t.Helper()
	ctx, stop = context.WithCancel(t.Context())
	r, w := io.Pipe()
	done = make(chan error, 1)
	go func() {
		done <- run(ctx, w, "127.0.0.1:0", 100, false)
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
	_, stop, url, done := start(t)
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

func TestServerRefusesABadAddressAndABadHistory(t *testing.T) {
	require.Error(t, run(t.Context(), io.Discard, "127.0.0.1:notaport", 100, false))
	require.ErrorContains(t, run(t.Context(), io.Discard, "127.0.0.1:0", 0, false), "-history 0: must be at least 1")
}
