package floors

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// maxTracked is the largest file that the repository may hold, in bytes. A clone carries each version of a file for good.
const maxTracked = 1 << 20

// TestTrackedFilesAreSmall finds programs and recordings that were committed by mistake.
func TestTrackedFilesAreSmall(t *testing.T) {
	root := moduleRoot(t)
	index, err := exec.CommandContext(t.Context(), "git", "-C", root, "rev-parse", "--path-format=absolute", "--git-path", "index").Output()
	if err != nil {
		t.Skip("not a git checkout, such as the module cache of a user")
	}
	_, err = os.Stat(strings.TrimSpace(string(index))) // the result is cached by it
	require.NoError(t, err)
	list, err := exec.CommandContext(t.Context(), "git", "-C", root, "ls-files", "-z").Output()
	require.NoError(t, err)
	names := strings.Split(strings.TrimSuffix(string(list), "\x00"), "\x00")
	require.Contains(t, names, "go.mod")
	for _, name := range names {
		info, err := os.Lstat(filepath.Join(root, name))
		if os.IsNotExist(err) {
			continue // deleted, and not yet committed
		}
		require.NoError(t, err)
		assert.LessOrEqual(t, info.Size(), int64(maxTracked), name)
	}
}
