package httpapi

import (
	"sync/atomic"

	"github.com/kubecoord/kubecoord/internal/registry"
	"github.com/kubecoord/kubecoord/internal/scratch"
	"github.com/kubecoord/kubecoord/store/meta"
	"github.com/kubecoord/kubecoord/watch"
)

// frames remembers the frames of the last events, so that a frame is made once for all
// watches that send it in the same form.
type frames struct {
	slots   [frameSlots]atomic.Pointer[frame]
	buffers scratch.Pool // for joined frames
}

// Limits of what is remembered: 8 MiB at most.
const (
	frameSlots    = 128
	maxFrameBytes = 64 << 10
)

// frame is an encoded event.
type frame struct {
	key frameKey
	chunk
}

// frameKey identifies a frame: equal keys have equal bytes.
type frameKey struct {
	item      *registry.Item
	eventType watch.EventType
	endpoint  *endpoint
	format    format
	as        meta.TypeMeta
}

// slot returns the place of a frame. The frames of one change in the usual forms, and of
// changes that follow each other, have different places.
func (k *frameKey) slot() uint64 {
	const forms = 4
	form := uint64(k.format) % 2
	if k.as.Kind != "" {
		form += 2
	}
	return (k.item.Version()*forms + form) % frameSlots
}

// get returns a frame. It calls encode if the frame is not remembered.
func (f *frames) get(key frameKey, encode func() (chunk, error)) (chunk, error) {
	slot := &f.slots[key.slot()]
	if have := slot.Load(); have != nil && have.key == key {
		return have.chunk, nil
	}
	part, err := encode()
	if err == nil && len(part.all) <= maxFrameBytes {
		slot.Store(&frame{key, part})
	}
	return part, err
}
