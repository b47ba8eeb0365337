package registry

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A Backend that was restored from a backup goes on at an older version.
func TestFeedRelistsAfterTheHistoryWentBack(t *testing.T) {
	st := New(Options{})
	defer st.Close()
	f := st.Feed(nil)
	for _, version := range []uint64{0, 2000, 1500, 1600} {
		if version > 0 {
			st.hub.Lose(version)
		}
		if version == 1600 {
			st.hub.Publish(2100) // past where the Feed was
		}
		select {
		case <-f.WakeUp():
		default:
			assert.Zero(t, version, "it is not woken")
		}
		_, relist, err := f.Poll()
		require.NoError(t, err)
		assert.True(t, relist, version)
	}
}
