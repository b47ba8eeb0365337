package exact

import (
	"context"
	"strconv"

	"github.com/kubecoord/kubecoord/lease"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/kind"
	"github.com/kubecoord/kubecoord/watch"
)

// Group is the group of the kind that changes.
const Group = "exact.example.com"

// written is the annotation with the number of the kind under which an object was written.
const written = Group + "/kind"

// NewKind returns the kind of a number. It has the form of a Lease, and writes its number into each object.
func NewKind(number int) *store.Kind[lease.Lease] {
	stamp := func(l *lease.Lease) {
		if l.Annotations == nil {
			l.Annotations = map[string]string{}
		}
		l.Annotations[written] = strconv.Itoa(number)
	}
	return store.MustKind(kind.Descriptor[*lease.Lease]{
		Resource: kind.Resource{Group: Group, Kind: "Lease"},
		Versions: []kind.Version[*lease.Lease]{{Name: "v1"}},
		Strategy: kind.Strategy[*lease.Lease]{
			Create: kind.CreateStrategy[*lease.Lease]{Prepare: func(_ context.Context, l *lease.Lease) { stamp(l) }},
			Update: kind.UpdateStrategy[*lease.Lease]{Prepare: func(l, _ *lease.Lease) { stamp(l) }, CreateMissing: true},
		},
	})
}

func kindOf(l *lease.Lease) int {
	number, _ := strconv.Atoi(l.Annotations[written])
	return number
}

// checkKinds checks that no write took place under a kind that had been replaced: in the history, and by the ticks of the writers.
func (c *checker) checkKinds() {
	now := 0
	for i := range c.Changes {
		ch := &c.Changes[i]
		if ch.Type != watch.Deleted && ch.New.Kind < now {
			c.find("change %d of %s is written under kind %d, after a change under kind %d", ch.Version, ch.New.key(), ch.New.Kind, now)
		}
		now = max(now, ch.New.Kind)
	}
	for _, o := range c.log.Operations {
		if o.Verb == Get || o.Verb == List || o.Verb == Delete || o.Err != nil {
			continue
		}
		for _, s := range c.log.Swaps {
			switch {
			case s.End < o.Begin && o.Out.Kind < s.Kind:
				c.find("a write began after the change to kind %d, and is written under an older one: %s", s.Kind, o)
			case o.End < s.Begin && o.Out.Kind >= s.Kind:
				c.find("a write ended before the change to kind %d, and is written under it: %s", s.Kind, o)
			}
		}
	}
}

// swaps reports whether the kind changed between two ticks.
func (c *checker) swaps(begin, end uint64) bool {
	for _, s := range c.log.Swaps {
		if s.Begin < end && begin < s.End {
			return true
		}
	}
	return false
}
