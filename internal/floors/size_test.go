package floors

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestClientIsASmallProgram builds the program that contends over the network, as a user does. The code of the server and
// of the store is not in it.
func TestClientIsASmallProgram(t *testing.T) {
	root := moduleRoot(t)
	touchSources(t, root)
	program := filepath.Join(t.TempDir(), "contend")
	goCommand(t, root, "build", "-o", program, "./examples/contend")
	info, err := os.Stat(program)
	require.NoError(t, err)
	assert.LessOrEqual(t, info.Size(), int64(13_300_000), "bytes") // 12.1 MB by Go 1.26, 13.1 MB by Go 1.27

	symbols := string(goCommand(t, root, "tool", "nm", program))
	assert.Contains(t, symbols, module+"/internal/kinds.NewKind")
	assert.NotContains(t, symbols, module+"/internal/registry.(*Resource).Update")
}

// TestClientNeedsNoOtherModule compares the modules of that program with go.mod.
func TestClientNeedsNoOtherModule(t *testing.T) {
	root := moduleRoot(t)
	touchSources(t, root)
	required := []string{module}
	for _, r := range requirements(t, root) {
		required = append(required, r.Path)
	}
	modules := strings.Fields(string(goCommand(t, root, "list", "-deps", "-f", "{{with .Module}}{{.Path}}{{end}}", "./examples/contend")))
	require.Contains(t, modules, module)
	for _, path := range slices.Compact(slices.Sorted(slices.Values(modules))) {
		assert.Contains(t, required, path)
	}
}
