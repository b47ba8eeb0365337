package httpapi

import (
	"sync/atomic"
	"weak"

	"github.com/kubecoord/kubecoord/internal/registry"
	"github.com/kubecoord/kubecoord/store/meta"
	"github.com/kubecoord/kubecoord/watch"
)

// frames finds the last frames that watches send, by form and version, so that a frame is
// made once for all of them. It lives as long as a watch sends it, and then until the next
// garbage collection.
type frames struct {
	table atomic.Pointer[frameTable] // nil until the first use
}

type frameTable [4][256]atomic.Pointer[weak.Pointer[frame]]

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

// get returns a frame. It calls encode if the frame is not found.
func (f *frames) get(key frameKey, encode func() (chunk, error)) (*frame, error) {
	form := int(key.format) % 2
	if key.as.Kind != "" {
		form += 2
	}
	table := f.table.Load()
	if table == nil {
		f.table.CompareAndSwap(nil, new(frameTable))
		table = f.table.Load()
	}
	slot := &table[form][key.item.Version()%uint64(len(table[form]))]
	for made := (*frame)(nil); ; {
		last := slot.Load()
		if last != nil {
			if have := last.Value(); have != nil && have.key == key {
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
		if slot.CompareAndSwap(last, new(weak.Make(made))) {
			return made, nil
		}
	}
}
