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
	return newLimitedHub(t, Limits{Changes: size, Age: maxAge})
}

func newBytesHub(t testing.TB, size int, bytes int64) *publisher {
	return newLimitedHub(t, Limits{Changes: size, Bytes: bytes})
}

func newLimitedHub(t testing.TB, limits Limits) *publisher {
	return &publisher{Hub: NewHub[string](limits, first), t: t, version: first, now: time.Unix(1000, 0)}
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
	c := p.next(namespace, name)
	p.Publish(c.Version, c)
}

func (p *publisher) publishMany(n int, namespace, name string) {
	for range n {
		p.publish(namespace, name)
	}
}

// Get returns the change of a version, or nil.
func (p *publisher) Get(version uint64) *Change[string] {
	changes, _ := p.Changes(version-1, version)
	if len(changes) == 0 {
		return nil
	}
	return changes[0]
}

func (p *publisher) watch(s Scope, after uint64) *Reader[string] {
	p.t.Helper()
	r := p.Read(s, after)
	require.LessOrEqual(p.t, p.Oldest(p.now), after)
	return r
}

// poll returns the versions that one Poll finds.
func poll(t testing.TB, w *Reader[string]) (versions []uint64, more bool) {
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
func woken(w *Reader[string]) bool {
	select {
	case <-w.Wake():
		return true
	default:
		return false
	}
}
