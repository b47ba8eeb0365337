// Package differ turns a list that is read again into the events that a watch has missed. It
// is the rule of Follow, in a store and over HTTP.
package differ

import (
	"maps"
	"slices"

	"github.com/kubecoord/kubecoord/store/meta"
	"github.com/kubecoord/kubecoord/watch"
)

// Identity identifies one state of an object.
type Identity struct {
	Namespace, Name string
	UID             meta.UID
	ResourceVersion string
}

func (id *Identity) key() string { return id.Namespace + "/" + id.Name }

// Differ sends events about objects, and remembers the state of each that it sent last. Each
// method returns the error of send, and must not be called again after one.
type Differ[O any] struct {
	identify func(O) Identity
	send     func(watch.EventType, O) error
	sent     map[string]O
	found    map[string]bool // in the list
}

// New returns a Differ that has sent nothing.
func New[O any](identify func(O) Identity, send func(watch.EventType, O) error) *Differ[O] {
	return &Differ[O]{identify: identify, send: send, sent: map[string]O{}, found: map[string]bool{}}
}

// Event sends an event of a watch.
func (d *Differ[O]) Event(t watch.EventType, o O) error {
	id := d.identify(o)
	if t == watch.Deleted {
		delete(d.sent, id.key())
	} else {
		d.sent[id.key()] = o
	}
	return d.send(t, o)
}

// Begin begins a list.
func (d *Differ[O]) Begin() { clear(d.found) }

// Listed sends an object of the list, unless that state was sent before.
func (d *Differ[O]) Listed(o O) error {
	id := d.identify(o)
	d.found[id.key()] = true
	last, known := d.sent[id.key()]
	if !known {
		return d.Event(watch.Added, o)
	}
	switch was := d.identify(last); {
	case was.ResourceVersion == id.ResourceVersion:
		return nil
	case was.UID == id.UID:
		return d.Event(watch.Modified, o)
	}
	if err := d.Event(watch.Deleted, last); err != nil {
		return err
	}
	return d.Event(watch.Added, o)
}

// End ends the list: it sends the deletion of the objects that were sent and are not listed.
func (d *Differ[O]) End() error {
	for _, k := range slices.Sorted(maps.Keys(d.sent)) {
		if d.found[k] {
			continue
		}
		if err := d.Event(watch.Deleted, d.sent[k]); err != nil {
			return err
		}
	}
	return nil
}
