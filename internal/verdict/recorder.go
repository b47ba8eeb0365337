package verdict

import (
	"fmt"
	"hash/maphash"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"

	"github.com/kubecoord/kubecoord/internal/caller"
)

// Recorder records the writes of clients, and the last version of each object that a client has
// seen. The store records its changes itself.
type Recorder struct {
	limit int
	seed  maphash.Seed

	mu     sync.Mutex        // guards the fields below and the fields of each Write
	last   uint64            // the last origin
	writes map[uint64]*Write // the last limit writes by their origin
	// seen holds versions by key. When it is full it becomes older, and a new one starts.
	seen, older map[uint64]uint64
	incomplete  bool // a write or a version was dropped
}

// NewRecorder returns a Recorder that keeps the last limit writes, and at least the last limit
// versions seen. With limit 0 it records nothing.
func NewRecorder(limit int) *Recorder {
	// A random start, so that other writers have other origins.
	return &Recorder{limit: limit, seed: maphash.MakeSeed(), last: rand.Uint64() << 32, writes: map[uint64]*Write{}, seen: map[uint64]uint64{}}
}

// Limit returns the limit of NewRecorder.
func (rec *Recorder) Limit() int { return rec.limit }

// Request is the part of a request that a Recorder needs.
type Request struct {
	Verb, Client, UserAgent          string
	Group, Resource, Namespace, Name string
	Selective                        bool // a list or watch has a selector
	Guarded                          bool // a patch names a resourceVersion
}

// Write is a request that may change objects.
type Write struct {
	origin            uint64
	verb              string
	client, userAgent string
	blind             bool   // it names no resourceVersion
	known             uint64 // the last version of the object that the client had seen, or 0
	status            int    // 0 if the client got no answer
}

// Origin returns the origin of the changes that the write makes; see registry.WithOrigin.
func (w *Write) Origin() uint64 { return w.origin }

// Start records a write before the API gets it. It returns nil for a read.
func (rec *Recorder) Start(r *Request) *Write {
	w := &Write{verb: r.Verb, client: r.Client, userAgent: r.UserAgent}
	switch r.Verb {
	case "get", "list", "watch":
		return nil
	case "update", "patch", "apply":
		w.blind = !r.Guarded
	}
	rec.mu.Lock()
	defer rec.mu.Unlock()
	for _, scope := range [][2]string{{r.Namespace, r.Name}, {r.Namespace, ""}, {"", ""}} {
		w.known = max(w.known, rec.seenLocked(rec.key(r, scope[0], scope[1])))
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

// Names records the resourceVersion in the body of an update, or 0.
func (rec *Recorder) Names(w *Write, version uint64) {
	rec.mu.Lock()
	defer rec.mu.Unlock()
	w.blind = w.blind && version == 0
}

// Answered records the code of the answer to a write. It must be called before the client gets
// the answer. w may be nil.
func (rec *Recorder) Answered(w *Write, code int) {
	if w != nil {
		rec.mu.Lock()
		defer rec.mu.Unlock()
		w.status = code
	}
}

// Saw records versions that the client of a request sees. It must be called before the client
// gets them, so that every reaction of the client comes later.
func (rec *Recorder) Saw(r *Request, sights []caller.Sight) {
	rec.mu.Lock()
	defer rec.mu.Unlock()
	for _, s := range sights {
		if s.Name == "" { // all objects of a list, or up to a bookmark
			if r.Selective || r.Verb != "list" && r.Verb != "watch" {
				continue
			}
			s.Namespace = r.Namespace
		}
		key := rec.key(r, s.Namespace, s.Name)
		version := max(s.Version, rec.seenLocked(key))
		if rec.seen[key] == 0 && len(rec.seen) == rec.limit {
			rec.incomplete = rec.incomplete || rec.older != nil
			rec.older, rec.seen = rec.seen, map[uint64]uint64{}
		}
		rec.seen[key] = version
	}
}

func (rec *Recorder) seenLocked(key uint64) uint64 { return max(rec.seen[key], rec.older[key]) }

// key returns the hash of a client and an object. With name "" it stands for all objects in a
// namespace, or in all of them.
func (rec *Recorder) key(r *Request, namespace, name string) uint64 {
	return maphash.Comparable(rec.seed, [...]string{r.Client, r.UserAgent, r.Group, r.Resource, namespace, name})
}

// all returns the writes by their origin. complete reports whether nothing was dropped.
func (rec *Recorder) all() (writes map[uint64]Write, complete bool) {
	rec.mu.Lock()
	defer rec.mu.Unlock()
	writes = make(map[uint64]Write, len(rec.writes))
	for origin, w := range rec.writes {
		writes[origin] = *w
	}
	return writes, !rec.incomplete
}

// String returns the verb, the client and the outcome.
func (w Write) String() string {
	outcome := "no answer"
	if w.status != 0 {
		outcome = strconv.Itoa(w.status)
	}
	return w.verb + " of " + w.sender() + ", " + outcome
}

// sender returns the name of the client, or its User-Agent.
func (w Write) sender() string {
	switch agent, _, _ := strings.Cut(w.userAgent, " "); {
	case w.client != "":
		return fmt.Sprintf("client %q", w.client)
	case agent != "":
		return fmt.Sprintf("%q", agent)
	}
	return "a client"
}
