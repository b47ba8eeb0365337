package main

import (
	"context"
	"io"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// startProxy returns the URL of a proxy in front of servers. Each connection goes to the next
// server that accepts it, and is cut after three to eight seconds, so that its client changes
// servers. The proxy ends with the test.
func startProxy(t *testing.T, servers []string) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() {
		for n := 0; ; n++ {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			order := append(append([]string{}, servers[n%len(servers):]...), servers[:n%len(servers)]...)
			running.Go(func() { pass(ctx, conn, order, time.Duration(3+n%6)*time.Second) })
		}
	})
	t.Cleanup(func() {
		cancel()
		l.Close()
		running.Wait()
	})
	return "http://" + l.Addr().String()
}

// pass connects a client with the first server that accepts, until one of them ends or the
// connection is cut.
func pass(ctx context.Context, client net.Conn, servers []string, life time.Duration) {
	defer client.Close()
	ctx, cancel := context.WithTimeout(ctx, life)
	defer cancel()
	for _, address := range servers {
		server, err := net.Dial("tcp", address)
		if err != nil {
			continue
		}
		defer server.Close()
		var copying sync.WaitGroup
		both := func(to, from net.Conn) {
			defer cancel()
			io.Copy(to, from)
		}
		copying.Go(func() { both(server, client) })
		copying.Go(func() { both(client, server) })
		<-ctx.Done()
		client.Close()
		server.Close()
		copying.Wait()
		return
	}
}
