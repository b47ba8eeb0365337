package apitest

import (
	"bytes"
	"cmp"
	"hash/maphash"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/kubecoord/kubecoord/internal/skim"
	"github.com/kubecoord/kubecoord/internal/yaml"
	"github.com/kubecoord/kubecoord/watch"
)

// record holds, for Verify, the versions that clients saw in answers and events. The
// store records its changes itself.
type record struct {
	limit int
	seed  maphash.Seed

	mu   sync.Mutex    // guards all below
	last uint64        // origin
	seen []observation // a ring of limit entries, once it is full
	next uint64        // how many there ever were
}

// observation is one answer, or one event of a watch, that a client got.
type observation struct {
	call    *call
	kind    observed
	key     uint64 // of the object, 0 if unknown
	version uint64 // of the object, or of the list
}

// observed is the kind of an observation.
type observed uint8

const (
	sawNothing observed = iota // no answer, or one that is not 2xx
	sawAnswer                  // 2xx
	sawObject                  // an event of an object
	sawState                   // a bookmark: the client has seen all objects
)

// call is a request. It does not change once it is part of an observation.
type call struct {
	origin uint64 // of its changes
	began  uint64 // record.next when the API got it

	verb, group, resource, namespace, name string
	client, userAgent                      string
	query                                  url.Values
	dryRun                                 bool
	guarded                                bool // the body has a resourceVersion

	status int // 0 if the client got no answer
}

// recordLimit returns the number of entries for Options.KeepHistory.
func recordLimit(keep int) int {
	if keep == 0 {
		return 10_000
	}
	return max(keep, 0)
}

func newRecord(keep int) *record {
	// Origins must differ from those of other writers to the store.
	return &record{limit: recordLimit(keep), seed: maphash.MakeSeed(), last: rand.Uint64() << 32}
}

// begin returns the call of a request, or nil if it is not recorded.
func (rec *record) begin(r *Request, body []byte) *call {
	if rec.limit == 0 || r.Resource == "" {
		return nil
	}
	c := &call{
		verb: r.Verb, group: r.Group, resource: r.Resource, namespace: r.Namespace, name: r.Name,
		client: r.Client, userAgent: r.UserAgent, query: r.Query, dryRun: len(r.Query["dryRun"]) > 0,
	}
	switch c.verb {
	case "update", "patch", "apply":
		head, _ := skimObject(body, strings.HasSuffix(r.ContentType, "yaml"), true)
		c.guarded = head.ResourceVersion != 0 || bytes.Contains(body, []byte(`"/metadata/resourceVersion"`))
	}
	rec.mu.Lock()
	defer rec.mu.Unlock()
	rec.last++
	c.origin = rec.last
	return c
}

// handOn records that the API gets a call.
func (rec *record) handOn(c *call) {
	rec.mu.Lock()
	defer rec.mu.Unlock()
	c.began = rec.next
}

// key returns the hash of an object for an observation.
func (rec *record) key(group, resource, namespace, name string) uint64 {
	if name == "" {
		return 0
	}
	return maphash.Comparable(rec.seed, [4]string{group, resource, namespace, name})
}

func (rec *record) addLocked(t observation) {
	if len(rec.seen) < rec.limit {
		rec.seen = append(rec.seen, t)
	} else {
		rec.seen[rec.next%uint64(rec.limit)] = t
	}
	rec.next++
}

// all returns the entries in their order, and how many older ones were dropped.
func (rec *record) all() (out []observation, before uint64) {
	rec.mu.Lock()
	defer rec.mu.Unlock()
	before = rec.next - uint64(len(rec.seen))
	if before == 0 {
		return slices.Clone(rec.seen), 0
	}
	first := rec.next % uint64(rec.limit)
	return slices.Concat(rec.seen[first:], rec.seen[:first]), before
}

// answered records the answer to a call, before the client gets it. The code is 0 if
// there is no answer.
func (rec *record) answered(c *call, code int, head skim.Head) {
	t := observation{call: c, kind: sawNothing, version: head.ResourceVersion}
	if code >= 200 && code < 300 {
		t.kind = sawAnswer
		t.key = rec.key(c.group, c.resource, c.namespace, cmp.Or(head.Name, c.name))
	}
	rec.mu.Lock()
	defer rec.mu.Unlock()
	c.status = code
	rec.addLocked(t)
}

// opened records the beginning of the answer to a watch.
func (rec *record) opened(c *call) {
	rec.mu.Lock()
	defer rec.mu.Unlock()
	c.status = http.StatusOK
}

// event records an event of a watch, before the client gets it.
func (rec *record) event(c *call, head skim.Head) {
	t := observation{call: c, version: head.ResourceVersion, key: rec.key(c.group, c.resource, head.Namespace, head.Name)}
	switch watch.EventType(head.Type) {
	case watch.Added, watch.Modified, watch.Deleted:
		t.kind = sawObject
	case watch.Bookmark:
		t.kind = sawState
	default:
		return
	}
	rec.mu.Lock()
	defer rec.mu.Unlock()
	rec.addLocked(t)
}

// skimmed is how much of an answer is parsed: enough to reach the resourceVersion in
// its metadata.
const skimmed = 4 << 10

// typeYAML is the media type of bodies and answers in YAML.
const typeYAML = "application/yaml"

// skimObject returns the head of a document that begins with data, and false if it
// needs more data.
func skimObject(data []byte, isYAML, whole bool) (skim.Head, bool) {
	if isYAML {
		if !whole {
			return skim.Head{}, false
		}
		data, _, _ = yaml.ToJSON(data)
	}
	h := skim.Object(data)
	return h, whole || h.Enough() || len(data) >= skimmed
}
