package main

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/httpapi/client"
	"github.com/kubecoord/kubecoord/lease"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/meta"
)

func TestProgramServesItsKubeconfig(t *testing.T) {
	file := filepath.Join(t.TempDir(), "kubeconfig")
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	out, in := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		err := run(ctx, in, "127.0.0.1:0", file)
		in.Close()
		ended <- err
	}()
	line, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	assert.Contains(t, line, "serving on https://127.0.0.1:")

	config, err := client.Kubeconfig(file)
	require.NoError(t, err)
	c, err := client.New(config)
	require.NoError(t, err)
	defer c.Close()
	leases := client.In(c, lease.Kind())
	_, err = leases.Create(ctx, &lease.Lease{ObjectMeta: meta.ObjectMeta{Namespace: "default", Name: "a"}}, store.CreateOptions{})
	require.NoError(t, err)
	watched := make(chan error, 1)
	events := leases.Watch(ctx, store.WatchOptions{Namespace: "default"})
	go func() {
		for _, err := range events {
			if err != nil {
				watched <- err
				return
			}
			watched <- nil
		}
	}()
	require.NoError(t, <-watched)

	_, err = leases.DeleteCollection(ctx, store.DeleteOptions{}, store.ListOptions{Namespace: "default"})
	assert.ErrorContains(t, err, "not in one request")
	for header, want := range map[string]int{"": 401, "Bearer " + config.Token: 200} {
		req, err := http.NewRequest("GET", config.Server+"/metrics", nil)
		require.NoError(t, err)
		req.Header.Set("Authorization", header)
		resp, err := (&http.Client{Transport: &http.Transport{TLSClientConfig: config.TLS}}).Do(req)
		require.NoError(t, err)
		body, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		resp.Body.Close()
		assert.Equal(t, want, resp.StatusCode)
		assert.Equal(t, want == 200, strings.Contains(string(body), "apiserver_request_total"))
	}
	stop() // the watch does not keep it
	assert.NoError(t, <-ended)
}
