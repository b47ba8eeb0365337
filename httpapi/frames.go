package httpapi

import (
	"sync/atomic"
	"weak"

	"github.com/kubecoord/kubecoord/internal/registry"
	"github.com/kubecoord/kubecoord/store/meta"
	"github.com/kubecoord/kubecoord/watch"
)

// frames finds the frames that watches send, so that a frame is made once for all of them. It
// lives as long as a watch sends it, and then until the next garbage collection.
type frames struct {
	slots [frameSlots]atomic.Pointer[frameSlot]
}

// frameSlots and the length of a frameSlot say how many frames can be found: about as many as a history
// has changes.
const frameSlots = 1 << 9

// frameSlot holds the last frames of a slot, the newest first. It never changes.
type frameSlot [8]weak.Pointer[frame]

// frame is an encoded event. A watch must keep it alive while it sends the chunk.
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
	const forms, mix = 4, 0x9e3779b97f4a7c15 // 2^64 divided by the golden ratio
	form := uint64(k.format) % 2
	if k.as.Kind != "" {
		form += 2
	}
	return (k.item.Version()*forms + form) * mix >> (64 - 9)
}

// get returns a frame. It calls encode if the frame is not found.
func (f *frames) get(key frameKey, encode func() (chunk, error)) (*frame, error) {
	slot := &f.slots[key.slot()]
	for made := (*frame)(nil); ; {
		old := slot.Load()
		for i := 0; old != nil && i < len(old); i++ {
			if have := old[i].Value(); have != nil && have.key == key {
				return have, nil
			}
		}
		if made == nil {
			part, err := encode()
			if err != nil {
				return nil, err
			}
			made = &frame{key, part}
			continue // another watch may have made it meanwhile
		}
		next := &frameSlot{weak.Make(made)}
		if old != nil {
			copy(next[1:], old[:])
		}
		if slot.CompareAndSwap(old, next) {
			return made, nil
		}
	}
}
