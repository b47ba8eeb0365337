package serve

import (
	"fmt"
	"log"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// reloadEvery is how long a use of files may trust that they have not changed.
const reloadEvery = time.Second

// reloaded is the contents of some files, which are read again when one of them changes. A use
// looks at them, so there is no goroutine. Contents that cannot be read are logged once, and
// those before them stay in use.
type reloaded[T any] struct {
	names []string
	read  func() (T, error)
	value atomic.Pointer[T]
	next  atomic.Int64 // when to look at the files again, in nanoseconds since 1970

	mu   sync.Mutex // guards seen; held while the files are read
	seen string     // what state returned before the files were read
}

// reload reads files for the first time. Without names there is nothing to read again.
func reload[T any](read func() (T, error), names ...string) (*reloaded[T], error) {
	r := &reloaded[T]{names: names, read: read}
	r.seen = r.state()
	value, err := read()
	r.value.Store(&value)
	r.next.Store(time.Now().Add(reloadEvery).UnixNano())
	return r, err
}

// get returns the contents. Many goroutines may call it at once.
func (r *reloaded[T]) get() T {
	if len(r.names) > 0 && time.Now().UnixNano() >= r.next.Load() && r.mu.TryLock() {
		r.refreshLocked()
		r.mu.Unlock()
	}
	return *r.value.Load()
}

func (r *reloaded[T]) refreshLocked() {
	defer func() { r.next.Store(time.Now().Add(reloadEvery).UnixNano()) }()
	state := r.state()
	if state == r.seen {
		return
	}
	r.seen = state
	value, err := r.read()
	if err != nil {
		log.Printf("%v: the contents before stay in use", err)
		return
	}
	r.value.Store(&value)
	log.Printf("read again: %q", r.names)
}

// state describes the files so that a change of one makes a difference.
func (r *reloaded[T]) state() (s string) {
	for _, name := range r.names {
		info, err := os.Stat(name)
		if err != nil {
			s += err.Error() + "\n"
			continue
		}
		s += fmt.Sprintln(info.ModTime().UnixNano(), info.Size())
	}
	return s
}
