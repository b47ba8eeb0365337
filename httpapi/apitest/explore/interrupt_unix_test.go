//go:build unix

package explore

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/httpapi/apitest"
)

// When a search is interrupted, no process is left, also none that the program has started, and no folder.
func TestInterruptedSearchLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	fifo := filepath.Join(t.TempDir(), "fifo")
	require.NoError(t, syscall.Mkfifo(fifo, 0o600))
	// The end of the file is when all have closed it that write to it: when all children have ended.
	opened := make(chan *os.File, 1)
	go func() {
		f, _ := os.Open(fifo)
		opened <- f
	}()
	c := command("parent")
	c.Env = append(c.Env, "FIFO="+fifo)
	ctx, cancel := context.WithCancelCause(t.Context())
	var children *os.File
	step := Step{Name: "interrupt", Do: func(context.Context, Conn) error {
		if children == nil {
			children = <-opened
		}
		cancel(errors.New("that is enough"))
		return nil
	}}
	_, err := Search(ctx, Scenario{API: apitest.New(t), Controllers: []Controller{c}, Steps: []Step{step}}, Options{})
	require.ErrorContains(t, err, "the search was interrupted: that is enough")
	require.NotNil(t, children)
	_, err = io.Copy(io.Discard, children)
	require.NoError(t, err)
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	assert.Empty(t, left)
}
