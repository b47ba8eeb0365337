package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// definitions returns a folder with n definitions.
func definitions(t *testing.T, n int) (dir string) {
	t.Helper()
	dir = t.TempDir()
	for i := range n {
		name := fmt.Sprintf("gadget%d", i)
		text := strings.ReplaceAll(strings.ReplaceAll(gadgets, "gadget", name), "Gadget", "Gadget"+name)
		require.NoError(t, os.WriteFile(filepath.Join(dir, name+".yaml"), []byte(text), 0o600))
	}
	return dir
}

func TestLogShowsNoProgress(t *testing.T) {
	log, err := os.Create(filepath.Join(t.TempDir(), "log"))
	require.NoError(t, err)
	defer log.Close()
	greeting(t, log, "-crds", definitions(t, 25))
	_, err = log.Seek(0, io.SeekStart)
	require.NoError(t, err)
	text, err := io.ReadAll(log)
	require.NoError(t, err)
	assert.Empty(t, string(text))
}
