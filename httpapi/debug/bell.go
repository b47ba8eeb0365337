package debug

import "sync"

// bell tells all who wait that something has changed.
type bell struct {
	mu   sync.Mutex    // guards next
	next chan struct{} // closed by ring, or nil
}

// wait returns a channel that is closed by the next ring.
func (b *bell) wait() <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.next == nil {
		b.next = make(chan struct{})
	}
	return b.next
}

func (b *bell) ring() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.next != nil {
		close(b.next)
		b.next = nil
	}
}
