package verdict

import (
	"cmp"
	"fmt"
	"time"

	"github.com/kubecoord/kubecoord/internal/registry"
	"github.com/kubecoord/kubecoord/lease"
)

// term is the time in which a holder has a Lease.
type term struct {
	holder string // "" if nobody has it
	client string // that took it, see identity; "" if the Store did
	at     time.Time
}

// WritesWithout finds the writes of the clients that take a Lease, now or later, at times when they do not have it: after another holder
// took it, or after they released it. Writes of the Lease and of Events do not count.
func (rec *Recorder) WritesWithout(namespace, name string) (found []Finding) {
	v := rec.examiner()
	isIt := func(c *change) bool { return c.isLease() && objectOf(c).path() == namespace+"/"+name }
	contends, held := map[string]bool{}, map[string]bool{}
	for i, c := range v.changes {
		if isIt(c) && takes(c) && v.writes[i] != nil {
			contends[v.writes[i].identity()] = true
		}
	}
	var now, last term
	for i, c := range v.changes {
		w := v.writes[i]
		switch {
		case isIt(c) && takes(c):
			now = term{holder: holderOf(c.New), at: c.At}
			if w != nil {
				now.client = w.identity()
			}
			held[now.client], last = true, now
		case isIt(c) && holderOf(c.New) == "":
			now = term{}
		case isIt(c) || w == nil || c.Kind().Info().Plural == "events":
		case !contends[w.identity()] || now.holder != "" && now.client == w.identity():
		case now.holder != "" || held[w.identity()]:
			why := fmt.Sprintf("which was released by %q", last.holder)
			if now.holder != "" {
				why = fmt.Sprintf("%s after %q took it", c.At.Sub(now.at).Round(time.Microsecond), now.holder)
			}
			text := fmt.Sprintf("%s wrote %s without the Lease %s/%s, %s", w.sender(), objectOf(c), namespace, name, why)
			found = append(found, Finding{text, v.excerpt(objectOf(c), c.Version)})
		}
	}
	return found
}

// takes reports whether a change of a Lease gives it to another holder.
func takes(c *change) bool {
	return holderOf(c.New) != "" && holderOf(c.New) != holderOf(c.Old)
}

// holderOf returns the holder of a Lease, or "". it may be nil.
func holderOf(it *registry.Item) string {
	if it == nil {
		return ""
	}
	if l := it.Wire().(*lease.Lease); l.Spec.HolderIdentity != nil {
		return *l.Spec.HolderIdentity
	}
	return ""
}

// identity returns the name of the client, or without one its User-Agent. One client may have several
// User-Agents, such as client-go's for the election.
func (w *Write) identity() string { return cmp.Or(w.client, w.userAgent) }
