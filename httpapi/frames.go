package httpapi

import (
	"sync/atomic"
	"weak"

	"github.com/kubecoord/kubecoord/internal/registry"
	"github.com/kubecoord/kubecoord/store/meta"
	"github.com/kubecoord/kubecoord/watch"
)

// frames finds the last frames that watches send, by form and version, so that a frame is usually
// made once for all of them. It lives as long as a watch sends it, and then until the next
// garbage collection.
type frames [4][128]atomic.Pointer[weak.Pointer[frame]]

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

// get returns a frame. It calls encode if the frame is not found. Watches that look for it at the
// same moment may each make it.
func (f *frames) get(key frameKey, encode func() (chunk, error)) (*frame, error) {
	form := int(key.format) % 2
	if key.as.Kind != "" {
		form += 2
	}
	slot := &f[form][key.item.Version()%uint64(len(f[form]))]
	if last := slot.Load(); last != nil {
		if have := last.Value(); have != nil && have.key == key {
			return have, nil
		}
	}
	part, err := encode()
	if err != nil {
		return nil, err
	}
	made := &frame{key, part}
	slot.Store(new(weak.Make(made)))
	return made, nil
}
