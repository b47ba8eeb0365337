package registry

import (
	"time"

	"github.com/kubecoord/kubecoord/internal/hub"
	"github.com/kubecoord/kubecoord/watch"
)

// events are what a watch reads after its initial events: those of the store, those that a Replica has, or either without those that
// Veils hide.
type events interface {
	// poll returns the next events, in an empty slice if it has room. It returns none only if none is ready.
	poll(room []ItemEvent) ([]ItemEvent, error)
	// sent returns the version up to which poll has returned all events.
	sent() uint64
	// settled returns the version for a bookmark of a watch that is at a version.
	settled(at uint64) (version uint64, can canBookmark)
	// due returns when there may be events without a change. The zero time is never.
	due() time.Time
	// wait blocks until there may be events, or Signal was called, as any goroutine may do. Close ends the reading; it may be called again.
	wait()
	Signal()
	Close()
}

// canBookmark says whether a bookmark can be sent.
type canBookmark int

const (
	canSend     canBookmark = iota
	afterEvents             // events that are ready come first
	notNow                  // the reader is behind, or an event is hidden
)

// present are the events of the store.
type present struct {
	*hub.Reader[change]
	sel     *selection
	version uint64 // see sent
	changes []*hub.Change[change]
}

// openEvents returns the events after a version.
func (st *Store) openEvents(r *Resource, sel *selection, after uint64) present {
	return present{Reader: st.hub.Read(sel.scope(r.id), after), sel: sel, version: after}
}

func (p *present) poll(room []ItemEvent) ([]ItemEvent, error) { return p.pollUntil(everything, room) }

// pollUntil is poll for the events up to a version.
func (p *present) pollUntil(last uint64, out []ItemEvent) (_ []ItemEvent, err error) {
	for more := true; more && len(out) == 0; {
		if p.changes, more, err = p.Poll(p.changes[:0], last); err != nil {
			return nil, expiredWatch(err)
		}
		for _, c := range p.changes {
			if ev := p.sel.event(c); ev.Item != nil {
				out = append(out, ev)
				p.version = c.Version
			}
		}
		clear(p.changes) // an idle watcher must not keep history in memory
	}
	return out, nil
}

func (p *present) sent() uint64 { return p.version }

func (p *present) settled(uint64) (uint64, canBookmark) {
	version, ok := p.Settled()
	if !ok {
		return 0, afterEvents
	}
	return version, canSend
}

func (p *present) due() time.Time { return time.Time{} }

func (p *present) wait() { <-p.Wake() }

// event returns the event of a change for a selection: an object that begins to match is
// added, one that ceases to match is deleted.
func (s *selection) event(c *hub.Change[change]) ItemEvent {
	if s.all() { // the history is read in the namespace of the selection
		return ItemEvent{Type: c.Payload.eventType(), Item: eventItem(c)}
	}
	before, after := s.matches(c.Payload.old), s.matches(c.Payload.new)
	switch {
	case before && after:
		return ItemEvent{Type: watch.Modified, Item: c.Payload.new}
	case after:
		return ItemEvent{Type: watch.Added, Item: c.Payload.new}
	case before:
		return ItemEvent{Type: watch.Deleted, Item: c.Payload.last.of(c)}
	}
	return ItemEvent{}
}
