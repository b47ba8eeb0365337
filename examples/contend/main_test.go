package main

import (
	"bufio"
	"context"
	"io"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/httpapi/apitest"
	"github.com/kubecoord/kubecoord/httpapi/client"
	"github.com/kubecoord/kubecoord/lease"
)

func TestContendLeadsUntilItIsStopped(t *testing.T) {
	api := apitest.New(t)
	config, err := client.Kubeconfig(api.Kubeconfig())
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	r, w := io.Pipe()
	done := make(chan error, 1)
	go func() {
		done <- contend(ctx, w, config)
		w.Close()
	}()
	out := bufio.NewReader(r)
	line, err := out.ReadString('\n')
	require.NoError(t, err)
	assert.Regexp(t, `^process-\d+ leads, with the fencing token 1001\n$`, line)
	cancel()
	rest, err := io.ReadAll(out)
	require.NoError(t, err)
	assert.Regexp(t, `^process-\d+ stops: context canceled\n$`, string(rest))
	assert.ErrorIs(t, <-done, context.Canceled)
	l, err := lease.In(api.Store()).Get(t.Context(), "default", "contend")
	require.NoError(t, err)
	assert.Empty(t, *l.Spec.HolderIdentity, "it is released")
}
