package hub

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const first = 100 // version of the hubs before the first change

// newHub returns a hub that keeps the last size changes.
func newHub(t testing.TB, size int) *publisher {
	return newAgedHub(t, size, 0)
}

func newAgedHub(t testing.TB, size int, maxAge time.Duration) *publisher {
	return &publisher{Hub: NewHub[string](size, maxAge, first), t: t, version: first, now: time.Unix(1000, 0)}
}

// publisher is the one writer of a hub.
type publisher struct {
	*Hub[string]
	t       testing.TB
	version uint64
	now     time.Time
}

// next returns the change that comes next, of an object in collection 0.
func (p *publisher) next(namespace, name string) *Change[string] {
	p.version++
	return &Change[string]{Version: p.version, Namespace: namespace, Name: name, At: p.now, Payload: namespace + "/" + name}
}

func (p *publisher) publish(namespace, name string) {
	p.Publish(p.next(namespace, name))
}

func (p *publisher) publishMany(n int, namespace, name string) {
	for range n {
		p.publish(namespace, name)
	}
}

// Get returns the change of a version, or nil.
func (p *publisher) Get(version uint64) *Change[string] {
	n, _ := p.ring.after(version - 1)
	if c := p.ring.get(n); c != nil && c.Version == version {
		return c
	}
	return nil
}

func (p *publisher) watch(s Scope, after uint64) *Watcher[string] {
	p.t.Helper()
	w, err := p.Watch(s, after, p.now, nil)
	require.NoError(p.t, err)
	return w
}

// poll returns the versions that one Poll finds.
func poll(t testing.TB, w *Watcher[string]) (versions []uint64, more bool) {
	t.Helper()
	changes, more, err := w.Poll(nil, math.MaxUint64)
	require.NoError(t, err)
	return versionsOf(changes), more
}

func versionsOf(changes []*Change[string]) (versions []uint64) {
	for _, c := range changes {
		versions = append(versions, c.Version)
	}
	return versions
}

// woken reports whether a wake-up is waiting, and takes it.
func woken(w *Watcher[string]) bool {
	select {
	case <-w.Wake():
		return true
	default:
		return false
	}
}

// noTime is now for hubs without an age.
var noTime time.Time
