package apitest

import (
	"cmp"
	"fmt"
	"time"
)

// term is the time in which a holder has a Lease.
type term struct {
	holder string // "" if nobody has it
	client string // that took it, see identity; "" if the Store did
	at     time.Time
}

// WritesWithoutLease examines the work under a Lease. A client contends for the Lease if it has written itself or another into
// it as the holder. WritesWithoutLease finds the writes of these clients while another holds it, and after they gave it
// back, except for Events: an elector that ends late may still work when the next leader begins. The name that was passed to
// TransportFor identifies a client. There is no finding before the first holder, and none for a holder whose Lease
// has run out but was not taken. Options.KeepHistory limits how far it looks back.
func (a *API) WritesWithoutLease(namespace, name string) []Finding {
	found := []Finding{} // a list in JSON, not null
	v := a.recorder.examiner()
	isIt := func(c *change) bool {
		return c.isLease() && objectOf(c).namespace == namespace && objectOf(c).name == name
	}
	contends, held := map[string]bool{}, map[string]bool{}
	for _, c := range v.changes {
		if w := v.writeOf(c); isIt(c) && takes(c) && w != nil {
			contends[w.identity()] = true
		}
	}
	var now, last term
	for _, c := range v.changes {
		w := v.writeOf(c)
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

func takes(c *change) bool { return holderOf(c.New) != "" && holderOf(c.New) != holderOf(c.Old) }

// identity returns the name of the client, or without one its User-Agent. One client may have several
// User-Agents, such as client-go's for the election.
func (w *write) identity() string { return cmp.Or(w.req.Client, w.req.UserAgent) }
