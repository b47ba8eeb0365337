package hub

import "slices"

// Follower reads the changes of all collections in their order, from one that it wants on. Only one goroutine at a time may
// call its methods.
type Follower[P any] struct {
	hub   *Hub[P]
	wants func(*Change[P]) bool
	wake  chan struct{} // capacity 1: holds a value after a change was marked

	marked uint64 // guarded by hub.mu: the version of the first change to read since the last Poll, or 0
	losses int    // of the history at the last Poll; -1 before the first one
}

// Follow returns a Follower. wants reports whether a change must wake it. It is called by Publish with the lock of the hub
// held, so it must not use the hub. The caller must Close the Follower.
func (h *Hub[P]) Follow(wants func(*Change[P]) bool) *Follower[P] {
	f := &Follower[P]{hub: h, wants: wants, wake: make(chan struct{}, 1), losses: -1}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.followers = append(h.followers, f)
	return f
}

// Wake delivers a value when Poll may have something to return, after Signal of the hub, and when the hub is closed.
func (f *Follower[P]) Wake() <-chan struct{} { return f.wake }

// Poll returns the changes since the last call, without those before the first one that the Follower wants. It does not
// block. complete reports whether the history has had all of them; the first call returns false. The slice must not be
// modified.
func (f *Follower[P]) Poll() (changes []*Change[P], complete bool) {
	f.hub.mu.Lock()
	now, marked := f.hub.history, f.marked
	f.marked = 0
	f.hub.forgetLocked()
	f.hub.mu.Unlock()
	after := now.head
	if marked != 0 {
		after = marked - 1
	}
	complete = now.losses == f.losses && after >= now.floor
	f.losses = now.losses
	return now.after(after), complete
}

// Close removes the Follower from the hub. It may be called more than once.
func (f *Follower[P]) Close() {
	f.hub.mu.Lock()
	defer f.hub.mu.Unlock()
	f.hub.followers = slices.DeleteFunc(f.hub.followers, func(other *Follower[P]) bool { return other == f })
	f.hub.forgetLocked()
}
