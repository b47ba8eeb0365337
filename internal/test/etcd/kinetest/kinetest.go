// Package kinetest says how tests start kine with SQLite.
package kinetest

import (
	"net"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Binary returns the program in the environment variable KUBECOORD_KINE, or skips the test.
func Binary(t testing.TB) string {
	binary := os.Getenv("KUBECOORD_KINE")
	if binary == "" {
		t.Skip("KUBECOORD_KINE names no program; to get one: go install github.com/k3s-io/kine@v0.17.5 && export KUBECOORD_KINE=$(go env GOPATH)/bin/kine")
	}
	return binary
}

// Args returns the arguments of a kine with its data in a directory. With them kine keeps all
// versions until a client compacts them. By default it keeps the last 1,000.
func Args(dir, address string) []string {
	return []string{
		"--endpoint", "sqlite://" + dir + "/kine.db?_journal=WAL&cache=shared&_busy_timeout=30000", "--listen-address", "tcp://" + address,
		"--metrics-bind-address", "0", "--compact-min-retain", "0",
	}
}

// Await waits until kine accepts connections.
func Await(t testing.TB, address string) {
	require.Eventually(t, func() bool {
		c, err := net.Dial("tcp", address)
		if err == nil {
			c.Close()
		}
		return err == nil
	}, time.Minute, 10*time.Millisecond)
}
