package registry

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestFollowAll(t *testing.T) {
	st := New(Options{})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	steps := 0
	for changes, err := range st.FollowAll(ctx) {
		switch steps++; steps {
		case 1:
			require.NoError(t, err)
			assert.Empty(t, changes, "the first element is a relist")
			st.mu.Lock()
			st.version++
			st.hub.Publish(st.version) // without a change of an object
			st.mu.Unlock()
			cancel()
		case 2:
			require.ErrorIs(t, err, context.Canceled)
		}
	}
	assert.Equal(t, 2, steps)
	st.Close()
	for range st.FollowAll(t.Context()) { // a relist, and ErrClosed
		steps++
	}
	assert.Equal(t, 4, steps)
}
