package hub

import (
	"sort"
	"time"
)

// Limits bounds a history. The last change is always kept.
type Limits struct {
	Changes int           // how many are kept
	Bytes   int64         // the sum of their sizes; 0 means no limit
	Age     time.Duration // 0 means no limit
}

// history is the last changes. A copy of it is a snapshot, which needs no lock.
type history[P any] struct {
	limits      Limits
	changes     []*Change[P] // in the order of their versions; no element is ever written to again
	floor, head uint64       // changes has every change after floor, up to head, but for collections that are forgotten
	bytes       int64        // the sum of the sizes
	dropped     int          // how many more changes the array of the slice may hold
	losses      int          // how often changes were lost
}

// add appends a change, and drops the oldest ones that exceed a limit.
func (h *history[P]) add(c *Change[P]) {
	h.changes = append(h.changes, c)
	h.bytes += c.Size
	for len(h.changes) > 1 && h.exceeds(c.At) {
		h.floor = h.changes[0].Version
		h.bytes -= h.changes[0].Size
		h.changes = h.changes[1:]
		h.dropped++
	}
	if spare := len(h.changes)/4 + 16; h.dropped > spare { // free the changes
		h.changes = append(make([]*Change[P], 0, len(h.changes)+spare+1), h.changes...)
		h.dropped = 0
	}
}

// exceeds reports whether the oldest change has to go.
func (h *history[P]) exceeds(now time.Time) bool {
	return len(h.changes) > h.limits.Changes ||
		h.limits.Bytes > 0 && h.bytes > h.limits.Bytes ||
		h.limits.Age > 0 && h.changes[0].At.Before(now.Add(-h.limits.Age))
}

// reset drops all changes, and continues at a version.
func (h *history[P]) reset(version uint64) {
	h.changes, h.floor, h.head, h.bytes, h.dropped = nil, version, version, 0, 0
}

// forget drops the changes of a collection, which nobody asks for.
func (h *history[P]) forget(collection int) {
	kept := make([]*Change[P], 0, len(h.changes))
	for _, c := range h.changes {
		if c.Collection != collection {
			kept = append(kept, c)
		} else {
			h.bytes -= c.Size
		}
	}
	h.changes, h.dropped = kept, 0
}

// after returns the changes after a version.
func (h *history[P]) after(version uint64) []*Change[P] {
	isAfter := func(i int) bool { return h.changes[i].Version > version }
	// Without gaps between versions it is this one, at once.
	n := len(h.changes) - int(min(h.head-min(version, h.head), uint64(len(h.changes))))
	if n < len(h.changes) && !isAfter(n) || n > 0 && isAfter(n-1) {
		n = sort.Search(len(h.changes), isAfter)
	}
	return h.changes[n:]
}

// oldest returns the oldest version whose later changes are all kept and not too old at now.
func (h *history[P]) oldest(now time.Time) uint64 {
	version := h.floor
	if h.limits.Age <= 0 {
		return version
	}
	for _, c := range h.changes {
		if !c.At.Before(now.Add(-h.limits.Age)) {
			break
		}
		version = c.Version
	}
	return version
}
