package httpapi

import (
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/kubecoord/kubecoord/internal/registry"
)

// A watch that is slow keeps its frame, whatever its size, and others find it.
func TestFrameIsSharedAsLongAsItIsSent(t *testing.T) {
	var f frames
	keys := make([]frameKey, 2000)
	for i := range keys {
		keys[i].item = new(registry.Item) // all in one slot
	}
	made := 0
	get := func(key frameKey) *frame {
		have, err := f.get(key, func() (chunk, error) {
			made++
			return chunk{all: make([]byte, 1<<20)}, nil
		})
		assert.NoError(t, err)
		return have
	}
	slow := get(keys[0])
	for range 3 {
		runtime.GC()
		assert.Same(t, slow, get(keys[0]))
	}
	assert.Equal(t, 1, made)
	runtime.KeepAlive(slow)
	slow = nil
	runtime.GC()
	get(keys[0])
	assert.Equal(t, 2, made, "nobody sent it")
	for _, key := range keys[1:] {
		get(key) // 2 GB, if they stayed
	}
}
