package apitest

import (
	"fmt"
	"hash/maphash"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"

	"github.com/kubecoord/kubecoord/internal/caller"
)

// record holds, for Verify, the writes of the clients and the versions that each client has
// seen. The store records its changes itself.
type record struct {
	limit int
	seed  maphash.Seed

	mu     sync.Mutex        // guards all below and the fields of writes
	last   uint64            // the last origin
	writes map[uint64]*write // the last limit writes by their origin
	// seen holds the last version of an object or scope that a client has seen, and older
	// what seen held before it was full. A scope is all objects of a resource in one
	// namespace, or in all.
	seen, older map[uint64]uint64
	incomplete  bool // something was dropped
}

// write is a request that may change objects.
type write struct {
	origin            uint64 // of its changes
	verb              string
	client, userAgent string
	blind             bool   // it names no resourceVersion
	known             uint64 // the last version of the object that the client had seen, or 0
	status            int    // 0 if the client got no answer
}

// recordLimit returns the number of entries for Options.KeepHistory.
func recordLimit(keep int) int {
	if keep == 0 {
		return 10_000
	}
	return max(keep, 0)
}

func newRecord(keep int) *record {
	// The origins start at a random number, to differ from other writers to the store.
	return &record{limit: recordLimit(keep), seed: maphash.MakeSeed(), last: rand.Uint64() << 32, writes: map[uint64]*write{}, seen: map[uint64]uint64{}}
}

// start records that the API gets a request, and returns its write. It returns nil for
// other requests.
func (rec *record) start(r *Request, guarded bool) *write {
	if r.Verb == "get" || r.Verb == "list" || r.Verb == "watch" {
		return nil
	}
	w := &write{
		verb: r.Verb, client: r.Client, userAgent: r.UserAgent,
		blind: !guarded && (r.Verb == "update" || r.Verb == "patch" || r.Verb == "apply"),
	}
	rec.mu.Lock()
	defer rec.mu.Unlock()
	for _, place := range [][2]string{{r.Namespace, r.Name}, {r.Namespace, ""}, {"", ""}} {
		key := rec.key(r, place[0], place[1])
		w.known = max(w.known, rec.seen[key], rec.older[key])
	}
	rec.last++
	w.origin = rec.last
	rec.writes[w.origin] = w
	if len(rec.writes) > rec.limit {
		delete(rec.writes, w.origin-uint64(rec.limit))
		rec.incomplete = true
	}
	return w
}

// names records that a write names a version.
func (rec *record) names(w *write, version uint64) {
	rec.mu.Lock()
	defer rec.mu.Unlock()
	w.blind = w.blind && version == 0
}

// answered records the code of the answer to a write, which may be nil, before the client
// gets it.
func (rec *record) answered(w *write, code int) {
	if w != nil {
		rec.mu.Lock()
		defer rec.mu.Unlock()
		w.status = code
	}
}

// saw records versions that the client of a request sees, before it gets them.
func (rec *record) saw(r *Request, sights []caller.Sight) {
	if len(sights) == 0 {
		return
	}
	rec.mu.Lock()
	defer rec.mu.Unlock()
	for _, s := range sights {
		if s.Name == "" {
			if r.Verb != "list" && r.Verb != "watch" || r.Query.Get("labelSelector")+r.Query.Get("fieldSelector")+r.Query.Get("shardSelector") != "" {
				continue
			}
			s.Namespace = r.Namespace
		}
		key := rec.key(r, s.Namespace, s.Name)
		version := max(s.Version, rec.seen[key], rec.older[key])
		if rec.seen[key] == 0 && len(rec.seen) == rec.limit {
			rec.incomplete = rec.incomplete || rec.older != nil
			rec.older, rec.seen = rec.seen, map[uint64]uint64{}
		}
		rec.seen[key] = version
	}
}

// key returns the hash of an object, or of a scope if name is "", as the client of a
// request sees it.
func (rec *record) key(r *Request, namespace, name string) uint64 {
	return maphash.Comparable(rec.seed, [...]string{r.Client, r.UserAgent, r.Group, r.Resource, namespace, name})
}

// all returns the writes by their origin. complete reports whether nothing was dropped.
func (rec *record) all() (writes map[uint64]write, complete bool) {
	rec.mu.Lock()
	defer rec.mu.Unlock()
	writes = make(map[uint64]write, len(rec.writes))
	for origin, w := range rec.writes {
		writes[origin] = *w
	}
	return writes, !rec.incomplete
}

// String returns the verb, the client and the outcome.
func (w write) String() string {
	outcome := "no answer"
	if w.status != 0 {
		outcome = strconv.Itoa(w.status)
	}
	return w.verb + " of " + w.sender() + ", " + outcome
}

// sender returns the name of the client, or its User-Agent.
func (w write) sender() string {
	switch agent, _, _ := strings.Cut(w.userAgent, " "); {
	case w.client != "":
		return fmt.Sprintf("client %q", w.client)
	case agent != "":
		return fmt.Sprintf("%q", agent)
	}
	return "a client"
}
