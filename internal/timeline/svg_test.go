package timeline

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "rewrite the files in testdata")

// isGolden compares with a file in testdata.
func isGolden(t *testing.T, name string, got []byte) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		require.NoError(t, os.WriteFile(file, got, 0o666))
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.Equal(t, string(want), string(got), "go test ./internal/timeline -update rewrites %s; look at it", file)
}

func draw(t *testing.T, tl Timeline) []byte {
	t.Helper()
	var out bytes.Buffer
	require.NoError(t, SVG(&out, tl))
	return out.Bytes()
}

func TestPicturesLookAsTheyDid(t *testing.T) {
	for name, tl := range map[string]Timeline{
		"upgrade.svg": upgrade(),
		"empty.svg":   {From: epoch, Until: after(5)},
	} {
		t.Run(name, func(t *testing.T) { isGolden(t, name, draw(t, tl)) })
	}
}
